//! One cell: one scenario on one subject, run in this process.
//!
//! The whole measurement happens inside the subject, in its root future: prepare, warm up, measure one batch. The batch
//! is sized from the warm-up, so that a cell takes the same time on a fast subject as on a slow one, and nobody has to
//! guess how many operations are enough. What the batch does is bounded in count; how long it may take is for the
//! caller to bound, from another process, since a pool that hangs cannot be asked to stop.
//!
//! [`watch`] measures something else: chunk after chunk of operations from the first one on, with no warm-up, to show
//! how their cost changes ([`crate::chunks`]). It takes a process of its own, since the figures of [`run`] must not
//! depend on whether somebody watched.
//!
//! Rejected: a fixed number of operations for each scenario. Subjects differ by a factor of twenty; a count that is
//! long enough for the fastest made the slowest take most of the time.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::time::{Duration, Instant};

use runnext_bench_alloc::Count;
use serde::{Deserialize, Serialize};

use crate::chunks::Chunks;
use crate::measure::{Cost, Latencies, Stopwatch};
use crate::pool::{self, Counters, Pool, Spawner, Threads};
use crate::scenario::Scenario;
use crate::scenarios::latency::{self, Latency};
use crate::scenarios::{
    AwaitPendingTask, AwaitPendingValue, ChannelSpsc, FanOut, FanOut16, GiveWay, HttpJson, Inline,
    PingPong, ReplyExit, ReplyHousekeeping, ReplySpaced, Requeue, Spawn, SpawnOutside,
    SuspendResume, WebsocketEcho, Workload, YieldGlobal, outside,
};
use crate::subject::{Peer, Subject};

mod reactor;

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The workload.
    pub scenario: Scenario,
    /// The value of the scenario's parameter, if it has one.
    pub size: Option<u32>,
    /// What it runs on.
    pub subject: Subject,
    /// How many workers the subject has; at least one. `limit` has as many threads as it needs.
    pub workers: usize,
    /// Whether worker i is kept on core i.
    pub pin: bool,
}

impl Cell {
    /// How long the pool rests before each operation; zero in most scenarios.
    #[must_use]
    pub fn rest(&self) -> Duration {
        match self.size {
            Some(milliseconds) if self.scenario.rests() => {
                Duration::from_millis(milliseconds.into())
            }
            _ => Duration::ZERO,
        }
    }
}

/// How much to do for one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Work this long before anything counts.
    pub warm_up: Duration,
    /// Size the measured batch to take about this long.
    pub timed: Duration,
    /// Do this many operations instead, once before and once while measuring.
    pub ops: Option<u64>,
}

impl Effort {
    /// Enough for figures that can be compared.
    pub const FULL: Self = Self {
        warm_up: Duration::from_millis(300),
        timed: Duration::from_millis(1000),
        ops: None,
    };

    /// Enough to see the order of things within minutes. What differs from process to process outweighs what differs
    /// within one, so that the time goes into rounds rather than into each of them.
    pub const QUICK: Self = Self {
        warm_up: Duration::from_millis(15),
        timed: Duration::from_millis(20),
        ops: None,
    };

    /// A fixed number of operations instead of a time.
    #[must_use]
    pub const fn with_ops(self, ops: u64) -> Self {
        Self {
            ops: Some(ops),
            ..self
        }
    }
}

/// For how long to watch, and how closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Start the last chunk before this much time has passed.
    pub lasts: Duration,
    /// How many operations make a chunk.
    pub chunk_ops: u64,
}

/// What one measurement found; times are per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Nanoseconds on the clock.
    pub wall_ns: f64,
    /// Nanoseconds of processor time, all threads of the process together.
    pub cpu_ns: f64,
    /// Operations that were timed.
    pub ops: u64,
    /// How often a thread went to sleep.
    pub voluntary_switches_per_op: f64,
    /// Bytes that were asked of the allocator, by all threads of the process together; where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alloc_bytes_per_op: Option<f64>,
    /// Threads of the process when the batch was done; where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// How the operations' own times were spread, where the scenario takes them.
    #[serde(flatten)]
    pub quantiles: Option<Quantiles>,
    /// What the subject counted of its own doings meanwhile, all timed operations together; empty for peers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stats: BTreeMap<String, u64>,
}

/// The spread of single operations' times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half took no longer.
    pub p50_us: f64,
    /// Three of four took no longer.
    pub p75_us: f64,
    /// Nine of ten took no longer.
    pub p90_us: f64,
    /// 99 of a hundred took no longer.
    pub p99_us: f64,
    /// None took longer.
    pub max_us: f64,
}

impl Measured {
    fn new(cost: Cost, ops: u64, latencies: Option<&Latencies>) -> Self {
        let per_op = |time: Duration| time.as_nanos() as f64 / ops as f64;
        Self {
            wall_ns: per_op(cost.wall),
            cpu_ns: per_op(cost.cpu),
            ops,
            voluntary_switches_per_op: cost.voluntary_switches as f64 / ops as f64,
            alloc_bytes_per_op: None,
            threads: None,
            quantiles: latencies.map(Quantiles::of),
            stats: BTreeMap::new(),
        }
    }
}

impl Quantiles {
    fn of(latencies: &Latencies) -> Self {
        Self {
            p50_us: latencies.quantile_us(0.5),
            p75_us: latencies.quantile_us(0.75),
            p90_us: latencies.quantile_us(0.9),
            p99_us: latencies.quantile_us(0.99),
            max_us: latencies.quantile_us(1.0),
        }
    }
}

/// Measures `cell` in this process, once.
///
/// # Errors
/// If the subject cannot run the scenario ([`io::ErrorKind::Unsupported`]), if its threads or the scenario's sockets
/// cannot be had, or if an operation failed.
pub fn run(cell: &Cell, effort: Effort) -> io::Result<Measured> {
    start(cell, effort)
}

/// Watches `cell` in this process, from its first operation on.
///
/// # Errors
/// As [`run`].
pub fn watch(cell: &Cell, view: View) -> io::Result<Chunks> {
    start(cell, view)
}

/// What is done with a prepared workload.
trait Look: Send + 'static {
    type Found: Send + 'static;

    fn look<W: Workload>(
        self,
        workload: W,
        spawner: &impl Spawner,
        size: u32,
    ) -> impl Future<Output = io::Result<Self::Found>> + Send;
}

impl Look for Effort {
    type Found = Measured;

    async fn look<W: Workload>(
        self,
        workload: W,
        spawner: &impl Spawner,
        size: u32,
    ) -> io::Result<Measured> {
        measure(workload, spawner, size, self).await
    }
}

impl Look for View {
    type Found = Chunks;

    async fn look<W: Workload>(
        self,
        workload: W,
        spawner: &impl Spawner,
        _: u32,
    ) -> io::Result<Chunks> {
        chunk_by_chunk(workload, spawner, self).await
    }
}

/// Starts the subject, and looks.
fn start<L: Look>(cell: &Cell, look: L) -> io::Result<L::Found> {
    cell.scenario
        .supported_by(cell.subject)
        .map_err(|reason| io::Error::new(io::ErrorKind::Unsupported, reason))?;
    if cell.scenario.entry().io {
        reactor::prepare(cell.size.unwrap_or(1))?;
    }
    if cell.scenario.entry().outside {
        outside::prepare();
    }
    let threads = Threads::new(cell.workers, cell.pin)?;
    match cell.subject {
        Subject::Variant(variant) => on(&pool::runnext::start(variant, &threads)?, cell, look),
        Subject::Peer(Peer::Tokio) => on(&pool::tokio::start(&threads)?, cell, look),
        Subject::Peer(Peer::AsyncExecutor) => on(
            &pool::async_executor::start(&threads, cell.scenario.entry().io)?,
            cell,
            look,
        ),
        Subject::Peer(Peer::Futures) => on(&pool::futures::start(&threads)?, cell, look),
        Subject::Peer(Peer::Limit) if cell.scenario.rests() => {
            on(&pool::limit::pair::start(&threads)?, cell, look)
        }
        Subject::Peer(Peer::Limit) => on(&pool::limit::start(&threads), cell, look),
    }
}

fn on<L: Look>(pool: &impl Pool, cell: &Cell, look: L) -> io::Result<L::Found> {
    match cell.scenario {
        Scenario::Requeue => drive::<Requeue, _>(pool, cell, look),
        Scenario::PingPong => drive::<PingPong, _>(pool, cell, look),
        Scenario::FanOut => drive::<FanOut, _>(pool, cell, look),
        Scenario::ChannelSpsc => drive::<ChannelSpsc, _>(pool, cell, look),
        Scenario::YieldGlobal => drive::<YieldGlobal, _>(pool, cell, look),
        Scenario::Inline => drive::<Inline, _>(pool, cell, look),
        Scenario::Spawn => drive::<Spawn, _>(pool, cell, look),
        Scenario::SpawnOutside => drive::<SpawnOutside, _>(pool, cell, look),
        Scenario::ReplyExit => drive::<ReplyExit, _>(pool, cell, look),
        Scenario::ReplyHousekeeping => drive::<ReplyHousekeeping, _>(pool, cell, look),
        Scenario::ReplySpaced => drive::<ReplySpaced, _>(pool, cell, look),
        Scenario::LatencySpin => drive::<Latency<latency::SpinOn>, _>(pool, cell, look),
        Scenario::LatencySpinLate => drive::<Latency<latency::SpinOnLate>, _>(pool, cell, look),
        Scenario::LatencyNativeBlock => drive::<Latency<latency::NativeBlock>, _>(pool, cell, look),
        Scenario::LatencySleep => drive::<Latency<latency::Sleep>, _>(pool, cell, look),
        Scenario::LatencyHookedSleep => drive::<Latency<latency::HookedSleep>, _>(pool, cell, look),
        Scenario::LatencyCondvar => drive::<Latency<latency::Condvar>, _>(pool, cell, look),
        Scenario::LatencyMutex => drive::<Latency<latency::MutexLock>, _>(pool, cell, look),
        Scenario::LatencyAsyncMutex => {
            drive::<Latency<latency::AsyncMutexLock>, _>(pool, cell, look)
        }
        Scenario::LatencyEvent => drive::<Latency<latency::Event>, _>(pool, cell, look),
        Scenario::SuspendResume => drive::<SuspendResume, _>(pool, cell, look),
        Scenario::AwaitPendingTask => drive::<AwaitPendingTask, _>(pool, cell, look),
        Scenario::AwaitPendingValue => drive::<AwaitPendingValue, _>(pool, cell, look),
        Scenario::FanOut16 => drive::<FanOut16, _>(pool, cell, look),
        Scenario::Yield => drive::<GiveWay, _>(pool, cell, look),
        Scenario::WebsocketEcho => drive::<WebsocketEcho, _>(pool, cell, look),
        Scenario::HttpJson => drive::<HttpJson, _>(pool, cell, look),
    }
}

fn drive<W: Workload, L: Look>(pool: &impl Pool, cell: &Cell, look: L) -> io::Result<L::Found> {
    let (spawner, size) = (pool.spawner(), cell.size.unwrap_or(1));
    let root = async move {
        let workload = W::prepare(&spawner, size).await?;
        look.look(workload, &spawner, size).await
    };
    pool.drive(root).unwrap_or_else(|| {
        Err(io::Error::other(
            "the subject dropped the root task before it was done, or ran out of tasks to run",
        ))
    })
}

async fn measure<W: Workload>(
    mut workload: W,
    spawner: &impl Spawner,
    size: u32,
    effort: Effort,
) -> io::Result<Measured> {
    let Warm { ops, alloc } = match W::samples(size, effort.timed) {
        Some(samples) => {
            workload.batch(spawner, 1).await?;
            Warm {
                ops: effort.ops.unwrap_or(samples),
                alloc: None,
            }
        }
        None => warm_up(&mut workload, spawner, effort).await?,
    };
    // What the warm-up took belongs to no figure.
    workload.take_latencies();
    workload.take_aside();
    let before = spawner.counters();
    let watch = Stopwatch::start();
    let done = workload.batch(spawner, ops).await?;
    let cost = watch.stop().without(workload.take_aside());
    let stats = since(&before, spawner.counters());
    Ok(Measured {
        stats,
        alloc_bytes_per_op: alloc,
        threads: threads(),
        ..Measured::new(cost, done, workload.take_latencies().as_ref())
    })
}

/// How many threads this process has now, those that serve and those that ask included.
fn threads() -> Option<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    tasks.count().try_into().ok()
}

async fn chunk_by_chunk(
    mut workload: impl Workload,
    spawner: &impl Spawner,
    view: View,
) -> io::Result<Chunks> {
    let mut chunks_ns = Vec::new();
    let start = Instant::now();
    while start.elapsed() < view.lasts || chunks_ns.is_empty() {
        let watch = Stopwatch::start();
        let done = workload.batch(spawner, view.chunk_ops).await?;
        let cost = watch.stop().without(workload.take_aside());
        chunks_ns.push(cost.wall.as_nanos() as f64 / done as f64);
    }
    Ok(Chunks {
        chunk_ops: view.chunk_ops,
        chunks_ns,
        chunks_took_ms: start.elapsed().as_secs_f64() * 1e3,
    })
}

/// How much each counter has grown.
fn since(before: &Counters, now: Counters) -> BTreeMap<String, u64> {
    let growth = |name| now[name].saturating_sub(before.get(name).copied().unwrap_or(0));
    now.keys()
        .map(|name| (name.to_string(), growth(name)))
        .collect()
}

/// What the warm-up found.
struct Warm {
    /// How many operations to time.
    ops: u64,
    /// Bytes allocated for each operation, if they were counted.
    alloc: Option<f64>,
}

/// Doubles the batch until one has taken half of the warm-up.
///
/// All batches together have then taken about the warm-up, at most twice; the last one's speed is believed, and so are
/// its allocations. They are counted here, since counting them would cost the timed batch time. A batch that took far
/// more than twice as long as the one before it was disturbed and is not believed: the timed batch would be a short one.
async fn warm_up(
    workload: &mut impl Workload,
    spawner: &impl Spawner,
    effort: Effort,
) -> io::Result<Warm> {
    let mut ops = effort.ops.unwrap_or(1);
    let mut before = Duration::ZERO;
    loop {
        let (watch, count) = (Stopwatch::start(), Count::start());
        let done = workload.batch(spawner, ops).await?;
        let (bytes, took) = (count.stop(), watch.stop().wall);
        let alloc = Some(bytes as f64 / done as f64);
        if effort.ops.is_some() {
            return Ok(Warm { ops, alloc });
        }
        let disturbed = took > before * 4 && took < effort.warm_up * 8;
        if took >= effort.warm_up / 2 && !disturbed {
            let ops = ops_for(effort.timed, done, took);
            return Ok(Warm { ops, alloc });
        }
        (ops, before) = (done * 2, took);
    }
}

/// How many operations take `time`, if `ops` of them took `took`.
fn ops_for(time: Duration, ops: u64, took: Duration) -> u64 {
    let ratio = time.as_secs_f64() / took.as_secs_f64();
    ((ops as f64 * ratio) as u64).max(1)
}

#[cfg(test)]
mod tests;
