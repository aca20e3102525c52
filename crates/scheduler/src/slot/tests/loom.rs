//! Models of the slot: an owner against thieves and lookers.

use crate::slot::{Slot, Thief};
use crate::sync::{AtomicBool, AtomicU64, Ordering, full_barrier};
use loom::sync::Arc;
use loom::thread;
use std::sync::atomic::AtomicUsize;

/// An item whose memory the model watches: reading it before it was published is a data race.
type Item = Box<loom::cell::UnsafeCell<char>>;

fn item(name: char) -> Item {
    Box::new(loom::cell::UnsafeCell::new(name))
}

fn name(item: Item) -> char {
    item.with(|name| {
        // SAFETY: the item is ours alone; the model fails if another thread is not done with it.
        unsafe { *name }
    })
}

/// One of the two ways to publish.
type Publish = fn(&Slot<Item>, Item) -> Result<(), Item>;

/// While the first item waits the second comes back, whatever a thief does, and neither is lost.
fn a_full_slot_refuses(publish: Publish) {
    loom::model(move || {
        let slot = Slot::new();
        let thief = thread::spawn({
            let thief: Thief<Item> = slot.thief();
            move || thief.steal().map(name)
        });
        assert!(publish(&slot, item('a')).is_ok());
        let refused = publish(&slot, item('b')).err().map(name);
        let taken = slot.take().map(name);
        let stolen = thief.join().expect("a thief does not panic");
        let mut got: Vec<char> = [refused, taken, stolen].into_iter().flatten().collect();
        got.sort_unstable();
        assert_eq!(got, ['a', 'b']);
    });
}

#[test]
fn loom_s1_a_full_slot_refuses() {
    a_full_slot_refuses(Slot::publish);
}

#[test]
fn loom_s1_a_full_slot_refuses_an_unordered_publish() {
    a_full_slot_refuses(Slot::publish_unordered);
}

fn model(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(f);
}

/// Publishes `items` one by one, in both ways, and takes each unless one of the `thieves` does, who steal once each.
fn got_by_anybody(slot: &Slot<Item>, items: &[char], thieves: usize) -> Vec<char> {
    let thieves: Vec<_> = (0..thieves)
        .map(|_| {
            let thief = slot.thief();
            thread::spawn(move || thief.steal().map(name))
        })
        .collect();
    let mut got = Vec::new();
    for (index, &next) in items.iter().enumerate() {
        let published = match index % 2 {
            0 => slot.publish(item(next)),
            _ => slot.publish_unordered(item(next)),
        };
        assert!(published.is_ok(), "the last one was taken");
        got.extend(slot.take().map(name));
    }
    for thief in thieves {
        got.extend(thief.join().expect("a thief does not panic"));
    }
    got.sort_unstable();
    got
}

/// S2: what the owner publishes is got by exactly one of owner and thief, whole, while the thief
/// revokes the owner's bias.
#[test]
fn loom_s2_publish_take_steal() {
    loom::model(|| {
        let slot = Slot::new();
        assert_eq!(got_by_anybody(&slot, &['a', 'b'], 1), ['a', 'b']);
    });
}

/// S2 with two thieves, of whom one may revoke the bias while the other comes.
#[test]
fn loom_s2_two_thieves() {
    model(3, || {
        let slot = Slot::new();
        assert_eq!(got_by_anybody(&slot, &['a', 'b'], 2), ['a', 'b']);
    });
}

/// S2 and S5: the owner takes the bias back while a thief, who has found the slot shared, steals.
#[test]
fn loom_s5_bias_against_steal() {
    model(4, || {
        let slot = Slot::new();
        slot.share_until_next_take();
        assert_eq!(got_by_anybody(&slot, &['a', 'b'], 1), ['a', 'b']);
    });
}

/// S3: a publisher and a looker that each write, then read the other's, do not both miss.
#[test]
fn loom_s3_a_publish_is_a_full_barrier() {
    loom::model(|| {
        let slot = Slot::new();
        let left = Arc::new(AtomicBool::new(false));
        let looker = thread::spawn({
            let (slot, left) = (slot.thief(), left.clone());
            move || {
                left.store(true, Ordering::Relaxed);
                full_barrier();
                slot.is_full()
            }
        });
        assert!(slot.publish(Box::new(())).is_ok());
        let publisher_saw = left.load(Ordering::Relaxed);
        let looker_saw = looker.join().expect("the looker does not panic");
        assert!(publisher_saw || looker_saw, "both read the old value");
    });
}

/// The items of the next model, by the poll in which each is published.
const BY_POLL: [char; 2] = ['a', 'b'];

/// A steal mark: the gate sets it to the poll counter where something waits, and the thief takes only while
/// the counter is at most the mark. Nothing is got twice or lost. And where the counter has not moved
/// over the steal, what was stolen is no younger than the poll that was marked (S4).
#[test]
fn loom_s4_steal_mark() {
    static STOLEN_BY_MARK: AtomicUsize = AtomicUsize::new(0);
    model(2, || {
        let slot = Slot::new();
        let mark = Arc::new(AtomicU64::new(0));
        let gate = thread::spawn({
            let (slot, mark) = (slot.thief(), mark.clone());
            move || {
                if slot.is_full() {
                    mark.store(slot.polls(), Ordering::Relaxed);
                }
            }
        });
        let thief = thread::spawn({
            let slot = slot.thief();
            move || steal_if_marked(&slot, &mark)
        });
        let mut got = Vec::new();
        for next in BY_POLL {
            slot.begin_poll();
            assert!(slot.publish_unordered(item(next)).is_ok());
            got.extend(slot.take().map(name));
        }
        gate.join().expect("the gate does not panic");
        let stolen = thief.join().expect("a thief does not panic");
        if stolen.is_some() {
            STOLEN_BY_MARK.fetch_add(1, Ordering::Relaxed);
        }
        got.extend(stolen);
        got.sort_unstable();
        assert_eq!(got, BY_POLL);
    });
    assert!(
        STOLEN_BY_MARK.load(Ordering::Relaxed) > 0,
        "no thief ever came that far"
    );
}

fn steal_if_marked(slot: &Thief<Item>, mark: &AtomicU64) -> Option<char> {
    let polls = slot.polls();
    if polls > mark.load(Ordering::Relaxed) {
        return None;
    }
    let stolen = slot.steal().map(name)?;
    let published_in = 1 + BY_POLL.iter().position(|&item| item == stolen)? as u64;
    assert!(
        slot.polls() != polls || published_in <= polls,
        "S4: it is younger than the mark"
    );
    Some(stolen)
}
