//! `fan-out`: one task wakes 1024 others, each of which does 200 ns of work; when all are done it wakes them again.
//!
//! A burst out of one poll, with work too short to be worth a core of its own and too much to be left to one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::countdown::Countdown;
use super::turn::Turn;
use super::{Workload, share};
use crate::pool::Spawner;
use crate::spin::Spin;

const CONSUMERS: usize = 1024;
const WORK: Duration = Duration::from_nanos(200);

pub(crate) struct FanOut {
    work: Spin,
}

impl Workload for FanOut {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self {
            work: Spin::of(WORK),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let rounds = share(ops, CONSUMERS);
        let done = Arc::new(Countdown::default());
        let turns: Vec<Arc<Turn>> = (0..CONSUMERS).map(|_| Arc::default()).collect();
        for turn in &turns {
            spawner.spawn(consume(turn.clone(), self.work, rounds, done.clone()));
        }
        for _ in 0..rounds {
            done.arm(CONSUMERS);
            for turn in &turns {
                turn.give();
            }
            done.zero().await;
        }
        Ok(rounds * CONSUMERS as u64)
    }
}

async fn consume(turn: Arc<Turn>, work: Spin, rounds: u64, done: Arc<Countdown>) {
    for _ in 0..rounds {
        turn.take().await;
        work.run();
        done.arrive();
    }
}
