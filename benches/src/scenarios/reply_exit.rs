//! `reply-exit`: a client awaits a reply; a server task queues the delivery of that reply as a second task, and exits.

use std::io;

use super::Workload;
use super::reply::request;
use crate::pool::Spawner;
use crate::spin::Spin;

pub(crate) struct ReplyExit;

impl Workload for ReplyExit {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self)
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            request(spawner, Spin::NONE).await?;
        }
        Ok(ops)
    }
}
