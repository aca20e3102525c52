//! `fan-out`: one task wakes 1024 others, each of which does 200 ns of work; when all are done it wakes them again.
//!
//! A burst out of one poll, with work too short to be worth a core of its own and too much to be left to one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::countdown::Countdown;
use super::turn::Turn;
use super::{Workload, share};
use crate::pool::Spawner;
use crate::spin::Spin;

const CONSUMERS: usize = 1024;
const WORK: Duration = Duration::from_nanos(200);

pub(crate) struct FanOut {
    turns: Vec<Arc<Turn>>,
    shared: Arc<Shared>,
}

struct Shared {
    work: Spin,
    done: Countdown,
    over: AtomicBool,
}

impl Workload for FanOut {
    async fn prepare(spawner: &impl Spawner, _: u32) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            work: Spin::of(WORK),
            done: Countdown::default(),
            over: AtomicBool::new(false),
        });
        let turns: Vec<Arc<Turn>> = (0..CONSUMERS).map(|_| Arc::default()).collect();
        for turn in &turns {
            spawner.spawn(consume(turn.clone(), shared.clone()));
        }
        Ok(Self { turns, shared })
    }

    async fn batch(&mut self, _: &impl Spawner, ops: u64) -> io::Result<u64> {
        let rounds = share(ops, CONSUMERS);
        for _ in 0..rounds {
            self.shared.done.arm(CONSUMERS);
            self.wake_all();
            self.shared.done.zero().await;
        }
        Ok(rounds * CONSUMERS as u64)
    }
}

impl FanOut {
    fn wake_all(&self) {
        for turn in &self.turns {
            turn.give();
        }
    }
}

/// The consumers would wait for ever, and some subjects wait for them.
impl Drop for FanOut {
    fn drop(&mut self) {
        // Ordering: Relaxed, the turn that follows brings it along.
        self.shared.over.store(true, Ordering::Relaxed);
        self.wake_all();
    }
}

async fn consume(turn: Arc<Turn>, shared: Arc<Shared>) {
    loop {
        turn.take().await;
        if shared.over.load(Ordering::Relaxed) {
            return;
        }
        shared.work.run();
        shared.done.arrive();
    }
}
