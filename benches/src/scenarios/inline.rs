//! `inline`: the players of `ping-pong` joined in one task and polled by turns, without a scheduler.
//!
//! The reference for `ping-pong`: what the two futures cost by themselves. Their wakers do nothing; each is polled right
//! after the other, which is when its turn has come. It is the same on every subject, so that the difference between two
//! subjects in this row is the noise of the machine.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use futures::future::join;

use super::Workload;
use super::ping_pong::{HOPS, play};
use super::turn::Turn;
use crate::pool::Spawner;

pub(crate) struct Inline;

impl Workload for Inline {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self)
    }

    async fn batch(&mut self, _: &impl Spawner, ops: u64) -> io::Result<u64> {
        let turns = ops.div_ceil(HOPS);
        let (left, right) = <(Arc<Turn>, Arc<Turn>)>::default();
        let mut both = pin!(join(
            play(left.clone(), right.clone(), turns, true),
            play(right, left, turns, false),
        ));
        let mut context = Context::from_waker(Waker::noop());
        while both.as_mut().poll(&mut context).is_pending() {}
        Ok(turns * HOPS)
    }
}
