//! Models of the slot: an owner against thieves and lookers.

use crate::slot::Slot;
use crate::sync::{AtomicBool, Ordering, full_barrier};
use loom::sync::Arc;
use loom::thread;

/// S2: what the owner publishes is got by exactly one of owner and thieves.
#[test]
fn loom_s2_publish_take_steal() {
    loom::model(|| {
        let slot: Arc<Slot<Box<char>>> = Arc::new(Slot::new());
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let slot = slot.clone();
                thread::spawn(move || slot.steal().map(|item| *item))
            })
            .collect();
        let mut got = Vec::new();
        for item in ['a', 'b'] {
            let refused = slot.publish(Box::new(item)).err();
            assert_eq!(refused, None, "the owner took the last one, or a thief did");
            got.extend(slot.take().map(|item| *item));
        }
        for thief in thieves {
            got.extend(thief.join().expect("a thief does not panic"));
        }
        got.sort_unstable();
        assert_eq!(got, ['a', 'b']);
    });
}

/// S3: a publisher and a looker that each write, then read the other's, do not both miss.
#[test]
fn loom_s3_a_publish_is_a_full_barrier() {
    loom::model(|| {
        let slot = Arc::new(Slot::new());
        let left = Arc::new(AtomicBool::new(false));
        let looker = thread::spawn({
            let (slot, left) = (slot.clone(), left.clone());
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
