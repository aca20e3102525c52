//! Unit tests of the queues; `tests/it/properties.rs` has their property tests.

use super::{BATCH, Injector, local};

#[test]
fn q2_a_thief_takes_the_older_half_and_keeps_its_order() {
    let (queue, stealer) = local();
    (0..7).for_each(|item| queue.push(item));
    let (thief, _) = local();
    assert_eq!(stealer.steal_half_into(&thief), Some(0));
    let moved: Vec<i32> = std::iter::from_fn(|| thief.pop()).collect();
    assert_eq!(moved, [1, 2, 3]);
    let kept: Vec<i32> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(kept, [4, 5, 6]);
}

#[test]
fn a_thief_takes_a_batch_at_most() {
    let (queue, stealer) = local();
    (0..1000).for_each(|item| queue.push(item));
    let (thief, moved) = local();
    assert_eq!(stealer.steal_half_into(&thief), Some(0));
    assert_eq!(moved.len(), BATCH - 1);
}

#[test]
fn an_empty_queue_gives_nothing() {
    let (queue, stealer) = local::<u8>();
    assert!(queue.is_empty() && stealer.is_empty());
    assert_eq!(stealer.steal_half_into(&local().0), None);
}

#[test]
fn a_share_of_the_injector_is_the_first_of_as_many_as_share() {
    let injector = Injector::new();
    (0..9).for_each(|item| injector.push(item));
    let (queue, stealer) = local();
    assert_eq!(injector.take_share(4, &queue), Some((0, 2)));
    assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(2)));
    assert!(stealer.is_empty());
    assert_eq!(injector.len(), 6);
}

#[test]
fn a_share_of_the_injector_is_a_batch_at_most() {
    let injector = Injector::new();
    (0..1000).for_each(|item| injector.push(item));
    let (queue, _) = local();
    assert_eq!(injector.take_share(1, &queue), Some((0, BATCH - 1)));
}

#[test]
fn an_empty_injector_has_no_share() {
    let injector = Injector::<u8>::new();
    assert_eq!(injector.take_share(1, &local().0), None);
}
