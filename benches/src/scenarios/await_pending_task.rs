//! `await-pending-task`: a chain of frames awaits a task that has been spawned and has not run yet.
//!
//! The task hands its end over through a oneshot channel and not through the subject's own handle: the same primitive for
//! all, and some subjects have no handle.

use std::io;

use futures::channel::oneshot;

use super::Workload;
use super::chain::chain;
use crate::pool::Spawner;

pub(crate) struct AwaitPendingTask {
    depth: u32,
}

impl Workload for AwaitPendingTask {
    async fn prepare(_: &impl Spawner, depth: u32) -> io::Result<Self> {
        Ok(Self { depth })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            let (sender, ended) = oneshot::channel();
            spawner.spawn(async move {
                // The chain below waits for as long as it takes.
                let _ = sender.send(());
            });
            chain(ended, self.depth)
                .await
                .map_err(|_| io::Error::other("the subject dropped the task that was awaited"))?;
        }
        Ok(ops)
    }
}
