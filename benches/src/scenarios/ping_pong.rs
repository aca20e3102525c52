//! `ping-pong`: pairs of tasks that wake each other in turn through a flag and an `AtomicWaker`.
//!
//! As little as two tasks can share to hand a turn over, so that what is measured is the hop.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;

use super::{Workload, share, together};
use crate::pool::Spawner;

/// A round trip is two hops.
const HOPS: u64 = 2;

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
            let (left, right) = (Arc::new(Side::default()), Arc::new(Side::default()));
            [
                play(left.clone(), right.clone(), turns, true),
                play(right, left, turns, false),
            ]
        });
        together::all(spawner, players).await?;
        Ok(turns * HOPS * self.pairs as u64)
    }
}

/// Where one player waits for its turn.
#[derive(Default)]
struct Side {
    turn: AtomicBool,
    waker: AtomicWaker,
}

impl Side {
    fn give_turn(&self) {
        // Ordering: Release, pairs with the Acquire in `take_turn`; `wake` and `register` order the rest.
        self.turn.store(true, Ordering::Release);
        self.waker.wake();
    }

    fn take_turn(&self) -> bool {
        // A plain load and store, not a swap: only the player of this side takes, and nobody gives twice in a row.
        // Ordering: Acquire, pairs with `give_turn`; the reset is seen by `give_turn`'s caller through its own turn.
        let mine = self.turn.load(Ordering::Acquire);
        if mine {
            self.turn.store(false, Ordering::Relaxed);
        }
        mine
    }

    async fn turn(&self) {
        poll_fn(|context| {
            if self.take_turn() {
                return Poll::Ready(());
            }
            self.waker.register(context.waker());
            // A turn given between the first look and the registration woke nobody.
            if self.take_turn() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

async fn play(mine: Arc<Side>, other: Arc<Side>, turns: u64, serves: bool) -> io::Result<()> {
    for _ in 0..turns {
        if serves {
            other.give_turn();
            mine.turn().await;
        } else {
            mine.turn().await;
            other.give_turn();
        }
    }
    Ok(())
}
