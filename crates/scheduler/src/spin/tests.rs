use super::{Backoff, LAST_STEP, loops_per_unit};

fn units(backoff: &mut Backoff) -> u32 {
    backoff.next_units(&mut fastrand::Rng::with_seed(7))
}

#[test]
fn the_first_step_does_not_wait_and_each_next_one_at_most_doubles() {
    let mut backoff = Backoff::new(1024);
    assert_eq!(units(&mut backoff), 0);
    for step in 1..=LAST_STEP {
        let range = 1 << (step - 1)..1 << step;
        assert!(range.contains(&units(&mut backoff)), "step {step}");
    }
}

#[test]
fn no_step_waits_longer_than_the_cap() {
    let mut backoff = Backoff::new(u32::MAX);
    (0..100).for_each(|_| assert!(units(&mut backoff) < 1 << LAST_STEP));
}

#[test]
fn the_budget_is_spent_to_the_unit() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut backoff = Backoff::new(1024);
    let asked = std::cell::Cell::new(0);
    let once_a_unit = || {
        asked.set(asked.get() + 1);
        false
    };
    while backoff.wait(&mut rng, once_a_unit) {}
    assert_eq!(asked.get(), 1024);
}

#[test]
fn no_budget_no_wait() {
    let mut rng = fastrand::Rng::new();
    assert!(!Backoff::new(0).wait(&mut rng, || panic!("asked during no wait")));
}

#[test]
fn a_patient_wait_is_long_and_happens_even_without_a_budget() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut backoff = Backoff::patient(0);
    let asked = std::cell::Cell::new(0);
    let once_a_unit = || {
        asked.set(asked.get() + 1);
        false
    };
    assert!(backoff.wait(&mut rng, once_a_unit));
    assert!((1 << (LAST_STEP - 1)..1 << LAST_STEP).contains(&asked.get()));
}

#[test]
fn an_alarm_ends_the_wait_but_not_the_search() {
    let mut rng = fastrand::Rng::new();
    let mut backoff = Backoff::new(1024);
    assert!((0..20).all(|_| backoff.wait(&mut rng, || true)));
}

#[test]
fn a_unit_is_a_sane_number_of_loops() {
    assert!((1..=64).contains(&loops_per_unit()));
}
