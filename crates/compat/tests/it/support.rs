//! Waiting that cannot hang a test run.

use std::fmt::Debug;
use std::future;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// How long anything here may take before it counts as lost. Nothing waits so long in a run that passes.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Runs `body` on a thread of its own and fails if it has not returned in time, naming what hangs.
pub(crate) fn within_limit<T: Send + 'static>(
    what: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, result) = channel();
    let thread = thread::Builder::new()
        .name(what.to_owned())
        .spawn(move || drop(done.send(body())))
        .expect("a thread starts");
    match result.recv_timeout(LIMIT) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("`{what}` did not end within {LIMIT:?}"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(()) => unreachable!("the thread sends before it ends"),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Reads `channel` to its end: until every sender is gone.
#[track_caller]
pub(crate) fn drain<T: Debug>(channel: &Receiver<T>) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        match channel.recv_timeout(LIMIT) {
            Ok(item) => all.push(item),
            Err(RecvTimeoutError::Disconnected) => return all,
            Err(RecvTimeoutError::Timeout) => {
                panic!("a sender is still alive after {LIMIT:?}; received {all:?}")
            }
        }
    }
}

/// Waits until every sender of `channel` is gone, and fails if one sent something.
#[track_caller]
pub(crate) fn assert_ends<T: Debug>(channel: &Receiver<T>) {
    let sent = drain(channel);
    assert!(
        sent.is_empty(),
        "nothing should have been sent, but {sent:?} was"
    );
}

/// Suspends once and is woken at once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
