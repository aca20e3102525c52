//! `reply-housekeeping`: as `reply-exit`, but the server works on for 5 us after it has queued the reply.
//!
//! Nothing stalls for long and still a second worker would halve the time: it can deliver the reply, and start on the
//! next request, while the first does its housekeeping.

use std::io;
use std::time::Duration;

use super::Workload;
use super::reply::request;
use crate::pool::Spawner;
use crate::spin::Spin;

const TAIL: Duration = Duration::from_micros(5);

pub(crate) struct ReplyHousekeeping {
    tail: Spin,
}

impl Workload for ReplyHousekeeping {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self {
            tail: Spin::of(TAIL),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            request(spawner, self.tail).await?;
        }
        Ok(ops)
    }
}
