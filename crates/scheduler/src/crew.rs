//! The threads of a pool: how they start, wait as a spare, and end.
//!
//! # Concepts
//!
//! A thread works at a **place**, one index of [`Remotes`](crate::remotes::Remotes) with its slot and local queue.
//! How many workers there should be is for `headcount` to say; this module has the threads.
//!
//! | a thread | leaves it by | to |
//! |---|---|---|
//! | **works** | it gives way between two polls | spare |
//! | | the pool closes | ended |
//! | **spare** (`spares`): sleeps with nothing in its slot or queue | a worker is to be added: the newest spare is recalled | works |
//! | | `ThreadTimeoutMs` passes, and it is none of `ThreadsToKeepAlive`; or the pool closes | ended, its place vacant |
//!
//! A vacant place is taken again before a new one is made. There are as many places as there may be workers: while all
//! of them are taken, by a thread that is only on its way out perhaps, nobody can be added, and whoever frees one makes
//! up for it.
//!
//! # Invariants
//!
//! C1, C4 and C5 are those of `spares`.
//!
//! * **C2** Each place has at most one thread, from taking the place to the end of its stop hook.
//! * **C3** No user code runs under the lock.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::thread::JoinHandle;

use core_affinity::CoreId;

use crate::contain::contain;
use crate::pool::Shared;
use crate::remotes::Activity;
use crate::spares::{Fate, Spares, after_sleep};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering, lock, thread};
use crate::worker::{End, Ends, Worker, work_for};

/// A function that runs on a worker thread, given the worker's index.
pub(crate) type Hook = Arc<dyn Fn(usize) + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Makes a hook of `f`. A panic in it is contained, so it makes nothing less unwind safe that holds it.
pub(crate) fn hook(f: impl Fn(usize) + Send + Sync + 'static) -> Hook {
    let f = AssertUnwindSafe(f);
    Arc::new(move |index| {
        let f = &f; // all of it, not what it wraps
        f(index);
    })
}

/// How threads are made.
pub(crate) struct ThreadSettings {
    pub(crate) name_prefix: String,
    pub(crate) stack_size: Option<usize>,
    /// To be pinned to, counted round; none: not at all.
    pub(crate) cores: Vec<CoreId>,
}

impl ThreadSettings {
    pub(crate) fn thread(&self, name: impl fmt::Display) -> thread::Builder {
        let builder = thread::Builder::new().name(self.name(name));
        match self.stack_size {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        }
    }

    /// The size of a worker's stack, in bytes.
    pub(crate) fn stack_size(&self) -> usize {
        const STD: usize = 2 << 20;
        let from_env = || std::env::var("RUST_MIN_STACK").ok()?.parse().ok();
        self.stack_size.or_else(from_env).unwrap_or(STD)
    }

    pub(crate) fn name(&self, name: impl fmt::Display) -> String {
        format!("{}{name}", self.name_prefix)
    }
}

/// What runs on each worker's thread, before its first and after its last task.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
}

/// The threads of a pool.
pub(crate) struct Crew {
    pub(crate) settings: ThreadSettings,
    /// For the threads that are still to be started. None once nobody is.
    hooks: Mutex<Hooks>,
    state: Mutex<State>,
    /// Workers added since the pool was built.
    pub(crate) injected: AtomicU64,
    /// Spares that have ended.
    pub(crate) retired: AtomicU64,
    /// Threads that could not be started since the pool was built.
    pub(crate) failed_starts: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Places without a thread.
    vacant: Vec<Place>,
    spares: Spares,
    /// All threads until somebody joins them, the gate's included.
    threads: Vec<JoinHandle<()>>,
}

/// A worker's place, with the ends that its thread works with.
struct Place {
    index: usize,
    ends: Ends,
}

impl Crew {
    pub(crate) fn new(settings: ThreadSettings, hooks: Hooks) -> Self {
        Crew {
            settings,
            hooks: Mutex::new(hooks),
            state: Mutex::default(),
            injected: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            failed_starts: AtomicU64::new(0),
        }
    }

    /// Adds a thread that is no worker, to be joined with the others.
    pub(crate) fn add_thread(&self, thread: JoinHandle<()>) {
        lock(&self.state).add_thread(thread);
    }

    /// A thread to be joined, until there is none. Once the pool is closing.
    pub(crate) fn take_thread(&self) -> Option<JoinHandle<()>> {
        lock(&self.state).threads.pop()
    }

    /// Drops the hooks, since no thread starts any more: what they captured lives no longer than the pool.
    pub(crate) fn drop_hooks(&self) {
        let hooks = std::mem::take(&mut *lock(&self.hooks));
        drop_hook(hooks.on_start);
        drop_hook(hooks.on_stop);
    }

    /// Threads that sleep as spares.
    pub(crate) fn spares(&self) -> usize {
        lock(&self.state).spares.len()
    }
}

impl AsMut<Spares> for State {
    fn as_mut(&mut self) -> &mut Spares {
        &mut self.spares
    }
}

impl State {
    fn add_thread(&mut self, thread: JoinHandle<()>) {
        // What has ended needs no join; a long life of blocking and retiring would heap them up.
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.push(thread);
    }
}

impl Shared {
    /// Adds a worker if one should be added: the newest spare, else a new thread. Whether it did.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started; then nothing has changed.
    pub(crate) fn add_worker(self: &Arc<Self>) -> io::Result<bool> {
        let mut state = lock(&self.crew.state);
        // Under the lock: whoever joins the threads locks it after the pool has begun to close.
        if self.lifecycle.is_closing() || !self.has_place(&state) || !self.headcount.try_add() {
            return Ok(false);
        }
        match self.recall_or_start(&mut state) {
            Ok(()) => {
                // Relaxed: a counter.
                self.crew.injected.fetch_add(1, Ordering::Relaxed);
                Ok(true)
            }
            Err(error) => {
                drop(state);
                // Relaxed: a counter.
                self.crew.failed_starts.fetch_add(1, Ordering::Relaxed);
                self.leave();
                Err(error)
            }
        }
    }

    fn has_place(&self, state: &State) -> bool {
        let free = state.spares.len() + state.vacant.len();
        free > 0 || self.remotes.len() < self.remotes.capacity()
    }

    fn recall_or_start(self: &Arc<Self>, state: &mut State) -> io::Result<()> {
        if state.spares.recall_newest(&self.idle) {
            return Ok(());
        }
        let place = match state.vacant.pop() {
            Some(place) => place,
            None => self.new_place(),
        };
        match self.start(place) {
            Ok(thread) => state.add_thread(thread),
            Err((place, error)) => {
                state.vacant.push(place);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Starts the first workers, already counted as live. Once.
    ///
    /// # Errors
    ///
    /// The index of the worker whose thread could not be started, and why. The others are to be shut down.
    pub(crate) fn start_workers(self: &Arc<Self>) -> Result<(), (usize, io::Error)> {
        let workers = self.headcount.get().live();
        for index in 0..workers {
            let place = self.new_place();
            match self.start(place) {
                Ok(thread) => self.crew.add_thread(thread),
                Err((_, error)) => {
                    (index..workers).for_each(|_| self.leave_unstarted());
                    return Err((index, error));
                }
            }
        }
        Ok(())
    }

    /// See [`Pool::set_threads`](crate::Pool::set_threads).
    pub(crate) fn set_threads(self: &Arc<Self>, min: usize, max: usize) -> io::Result<()> {
        if self.is_gone() {
            let text = "this process was forked from the one that built the pool: build one here";
            return Err(io::Error::other(text));
        }
        let most = self.remotes.capacity();
        if min == 0 || min > max || max > most {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "`min` is {min} and `max` is {max}: give 1 <= min <= max <= {most}; \
                     the last is what `max_threads` was when the pool was built"
                ),
            ));
        }
        self.headcount.set(min, max);
        self.wake_surplus();
        self.reach_minimum().map_err(|error| {
            let text = format!(
                "could not start another worker: {error}; the new numbers hold: call `set_threads` again, \
                 or raise the system's limits"
            );
            io::Error::new(error.kind(), text)
        })
    }

    /// Wakes as many workers as are too many, if they sleep: they would not notice. After the number of the blocked or
    /// the minimum has fallen, unless by a worker that is about to notice. Any thread.
    pub(crate) fn wake_surplus(&self) {
        let heads = self.headcount.get();
        for _ in heads.goal()..heads.live() {
            self.idle.wake_one_more();
        }
    }

    /// Adds workers up to the minimum, as far as there are places; who frees one calls this again.
    fn reach_minimum(self: &Arc<Self>) -> io::Result<()> {
        let too_few = || {
            let heads = self.headcount.get();
            heads.live() < heads.min()
        };
        while too_few() && self.add_worker()? {}
        Ok(())
    }

    fn new_place(&self) -> Place {
        let (ends, remote) = Ends::new();
        let index = self.remotes.push(remote);
        Place { index, ends }
    }

    fn start(self: &Arc<Self>, place: Place) -> Result<JoinHandle<()>, (Place, io::Error)> {
        let index = place.index;
        // A thread that does not start takes its closure with it: the place has to outlive that.
        let place = Arc::new(Mutex::new(Some(place)));
        let (shared, taken) = (self.clone(), place.clone());
        let hooks = lock(&self.crew.hooks).clone();
        let body = move || {
            let place = lock(&taken).take();
            drop(taken);
            if let Some(place) = place {
                shared.work_at(place, hooks);
            }
        };
        match self.crew.settings.thread(index).spawn(body) {
            Ok(thread) => Ok(thread),
            Err(error) => {
                let place = lock(&place).take().expect("no thread has taken it");
                Err((place, error))
            }
        }
    }

    /// The life of a worker's thread.
    fn work_at(self: Arc<Self>, place: Place, hooks: Hooks) {
        let Place { index, ends } = place;
        let settings = &self.crew.settings;
        if !settings.cores.is_empty() {
            core_affinity::set_for_current(settings.cores[index % settings.cores.len()]);
        }
        self.idle.register(index);
        self.remotes[index].thread.set();
        work_for(self.id);
        call(hooks.on_start, index);
        let worker = Worker::new(self.clone(), index, ends);
        let end = loop {
            match worker.run() {
                End::GaveWay if self.wait_as_spare(index) => {}
                end => break end,
            }
        };
        let ends = worker.into_ends();
        self.remotes[index].set_activity(Activity::Away);
        self.remotes[index].thread.clear();
        match end {
            End::Closing => self.leave(),
            End::GaveWay => self.cancel_for_others(),
        }
        call(hooks.on_stop, index);
        lock(&self.crew.state).vacant.push(Place { index, ends });
        let _ = self.reach_minimum(); // counted if it fails; `set_threads` tries again, and so does the gate
    }

    /// Sleeps as a spare until recalled, or until it is time to end. True if recalled. A worker's thread
    /// that has given way.
    fn wait_as_spare(self: &Arc<Self>, index: usize) -> bool {
        self.remotes[index].set_activity(Activity::Away);
        let mut fate = lock(&self.crew.state).spares.add(index);
        let _ = self.reach_minimum(); // perhaps with this very thread
        while fate == Fate::Sleeps {
            let woken = self.idle.sleep_apart(index, self.knobs.thread_timeout());
            let is_kept = |spares| self.keeps_alive(spares);
            fate = after_sleep(&self.crew.state, &self.idle, index, woken, is_kept);
        }
        fate == Fate::Works
    }

    /// Whether a spare whose time is up sleeps on; else it counts as retired.
    fn keeps_alive(&self, spares: usize) -> bool {
        let threads = self.headcount.get().live() + spares;
        let kept = self.knobs.threads_to_keep_alive();
        let is_kept = kept.is_none_or(|kept| threads <= kept);
        if !is_kept {
            self.crew.retired.fetch_add(1, Ordering::Relaxed); // a counter
        }
        is_kept
    }

    /// Ends the sleep of every spare, once the pool is closing.
    pub(crate) fn wake_spares(&self) {
        lock(&self.crew.state).spares.close(&self.idle);
    }
}

/// Runs `hook`, then drops it, so that what it captured does not live as long as the thread.
fn call(hook: Option<Hook>, index: usize) {
    // Unwind: contained, one after the other, so that two panics do not meet.
    if let Some(hook) = &hook {
        contain(|| hook(index));
    }
    drop_hook(hook);
}

fn drop_hook(hook: Option<Hook>) {
    // Unwind: user code, the last of its owners drops it.
    contain(|| drop(hook));
}
