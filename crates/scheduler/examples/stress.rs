//! Loads pools with everything that hops, blocks, cancels and wakes, and looks whether anything is lost.
//!
//! ```text
//! cargo run --release -p runnext --example stress -- SECONDS [CELL]
//! ```
//!
//! A **cell** is a number of workers and a setting of the switches; the seconds are divided among the
//! cells, or those whose name holds `CELL`. In each, several **loads** share one pool, with a second,
//! small one beside it. A load counts its steps, and between two of them it waits while it is the others'
//! turn: every few milliseconds the main thread draws anew which loads go on, from none to all, so
//! that workers and gate go to sleep and are woken all the time.
//!
//! The main thread is the watchdog: a load without a step for [`PATIENCE`] has been starved or has
//! lost a wake-up, and so has a pool that does not come to rest once the loads are told to stop. Then the
//! pool's state is printed, and the exit code is 1.
//!
//! At rest nothing may be left: no future, no queued item, nobody awake or blocked, no worker beyond the minimum, and
//! no item for which the gate had to step in although nobody had promised to look after it (`gate_rescues`). Spares
//! end after milliseconds here, so that threads come and go all the time.
//!
//! # Why the loads take turns
//!
//! With all of them at once no worker ever sleeps, and of what can go wrong between going to sleep and being
//! woken nothing would be tried: a second then saw one to eight wake-ups instead of several hundred.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use runnext::{Builder, Knobs, Pool, block_on, blocking, yield_now};

/// How long a load may be without a step, and a pool without coming to rest, before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a spare waits.
const SPARE: Duration = Duration::from_millis(5);

const WORKERS: [usize; 4] = [1, 2, 4, 8];

#[path = "../tests/it/support/switches.rs"]
mod switches;
use switches::SWITCHES;

/// A load: it goes on for as long as [`Site::step`] says.
type Load = fn(Site) -> Pin<Box<dyn Future<Output = ()> + Send>>;

const LOADS: [(&str, Load); 10] = [
    ("ping-pong", |site| Box::pin(ping_pong(site))),
    ("yields", |site| Box::pin(yields(site))),
    ("self-wakes", |site| Box::pin(self_wakes(site))),
    ("fan-out", |site| Box::pin(fan_out(site))),
    ("channel", |site| Box::pin(channel(site))),
    ("cancel", |site| Box::pin(cancel(site))),
    ("outside", |site| Box::pin(outside(site))),
    ("nested", |site| Box::pin(nested(site))),
    ("blocked", |site| Box::pin(blocked(site))),
    ("sections", |site| Box::pin(sections(site))),
];

/// What a load works with.
#[derive(Clone)]
struct Site {
    pool: Pool,
    /// A second pool, whose tasks never wait for the first.
    other: Pool,
    turn: Arc<Turn>,
}

impl Site {
    /// Counts a step and waits for the load's turn. False once the load is to end.
    async fn step(&self) -> bool {
        self.turn.steps.fetch_add(1, Ordering::Relaxed);
        while !self.turn.is_on.load(Ordering::Acquire) {
            self.turn.changed.notified().await;
        }
        !self.turn.ends.load(Ordering::Relaxed)
    }
}

/// Whether a load goes on.
#[derive(Default)]
struct Turn {
    steps: AtomicU64,
    is_on: AtomicBool,
    changed: Notify,
    ends: AtomicBool,
}

impl Turn {
    fn set(&self, on: bool) {
        self.is_on.store(on, Ordering::Release);
        self.changed.notify();
    }

    fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.set(true);
    }
}

async fn ping_pong(site: Site) {
    let (ping, pong) = (Notify::default(), Notify::default());
    let echo = site.pool.spawn({
        let (ping, pong) = (ping.clone(), pong.clone());
        async move {
            loop {
                ping.notified().await;
                pong.notify();
            }
        }
    });
    while site.step().await {
        ping.notify();
        pong.notified().await;
    }
    let _: Option<()> = echo.cancel().await;
}

/// A few tasks that do nothing but yield.
async fn yields(site: Site) {
    while site.step().await {
        let storm: Vec<_> = (0..8).map(|_| site.pool.spawn(yield_times(100))).collect();
        for task in storm {
            task.await;
        }
    }
}

async fn yield_times(times: u32) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Wakes itself within its poll, several times and in both ways.
async fn self_wakes(site: Site) {
    while site.step().await {
        let mut polls = 0;
        poll_fn(|context| {
            polls += 1;
            let waker = context.waker().clone();
            waker.wake_by_ref();
            waker.wake();
            if polls < 10 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// Spawns many tasks from one poll, a few of them globally, and waits for all.
async fn fan_out(site: Site) {
    while site.step().await {
        let tasks: Vec<_> = (0..64)
            .map(|i| match i % 8 {
                0 => site.pool.spawn_global(yield_times(1)),
                _ => site.pool.spawn(yield_times(i % 3)),
            })
            .collect();
        for task in tasks {
            task.await;
        }
    }
}

/// Passes numbers through a short channel, in order.
async fn channel(site: Site) {
    let (sender, receiver) = async_channel::bounded(4);
    let sends = site.pool.spawn(async move {
        let mut next = 0_u64;
        while sender.send(next).await.is_ok() {
            next += 1;
        }
    });
    let mut expected = 0;
    while site.step().await {
        assert_eq!(receiver.recv().await, Ok(expected));
        expected += 1;
    }
    drop(receiver);
    sends.await;
}

/// Gives up tasks at every moment of their lives.
async fn cancel(site: Site) {
    while site.step().await {
        let dropped = site.pool.spawn(pending::<()>());
        let cancelled = site.pool.spawn(yield_times(3));
        let done = site.pool.spawn(async {});
        yield_times(fastrand::u32(..5)).await;
        drop(dropped);
        let _: Option<()> = cancelled.cancel().await;
        done.detach();
    }
}

/// Is woken, and has tasks spawned, by a thread that is no worker.
async fn outside(site: Site) {
    let notify = Notify::default();
    let thread = thread::spawn({
        let (site, notify) = (site.clone(), notify.clone());
        move || {
            while !site.turn.ends.load(Ordering::Relaxed) {
                let wakes = match site.turn.is_on.load(Ordering::Relaxed) {
                    true => fastrand::u32(1..10),
                    false => 0,
                };
                for _ in 0..wakes {
                    notify.notify();
                    site.pool.spawn(yield_times(1)).detach();
                }
                thread::sleep(Duration::from_micros(fastrand::u64(..200)));
            }
            notify.notify();
        }
    });
    loop {
        notify.notified().await;
        if !site.step().await {
            break;
        }
    }
    thread.join().expect("the thread does not panic");
}

/// Waits in its poll for tasks of the other pool, which wait for each other.
async fn nested(site: Site) {
    while site.step().await {
        let inner = site.other.clone();
        block_on(site.other.spawn(async move {
            let task = inner.spawn(yield_times(2));
            block_on(inner.spawn_global(async {}).fallible());
            task.await;
        }));
        yield_times(20).await;
    }
}

/// Blocks its worker now and then, with a woken task behind it.
async fn blocked(site: Site) {
    while site.step().await {
        let behind = site.pool.spawn(async {});
        thread::sleep(Duration::from_micros(fastrand::u64(..2000)));
        behind.await;
        yield_times(200).await;
    }
}

/// Blocks its worker and says so, with a woken task behind it; and waits for a task of its own pool, where that makes up
/// for it.
async fn sections(site: Site) {
    while site.step().await {
        let behind = site.pool.spawn(async {});
        blocking(|| thread::sleep(Duration::from_micros(fastrand::u64(..500))));
        behind.await;
        if site.pool.knobs().cooperative_blocking() {
            block_on(site.pool.spawn(yield_times(1)));
            block_on(site.pool.spawn_global(yield_times(3)));
        }
        yield_times(100).await;
    }
}

/// Wakes one waiting task from within [`notify`](Self::notify); a notification that comes first is kept.
#[derive(Clone, Default)]
struct Notify(Arc<Mutex<(bool, Option<Waker>)>>);

impl Notify {
    fn notify(&self) {
        let waiter = {
            let mut state = self.0.lock().expect("nobody panics with the lock");
            state.0 = true;
            state.1.take()
        };
        waiter.into_iter().for_each(Waker::wake);
    }

    async fn notified(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("nobody panics with the lock");
            if std::mem::take(&mut state.0) {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// One number of workers and one setting, and what runs there.
struct Cell {
    pool: Pool,
    other: Pool,
    running: Vec<Running>,
}

/// A load that runs.
struct Running {
    name: &'static str,
    task: runnext::Task<()>,
    turn: Arc<Turn>,
    /// The steps as they were last seen, and since when.
    seen: (u64, Instant),
}

impl Cell {
    fn start(workers: usize, knobs: &Knobs) -> Cell {
        let knobs = knobs.clone().with_thread_timeout(Some(SPARE));
        let pool = |threads| Builder::new().threads(threads).knobs(knobs.clone()).build();
        let copies = workers.div_ceil(2);
        let mut cell = Cell {
            pool: pool(workers).expect("the threads start"),
            // Each copy of `nested` blocks one of its workers at most, and one stays free.
            other: pool(copies + 1).expect("the threads start"),
            running: Vec::new(),
        };
        for _ in 0..copies {
            for (name, load) in LOADS {
                let running = cell.run(name, load);
                cell.running.push(running);
            }
        }
        cell
    }

    fn run(&self, name: &'static str, load: Load) -> Running {
        let turn = Arc::<Turn>::default();
        let site = Site {
            pool: self.pool.clone(),
            other: self.other.clone(),
            turn: turn.clone(),
        };
        Running {
            name,
            task: self.pool.spawn(load(site)),
            turn,
            seen: (0, Instant::now()),
        }
    }

    /// Lets the loads run for `time`, then stops them and sees everything come to rest.
    fn watch(mut self, time: Duration) -> Result<String, String> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.draw();
            thread::sleep(Duration::from_micros(fastrand::u64(..10_000)));
            self.running.iter_mut().try_for_each(Running::check)?;
        }
        let summary = self.summary();
        self.running.iter().for_each(|load| load.turn.end());
        for load in &self.running {
            wait_until(
                || load.task.is_finished(),
                || format!("`{}` does not end", load.name),
            )?;
        }
        for pool in [&self.pool, &self.other] {
            wait_until(
                || is_at_rest(pool),
                || format!("a pool does not rest: {}\n{}", pool.stats(), pool.dump()),
            )?;
            let rescues = pool.stats().gate_rescues;
            if rescues > 0 {
                return Err(format!(
                    "the gate rescued what nobody had promised to watch: {rescues} items"
                ));
            }
            if !pool.shutdown_timeout(PATIENCE) {
                return Err("a pool does not shut down".into());
            }
        }
        Ok(summary)
    }
}

impl Cell {
    /// Draws whose turn it is: often one of them, now and then nobody's or everybody's.
    fn draw(&self) {
        let share = fastrand::f32().powi(3);
        for load in &self.running {
            load.turn.set(fastrand::f32() < share);
        }
    }

    fn summary(&self) -> String {
        let steps: u64 = self.running.iter().map(Running::steps).sum();
        let stats = self.pool.stats();
        let total = &stats.total;
        format!(
            "{:6.2} M steps, {:6.2} M polls ({:2.0} % slot), {:6} slot steals, {:6} queue steals, \
             {:7} parks, {:7} wakes, {:7} gate ticks, {:6} stall rescues, {} gate rescues, {:5} workers injected, \
             {:5} retired",
            steps as f64 / 1e6,
            total.polls_count as f64 / 1e6,
            100.0 * total.slot_polls as f64 / total.polls_count.max(1) as f64,
            total.slot_steals,
            total.steal_operations,
            total.park_count,
            total.wakes_requested + stats.remote_wakes_requested,
            stats.gate_ticks,
            stats.stall_rescues,
            stats.gate_rescues,
            stats.injected_workers,
            stats.retired_workers,
        )
    }
}

impl Running {
    fn steps(&self) -> u64 {
        self.turn.steps.load(Ordering::Relaxed)
    }

    fn check(&mut self) -> Result<(), String> {
        let steps = self.steps();
        if self.task.is_finished() {
            return Err(format!("`{}` panicked after {steps} steps", self.name));
        }
        if steps != self.seen.0 {
            self.seen = (steps, Instant::now());
        }
        match self.seen.1.elapsed() < PATIENCE {
            true => Ok(()),
            false => Err(format!(
                "`{}` makes no step any more, after {steps}",
                self.name
            )),
        }
    }
}

/// No future, nothing queued, nobody awake or blocked, and as many workers as at the start.
fn is_at_rest(pool: &Pool) -> bool {
    let stats = pool.stats();
    stats.live_tasks_count == 0
        && stats.blocked_workers == 0
        && stats.spare_workers == 0
        && stats.workers_count == pool.knobs().min_threads()
        && stats.injection_queue_depth == 0
        && stats.total.local_queue_depth == 0
        && !stats.total.slot_full
        && stats.parked_workers == stats.workers_count
}

fn wait_until(done: impl Fn() -> bool, otherwise: impl Fn() -> String) -> Result<(), String> {
    let begun = Instant::now();
    while !done() {
        if begun.elapsed() >= PATIENCE {
            return Err(otherwise());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The cells whose name holds `filter`.
fn cells(filter: &str) -> Vec<(String, usize, switches::Turn)> {
    let cell = |workers| {
        SWITCHES.map(|(name, turn)| (format!("workers {workers}, {name}"), workers, turn))
    };
    let mut cells = Vec::from_iter(WORKERS.into_iter().flat_map(cell));
    cells.retain(|(name, ..)| name.contains(filter));
    cells
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse::<u32>().ok());
    let cells = cells(&arguments.next().unwrap_or_default());
    let Some(seconds) = seconds.filter(|&seconds| seconds > 0 && !cells.is_empty()) else {
        eprintln!(
            "stress: expected a number of seconds, at least 1, and perhaps a part of a cell's name"
        );
        return ExitCode::from(2);
    };
    let time = Duration::from_secs(seconds.into()) / cells.len() as u32;
    for (name, workers, turn) in &cells {
        let cell = Cell::start(*workers, &turn(Knobs::from_env_or_warn()));
        let pools = [cell.pool.clone(), cell.other.clone()];
        match cell.watch(time) {
            Ok(summary) => println!("{name:19}  {summary}"),
            Err(fault) => {
                println!("{name:19}  FAILED: {fault}");
                pools
                    .iter()
                    .for_each(|pool| println!("{:#?}", pool.stats()));
                return ExitCode::FAILURE;
            }
        }
    }
    println!(
        "stress: {} cells, each for {time:?}: nothing hangs, nothing is left",
        cells.len()
    );
    ExitCode::SUCCESS
}
