//! The gate: the pool's monitor thread, which looks after work that nobody has been woken for.
//!
//! # Concepts
//!
//! A worker that publishes into its slot asks for no other worker while somebody **watches**: a
//! searcher, or the gate. A worker that begins to run after a search therefore asks for another one, unless
//! `LazyDispatchRequest`: that one searches, and so watches. The gate sleeps while the pool rests and is woken
//!
//! * by a searcher that gives up while others run: it hands the watch over on its way to sleep,
//! * by a publish that finds neither a watcher nor anybody to wake: the first of many, which then find one,
//! * by a push to a queue, or a worker that says that it blocks, when nobody is idle: whoever runs may be blocked,
//! * by a shutdown, to end.
//!
//! What it does when awake is `watch`'s to say; this module is the thread around it.
//!
//! While all workers run and none is blocked, a look finds nothing, and would take a processor from one of them: workers
//! that begin poll after poll see that of each other once a millisecond, and put the look off (`alarm`). It is due a few
//! milliseconds after one of them has stopped.
//!
//! # Protocol: a publish that relies on the watch
//!
//! | publisher (owner) | gate that goes to sleep |
//! |---|---|
//! | 1 read that the gate watches | 1 take the promise back |
//! | 2 store the item | 2 heavy barrier |
//! | 3 light barrier | 3 re-read every slot and queue; if something waits, promise again |
//! | 4 read again; if it watches no more: full barrier, request | |
//!
//! The gate looks again and again, so in between no barrier is needed: a plain store is visible at the next
//! look. With a watch the hop has no locked instruction of ours at all.
//!
//! A searcher that leaves while the gate watches need not re-read the slots, only what is never deferred:
//! the gate re-reads them after it, at the latest when it goes to sleep itself.
//!
//! # Why a thread and not a spinning worker
//!
//! The proposal lets one searcher spin for as long as any slot is occupied: a lone chain then burns two
//! cores. The gate looks every 50 us instead, a few percent of one. `RUNNEXT_WATCH=spinner` is the
//! proposal's form; the gate then is only its backstop, and promises nothing.

use std::time::Duration;

use crate::alarm::Alarm;
use crate::compensate::Compensation;
use crate::idle::Answer;
use crate::pool::Shared;
use crate::prompt::be_prompt;
use crate::remotes::Activity;
use crate::suspect::GLANCE;
use crate::sync::{
    Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, Parker, full_barrier, lock, now,
};
use crate::watch::{Idlers, Next, Step, View, Watch};

/// Until the next look after a watch that could not end.
const REFUSED: Duration = Duration::from_micros(50);

/// The gate's state, as others see it.
#[derive(Debug)]
pub(crate) struct Gate {
    parker: Parker,
    /// What ends its long sleep.
    alarm: Alarm,
    /// Whether its current sleep is the long one, because nobody was parked.
    slow: AtomicBool,
    /// What it remembers from look to look; locked for others who want to know.
    watch: Mutex<Watch>,
    pub(crate) ticks: AtomicU64,
    pub(crate) stall_rescues: AtomicU64,
    pub(crate) gate_rescues: AtomicU64,
}

impl Gate {
    /// A gate that is to look every `interval` while it watches.
    pub(crate) fn new(interval: Duration, defers: bool) -> Self {
        Gate {
            parker: Parker::default(),
            alarm: Alarm::default(),
            slow: AtomicBool::new(false),
            watch: Mutex::new(Watch::new(interval, defers, now())),
            ticks: AtomicU64::new(0),
            stall_rescues: AtomicU64::new(0),
            gate_rescues: AtomicU64::new(0),
        }
    }

    /// How long the worker has been seen in its poll number `polls`, if it was seen in it. Any thread.
    pub(crate) fn poll_age(&self, worker: usize, polls: u64) -> Option<Duration> {
        lock(&self.watch).poll_age(worker, polls, now())
    }

    /// Ends its sleep, whatever kind it is. Any thread.
    pub(crate) fn wake(&self) {
        self.parker.unpark();
        self.alarm.ring();
    }

    /// Puts off the end of its long sleep if all workers get on: there is nothing to see. For a worker to say, now and then
    /// between two polls. True if it did.
    pub(crate) fn put_off(&self, shared: &Shared) -> bool {
        // Relaxed: if it has just begun to sleep, there will be another time.
        let sleeps_long = self.slow.load(Ordering::Relaxed);
        // Whoever has the lock looks just now.
        let all_get_on = |mut watch: MutexGuard<'_, Watch>| watch.all_get_on(shared, now());
        sleeps_long && self.watch.try_lock().is_ok_and(all_get_on) && self.alarm.put_off()
    }

    /// Says that a worker has just been counted as parked: the gate should no longer look as seldom as
    /// when nobody could be woken. Any thread.
    pub(crate) fn somebody_parks(&self) {
        // Ordering: SeqCst, after the count, against `sleep_until_somebody_parks`, which
        // writes `slow` and reads the count.
        if self.slow.swap(false, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Runs until the pool closes. Gate thread only.
    pub(crate) fn run(&self, shared: &Arc<Shared>) {
        self.parker.register();
        be_prompt();
        let mut compensation = Compensation::new(shared);
        while !shared.lifecycle.is_closing() {
            if shared.idle.counts().gate_is_awake() {
                self.tick(shared, &mut compensation);
            } else {
                self.parker.park();
                lock(&self.watch).resume(now());
            }
        }
        shared.end_marks();
    }

    fn tick(&self, shared: &Arc<Shared>, compensation: &mut Compensation) {
        // Relaxed: counters.
        self.ticks.fetch_add(1, Ordering::Relaxed);
        match self.look(shared, compensation) {
            Next::Look(after) => {
                self.parker.park_timeout(after);
            }
            Next::Seldom(after) => self.sleep_until_somebody_parks(shared, after),
            Next::Sleep => {
                if !shared.idle.end_watch(|| shared.needs_gate()) {
                    // Something has just come, or the system refuses the barrier from now on.
                    self.parker.park_timeout(shared.switches.stalled_work.max(REFUSED));
                }
            }
        }
    }

    fn look(&self, shared: &Arc<Shared>, compensation: &mut Compensation) -> Next {
        shared.end_stale_marks();
        let now = now();
        let next = lock(&self.watch).look(&**shared, now, |step| self.act(shared, step));
        if !shared.nobody_comes() {
            compensation.rest();
            return next;
        }
        match (compensation.act(shared, now), next) {
            (false, Next::Look(_) | Next::Seldom(_)) => next,
            _ => Next::Seldom(GLANCE),
        }
    }

    fn sleep_until_somebody_parks(&self, shared: &Shared, time: Duration) {
        // Ordering: SeqCst, see `somebody_parks`.
        self.slow.store(true, Ordering::SeqCst);
        full_barrier();
        if shared.idle.counts().parked() == 0 {
            let slept = self.alarm.sleep(time, || self.parker.take_wake());
            // The look that follows is also what a wake since then wants.
            let _ = if slept { self.parker.take_wake() } else { self.parker.park_timeout(time) };
        }
        self.slow.store(false, Ordering::SeqCst);
    }

    fn act(&self, shared: &Shared, step: Step) {
        let idle = &shared.idle;
        // Relaxed: counters.
        match step {
            Step::Rescue {
                worker,
                through,
                again,
                stalled,
            } => {
                shared.remotes[worker].allow_steals(through);
                shared.report_stall(worker, through, stalled);
                if (again && idle.wake_one_more()) || idle.request() == Answer::Woke {
                    self.stall_rescues.fetch_add(1, Ordering::Relaxed);
                }
            }
            Step::Allow { worker, steals } => shared.remotes[worker].allow(steals),
            Step::Ask => {
                idle.request();
            }
            Step::Lost => {
                if idle.wake_one_more() {
                    self.gate_rescues.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl View for Shared {
    fn workers(&self) -> usize {
        self.remotes.len()
    }

    fn works(&self, worker: usize) -> bool {
        self.remotes[worker].activity() != Activity::Away
    }

    fn slot(&self, worker: usize) -> (u64, bool) {
        let slot = &self.remotes[worker].slot;
        (slot.polls(), slot.is_full())
    }

    fn queue_waits(&self, worker: usize) -> bool {
        !self.remotes[worker].queue.is_empty()
    }

    fn injector_waits(&self) -> bool {
        !self.injector.is_empty()
    }

    fn idlers(&self) -> Idlers {
        let counts = self.idle.counts();
        Idlers {
            searching: counts.searching(),
            parked: counts.parked(),
            running: self.running(counts),
        }
    }
}
