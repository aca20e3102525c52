//! The workloads, one file each, and what they share.
//!
//! A [`Workload`] prepares what is not to be measured, then does operations in batches; the cell decides how many and
//! times them. So every scenario is warmed up, sized and measured by the same code, and its own file holds nothing but
//! the futures that its name promises.

use std::future::Future;
use std::io;
use std::time::Duration;

use crate::measure::{Aside, Latencies};
use crate::pool::Spawner;

mod await_pending_task;
mod await_pending_value;
mod chain;
mod channel_spsc;
mod clients;
mod countdown;
mod fan_out;
mod fan_out_16;
mod give_way;
mod http_json;
mod inline;
pub(crate) mod latency;
mod loopback;
pub(crate) mod outside;
mod ping_pong;
mod reply;
mod reply_exit;
mod reply_housekeeping;
mod reply_spaced;
mod requeue;
mod spawn;
mod spawn_outside;
mod suspend_resume;
mod together;
mod turn;
mod websocket_echo;
mod yield_global;

pub(crate) use self::await_pending_task::AwaitPendingTask;
pub(crate) use self::await_pending_value::AwaitPendingValue;
pub(crate) use self::channel_spsc::ChannelSpsc;
pub(crate) use self::fan_out::FanOut;
pub(crate) use self::fan_out_16::FanOut16;
pub(crate) use self::give_way::GiveWay;
pub(crate) use self::http_json::HttpJson;
pub(crate) use self::inline::Inline;
pub(crate) use self::ping_pong::PingPong;
pub(crate) use self::reply_exit::ReplyExit;
pub(crate) use self::reply_housekeeping::ReplyHousekeeping;
pub(crate) use self::reply_spaced::ReplySpaced;
pub(crate) use self::requeue::Requeue;
pub(crate) use self::spawn::Spawn;
pub(crate) use self::spawn_outside::SpawnOutside;
pub(crate) use self::suspend_resume::SuspendResume;
pub(crate) use self::websocket_echo::WebsocketEcho;
pub(crate) use self::yield_global::YieldGlobal;

/// What one scenario does, on any subject.
pub(crate) trait Workload: Sized + Send + 'static {
    /// Opens and connects whatever the operations need. `size` is the value of the scenario's parameter.
    fn prepare(spawner: &impl Spawner, size: u32) -> impl Future<Output = io::Result<Self>> + Send;

    /// Does `ops` operations, rounded up to what all of its tasks can share, and returns how many it did.
    fn batch(
        &mut self,
        spawner: &impl Spawner,
        ops: u64,
    ) -> impl Future<Output = io::Result<u64>> + Send;

    /// How many operations to time, for a scenario whose operations rest so long that their time says nothing of what they
    /// cost. Others are sized to take `timed`.
    fn samples(_size: u32, _timed: Duration) -> Option<u64> {
        None
    }

    /// Hands over how long each operation since the last call took, if the scenario takes that time.
    fn take_latencies(&mut self) -> Option<Latencies> {
        None
    }

    /// Hands over what was done since the last call that is part of no operation, and so of no figure.
    fn take_aside(&mut self) -> Aside {
        Aside::default()
    }
}

/// Each task's share of `ops`, rounded up, so that every task has something to do.
fn share(ops: u64, tasks: usize) -> u64 {
    ops.div_ceil(tasks as u64).max(1)
}
