//! What a user of the crate sees, and nothing of the pool: `scripts/conformance` runs these tests with the original as
//! well, which shows that they state its behaviour and not only ours.
#![cfg(not(loom))]

mod signatures;
mod threads;
mod tokens;
mod wakers;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long anything here may take before it counts as lost. Nothing waits so long in a run that passes.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `body` on a thread of its own, so that a lost wake is a failure and not a hang.
#[track_caller]
fn in_time<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    let thread = thread::spawn(move || drop(done.send(body())));
    match result.recv_timeout(LIMIT) {
        Ok(value) => value,
        Err(RecvTimeoutError::Timeout) => panic!("no end within {LIMIT:?}: a wake was lost"),
        Err(RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("it ended without a result"))
        }
    }
}
