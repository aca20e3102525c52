//! `spawn`: a task spawns others that do nothing, in bursts of 128, and waits for each burst.
//!
//! A burst fits into the local queue of every subject that has one, so that what is measured is spawning and not what
//! happens when a queue overflows.

use std::io;
use std::sync::Arc;

use super::countdown::Countdown;
use super::{Workload, share};
use crate::pool::Spawner;

const BURST: usize = 128;

#[derive(Default)]
pub(crate) struct Spawn {
    done: Arc<Countdown>,
}

impl Workload for Spawn {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self::default())
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let bursts = share(ops, BURST);
        for _ in 0..bursts {
            burst(spawner, &self.done, BURST).await;
        }
        Ok(bursts * BURST as u64)
    }
}

/// Spawns `count` tasks from the thread that polls, and waits until all have run.
pub(super) async fn burst(spawner: &impl Spawner, done: &Arc<Countdown>, count: usize) {
    done.arm(count);
    for _ in 0..count {
        let done = done.clone();
        spawner.spawn(async move { done.arrive() });
    }
    done.zero().await;
}
