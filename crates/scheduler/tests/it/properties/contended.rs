//! A worker made of the public slot and queues, with thieves on threads of their own: whoever gets an item,
//! only one does.

use std::iter::from_fn;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;
use runnext::queue::{Injector, Local, Stealer, local};
use runnext::slot::{Slot, Thief};

use super::Item;

/// What the owner does next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Publish,
    PublishUnordered,
    Push,
    Inject,
    /// Takes the item in the slot, or else the oldest in the queue.
    Next,
    /// Takes a share of what is injected.
    Share,
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        2 => Just(Turn::Publish),
        2 => Just(Turn::PublishUnordered),
        1 => Just(Turn::Push),
        1 => Just(Turn::Inject),
        4 => Just(Turn::Next),
        1 => Just(Turn::Share),
    ]
}

/// The owner's ends, and what it has got and made so far.
struct Owner<'a> {
    slot: Slot<Item>,
    queue: Local<Item>,
    injector: &'a Injector<Item>,
    made: usize,
    got: Vec<Item>,
}

impl Owner<'_> {
    fn make(&mut self) -> Item {
        self.made += 1;
        Box::new(self.made - 1)
    }

    fn turn(&mut self, turn: Turn) {
        match turn {
            Turn::Publish => self.publish(Slot::publish),
            Turn::PublishUnordered => self.publish(Slot::publish_unordered),
            Turn::Push => {
                let item = self.make();
                self.queue.push(item);
            }
            Turn::Inject => {
                let item = self.make();
                self.injector.push(item);
            }
            Turn::Next => self
                .got
                .extend(self.slot.take().or_else(|| self.queue.pop())),
            Turn::Share => {
                let share = self.injector.take_share(2, &self.queue);
                self.got.extend(share.map(|(item, _)| item));
            }
        }
    }

    /// What a full slot refuses goes to the queue.
    fn publish(&mut self, publish: fn(&Slot<Item>, Item) -> Result<(), Item>) {
        let item = self.make();
        if let Err(refused) = publish(&self.slot, item) {
            self.queue.push(refused);
        }
    }

    /// Takes whatever the thieves have left.
    fn finish(&mut self) {
        let left = from_fn(|| self.slot.take().or_else(|| self.queue.pop()));
        self.got.extend(left);
        self.got.extend(from_fn(|| self.injector.pop()));
    }
}

/// Steals from everywhere until it is `over`; gives what it got.
fn rob(
    thief: &Thief<Item>,
    stealer: &Stealer<Item>,
    injector: &Injector<Item>,
    over: &AtomicBool,
) -> Vec<Item> {
    let (loot, _) = local();
    let mut got = Vec::new();
    while !over.load(Ordering::Acquire) {
        got.extend(thief.steal());
        got.extend(stealer.steal_half_into(&loot));
        got.extend(injector.take_share(2, &loot).map(|(item, _)| item));
        got.extend(from_fn(|| loot.pop()));
        thread::yield_now();
    }
    got
}

/// All items that anybody got, in order, and how many were made.
fn play(turns: &[Turn]) -> (Vec<usize>, usize) {
    let (slot, (queue, stealer)) = (Slot::new(), local());
    let (thief, injector, over) = (slot.thief(), Injector::new(), AtomicBool::new(false));
    let mut owner = Owner {
        slot,
        queue,
        injector: &injector,
        made: 0,
        got: Vec::new(),
    };
    let start = Barrier::new(3);
    thread::scope(|scope| {
        let rob = || {
            start.wait();
            rob(&thief, &stealer, &injector, &over)
        };
        let thieves = [scope.spawn(rob), scope.spawn(rob)];
        start.wait();
        turns.iter().for_each(|&turn| owner.turn(turn));
        owner.finish();
        over.store(true, Ordering::Release);
        for thief in thieves {
            owner
                .got
                .extend(thief.join().expect("a thief does not panic"));
        }
    });
    let mut got: Vec<usize> = owner.got.into_iter().map(|item| *item).collect();
    got.sort_unstable();
    (got, owner.made)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn s2_q1_each_item_is_got_exactly_once_among_thieves(turns in prop::collection::vec(turn(), 0..4000)) {
        let (got, made) = play(&turns);
        prop_assert_eq!(got, Vec::from_iter(0..made));
    }
}
