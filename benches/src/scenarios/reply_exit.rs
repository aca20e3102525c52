//! `reply-exit`: a client awaits a reply; a server task queues the delivery of that reply as a second task, and exits.
//!
//! The request and reply of the regression report: two tasks are spawned for each request, and the client is woken by
//! the second. In the report the server may go on for a moment ("housekeeping"); here it exits at once.

use std::io;

use futures::channel::oneshot;

use super::Workload;
use crate::pool::Spawner;

pub(crate) struct ReplyExit;

impl Workload for ReplyExit {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self)
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            request(spawner).await?;
        }
        Ok(ops)
    }
}

async fn request(spawner: &impl Spawner) -> io::Result<()> {
    let (reply, replied) = oneshot::channel();
    let server = spawner.clone();
    spawner.spawn(async move {
        server.spawn(async move {
            // The client waits for as long as it takes.
            let _ = reply.send(());
        });
    });
    replied
        .await
        .map_err(|_| io::Error::other("the subject dropped a server task before it had replied"))
}
