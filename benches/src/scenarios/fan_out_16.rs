//! `fan-out-16`: 16 chains of frames, each in a task of its own, suspend together and are then resumed in a row.

use std::io;
use std::sync::Arc;

use futures::channel::oneshot::{self, Receiver};

use super::chain::chain;
use super::countdown::Countdown;
use super::{Workload, share};
use crate::pool::Spawner;

const CHAINS: usize = 16;

pub(crate) struct FanOut16 {
    depth: u32,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Progress {
    suspended: Countdown,
    ended: Countdown,
}

impl Workload for FanOut16 {
    async fn prepare(_: &impl Spawner, depth: u32) -> io::Result<Self> {
        Ok(Self {
            depth,
            progress: Arc::default(),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let rounds = share(ops, CHAINS);
        for _ in 0..rounds {
            self.round(spawner).await?;
        }
        Ok(rounds * CHAINS as u64)
    }
}

impl FanOut16 {
    async fn round(&self, spawner: &impl Spawner) -> io::Result<()> {
        let Progress { suspended, ended } = &*self.progress;
        suspended.arm(CHAINS);
        ended.arm(CHAINS);
        let resumers = [(); CHAINS].map(|()| {
            let (resume, resumed) = oneshot::channel();
            spawner.spawn(suspend(resumed, self.depth, self.progress.clone()));
            resume
        });
        suspended.zero().await;
        for resume in resumers {
            resume
                .send(())
                .map_err(|()| io::Error::other("the subject dropped a suspended task"))?;
        }
        ended.zero().await;
        Ok(())
    }
}

async fn suspend(resumed: Receiver<()>, depth: u32, progress: Arc<Progress>) {
    progress.suspended.arrive();
    // An error would mean that the round has failed, which it reports itself.
    let _ = chain(resumed, depth).await;
    progress.ended.arrive();
}
