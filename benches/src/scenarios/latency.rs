//! `latency-*`: how long a woken task waits if the task that woke it goes on for 50 ms.
//!
//! One sample: a pool at rest for the scenario's parameter; then a thread outside spawns the waker, which wakes a task
//! that has waited all the while, and goes on in the way that gives the scenario its name ([`ways`]). The time from
//! just before the wake to the start of the woken task's poll is the operation; nothing else is on the bill: not the
//! rest, not what the waker burns. A pool whose wakes go to the waker's own worker, and which does not notice that this
//! worker is held up, shows the whole 50 ms.
//!
//! Where the wake comes right after the waker began, a worker that was woken with the waker's own may still look for work,
//! and the wait is how soon that one takes the task. A waker that computes first ([`Way::begin`]) finds all others asleep.
//!
//! The waker comes from outside because the pool must rest: a timer inside would have to run on one of its workers.
//!
//! After a rest the machine itself may need tens of microseconds to wake a thread. How many, `limit` shows: there each of
//! the two tasks has a plain thread ([`crate::pool::limit::pair`]).
//!
//! A sample takes longer than its rest, so there are few of them; a report says how many, as everywhere, by its count of
//! operations.

use std::future::poll_fn;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use futures::channel::oneshot;

use super::{Workload, outside};
use crate::measure::{Aside, Latencies};
use crate::pool::Spawner;
use crate::turns;

mod ways;

pub(crate) use self::ways::{
    AsyncMutexLock, Condvar, Event, HookedSleep, MutexLock, NativeBlock, Sleep, SpinOn, SpinOnLate,
};

/// How long the waker goes on after its wake.
const GOES_ON: Duration = Duration::from_millis(50);

/// What a waker does around its wake.
pub(crate) trait Way: Send + 'static {
    /// Whether it computes after the wake: that is then not on the bill. One that blocks reads no clock before it does, since
    /// a worker that is to come may have to wait for just that.
    const COMPUTES: bool = false;

    /// Comes before the wake: nothing, if a way does not say otherwise. What it burnt.
    fn begin() -> Aside {
        Aside::default()
    }

    /// Goes on for `time` on a worker of `S`. `held` is locked by somebody else for about as long.
    fn go_on<S: Spawner>(held: &Held, time: Duration);
}

/// Locks that somebody else has.
#[derive(Default)]
pub(crate) struct Held {
    std: Mutex<()>,
    of_async_lock: async_lock::Mutex<()>,
}

pub(crate) struct Latency<W> {
    rest: Duration,
    warm: bool,
    waits: Latencies,
    aside: Aside,
    way: PhantomData<W>,
}

/// What one sample found.
struct Sample {
    /// From the wake to the woken task's start.
    wait: Duration,
    /// What the waker burnt before and after its wake.
    burnt: Duration,
}

impl<W: Way> Workload for Latency<W> {
    async fn prepare(_: &impl Spawner, rest_ms: u32) -> io::Result<Self> {
        Ok(Self {
            rest: Duration::from_millis(rest_ms.into()),
            warm: false,
            waits: Latencies::default(),
            aside: Aside::default(),
            way: PhantomData,
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        for _ in 0..ops {
            let start = Instant::now();
            let (rest, goes_on) = self.next_times();
            let Sample { wait, burnt } = sample::<W, _>(spawner, rest, goes_on).await?;
            self.waits.record(wait);
            self.aside += Aside {
                wall: start.elapsed().saturating_sub(wait),
                cpu: burnt,
            };
        }
        Ok(ops)
    }

    fn samples(rest_ms: u32, timed: Duration) -> Option<u64> {
        /// For what a sample costs it tells little; so it gets more time than other operations.
        const PATIENCE: u32 = 2;
        let samples = (timed * PATIENCE).as_millis() / u128::from(rest_ms.max(1));
        Some((samples as u64).max(1))
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        Some(mem::take(&mut self.waits))
    }

    fn take_aside(&mut self) -> Aside {
        mem::take(&mut self.aside)
    }
}

impl<W> Latency<W> {
    /// How long to rest, and how long the waker goes on. The first sample warms the pool up and needs little of both.
    fn next_times(&mut self) -> (Duration, Duration) {
        if mem::replace(&mut self.warm, true) {
            (self.rest, GOES_ON)
        } else {
            (Duration::from_millis(1), Duration::from_millis(1))
        }
    }
}

/// What `future` gives, and when the poll began that it was ready in: to receive a value is not part of a task's wait
/// for its poll, and after a rest takes some microseconds itself.
fn with_begin_of_poll<F: Future + Unpin>(
    mut future: F,
) -> impl Future<Output = (Instant, F::Output)> {
    poll_fn(move |cx| {
        let begun = Instant::now();
        Pin::new(&mut future).poll(cx).map(|output| (begun, output))
    })
}

async fn sample<W: Way, S: Spawner>(
    spawner: &S,
    rest: Duration,
    goes_on: Duration,
) -> io::Result<Sample> {
    let (wake, woken) = oneshot::channel();
    let (waited, wait) = oneshot::channel();
    spawner.spawn(async move {
        if let (begun, Ok(since)) = with_begin_of_poll(woken).await {
            // The batch waits for as long as it takes, here and below.
            let _ = waited.send(begun.saturating_duration_since(since));
        }
    });
    let (stopped, stop) = oneshot::channel();
    let spawner = spawner.clone();
    outside::run(move || {
        turns::rest(rest);
        let held = Arc::new(Held::default());
        let guards = (
            held.std.lock().expect("nobody has had it yet"),
            held.of_async_lock.lock_blocking(),
        );
        let contended = held.clone();
        spawner.spawn(async move {
            let mut burnt = W::begin();
            // The woken task fails the sample if it is gone.
            let _ = wake.send(Instant::now());
            let go_on = || W::go_on::<S>(&contended, goes_on);
            match W::COMPUTES {
                true => burnt += Aside::of(go_on),
                false => go_on(),
            }
            let _ = stopped.send(burnt);
        });
        thread::sleep(goes_on);
        drop(guards);
    })?;
    let lost = |_| io::Error::other("the subject dropped a task of the sample");
    Ok(Sample {
        wait: wait.await.map_err(lost)?,
        burnt: stop.await.map_err(lost)?.cpu,
    })
}
