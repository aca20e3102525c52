//! `await-pending-value`: a chain of frames awaits the next value of a channel that is empty.
//!
//! The reader is a task of its own and lives for the whole batch; the writer sends a value and waits until it was taken, so
//! that the reader has suspended, or is about to, before the next one.

use std::io;
use std::sync::Arc;

use async_channel::{Receiver, unbounded};

use super::Workload;
use super::chain::chain;
use super::turn::Turn;
use crate::pool::Spawner;

pub(crate) struct AwaitPendingValue {
    depth: u32,
}

impl Workload for AwaitPendingValue {
    async fn prepare(_: &impl Spawner, depth: u32) -> io::Result<Self> {
        Ok(Self { depth })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let (sender, receiver) = unbounded();
        let taken = Arc::new(Turn::default());
        spawner.spawn(read(receiver, taken.clone(), self.depth));
        for value in 0..ops {
            sender.try_send(value).map_err(io::Error::other)?;
            taken.take().await;
        }
        Ok(ops)
    }
}

/// Reads until the writer is done.
async fn read(receiver: Receiver<u64>, taken: Arc<Turn>, depth: u32) {
    while chain(receiver.recv(), depth).await.is_ok() {
        taken.give();
    }
}
