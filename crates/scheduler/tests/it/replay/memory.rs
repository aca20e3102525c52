//! Who frees what, and when: queues that lose or double items, tasks freed under their waker's feet, memory that a
//! stale waker pins. Address sanitizer sees more here than the assertions do.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use runnext::queue::{Injector, Local, Stealer, local};
use runnext::{Pool, Task, yield_now};

use crate::support::*;

/// smol-rs/async-executor#163: a wake from outside while the last handle goes; the schedule function touched the pool
/// after it had given the task away.
#[test]
fn async_executor_163_a_wake_races_with_the_end_of_the_pool() {
    for_each_setting(Workers::Any, |setting| {
        for _ in 0..100 {
            let pool = setting.pool();
            in_time(move || {
                let drops = Drops::default();
                let (wakers, waiting) = channel();
                for _ in 0..4 {
                    let (wakers, witness) = (wakers.clone(), drops.witness());
                    pool.spawn(async move {
                        let _witness = witness;
                        pending_with_waker(wakers).await;
                    })
                    .detach();
                }
                let wakers: Vec<Waker> = waiting.iter().take(4).collect();
                drop(waiting);
                let waking = thread::spawn(move || {
                    wakers.iter().for_each(Waker::wake_by_ref);
                    wakers.into_iter().for_each(Waker::wake); // gives the last reference away
                });
                drop(pool);
                waking.join().unwrap();
                until(|| drops.count() == 4);
            });
        }
    });
}

/// smol-rs/async-task#11: the task runs to its end and is freed while the schedule function still runs.
#[test]
fn async_task_11_a_task_is_freed_while_its_wake_still_runs() {
    on_each_pool(Workers::Several, |pool| {
        for _ in 0..2000 {
            let mut waker = channel();
            let (sends, sent) = (waker.0.clone(), &mut waker.1);
            let mut polled = false;
            pool.spawn(poll_fn(move |cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                sends.send(cx.waker().clone()).unwrap();
                Poll::Pending
            }))
            .detach();
            next(sent).wake(); // nobody else refers to the task any more
        }
        until(|| pool.stats().live_tasks_count == 0);
    });
}

/// Items that are counted when they come out of a queue.
struct Counted(Vec<AtomicU8>, AtomicUsize);

impl Counted {
    fn new(items: usize) -> Self {
        let counts = (0..items).map(|_| AtomicU8::new(0)).collect();
        Counted(counts, AtomicUsize::new(items))
    }

    fn out(&self, item: usize) {
        assert_eq!(
            self.0[item].fetch_add(1, Ordering::SeqCst),
            0,
            "Q1: item {item} twice"
        );
        self.1.fetch_sub(1, Ordering::SeqCst);
    }

    fn all_out(&self) -> bool {
        self.1.load(Ordering::SeqCst) == 0
    }
}

/// crossbeam-rs/crossbeam#726, NVIDIA/stdexec#1967: thieves at work while the queue grows, shrinks and wraps.
#[test]
fn crossbeam_726_q1_each_item_comes_out_once_under_theft() {
    const ITEMS: usize = 100_000;
    in_time(|| {
        let (queue, stealer) = local();
        let counted = Counted::new(ITEMS);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let (loot, _) = local();
                    while !counted.all_out() {
                        match stealer.steal_half_into(&loot) {
                            Some(item) => counted.out(item),
                            None => thread::yield_now(),
                        }
                        std::iter::from_fn(|| loot.pop()).for_each(|item| counted.out(item));
                    }
                });
            }
            for item in 0..ITEMS {
                queue.push(item);
                // Bursts of 1 to 1000 items, then a few of them back.
                if item % (item / 1000 * 10 + 1) == 0 {
                    (0..item % 50)
                        .map_while(|_| queue.pop())
                        .for_each(|item| counted.out(item));
                }
            }
            while !counted.all_out() {
                std::iter::from_fn(|| queue.pop()).for_each(|item| counted.out(item));
            }
        });
    });
}

/// tokio-rs/tokio#2382: stealing into a queue that is itself being stolen from overwrote places.
#[test]
fn tokio_2382_q1_a_ring_of_thieves() {
    const ITEMS: usize = 30_000;
    in_time(|| {
        let counted = Counted::new(3 * ITEMS);
        let (queues, stealers): (Vec<Local<usize>>, Vec<Stealer<usize>>) =
            (0..3).map(|_| local()).unzip();
        thread::scope(|scope| {
            let (counted, stealers) = (&counted, &stealers);
            for (own, queue) in queues.into_iter().enumerate() {
                scope.spawn(move || {
                    let mut items = own * ITEMS..(own + 1) * ITEMS;
                    while !counted.all_out() {
                        items.by_ref().take(300).for_each(|item| queue.push(item));
                        if let Some(item) = stealers[(own + 1) % 3].steal_half_into(&queue) {
                            counted.out(item);
                        }
                        (0..150)
                            .map_while(|_| queue.pop())
                            .for_each(|item| counted.out(item));
                    }
                });
            }
        });
    });
}

#[test]
fn q1_each_item_comes_out_of_the_injector_once() {
    const ITEMS: usize = 30_000;
    in_time(|| {
        let (injector, counted) = (Injector::new(), Counted::new(2 * ITEMS));
        thread::scope(|scope| {
            for part in 0..2 {
                let injector = &injector;
                scope.spawn(move || {
                    (part * ITEMS..(part + 1) * ITEMS).for_each(|item| injector.push(item))
                });
            }
            for _ in 0..3 {
                scope.spawn(|| {
                    let (own, _stealer) = local();
                    while !counted.all_out() {
                        if let Some((item, moved)) = injector.take_share(3, &own) {
                            counted.out(item);
                            let all: Vec<_> = std::iter::from_fn(|| own.pop()).collect();
                            assert_eq!(all.len(), moved);
                            all.into_iter().for_each(|item| counted.out(item));
                        }
                    }
                });
            }
        });
    });
}

/// What the fuzz below does with tasks and wakers at random; each thread has a copy.
struct Fuzz {
    pool: Pool,
    drops: Drops,
    spawned: Arc<AtomicUsize>,
    tasks: Arc<Mutex<Vec<Task<usize>>>>,
    wakers: Arc<Mutex<Vec<Waker>>>,
    rng: fastrand::Rng,
}

impl Fuzz {
    fn step(&mut self) {
        match self.rng.u8(0..12) {
            0..4 => self.spawn(),
            4..6 => drop(self.any_task()),
            6 => drop(
                self.any_task()
                    .map(|task| self.pool.spawn(task.cancel()).detach()),
            ),
            7 => drop(self.any_task().map(Task::detach)),
            8 => drop(self.any_task().map(|task| self.pool.spawn(task).detach())),
            9 => drop(self.any_waker().map(Waker::wake)),
            10 => drop(self.any_waker().map(|waker| waker.wake_by_ref())),
            _ => drop(self.any_waker()),
        }
    }

    /// A task that waits a few times, lends its waker to everybody, and may wake itself as well.
    fn spawn(&mut self) {
        self.spawned.fetch_add(1, Ordering::SeqCst);
        let (witness, wakers) = (self.drops.witness(), self.wakers.clone());
        let (mut polls_left, wakes_itself) = (self.rng.usize(0..4), self.rng.bool());
        let task = self.pool.spawn(poll_fn(move |cx| {
            let _witness = &witness;
            if polls_left == 0 {
                return Poll::Ready(7);
            }
            polls_left -= 1;
            wakers.lock().unwrap().push(cx.waker().clone());
            if wakes_itself {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        }));
        self.tasks.lock().unwrap().push(task);
    }

    fn any_task(&mut self) -> Option<Task<usize>> {
        let mut tasks = self.tasks.lock().unwrap();
        let index = self.rng.usize(0..tasks.len().max(1));
        (!tasks.is_empty()).then(|| tasks.swap_remove(index))
    }

    fn any_waker(&mut self) -> Option<Waker> {
        let mut wakers = self.wakers.lock().unwrap();
        let index = self.rng.usize(0..wakers.len().max(1));
        (!wakers.is_empty()).then(|| wakers.swap_remove(index))
    }
}

/// tokio-rs/tokio#6424: reference counts that came out wrong now and then.
#[test]
fn tokio_6424_random_wakes_drops_and_cancels() {
    on_each_pool(Workers::Any, |pool| {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let (drops, spawned) = (Drops::default(), Arc::new(AtomicUsize::new(0)));
        let (tasks, wakers) = (Arc::default(), Arc::default());
        let threads: Vec<_> = (0..3)
            .map(|thread| {
                let mut fuzz = Fuzz {
                    pool: pool.clone(),
                    drops: drops.clone(),
                    spawned: spawned.clone(),
                    tasks: Arc::clone(&tasks),
                    wakers: Arc::clone(&wakers),
                    rng: fastrand::Rng::with_seed(seed.wrapping_add(thread)),
                };
                thread::spawn(move || (0..3000).for_each(|_| fuzz.step()))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        pool.shutdown();
        assert_eq!(drops.count(), spawned.load(Ordering::SeqCst));
    });
}

/// tokio-rs/tokio#4724: a stale waker pins what belonged to a completed task.
#[test]
fn tokio_4724_a_stale_waker_pins_neither_future_nor_output() {
    on_each_pool(Workers::Any, |pool| {
        let (futures, outputs) = (Drops::default(), Drops::default());
        let (wakers, stale) = channel();
        let (future, output) = (futures.witness(), outputs.witness());
        let task = pool.spawn(async move {
            let _future = future;
            poll_fn(|cx| {
                wakers.send(cx.waker().clone()).unwrap();
                Poll::Ready(())
            })
            .await;
            yield_now().await; // so that the pool has to find the task again, too
            output
        });
        let output = pool.block_on(task);
        assert_eq!((futures.count(), outputs.count()), (1, 0));
        drop(output);
        assert_eq!(outputs.count(), 1);
        next(&stale).wake();
    });
}

/// Two tasks that own each other's handle: a cycle, which a shutdown has to cut.
#[test]
fn tokio_4724_tasks_that_await_each_other_are_freed_by_a_shutdown() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        let handles: Vec<_> = (0..2)
            .map(|_| {
                let (give, given) = channel::<Task<()>>();
                let (witness, ready) = (drops.witness(), AtomicBool::new(false));
                let task = pool.spawn(async move {
                    let _witness = witness;
                    while !ready.swap(true, Ordering::Relaxed) {
                        yield_now().await;
                    }
                    next(&given).await;
                });
                (give, task)
            })
            .collect();
        let [(to_one, one), (to_two, two)] = <[_; 2]>::try_from(handles).expect("there are two");
        to_one.send(two).unwrap();
        to_two.send(one).unwrap();
        pool.shutdown();
        assert_eq!(drops.count(), 2);
    });
}
