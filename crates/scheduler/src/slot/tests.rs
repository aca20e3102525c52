//! Unit and property tests of the slot; its models are in `loom`.

#[cfg(runnext_loom)]
mod loom;

#[cfg(not(runnext_loom))]
mod plain {
    use crate::slot::Slot;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn s1_a_full_slot_refuses_and_keeps_the_first() {
        let slot = Slot::new();
        slot.publish(Box::new('a')).expect("an empty slot accepts");
        assert_eq!(slot.publish(Box::new('b')), Err(Box::new('b')));
        assert_eq!(slot.take(), Some(Box::new('a')));
        assert_eq!(slot.take(), None);
    }

    #[test]
    fn s2_an_item_left_in_the_slot_is_dropped_with_it() {
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let drops = AtomicUsize::new(0);
        let slot = Slot::new();
        assert!(slot.publish(Box::new(Counted(&drops))).is_ok());
        drop(slot);
        assert_eq!(drops.into_inner(), 1);
    }

    #[test]
    fn s2_each_item_is_taken_exactly_once_under_contention() {
        const ITEMS: usize = 20_000;
        let slot = Slot::new();
        let thieves = [slot.thief(), slot.thief()];
        let taken: Vec<AtomicUsize> = (0..ITEMS).map(|_| AtomicUsize::new(0)).collect();
        let total = AtomicUsize::new(0);
        let count = |item: Option<Box<usize>>| {
            if let Some(item) = item {
                taken[*item].fetch_add(1, Ordering::Relaxed);
                total.fetch_add(1, Ordering::Relaxed);
            }
        };
        thread::scope(|scope| {
            for thief in thieves {
                let (total, count) = (&total, &count);
                scope.spawn(move || {
                    while total.load(Ordering::Relaxed) < ITEMS {
                        count(thief.steal());
                        thread::yield_now();
                    }
                });
            }
            for item in 0..ITEMS {
                let mut item = Box::new(item);
                while let Err(refused) = slot.publish(item) {
                    item = refused;
                    count(slot.take());
                }
            }
            while total.load(Ordering::Relaxed) < ITEMS {
                count(slot.take());
            }
        });
        assert!(taken.iter().all(|n| n.load(Ordering::Relaxed) == 1));
    }

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Publish,
        Take,
        Steal,
    }

    proptest! {
        /// Against the obvious model, an `Option`.
        #[test]
        fn s1_s2_behaves_like_an_option_that_is_never_replaced(
            ops in prop::collection::vec(
                prop_oneof![Just(Op::Publish), Just(Op::Take), Just(Op::Steal)],
                0..64,
            )
        ) {
            let slot = Slot::new();
            let thief = slot.thief();
            let mut model = None;
            for (n, op) in ops.into_iter().enumerate() {
                match op {
                    Op::Publish if model.is_some() => {
                        prop_assert_eq!(slot.publish(Box::new(n)), Err(Box::new(n)));
                    }
                    Op::Publish => {
                        prop_assert!(slot.publish(Box::new(n)).is_ok());
                        model = Some(n);
                    }
                    Op::Take => prop_assert_eq!(slot.take().map(|b| *b), model.take()),
                    Op::Steal => prop_assert_eq!(thief.steal().map(|b| *b), model.take()),
                }
                prop_assert_eq!(slot.is_full(), model.is_some());
                prop_assert_eq!(thief.is_full(), model.is_some());
            }
        }
    }
}
