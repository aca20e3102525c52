//! `spawn-outside`: a thread that is no worker spawns tasks that do nothing, in bursts of 1024, and waits for each burst.
//!
//! A burst is long enough for the thread's own sleep and wake at its end not to show.

use std::io;

use futures::channel::oneshot;
use futures_lite::future::block_on;

use super::spawn::burst;
use super::{Workload, outside, share};
use crate::pool::Spawner;

const BURST: usize = 1024;

pub(crate) struct SpawnOutside;

impl Workload for SpawnOutside {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self)
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let bursts = share(ops, BURST);
        let (sender, done) = oneshot::channel();
        let spawner = spawner.clone();
        outside::run(move || {
            let arrivals = Default::default();
            for _ in 0..bursts {
                block_on(burst(&spawner, &arrivals, BURST));
            }
            // The batch waits for as long as it takes.
            let _ = sender.send(());
        })?;
        done.await
            .map_err(|_| io::Error::other("the thread outside ended before its work was done"))?;
        Ok(bursts * BURST as u64)
    }
}
