//! `yield`: one task gives way to others again and again, at the end of a chain of frames.
//!
//! Each subject by its own means: `runnext::yield_now`, `tokio::task::yield_now`, and for the others the one of
//! futures-lite, which smol's users have. There is nobody to give way to, so what is measured is the yield itself.

use std::future::Future;
use std::io;

use super::Workload;
use super::chain::chain;
use crate::pool::Spawner;

pub(crate) struct GiveWay {
    depth: u32,
}

impl Workload for GiveWay {
    async fn prepare(_: &impl Spawner, depth: u32) -> io::Result<Self> {
        Ok(Self { depth })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            chain(yield_on(spawner), self.depth).await;
        }
        Ok(ops)
    }
}

fn yield_on<S: Spawner>(_: &S) -> impl Future<Output = ()> + Send + use<S> {
    S::yield_now()
}
