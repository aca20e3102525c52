//! `suspend-resume`: a task calls a chain of frames that suspends; another task resumes it and waits until it has ended.
//!
//! Both tasks live for the whole batch, so nothing is spawned, and at depth 1 nothing is allocated.

use std::io;
use std::sync::Arc;

use super::Workload;
use super::chain::chain;
use super::turn::Turn;
use crate::pool::Spawner;

pub(crate) struct SuspendResume {
    depth: u32,
}

impl Workload for SuspendResume {
    async fn prepare(_: &impl Spawner, depth: u32) -> io::Result<Self> {
        Ok(Self { depth })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let (resume, ended) = <(Arc<Turn>, Arc<Turn>)>::default();
        spawner.spawn(suspend(resume.clone(), ended.clone(), self.depth, ops));
        for _ in 0..ops {
            resume.give();
            ended.take().await;
        }
        Ok(ops)
    }
}

async fn suspend(resume: Arc<Turn>, ended: Arc<Turn>, depth: u32, chains: u64) {
    for _ in 0..chains {
        chain(resume.take(), depth).await;
        ended.give();
    }
}
