//! Models of the head count: adding and giving way against workers that block and return, and against requests that
//! count on one who gives way.

use crate::headcount::Headcount;
use crate::idle::Answer;
use crate::marks::Marks;
use crate::model::{Pool, model};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

/// A worker blocks and returns while the gate makes up for it: whichever comes first, in the end as many are
/// live as there should be, once each has passed between two polls.
#[test]
fn loom_h1_compensation_against_a_worker_that_returns() {
    model(3, || {
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
    model(3, || {
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
    model(3, || {
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

/// What the workers left is seen by the last of them, and by whoever reads that nobody is live.
#[test]
fn loom_h2_the_last_to_leave_sees_what_the_others_left() {
    fn leave(heads: &Headcount, mine: &UnsafeCell<u32>) -> bool {
        mine.with_mut(|left| {
            // SAFETY: each worker has one of its own, and the model fails if the reads below come too early.
            unsafe { *left = 1 }
        });
        heads.leave() == 0
    }
    fn sum(left: &[UnsafeCell<u32>; 2]) -> u32 {
        let read = |left: &UnsafeCell<u32>| {
            left.with(|left| {
                // SAFETY: as above.
                unsafe { *left }
            })
        };
        left.iter().map(read).sum()
    }
    model(3, || {
        let shared = Arc::new((
            Headcount::new(2, 2),
            [UnsafeCell::new(0), UnsafeCell::new(0)],
        ));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let (heads, left) = &*shared;
                if leave(heads, &left[1]) {
                    assert_eq!(sum(left), 2);
                }
            }
        });
        let onlooker = thread::spawn({
            let shared = shared.clone();
            move || {
                let (heads, left) = &*shared;
                if heads.get().live() == 0 {
                    assert_eq!(sum(left), 2);
                }
            }
        });
        let (heads, left) = &*shared;
        if leave(heads, &left[0]) {
            assert_eq!(sum(left), 2);
        }
        other.join().expect("no panic");
        onlooker.join().expect("no panic");
    });
}

/// What whoever gives way hands over: the one who stays ends with it, so it sleeps for ever if nobody gives way.
const HANDED_OVER: u32 = 9;

/// A pool with as many workers as there should be. Worker 0 has marks.
struct Crew {
    pool: Arc<Pool>,
    heads: Headcount,
    marks: Marks,
}

impl Crew {
    fn new(min: usize, max: usize) -> Arc<Self> {
        Arc::new(Crew {
            pool: Pool::new(max),
            heads: Headcount::new(min, max),
            marks: Marks::default(),
        })
    }

    fn start(crew: &Arc<Self>, worker: usize) -> JoinHandle<Vec<u32>> {
        let crew = crew.clone();
        thread::spawn(move || crew.work(worker))
    }

    /// Runs items until it has run the one that was handed over, or gives way and hands that one over.
    fn work(&self, worker: usize) -> Vec<u32> {
        let mut run = Vec::new();
        while let Some(item) = self.next(worker) {
            run.push(item);
            if run.contains(&HANDED_OVER) && !self.pool.has_work() {
                return run;
            }
        }
        self.pool.inject(HANDED_OVER);
        run
    }

    /// An item, or none if it has given way, by the protocol of `search`.
    fn next(&self, worker: usize) -> Option<u32> {
        let idle = &self.pool.start(worker).idle;
        if self.gives_way(worker) {
            return None;
        }
        let mut searching = idle.start_searching(1);
        loop {
            if searching && let Some(item) = self.pool.look() {
                idle.stop_searching(|| self.pool.has_work());
                return Some(item);
            }
            let may_not_sleep = || self.heads.get().has_surplus() || self.pool.has_work();
            if !idle.park(worker, searching, may_not_sleep) {
                thread::yield_now(); // as `Pool::find_one`
            }
            searching = true;
            if self.gives_way(worker) {
                idle.stop_searching(|| self.pool.has_work());
                return None;
            }
        }
    }

    /// As `Worker::gives_way`.
    fn gives_way(&self, worker: usize) -> bool {
        if worker == 0 {
            self.marks.end_poll(&self.heads, Some(&self.heads));
        }
        self.heads.get().has_surplus() && self.heads.try_give_way()
    }

    /// As `Shared::wake_surplus`.
    fn wake_surplus(&self) {
        let heads = self.heads.get();
        for _ in heads.goal()..heads.live() {
            self.pool.idle.wake_one_more();
        }
    }

    /// Work waits and nobody is idle: as `Shared::nobody_comes`.
    fn nobody_comes(&self) -> bool {
        let counts = self.pool.idle.counts();
        counts.searching() + counts.parked() == 0 && self.pool.has_work()
    }

    /// Looks on while nobody comes for what waits, and adds worker 1 if one should be added, as the gate does.
    fn watch(crew: &Arc<Self>) -> Option<JoinHandle<Vec<u32>>> {
        let mut added = None;
        while !crew.pool.idle.end_watch(|| crew.nobody_comes()) {
            if added.is_none() && crew.heads.try_add() {
                added = Some(Self::start(crew, 1));
            }
            thread::yield_now(); // until the next look
        }
        added
    }

    /// The end: of two workers one has given way; of one, it goes on until it is handed something.
    fn join(&self, first: JoinHandle<Vec<u32>>, added: Option<JoinHandle<Vec<u32>>>) -> Vec<u32> {
        if added.is_none() {
            self.pool.inject(HANDED_OVER);
        }
        let both = [Some(first), added].into_iter().flatten();
        let mut run: Vec<u32> = both
            .flat_map(|worker| worker.join().expect("no panic"))
            .collect();
        run.sort_unstable();
        let heads = self.heads.get();
        assert_eq!(
            (heads.live(), heads.blocked()),
            (1, 0),
            "nobody above the goal is left"
        );
        self.pool.assert_at_rest();
        run
    }
}

/// An item comes while the only worker says that it is blocked, or not yet, or no more: that worker finds it, or one
/// whom the gate adds, and if there are two, one of them gives way.
#[test]
fn loom_an_item_against_a_worker_that_blocks_and_returns() {
    model(2, || {
        let crew = Crew::new(1, 2);
        let worker = thread::spawn({
            let crew = crew.clone();
            move || {
                let outer = crew.marks.begin_section(1, Some(&crew.heads));
                crew.marks.end_section(outer, Some(&crew.heads));
                crew.work(0)
            }
        });
        crew.pool.injector.push(Box::new(1));
        let added = match crew.pool.idle.request() {
            Answer::NobodyIdle => {
                assert!(crew.pool.idle.wake_gate(false));
                Crew::watch(&crew)
            }
            _ => None,
        };
        assert_eq!(crew.join(worker, added), [1, HANDED_OVER]);
    });
}

/// The only worker blocks for ever: the gate adds one who finds what comes.
#[test]
fn loom_an_item_against_a_worker_that_blocks_for_ever() {
    model(3, || {
        let crew = Crew::new(1, 2);
        let blocked = thread::spawn({
            let crew = crew.clone();
            move || crew.marks.begin_section(1, Some(&crew.heads))
        });
        crew.pool.injector.push(Box::new(HANDED_OVER));
        assert_eq!(crew.pool.idle.request(), Answer::NobodyIdle);
        assert!(crew.pool.idle.wake_gate(false));
        let added = Crew::watch(&crew).expect("who else should take it?");
        assert_eq!(added.join().expect("no panic"), [HANDED_OVER]);
        blocked.join().expect("no panic");
        assert_eq!(crew.heads.get().live(), 2);
    });
}

/// The gate has found the only worker blocked and made up for it, and takes that back, while that worker goes on and sleeps:
/// one of the two workers gives way, although nobody requests anything.
#[test]
fn loom_the_gates_mark_against_a_worker_that_returns() {
    model(2, || {
        let crew = Crew::new(1, 2);
        crew.marks.find(1, &crew.heads, true);
        assert!(crew.heads.try_add());
        let (worker, added) = (Crew::start(&crew, 0), Crew::start(&crew, 1));
        if crew.marks.forget(&crew.heads) {
            crew.wake_surplus();
        }
        assert_eq!(crew.join(worker, Some(added)), [HANDED_OVER]);
    });
}

/// A request counts on a worker that gives way, woken by it or about to sleep: the other one finds the item.
#[test]
fn loom_a_request_against_a_worker_that_gives_way() {
    model(2, || {
        let crew = Crew::new(2, 2);
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let crew = crew.clone();
                thread::spawn(move || crew.next(worker))
            })
            .collect();
        crew.pool.inject(1);
        crew.heads.set(1, 2);
        crew.wake_surplus();
        let ends = workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"));
        let mut found: Vec<_> = ends.collect();
        found.sort_unstable();
        assert_eq!(found, [None, Some(1)]);
        assert_eq!(crew.heads.get().live(), 1);
        crew.pool.assert_at_rest();
    });
}
