//! The public queues against the obvious model, one after the other in one thread; `replay::memory` has them contended.

use std::collections::VecDeque;

use proptest::prelude::*;
use runnext::queue::{Injector, Local, Stealer, local};

/// Local queues in play.
const QUEUES: usize = 3;

/// Most items that one move takes, as the queues document.
const BATCH: usize = 32;

/// What can be done to an injector and some local queues.
#[derive(Clone, Copy, Debug)]
enum Op {
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
    let queue = || 0..QUEUES;
    prop_oneof![
        // Now and then more than a batch, and more than a buffer.
        3 => (queue(), prop_oneof![1..4_usize, 1..200_usize]).prop_map(|(queue, count)| Op::Push { queue, count }),
        4 => queue().prop_map(|queue| Op::Pop { queue }),
        3 => (queue(), 1..QUEUES).prop_map(|(thief, apart)| {
            Op::Steal { thief, victim: (thief + apart) % QUEUES }
        }),
        1 => prop_oneof![1..4_usize, 1..200_usize].prop_map(|count| Op::Inject { count }),
        1 => Just(Op::PopInjected),
        2 => (queue(), 0..5_usize).prop_map(|(queue, sharers)| Op::Share { queue, sharers }),
    ]
}

/// The queues beside their model.
struct Pair {
    queues: Vec<(Local<usize>, Stealer<usize>)>,
    injector: Injector<usize>,
    model_queues: [VecDeque<usize>; QUEUES],
    model_injector: VecDeque<usize>,
    made: usize,
    out: usize,
}

impl Pair {
    fn new() -> Self {
        Pair {
            queues: (0..QUEUES).map(|_| local()).collect(),
            injector: Injector::new(),
            model_queues: Default::default(),
            model_injector: VecDeque::new(),
            made: 0,
            out: 0,
        }
    }

    fn apply(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Push { queue, count } => {
                for item in self.make(count) {
                    self.queues[queue].0.push(item);
                    self.model_queues[queue].push_back(item);
                }
            }
            Op::Pop { queue } => {
                let popped = self.queues[queue].0.pop();
                prop_assert_eq!(popped, self.model_queues[queue].pop_front());
                self.out += usize::from(popped.is_some());
            }
            Op::Inject { count } => {
                for item in self.make(count) {
                    self.injector.push(item);
                    self.model_injector.push_back(item);
                }
            }
            Op::PopInjected => {
                let popped = self.injector.pop();
                prop_assert_eq!(popped, self.model_injector.pop_front());
                self.out += usize::from(popped.is_some());
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

    /// Half of the victim's items, rounded up: the oldest comes out, the others move in order.
    fn steal(&mut self, thief: usize, victim: usize) -> Result<(), TestCaseError> {
        let stolen = self.queues[victim].1.steal_half_into(&self.queues[thief].0);
        let waiting = &mut self.model_queues[victim];
        let batch = waiting.len().div_ceil(2).min(BATCH);
        let mut moved: VecDeque<_> = waiting.drain(..batch).collect();
        prop_assert_eq!(stolen, moved.pop_front());
        self.out += usize::from(stolen.is_some());
        self.model_queues[thief].append(&mut moved);
        Ok(())
    }

    /// The oldest comes out, and as many more move in order as make it an equal share.
    fn share(&mut self, queue: usize, sharers: usize) -> Result<(), TestCaseError> {
        let taken = self.injector.take_share(sharers, &self.queues[queue].0);
        let first = self.model_injector.pop_front();
        prop_assert_eq!(taken.map(|(item, _)| item), first);
        let Some((_, moved)) = taken else {
            return Ok(());
        };
        self.out += 1;
        let waiting = self.model_injector.len();
        prop_assert!(moved < BATCH && moved <= waiting / sharers.max(1));
        prop_assert!(
            moved > 0 || waiting < sharers.max(1),
            "a fair share is not nothing"
        );
        self.model_queues[queue].extend(self.model_injector.drain(..moved));
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), TestCaseError> {
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
        for queue in 0..QUEUES {
            while !self.queues[queue].0.is_empty() {
                self.apply(Op::Pop { queue })?;
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
    fn q1_q2_q3_the_queues_behave_like_lists(ops in prop::collection::vec(op(), 0..100)) {
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
