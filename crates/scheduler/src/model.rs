//! What the models have in common: as much of a pool as the protocols need.

use crate::idle::Idle;
use crate::queue::Injector;
use crate::slot::{Slot, Thief};
use loom::sync::Arc;
use loom::thread;

/// As much of a pool as the protocol needs: each worker has a slot that others steal from at once.
pub(crate) struct Pool {
    pub(crate) idle: Idle,
    pub(crate) injector: Injector<Box<u32>>,
    pub(crate) thieves: Vec<Thief<Box<u32>>>,
}

impl Pool {
    /// A pool whose workers publish nothing.
    pub(crate) fn new(workers: usize) -> Arc<Self> {
        Self::with_slots(workers, &[])
    }

    pub(crate) fn with_slots(workers: usize, slots: &[&Slot<Box<u32>>]) -> Arc<Self> {
        Self::on_a_system(workers, slots, true)
    }

    /// As [`with_slots`](Self::with_slots), on a system with or without a heavy barrier.
    pub(crate) fn on_a_system(
        workers: usize,
        slots: &[&Slot<Box<u32>>],
        asymmetric: bool,
    ) -> Arc<Self> {
        Arc::new(Pool {
            idle: Idle::on_a_system(workers, asymmetric),
            injector: Injector::new(),
            thieves: slots.iter().map(|slot| slot.thief()).collect(),
        })
    }

    /// The first line of a worker's thread.
    pub(crate) fn start(&self, worker: usize) -> &Self {
        self.idle.register(worker);
        self
    }

    pub(crate) fn inject(&self, item: u32) {
        self.injector.push(Box::new(item));
        self.idle.request();
    }

    pub(crate) fn look(&self) -> Option<u32> {
        let stolen = || self.thieves.iter().find_map(Thief::steal);
        self.injector.pop().or_else(stolen).map(|item| *item)
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.slots_wait()
    }

    pub(crate) fn slots_wait(&self) -> bool {
        self.thieves.iter().any(Thief::is_full)
    }

    pub(crate) fn leaves_work(&self) -> bool {
        let queues_wait = || !self.injector.is_empty();
        self.idle.leaves_work(queues_wait, || self.slots_wait())
    }

    /// Publishes as a worker does that defers.
    pub(crate) fn publish(&self, slot: &Slot<Box<u32>>, item: u32) {
        let counts = self.idle.publish(slot, Box::new(item));
        if !counts.expect("the slot is empty").is_watched() {
            self.idle.request_after_barrier();
        }
    }

    /// Looks after the slots until nothing waits, as the gate does.
    pub(crate) fn watch(&self) {
        while !self.idle.end_watch(|| self.has_work()) {
            if self.slots_wait() {
                self.idle.wake_one_more();
            }
            thread::yield_now(); // until the next look
        }
    }

    /// Searches, parks and finds one item, by the protocol of `search`; then "runs" it, that is:
    /// never looks again.
    pub(crate) fn find_one(&self, worker: usize) -> u32 {
        self.find_by(worker, || self.look(), || self.leaves_work())
    }

    /// The same with a `look` of its own, and a re-read of its own, which says what `leaves_work`.
    pub(crate) fn find_by(
        &self,
        worker: usize,
        look: impl Fn() -> Option<u32>,
        leaves_work: impl Fn() -> bool,
    ) -> u32 {
        let mut searching = self.idle.start_searching(1);
        loop {
            if searching && let Some(item) = look() {
                self.idle.stop_searching(&leaves_work);
                return item;
            }
            if !self.idle.park(worker, searching, &leaves_work) {
                thread::yield_now(); // somebody is just taking what is left: let him
            }
            searching = true;
        }
    }

    pub(crate) fn assert_at_rest(&self) {
        assert_eq!(counts(&self.idle), (0, 0), "I1");
        assert!(!self.has_work());
    }
}

/// The searching and the parked.
pub(crate) fn counts(idle: &Idle) -> (usize, usize) {
    let counts = idle.counts();
    (counts.searching(), counts.parked())
}

pub(crate) fn model(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(f);
}

pub(crate) fn found(threads: Vec<thread::JoinHandle<u32>>) -> Vec<u32> {
    let items = threads.into_iter().map(|thread| thread.join());
    let mut items: Vec<u32> = items.map(|item| item.expect("no panic")).collect();
    items.sort_unstable();
    items
}
