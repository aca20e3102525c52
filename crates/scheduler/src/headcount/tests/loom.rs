//! Models of the head count: adding and giving way against workers that block and return.

use crate::headcount::Headcount;
use loom::sync::Arc;
use loom::thread;

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(f);
}

/// A worker blocks and returns while the gate makes up for it: whichever comes first, in the end as many are
/// live as there should be, once each has passed between two polls.
#[test]
fn loom_h1_compensation_against_a_worker_that_returns() {
    model(|| {
        let heads = Arc::new(Headcount::new(1, 2));
        let worker = thread::spawn({
            let heads = heads.clone();
            move || {
                heads.block();
                heads.unblock();
                heads.try_give_way()
            }
        });
        let added = heads.try_add();
        let gave_way = worker.join().expect("no panic");
        let newcomer_gives_way = added && !gave_way && heads.try_give_way();
        assert_eq!(added, gave_way || newcomer_gives_way);
        assert_eq!(heads.get().live(), 1);
    });
}

/// Two surplus workers and one place too many: exactly one gives way.
#[test]
fn loom_h1_two_workers_that_give_way() {
    model(|| {
        let heads = Arc::new(Headcount::new(2, 3));
        heads.block();
        assert!(heads.try_add());
        heads.unblock();
        let other = thread::spawn({
            let heads = heads.clone();
            move || heads.try_give_way()
        });
        let gave_way = [heads.try_give_way(), other.join().expect("no panic")];
        assert_ne!(gave_way[0], gave_way[1]);
        assert_eq!(heads.get().live(), 2);
    });
}

/// The last worker leaves while another is to be added: either it is added and leaves as well, or it is not (H2).
#[test]
fn loom_h2_the_last_to_leave_against_one_who_is_added() {
    model(|| {
        let heads = Arc::new(Headcount::new(1, 2));
        heads.block();
        let last = thread::spawn({
            let heads = heads.clone();
            move || heads.leave()
        });
        let left_by_newcomer = heads.try_add().then(|| heads.leave());
        let left_by_last = last.join().expect("no panic");
        let cleared_up = [Some(left_by_last), left_by_newcomer];
        let times = cleared_up.iter().filter(|left| **left == Some(0)).count();
        assert_eq!(times, 1, "exactly one of them clears up");
    });
}
