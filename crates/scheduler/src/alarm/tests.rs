//! Tests of the alarm with a real timer, and models of who sets it when.

#[cfg(runnext_loom)]
mod loom;

#[cfg(all(target_os = "linux", not(runnext_loom)))]
mod real {
    use crate::alarm::Alarm;
    use std::thread;
    use std::time::{Duration, Instant};

    const NIGHT: Duration = Duration::from_secs(3600);

    #[test]
    fn a_ring_ends_the_sleep() {
        let alarm = Alarm::default();
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| assert!(alarm.sleep(NIGHT, || false)));
            while !sleeper.is_finished() {
                alarm.ring(); // the first ones may come before the sleep
                thread::yield_now();
            }
        });
    }

    #[test]
    fn who_is_rung_already_does_not_sleep() {
        assert!(Alarm::default().sleep(NIGHT, || true));
    }

    #[test]
    fn a_sleep_lasts_its_time_from_when_it_is_put_off() {
        const TIME: Duration = Duration::from_millis(50);
        const TRIES: usize = 20; // in each we may be kept from it for longer than that
        let alarm = Alarm::default();
        let sleeps_on = || {
            let start = Instant::now();
            thread::scope(|scope| {
                let sleeper = scope.spawn(|| assert!(alarm.sleep(TIME, || false)));
                while start.elapsed() < 2 * TIME && !sleeper.is_finished() {
                    alarm.put_off();
                    thread::yield_now();
                }
            });
            start.elapsed() > TIME * 5 / 2
        };
        assert!((0..TRIES).any(|_| sleeps_on()));
    }

    #[test]
    fn what_is_put_off_or_rung_while_nobody_sleeps_is_forgotten() {
        const TIME: Duration = Duration::from_millis(20);
        let alarm = Alarm::default();
        assert!(!alarm.put_off());
        alarm.ring();
        let start = Instant::now();
        assert!(alarm.sleep(TIME, || false));
        assert!(start.elapsed() >= TIME);
    }
}
