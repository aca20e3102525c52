//! The rule of the steal delay, on a clock of the test's own.

use super::Sighting;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const US: Duration = Duration::from_micros(1);

#[test]
fn what_is_seen_for_the_first_time_has_not_waited() {
    let now = Instant::now();
    assert_eq!(Sighting::default().waited(0, now), Duration::ZERO);
    assert_eq!(Sighting::default().waited(9, now), Duration::ZERO);
}

#[test]
fn it_waits_while_the_owner_sits_in_one_poll() {
    let start = Instant::now();
    let mut sighting = Sighting::default();
    sighting.waited(7, start);
    assert_eq!(sighting.waited(7, start + 3 * US), 3 * US);
    assert_eq!(sighting.waited(7, start + 9 * US), 9 * US);
}

#[test]
fn an_owner_that_polls_on_starts_the_wait_anew() {
    let start = Instant::now();
    let mut sighting = Sighting::default();
    sighting.waited(7, start);
    assert_eq!(sighting.waited(8, start + 9 * US), Duration::ZERO);
    assert_eq!(sighting.waited(8, start + 10 * US), US);
}

#[test]
fn what_was_gone_in_between_starts_the_wait_anew() {
    let start = Instant::now();
    let mut sighting = Sighting::default();
    sighting.waited(7, start);
    sighting.forget();
    assert_eq!(sighting.waited(7, start + 9 * US), Duration::ZERO);
}

proptest! {
    /// The steal delay is a promise to the owner: whatever a looker sees, it never takes for `d` old
    /// what the owner has had for less than `d` in its current poll.
    #[test]
    fn s4_nothing_is_ever_thought_to_have_waited_longer_than_its_owners_poll(
        steps in prop::collection::vec((0_u64..4, any::<bool>(), 0_u32..2), 1..50)
    ) {
        let mut now = Instant::now();
        let mut poll_began = now;
        let mut polls = 0;
        let mut sighting = Sighting::default();
        for (us, full, polled) in steps {
            now += Duration::from_micros(us);
            if polled == 1 {
                polls += 1;
                poll_began = now;
            }
            if full {
                prop_assert!(sighting.waited(polls, now) <= now - poll_began);
            } else {
                sighting.forget();
            }
        }
    }
}
