//! Models of the marks: a worker that blocks against thieves, who look and leave, and against the gate.

use crate::headcount::Headcount;
use crate::marks::Marks;
use crate::model::{Pool, found, model};
use crate::slot::Slot;
use crate::sync::{AtomicBool, Ordering};
use loom::sync::Arc;
use loom::thread;

/// What waits in the slot of worker 0 may be taken only while that worker says that it is blocked.
struct Blocking {
    pool: Arc<Pool>,
    marks: Marks,
    heads: Headcount,
}

impl Blocking {
    fn new(workers: usize, slot: &Slot<Box<u32>>) -> Arc<Self> {
        Arc::new(Blocking {
            pool: Pool::with_slots(workers, &[slot]),
            marks: Marks::default(),
            heads: Headcount::new(workers, workers),
        })
    }

    /// As `Worker::begin_blocking`.
    fn begin(&self, slot: &Slot<Box<u32>>) -> u64 {
        let outer = self
            .marks
            .begin_section(slot.thief().polls(), Some(&self.heads));
        if slot.is_full() {
            self.pool.idle.request_after_barrier();
        }
        outer
    }

    fn end(&self, outer: u64) {
        self.marks.end_section(outer, Some(&self.heads));
    }

    fn is_free(&self) -> bool {
        let slot = &self.pool.thieves[0];
        slot.is_full() && self.marks.says(slot.polls())
    }

    fn look(&self) -> Option<u32> {
        if let Some(injected) = self.pool.injector.pop() {
            return Some(*injected);
        }
        self.is_free()
            .then(|| self.pool.thieves[0].steal())?
            .map(|item| *item)
    }

    /// As `Shared::has_unwatched_work`.
    fn leaves_work(&self) -> bool {
        let requested = || !self.pool.injector.is_empty() || self.is_free();
        self.pool
            .idle
            .leaves_work(requested, || self.pool.slots_wait())
    }

    fn find_one(&self, worker: usize) -> u32 {
        let pool = self.pool.start(worker);
        pool.find_by(worker, || self.look(), || self.leaves_work())
    }
}

/// A worker publishes, and blocks for ever before it gets to the item, while another one searches, parks, or is
/// parked already. Nobody else comes: the gate is only said to watch, if it is.
fn blocks_for_ever(gate_watches: bool) {
    model(3, move || {
        let slot = Slot::new();
        let blocking = Blocking::new(2, &slot);
        if gate_watches {
            assert!(blocking.pool.idle.wake_gate(true));
        }
        let thief = thread::spawn({
            let blocking = blocking.clone();
            move || blocking.find_one(1)
        });
        slot.begin_poll();
        blocking.pool.publish(&slot, 1);
        blocking.begin(&slot);
        assert_eq!(found(vec![thief]), [1]);
        blocking.pool.assert_at_rest();
        assert_eq!(blocking.heads.get().blocked(), 1);
    });
}

#[test]
fn loom_what_waits_behind_a_blocked_worker_is_found() {
    blocks_for_ever(false);
}

#[test]
fn loom_what_waits_behind_a_blocked_worker_is_not_left_to_the_gate() {
    blocks_for_ever(true);
}

/// The searcher that absorbs the request leaves with other work: it requests the third worker.
#[test]
fn loom_a_worker_blocks_against_a_searcher_that_leaves() {
    model(2, || {
        let slot = Slot::new();
        let blocking = Blocking::new(3, &slot);
        assert!(blocking.pool.idle.wake_gate(true));
        let thieves = (1..3)
            .map(|worker| {
                let blocking = blocking.clone();
                thread::spawn(move || blocking.find_one(worker))
            })
            .collect();
        slot.begin_poll();
        blocking.pool.publish(&slot, 1);
        blocking.begin(&slot);
        blocking.pool.inject(2);
        assert_eq!(found(thieves), [1, 2]);
        blocking.pool.assert_at_rest();
    });
}

/// The section ends, and the worker takes the item itself unless the thief has. Either way it runs once.
#[test]
fn loom_a_worker_that_returns_against_a_thief() {
    model(3, || {
        let slot = Slot::new();
        let blocking = Blocking::new(2, &slot);
        assert!(blocking.pool.idle.wake_gate(true));
        let thief = thread::spawn({
            let blocking = blocking.clone();
            move || blocking.find_one(1)
        });
        slot.begin_poll();
        blocking.pool.publish(&slot, 1);
        let outer = blocking.begin(&slot);
        blocking.end(outer);
        let taken = slot.take().map(|item| *item);
        if taken.is_some() {
            blocking.pool.inject(2); // for the thief to end with
        }
        let stolen = found(vec![thief]);
        assert_eq!(stolen, [if taken.is_some() { 2 } else { 1 }]);
        blocking.pool.assert_at_rest();
        assert_eq!(blocking.heads.get().blocked(), 0);
    });
}

/// A worker, as far as the gate looks at it.
struct Watched {
    marks: Marks,
    heads: Headcount,
    in_poll: AtomicBool,
}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Watched {
            marks: Marks::default(),
            heads: Headcount::new(1, 4),
            in_poll: AtomicBool::new(true),
        })
    }

    fn blocked(&self) -> usize {
        self.heads.get().blocked()
    }

    /// The gate's next look.
    fn end_stale(&self, polls: u64) {
        // Relaxed: a hint, as a worker's activity is.
        let in_poll = self.in_poll.load(Ordering::Relaxed);
        if self.marks.is_stale(polls, in_poll) {
            self.marks.forget(&self.heads);
        }
    }
}

/// B2: the gate finds the worker blocked while that says so itself, within the same poll, in nested
/// sections: it is counted once, and not at all in the end.
#[test]
fn loom_b2_said_and_found_at_once() {
    model(3, || {
        let worker = Watched::new();
        let gate = thread::spawn({
            let worker = worker.clone();
            move || worker.marks.find(1, &worker.heads, true)
        });
        let outer = worker.marks.begin_section(1, Some(&worker.heads));
        let inner = worker.marks.begin_section(1, Some(&worker.heads));
        worker.marks.end_section(inner, Some(&worker.heads));
        gate.join().expect("no panic");
        assert_eq!(worker.blocked(), 1, "B2");
        worker.marks.end_section(outer, Some(&worker.heads));
        worker.marks.end_poll(&worker.heads, Some(&worker.heads));
        assert_eq!(worker.blocked(), 0);
    });
}

/// B1: the gate finds the worker blocked, and takes that back, while the worker goes on and parks, with a section that
/// is leaked or not: the head count is never negative, and nobody is counted in the end.
fn gate_against_a_worker_that_returns(leaks: bool) {
    model(3, move || {
        let worker = Watched::new();
        let slot = Arc::new(Slot::<Box<u32>>::new());
        slot.begin_poll();
        let gate = thread::spawn({
            let (worker, slot) = (worker.clone(), slot.thief());
            move || {
                worker.marks.find(1, &worker.heads, true);
                worker.end_stale(slot.polls());
            }
        });
        let outer = worker.marks.begin_section(1, Some(&worker.heads));
        if !leaks {
            worker.marks.end_section(outer, Some(&worker.heads));
        }
        worker.in_poll.store(false, Ordering::Relaxed);
        worker.marks.end_poll(&worker.heads, Some(&worker.heads));
        gate.join().expect("no panic");
        worker.end_stale(slot.thief().polls());
        assert_eq!(worker.blocked(), 0);
    });
}

#[test]
fn loom_b1_the_gate_against_a_worker_that_returns() {
    gate_against_a_worker_that_returns(false);
}

#[test]
fn loom_b3_the_gate_against_a_worker_that_has_leaked_its_section() {
    gate_against_a_worker_that_returns(true);
}

/// B1: worker and gate take the gate's mark off at once: one of them counts.
#[test]
fn loom_b1_a_mark_is_taken_off_once() {
    model(3, || {
        let worker = Watched::new();
        worker.marks.find(1, &worker.heads, true);
        let gate = thread::spawn({
            let worker = worker.clone();
            move || worker.marks.forget(&worker.heads)
        });
        worker.marks.end_poll(&worker.heads, Some(&worker.heads));
        gate.join().expect("no panic");
        assert_eq!(worker.blocked(), 0);
    });
}

/// B1: what the worker takes off is perhaps a newer mark than the one that it has seen. Its count is there as well.
#[test]
fn loom_b1_a_mark_that_is_set_anew() {
    model(3, || {
        let worker = Watched::new();
        let gate = thread::spawn({
            let worker = worker.clone();
            move || {
                worker.marks.find(1, &worker.heads, true);
                worker.marks.forget(&worker.heads);
                worker.marks.find(1, &worker.heads, true);
            }
        });
        worker.marks.end_poll(&worker.heads, Some(&worker.heads));
        gate.join().expect("no panic");
        worker.marks.forget(&worker.heads);
        assert_eq!(worker.blocked(), 0);
    });
}
