//! Unit tests of the idle counts; the models of the protocol are in `loom`.

#[cfg(runnext_loom)]
mod loom;

#[cfg(not(runnext_loom))]
mod plain {
    use crate::idle::{Answer, Counts, Idle};

    fn counts(idle: &Idle) -> (usize, usize) {
        (idle.counts().searching(), idle.counts().parked())
    }

    #[test]
    fn a_request_with_everybody_running_wants_the_gate_unless_it_is_awake() {
        let idle = Idle::new(2);
        assert_eq!(idle.request(), Answer::NobodyIdle);
        assert!(idle.wake_gate(false));
        assert_eq!(idle.request(), Answer::Absorbed);
    }

    #[test]
    fn without_a_gate_nobody_tries_to_wake_it() {
        let idle = Idle::new(2);
        idle.without_gate();
        assert_eq!(idle.request(), Answer::Absorbed);
        assert!(!idle.wake_gate(true));
    }

    #[test]
    fn i3_a_woken_worker_absorbs_the_next_request() {
        let idle = Idle::new(3);
        idle.push(0, false);
        idle.push(1, false);
        assert_eq!(idle.request(), Answer::Woke);
        assert_eq!(counts(&idle), (1, 1));
        assert_eq!(
            idle.request(),
            Answer::Absorbed,
            "one wake in flight is enough"
        );
        idle.stop_searching(|| false);
        // The woken one has found work: the next may be woken.
        assert_eq!(idle.request(), Answer::Woke);
        assert_eq!(counts(&idle), (1, 0));
    }

    #[test]
    fn i3_a_woken_worker_that_searches_alone_may_wake_a_second_but_no_third() {
        let idle = Idle::new(3);
        (0..3).for_each(|worker| idle.push(worker, false));
        assert_eq!(idle.request(), Answer::Woke);
        assert!(idle.wake_second());
        assert_eq!(counts(&idle), (2, 1));
        assert!(!idle.wake_second());
    }

    #[test]
    fn the_newest_parked_is_woken_first() {
        let idle = Idle::new(3);
        for worker in [2, 0, 1] {
            idle.push(worker, false);
        }
        assert_eq!(idle.pop_newest_if(Counts::wants_wake), Some(1));
        idle.stop_searching(|| false);
        assert_eq!(idle.pop_newest_if(Counts::wants_wake), Some(0));
    }

    #[test]
    fn the_limit_on_searchers_holds() {
        let idle = Idle::new(4);
        assert!(idle.start_searching(2));
        assert!(idle.start_searching(2));
        assert!(!idle.start_searching(2));
        idle.stop_searching(|| false);
        assert!(idle.start_searching(2));
    }

    #[test]
    fn i2_a_withdrawn_worker_searches_and_is_on_no_stack() {
        let idle = Idle::new(2);
        assert!(idle.start_searching(1));
        idle.push(0, true);
        assert_eq!(counts(&idle), (0, 1));
        idle.withdraw(0);
        assert_eq!(counts(&idle), (1, 0));
        idle.stop_searching(|| false);
        assert_eq!(
            idle.request(),
            Answer::NobodyIdle,
            "nobody is parked any more"
        );
    }

    #[test]
    fn i2_a_withdrawal_that_comes_too_late_takes_the_wake() {
        let idle = Idle::new(1);
        idle.register(0);
        idle.push(0, false);
        assert_eq!(idle.request(), Answer::Woke);
        idle.withdraw(0); // does not hang: the request has unparked us
        assert_eq!(counts(&idle), (1, 0));
    }

    #[test]
    fn a_shutdown_wakes_everybody() {
        let idle = Idle::new(3);
        (0..3).for_each(|worker| idle.push(worker, false));
        idle.wake_all();
        assert_eq!(counts(&idle), (3, 0));
    }
}
