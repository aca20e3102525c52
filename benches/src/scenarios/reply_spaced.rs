//! `reply-spaced`: lone requests; between two of them the client works for 500 us, so that the other workers park.
//!
//! Only the round trips count, as in the report: the gap's own time, and the client's own processor time in it, are
//! taken off. What other workers burn during the gap, looking for work, stays on the bill.

use std::io;
use std::mem;
use std::time::{Duration, Instant};

use super::Workload;
use super::reply::request;
use crate::measure::{Aside, Latencies};
use crate::pool::Spawner;
use crate::spin::Spin;

const GAP: Duration = Duration::from_micros(500);

pub(crate) struct ReplySpaced {
    gap: Spin,
    round_trips: Latencies,
    gaps: Aside,
}

impl Workload for ReplySpaced {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self {
            gap: Spin::of(GAP),
            round_trips: Latencies::default(),
            gaps: Aside::default(),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            self.gaps += Aside::of(|| self.gap.run());
            let start = Instant::now();
            request(spawner, Spin::NONE).await?;
            self.round_trips.record(start.elapsed());
        }
        Ok(ops)
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        Some(mem::take(&mut self.round_trips))
    }

    fn take_aside(&mut self) -> Aside {
        mem::take(&mut self.gaps)
    }
}
