//! The public slot and queues against the obvious models, an `Option` and a list, one step after the other in one
//! thread; `contended` has them with thieves on threads of their own.

mod contended;

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use runnext::queue::{Injector, Local, Stealer, local};
use runnext::slot::{Slot, Thief};

/// Workers in play, each with a slot and a local queue.
const WORKERS: usize = 3;

/// Most items that one move takes, as the queues document.
const BATCH: usize = 32;

/// What can be done to an injector and some slots and local queues.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Puts an item into the slot, with or without a barrier; if it is refused, into the queue.
    Publish {
        slot: usize,
        unordered: bool,
    },
    Take {
        slot: usize,
    },
    StealSlot {
        slot: usize,
    },
    /// Pushes so many items.
    Push {
        queue: usize,
        count: usize,
    },
    Pop {
        queue: usize,
    },
    Steal {
        thief: usize,
        victim: usize,
    },
    Inject {
        count: usize,
    },
    PopInjected,
    Share {
        queue: usize,
        sharers: usize,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let queue = || 0..WORKERS;
    prop_oneof![
        4 => (queue(), any::<bool>()).prop_map(|(slot, unordered)| Op::Publish { slot, unordered }),
        3 => queue().prop_map(|slot| Op::Take { slot }),
        2 => queue().prop_map(|slot| Op::StealSlot { slot }),
        // Now and then more than a batch, and more than a buffer.
        3 => (queue(), prop_oneof![1..4_usize, 1..200_usize]).prop_map(|(queue, count)| Op::Push { queue, count }),
        4 => queue().prop_map(|queue| Op::Pop { queue }),
        3 => (queue(), 1..WORKERS).prop_map(|(thief, apart)| {
            Op::Steal { thief, victim: (thief + apart) % WORKERS }
        }),
        1 => prop_oneof![1..4_usize, 1..200_usize].prop_map(|count| Op::Inject { count }),
        1 => Just(Op::PopInjected),
        2 => (queue(), 0..5_usize).prop_map(|(queue, sharers)| Op::Share { queue, sharers }),
    ]
}

/// An item: something that fits into a slot.
type Item = Box<usize>;

/// Slots and queues beside their models.
struct Pair {
    slots: Vec<(Slot<Item>, Thief<Item>)>,
    queues: Vec<(Local<Item>, Stealer<Item>)>,
    injector: Injector<Item>,
    model_slots: [Option<usize>; WORKERS],
    model_queues: [VecDeque<usize>; WORKERS],
    model_injector: VecDeque<usize>,
    made: usize,
    out: usize,
}

impl Pair {
    fn new() -> Self {
        let slot = |_| {
            let slot = Slot::new();
            let thief = slot.thief();
            (slot, thief)
        };
        Pair {
            slots: (0..WORKERS).map(slot).collect(),
            queues: (0..WORKERS).map(|_| local()).collect(),
            injector: Injector::new(),
            model_slots: [None; WORKERS],
            model_queues: Default::default(),
            model_injector: VecDeque::new(),
            made: 0,
            out: 0,
        }
    }

    fn apply(&mut self, op: Op) -> TestCaseResult {
        match op {
            Op::Publish { slot, unordered } => self.publish(slot, unordered)?,
            Op::Take { slot } => {
                let taken = self.slots[slot].0.take();
                let expected = self.model_slots[slot].take();
                self.check_out(taken, expected)?;
            }
            Op::StealSlot { slot } => {
                let stolen = self.slots[slot].1.steal();
                let expected = self.model_slots[slot].take();
                self.check_out(stolen, expected)?;
            }
            Op::Push { queue, count } => {
                for item in self.make(count) {
                    self.queues[queue].0.push(Box::new(item));
                    self.model_queues[queue].push_back(item);
                }
            }
            Op::Pop { queue } => {
                let popped = self.queues[queue].0.pop();
                let expected = self.model_queues[queue].pop_front();
                self.check_out(popped, expected)?;
            }
            Op::Inject { count } => {
                for item in self.make(count) {
                    self.injector.push(Box::new(item));
                    self.model_injector.push_back(item);
                }
            }
            Op::PopInjected => {
                let popped = self.injector.pop();
                let expected = self.model_injector.pop_front();
                self.check_out(popped, expected)?;
            }
            Op::Steal { thief, victim } => self.steal(thief, victim)?,
            Op::Share { queue, sharers } => self.share(queue, sharers)?,
        }
        self.check_lengths()
    }

    fn make(&mut self, count: usize) -> std::ops::Range<usize> {
        let first = self.made;
        self.made += count;
        first..self.made
    }

    /// What comes out is what the model says, and is counted.
    fn check_out(&mut self, item: Option<Item>, expected: Option<usize>) -> TestCaseResult {
        self.out += usize::from(item.is_some());
        prop_assert_eq!(item.map(|item| *item), expected);
        Ok(())
    }

    /// An empty slot accepts, a full one keeps what it has: the first of a burst comes next, the rest in order.
    fn publish(&mut self, slot: usize, unordered: bool) -> TestCaseResult {
        let publish = match unordered {
            true => Slot::publish_unordered,
            false => Slot::publish,
        };
        for item in self.make(1) {
            let published = publish(&self.slots[slot].0, Box::new(item));
            prop_assert_eq!(published.is_err(), self.model_slots[slot].is_some());
            match published {
                Ok(()) => self.model_slots[slot] = Some(item),
                Err(refused) => {
                    self.queues[slot].0.push(refused);
                    self.model_queues[slot].push_back(item);
                }
            }
        }
        Ok(())
    }

    /// Half of the victim's items, rounded up: the oldest comes out, the others move in order.
    fn steal(&mut self, thief: usize, victim: usize) -> TestCaseResult {
        let stolen = self.queues[victim].1.steal_half_into(&self.queues[thief].0);
        let waiting = &mut self.model_queues[victim];
        let batch = waiting.len().div_ceil(2).min(BATCH);
        let mut moved: VecDeque<_> = waiting.drain(..batch).collect();
        self.check_out(stolen, moved.pop_front())?;
        self.model_queues[thief].append(&mut moved);
        Ok(())
    }

    /// The oldest comes out, and as many more move in order as make it an equal share.
    fn share(&mut self, queue: usize, sharers: usize) -> TestCaseResult {
        let taken = self.injector.take_share(sharers, &self.queues[queue].0);
        let expected = self.model_injector.pop_front();
        let (item, moved) = taken.unzip();
        self.check_out(item, expected)?;
        let Some(moved) = moved else { return Ok(()) };
        let waiting = self.model_injector.len();
        prop_assert!(moved < BATCH && moved <= waiting / sharers.max(1));
        prop_assert!(
            moved > 0 || waiting < sharers.max(1),
            "a fair share is not nothing"
        );
        self.model_queues[queue].extend(self.model_injector.drain(..moved));
        Ok(())
    }

    fn check_lengths(&self) -> TestCaseResult {
        for ((slot, thief), model) in self.slots.iter().zip(&self.model_slots) {
            let full = model.is_some();
            prop_assert_eq!((slot.is_full(), thief.is_full()), (full, full));
        }
        for ((queue, stealer), model) in self.queues.iter().zip(&self.model_queues) {
            prop_assert_eq!(stealer.len(), model.len());
            prop_assert_eq!(
                (queue.is_empty(), stealer.is_empty()),
                (model.is_empty(), model.is_empty())
            );
        }
        prop_assert_eq!(self.injector.len(), self.model_injector.len());
        prop_assert_eq!(self.injector.is_empty(), self.model_injector.is_empty());
        Ok(())
    }

    /// Empties everything; gives how many items came out in all.
    fn drain(mut self) -> Result<usize, TestCaseError> {
        for worker in 0..WORKERS {
            self.apply(Op::Take { slot: worker })?;
            while !self.queues[worker].0.is_empty() {
                self.apply(Op::Pop { queue: worker })?;
            }
        }
        while !self.injector.is_empty() {
            self.apply(Op::PopInjected)?;
        }
        Ok(self.out)
    }
}

proptest! {
    #[test]
    fn s1_s2_q1_q2_q3_slots_and_queues_behave_like_options_and_lists(ops in prop::collection::vec(op(), 0..100)) {
        let mut pair = Pair::new();
        for op in ops {
            pair.apply(op)?;
        }
        let made = pair.made;
        prop_assert_eq!(pair.drain()?, made);
    }

    #[test]
    fn q1_what_is_left_in_a_queue_is_dropped_with_it(pushes in 0..200_usize, pops in 0..200_usize) {
        let drops = crate::support::Drops::default();
        let ((queue, stealer), injector) = (local(), Injector::new());
        for _ in 0..pushes {
            queue.push(drops.witness());
            injector.push(drops.witness());
        }
        for _ in 0..pops {
            drop((queue.pop(), injector.pop()));
        }
        prop_assert_eq!(drops.count(), 2 * pops.min(pushes));
        drop((queue, stealer, injector));
        prop_assert_eq!(drops.count(), 2 * pushes);
    }
}
