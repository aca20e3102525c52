//! `ping-pong`: pairs of tasks that wake each other in turn through a flag and an `AtomicWaker`.
//!
//! As little as two tasks can share to hand a turn over, so that what is measured is the hop.

use std::io;
use std::sync::Arc;

use super::turn::Turn;
use super::{Workload, share, together};
use crate::pool::Spawner;

/// A round trip is two hops.
pub(super) const HOPS: u64 = 2;

pub(crate) struct PingPong {
    pairs: usize,
}

impl Workload for PingPong {
    async fn prepare(_: &impl Spawner, pairs: u32) -> io::Result<Self> {
        Ok(Self {
            pairs: pairs as usize,
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let turns = share(ops.div_ceil(HOPS), self.pairs);
        let players = (0..self.pairs).flat_map(|_| {
            let (left, right) = <(Arc<Turn>, Arc<Turn>)>::default();
            [
                play(left.clone(), right.clone(), turns, true),
                play(right, left, turns, false),
            ]
        });
        together::all(spawner, players).await?;
        Ok(turns * HOPS * self.pairs as u64)
    }
}

/// One of two who give each other `turns` turns.
pub(super) async fn play(
    mine: Arc<Turn>,
    other: Arc<Turn>,
    turns: u64,
    serves: bool,
) -> io::Result<()> {
    for _ in 0..turns {
        if serves {
            other.give();
            mine.take().await;
        } else {
            mine.take().await;
            other.give();
        }
    }
    Ok(())
}
