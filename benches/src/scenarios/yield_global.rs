//! `yield-global`: chains of tasks, each of which queues the next to the global queue and ends.
//!
//! What .NET's `Task.Yield` does to the rest of a method. Our own pool has a call for it; a subject that has no such call
//! spawns as ever. For async-executor and futures that is the same thing, since their tasks all go to one global queue;
//! tokio's next task goes to its worker's own slot.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::countdown::Countdown;
use super::{Workload, share};
use crate::pool::Spawner;

pub(crate) struct YieldGlobal {
    chains: usize,
    ends: Arc<Countdown>,
}

impl Workload for YieldGlobal {
    async fn prepare(_: &impl Spawner, chains: u32) -> io::Result<Self> {
        Ok(Self {
            chains: chains as usize,
            ends: Arc::default(),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let tasks = share(ops, self.chains);
        self.ends.arm(self.chains);
        for _ in 0..self.chains {
            spawner.spawn_global(Link {
                spawner: spawner.clone(),
                left: tasks,
                ends: Some(self.ends.clone()),
            });
        }
        self.ends.zero().await;
        Ok(tasks * self.chains as u64)
    }
}

/// One task of a chain, with `left - 1` to come. Written out, because an async function cannot spawn itself.
struct Link<S> {
    spawner: S,
    left: u64,
    /// Passed on and not cloned: all chains share its count of references.
    ends: Option<Arc<Countdown>>,
}

impl<S: Spawner> Future for Link<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let ends = self.ends.take();
        if self.left > 1 {
            self.spawner.spawn_global(Self {
                spawner: self.spawner.clone(),
                left: self.left - 1,
                ends,
            });
        } else if let Some(ends) = ends {
            ends.arrive();
        }
        Poll::Ready(())
    }
}
