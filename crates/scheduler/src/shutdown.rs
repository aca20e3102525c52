//! Ending a pool: who closes it, who cancels what is left, and who clears up.
//!
//! The states and their invariants are those of `lifecycle`. Cancelling a task is dropping its future, which is user code: its
//! destructor may wait, in `block_on`, for another task that only a cancellation ends. So a thread that cancels does
//! not sleep in there, but goes on cancelling within (L4), as a worker does that blocks in a poll.

use std::cell::Cell;
use std::io::{self, Write};
use std::ptr;
use std::time::Duration;

use crate::pool::Shared;
use crate::sync::{Arc, thread};
use crate::worker::{work_for, works_for};

thread_local! {
    /// The pool whose tasks this thread is cancelling, or null: not null only within `Shared::cancel_waiting`.
    static CANCELLING: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

/// Waits until `done` in a destructor that this thread runs because it cancels, and meanwhile goes on cancelling. False,
/// without having waited, if this thread cancels nothing.
pub(crate) fn cancel_until(done: impl Fn() -> bool) -> bool {
    // SAFETY: `cancel_waiting` has put its own `&self` there, and is below us on this thread's stack.
    let Some(pool) = (unsafe { CANCELLING.get().as_ref() }) else {
        return false;
    };
    for pause in pauses() {
        pool.cancel_waiting();
        if done() {
            break;
        }
        thread::park_timeout(pause);
    }
    true
}

/// Ever longer pauses between two looks at what is left: some other thread may be just about to queue it.
fn pauses() -> impl Iterator<Item = Duration> {
    const LONGEST: Duration = Duration::from_millis(10);
    let twice = |pause: &Duration| Some((2 * *pause).min(LONGEST));
    std::iter::successors(Some(Duration::from_micros(50)), twice)
}

impl Shared {
    /// Begins the shutdown. Any thread, any number of times.
    pub(crate) fn close(self: &Arc<Self>) {
        let first = self.lifecycle.close();
        self.reports.close();
        self.gate.wake();
        let idle = self.idle.wake_all();
        self.wake_spares();
        let running_elsewhere = self.headcount.get().live() > usize::from(works_for(self.id));
        if first && idle == 0 && running_elsewhere {
            self.cancel_elsewhere();
        }
    }

    /// Cancels on a thread made for it, when no worker was idle: each may be in a `block_on` that
    /// waits for a task which only a cancellation ends (L4).
    fn cancel_elsewhere(self: &Arc<Self>) {
        let shared = self.clone();
        let canceller = thread::Builder::new().name("runnext-cancel".into());
        // Without a thread for it, the first worker to leave does it.
        let cancel = move || {
            // The last worker waits for what is dropped here: a destructor must not wait for it.
            work_for(shared.id);
            shared.cancel_until_all_leave();
        };
        drop(canceller.spawn(cancel));
    }

    /// A worker has flushed its queues and polls no more; the last one drops what is left.
    pub(crate) fn leave(&self) {
        if self.lifecycle.is_closing() {
            self.cancel_waiting();
        }
        if self.headcount.leave() == 0 {
            self.drop_everything();
        } else {
            self.cancel_for_others();
        }
    }

    /// Cancels what polls that go on may wait for, if the pool is closing and nobody does so yet: `close` relies
    /// on whoever it has found idle (L4). A worker that polls no more.
    pub(crate) fn cancel_for_others(&self) {
        if self.lifecycle.is_closing() && self.lifecycle.begin_cancelling() {
            self.cancel_until_all_leave();
        }
    }

    /// Joins every thread of the pool, which is closing. Once.
    pub(crate) fn join_threads(&self) {
        let threads = std::iter::from_fn(|| self.crew.take_thread());
        self.lifecycle.join(threads);
    }

    /// As [`leave`](Self::leave), for a worker whose thread could not be started: of a pool that nobody has
    /// seen yet, so nothing is there to be cancelled.
    pub(crate) fn leave_unstarted(&self) {
        self.headcount.leave();
    }

    /// Goes on cancelling while a poll may wait for what it has queued, perhaps just now (L4).
    fn cancel_until_all_leave(&self) {
        self.cancel_waiting();
        for pause in pauses() {
            if self.headcount.get().live() == 0 {
                break;
            }
            thread::sleep(pause);
            self.cancel_waiting();
        }
    }

    /// Drops every future that waits for a wake or for a worker, and so cancels its task. Any
    /// thread that is neither within a wake nor holds a lock, once the pool is closing.
    pub(crate) fn cancel_waiting(&self) {
        let outer = CANCELLING.replace(self);
        self.cancel_queued();
        CANCELLING.set(outer);
    }

    fn cancel_queued(&self) {
        // Each waiting task queues itself; one that is queued already stays where it is.
        self.registry.wake_all();
        while let Some(task) = self.injector.pop() {
            drop(task); // Unwind: destructors of futures are contained, see `task`
        }
        for remote in self.remotes.iter() {
            // Unwind: as above.
            while let Some(task) = remote.steal() {
                drop(task);
            }
        }
    }

    /// Drops every future that is left (L1). The last worker only, after it has left its loop, so
    /// that whatever the destructors wake goes to the injector and is dropped here as well.
    fn drop_everything(&self) {
        const PAUSE: Duration = Duration::from_micros(50);
        self.crew.drop_hooks();
        while self.live_tasks() > 0 {
            // Some other thread is between waking a task and queuing it, or drops a future.
            thread::sleep(PAUSE);
            self.cancel_waiting();
        }
        if self.knobs.stats_at_exit() {
            // A closed standard error is no reason to fail: `eprintln!` would panic.
            let _ = writeln!(io::stderr(), "{}", self.stats());
        }
    }
}
