//! The request and reply of the regression report, as its three scenarios share it.
//!
//! A client awaits a reply; a server task queues the delivery of that reply as a second task, does its tail work and
//! exits. Two tasks are spawned for each request, and the client is woken by the second.

use std::io;

use futures::channel::oneshot;

use crate::pool::Spawner;
use crate::spin::Spin;

/// One request; the server does `tail` after it has queued the reply.
pub(super) async fn request(spawner: &impl Spawner, tail: Spin) -> io::Result<()> {
    let (reply, replied) = oneshot::channel();
    let server = spawner.clone();
    spawner.spawn(async move {
        server.spawn(async move {
            // The client waits for as long as it takes.
            let _ = reply.send(());
        });
        tail.run();
    });
    replied
        .await
        .map_err(|_| io::Error::other("the subject dropped a server task before it had replied"))
}
