//! Unit tests of the spares; the models are in `loom`.

#[cfg(runnext_loom)]
mod loom;

#[cfg(not(runnext_loom))]
mod plain {
    use crate::idle::Idle;
    use crate::spares::{Fate, Spares, after_sleep};
    use std::sync::Mutex;

    /// Three spares, of whom the last has become one last.
    fn three() -> (Mutex<Spares>, Idle) {
        let mut spares = Spares::default();
        for index in 0..3 {
            assert_eq!(spares.add(index), Fate::Sleeps);
        }
        (Mutex::new(spares), Idle::new(3))
    }

    #[test]
    fn the_newest_is_recalled_first() {
        let (spares, idle) = three();
        assert!(spares.lock().expect("no panic").recall_newest(&idle));
        let fates = [0, 1, 2].map(|index| after_sleep(&spares, &idle, index, index == 2, |_| true));
        assert_eq!(fates, [Fate::Sleeps, Fate::Sleeps, Fate::Works]);
    }

    #[test]
    fn who_is_kept_sleeps_on_and_the_others_end() {
        let (spares, idle) = three();
        let keep_two = |spares| spares <= 2;
        let fates = [0, 1, 2].map(|index| after_sleep(&spares, &idle, index, false, keep_two));
        assert_eq!(fates, [Fate::Ends, Fate::Sleeps, Fate::Sleeps]);
    }

    #[test]
    fn c5_nobody_sleeps_or_is_recalled_after_the_close() {
        let (spares, idle) = three();
        spares.lock().expect("no panic").close(&idle);
        assert!(!spares.lock().expect("no panic").recall_newest(&idle));
        assert_eq!(after_sleep(&spares, &idle, 1, true, |_| true), Fate::Ends);
        assert_eq!(spares.lock().expect("no panic").add(1), Fate::Ends);
    }
}
