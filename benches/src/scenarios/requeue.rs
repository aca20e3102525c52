//! `requeue`: tasks that do nothing but queue themselves again, the bare cost of one turn through the scheduler.
//!
//! The wake comes from inside the poll, so it is a yield, not a hop between two tasks: each subject may treat it as
//! such, and futures' pool polls again in place without going through its queue at all.

use std::future::{Future, poll_fn};
use std::io;
use std::task::Poll;

use super::{Workload, share, together};
use crate::pool::Spawner;

pub(crate) struct Requeue {
    chains: usize,
}

impl Workload for Requeue {
    async fn prepare(_: &impl Spawner, chains: u32) -> io::Result<Self> {
        Ok(Self {
            chains: chains as usize,
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let hops = share(ops, self.chains);
        let chains = (0..self.chains).map(|_| chain(hops));
        together::all(spawner, chains).await?;
        Ok(hops * self.chains as u64)
    }
}

/// Is polled `hops` times more, each by its own wake.
fn chain(mut hops: u64) -> impl Future<Output = io::Result<()>> {
    poll_fn(move |context| {
        if hops == 0 {
            return Poll::Ready(Ok(()));
        }
        hops -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}
