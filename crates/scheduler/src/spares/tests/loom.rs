//! Models of the spares: a sleep whose time is up against a recall and against the close.

use crate::idle::Idle;
use crate::model::{Pool, model};
use crate::spares::{Fate, Spares, after_sleep};
use crate::sync::{Mutex, lock};
use loom::sync::Arc;
use loom::thread;

/// How long a spare sleeps.
#[derive(Clone, Copy)]
enum Sleep {
    UntilRecalled,
    /// Its time is up at once.
    Short,
}

/// The life of a spare that is not kept, until it works again or ends.
fn life(spares: &Mutex<Spares>, idle: &Idle, index: usize, sleep: Sleep) -> Fate {
    let mut fate = lock(spares).add(index);
    while fate == Fate::Sleeps {
        let woken = match sleep {
            Sleep::UntilRecalled => {
                idle.await_recall(index);
                true
            }
            Sleep::Short => idle.sleep_apart(index),
        };
        fate = after_sleep(spares, idle, index, woken, |_| false);
    }
    fate
}

/// The time of a spare is up while it is recalled: one of the two decides. If it works, its wake has been taken, so
/// that its next sleep ends with the item that it was woken for.
#[test]
fn loom_c1_the_end_of_a_spares_time_against_a_recall() {
    model(3, || {
        let pool = Pool::new(1);
        let spares = Arc::new(Mutex::new(Spares::default()));
        let spare = thread::spawn({
            let (pool, spares) = (pool.clone(), spares.clone());
            move || match life(&spares, &pool.start(0).idle, 0, Sleep::Short) {
                Fate::Works => Some(pool.find_one(0)),
                _ => None,
            }
        });
        let recalled = lock(&spares).recall_newest(&pool.idle);
        if recalled {
            pool.inject(1);
        }
        let found = spare.join().expect("no panic");
        assert_eq!(found, recalled.then_some(1), "C1");
        assert_eq!(lock(&spares).len(), 0);
        pool.assert_at_rest();
    });
}

/// Two recalls at once and two spares: each gets one, and each works.
#[test]
fn loom_c1_two_recalls() {
    model(2, || {
        let idle = Arc::new(Idle::new(2));
        let spares = Arc::new(Mutex::new(Spares::default()));
        let lives: Vec<_> = (0..2)
            .map(|index| {
                let (idle, spares) = (idle.clone(), spares.clone());
                thread::spawn(move || life(&spares, &idle, index, Sleep::UntilRecalled))
            })
            .collect();
        let mut recalled = 0;
        while recalled < 2 {
            recalled += u32::from(lock(&spares).recall_newest(&idle));
            thread::yield_now();
        }
        for life in lives {
            assert_eq!(life.join().expect("no panic"), Fate::Works);
        }
    });
}

/// The close against a spare that is just about to sleep, for ever or not: it ends.
#[test]
fn loom_c5_the_close_ends_every_spare() {
    for sleep in [Sleep::UntilRecalled, Sleep::Short] {
        model(3, move || {
            let idle = Arc::new(Idle::new(1));
            let spares = Arc::new(Mutex::new(Spares::default()));
            let spare = thread::spawn({
                let (idle, spares) = (idle.clone(), spares.clone());
                move || life(&spares, &idle, 0, sleep)
            });
            lock(&spares).close(&idle);
            assert_eq!(spare.join().expect("no panic"), Fate::Ends);
            assert_eq!(lock(&spares).len(), 0);
        });
    }
}

/// The close and a recall at once: the spare does what the one says that came first, and nobody is recalled after it.
#[test]
fn loom_c5_the_close_against_a_recall() {
    model(3, || {
        let idle = Arc::new(Idle::new(1));
        let spares = Arc::new(Mutex::new(Spares::default()));
        let spare = thread::spawn({
            let (idle, spares) = (idle.clone(), spares.clone());
            move || life(&spares, &idle, 0, Sleep::UntilRecalled)
        });
        let recaller = thread::spawn({
            let (idle, spares) = (idle.clone(), spares.clone());
            move || lock(&spares).recall_newest(&idle)
        });
        lock(&spares).close(&idle);
        assert!(!lock(&spares).recall_newest(&idle), "C5");
        let recalled = recaller.join().expect("no panic");
        let fate = spare.join().expect("no panic");
        assert_eq!(fate == Fate::Works, recalled);
    });
}
