//! Small tools of the tests: waiting for conditions, observing drops, waking tasks, occupying workers.

use std::fmt::Debug;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use runnext::{Pool, Task, yield_now};

/// Waits until `condition` holds. The watchdog around it ends a wait that is in vain.
pub(crate) fn until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        match begun.elapsed() < Duration::from_millis(100) {
            true => thread::yield_now(),
            // A wait that is in vain should not take a processor from the tests that go on.
            false => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Waits until every worker but `busy` sleeps.
pub(crate) fn until_parked(pool: &Pool, busy: usize) {
    until(|| {
        let stats = pool.stats();
        stats.parked_workers + busy == stats.workers_count
    });
}

/// Waits for the next item of `channel`, which the watchdog bounds.
#[track_caller]
pub(crate) fn next<T>(channel: &Receiver<T>) -> T {
    channel.recv().expect("the sender is still there")
}

/// Whether every sender of `channel` is gone. Waits for that.
#[track_caller]
pub(crate) fn assert_dropped<T: Debug>(channel: &Receiver<T>) {
    assert!(channel.recv().is_err(), "something was sent");
}

/// Occupies every worker with one poll at the same time: shows that all of them are there and find work.
pub(crate) fn meet(pool: &Pool) {
    let workers = pool.stats().workers_count;
    let barrier = Arc::new(Barrier::new(workers));
    let tasks: Vec<_> = (0..workers)
        .map(|_| {
            let barrier = barrier.clone();
            pool.spawn(async move {
                barrier.wait();
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| pool.block_on(task));
}

/// Occupies a worker with one poll until something is sent or the sender is gone. Returns once the poll has begun.
pub(crate) fn occupy(pool: &Pool) -> Sender<()> {
    let (release, released) = channel::<()>();
    let (begins, begun) = channel();
    let body = async move {
        begins.send(()).unwrap();
        let _ = released.recv();
    };
    pool.spawn(body).detach();
    next(&begun);
    release
}

/// Counts drops of its [`Witness`]es.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub(crate) fn witness(&self) -> Witness {
        Witness(self.0.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Is counted when it is dropped.
#[derive(Debug)]
pub(crate) struct Witness(Arc<AtomicUsize>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a closure when it is dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    pub(crate) fn new(f: F) -> Self {
        OnDrop(Some(f))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

/// Wakes one waiting task, directly from within [`notify`](Self::notify): a hop, where that is a worker.
/// A notification that comes first is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notify(Arc<Mutex<Notified>>);

#[derive(Debug, Default)]
struct Notified {
    set: bool,
    waiter: Option<Waker>,
}

impl Notify {
    pub(crate) fn notify(&self) {
        let waiter = {
            let mut state = self.0.lock().unwrap();
            state.set = true;
            state.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    pub(crate) async fn notified(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            if std::mem::take(&mut state.set) {
                return Poll::Ready(());
            }
            state.waiter = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Suspends for ever, and hands out its waker at each poll.
pub(crate) async fn pending_with_waker(wakers: Sender<Waker>) {
    poll_fn(|cx| {
        // Nobody may be interested any more.
        let _ = wakers.send(cx.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

/// The threads of this process whose name begins with `prefix`, of at most 14 bytes.
///
/// A listing leaves out some threads when others end meanwhile, as in tests that run beside this one; hence the
/// longest of several.
#[cfg(target_os = "linux")]
pub(crate) fn threads_named(prefix: &str) -> usize {
    let list = || {
        let tasks = std::fs::read_dir("/proc/self/task").expect("Linux lists the threads");
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|name| name.starts_with(prefix)).count()
    };
    (0..20).map(|_| list()).max().unwrap_or(0)
}

/// Two tasks that wake each other until `go_on` breaks. It is asked once a round trip, after the wake: the partner
/// then has the slot, and what `go_on` spawns is older than the wake to come, but behind it.
pub(crate) fn ping_pong(
    pool: &Pool,
    mut go_on: impl FnMut() -> ControlFlow<()> + Send + 'static,
) -> Task<()> {
    let (ping, pong) = (Notify::default(), Notify::default());
    let end = Arc::new(AtomicBool::new(false));
    let echo = pool.spawn({
        let (ping, pong, end) = (ping.clone(), pong.clone(), end.clone());
        async move {
            loop {
                ping.notified().await;
                // Read before the answer: after it, the partner may have begun its last round.
                let last = end.load(Ordering::Relaxed);
                pong.notify();
                if last {
                    break;
                }
            }
        }
    });
    pool.spawn(async move {
        while !end.load(Ordering::Relaxed) {
            ping.notify();
            if go_on().is_break() {
                end.store(true, Ordering::Relaxed);
                ping.notify();
            }
            pong.notified().await;
        }
        echo.await;
    })
}

/// Spawns `count` tasks that do nothing but yield. The returned function stops them and waits for their end.
pub(crate) fn yield_until_stopped(pool: &Pool, count: usize) -> impl FnOnce() {
    let stop = Arc::new(AtomicBool::new(false));
    let spawn = |_| {
        let stop = stop.clone();
        pool.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                yield_now().await;
            }
        })
    };
    let tasks: Vec<_> = (0..count).map(spawn).collect();
    move || {
        stop.store(true, Ordering::Relaxed);
        tasks.into_iter().for_each(|task| pool.block_on(task));
    }
}
