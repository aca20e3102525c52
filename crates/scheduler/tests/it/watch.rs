//! What deferral promises: nobody is woken for a hop, the gate looks after what then waits, and when the pool rests
//! so does everybody in it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use runnext::{Pool, Stats, Watch, yield_now};

use crate::support::*;

/// Whether the gate, and not a searcher, looks after slots.
fn gate_watches(pool: &Pool) -> bool {
    let knobs = pool.knobs();
    knobs.defer_worker_requests() && knobs.watch() == Watch::Gate
}

/// Two tasks hop for `rounds` round trips.
fn hop(pool: &Pool, rounds: u32) {
    let mut rounds = 0..rounds;
    let hops = ping_pong(pool, move || match rounds.next() {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(()),
    });
    pool.block_on(hops);
}

/// Bursts, from one poll and from outside, that need as many workers as there are.
fn burst(pool: &Pool) {
    let tasks: Vec<_> = (0..100).map(|_| pool.spawn(yield_now())).collect();
    let inner = pool.clone();
    let fans_out = pool.spawn(async move {
        let tasks: Vec<_> = (0..100).map(|_| inner.spawn(yield_now())).collect();
        for task in tasks {
            task.await;
        }
    });
    tasks.into_iter().for_each(|task| pool.block_on(task));
    pool.block_on(fans_out);
}

#[test]
fn a_pool_at_rest_has_nothing_left_and_nobody_awake() {
    on_each_pool(Workers::Many, |pool| {
        for _ in 0..20 {
            hop(pool, 10);
            burst(pool);
            until_parked(pool, 0);
            assert_at_rest(pool);
            assert_eq!(pool.stats().searching_workers, 0);
        }
    });
}

/// A gate that went on would tick at least once a millisecond, so two readings so far apart would never agree.
#[test]
fn the_gate_stands_still_while_the_pool_rests() {
    on_each_pool(Workers::Any, |pool| {
        hop(pool, 100);
        burst(pool);
        until_parked(pool, 0);
        until(|| {
            let ticks = pool.stats().gate_ticks;
            thread::sleep(Duration::from_millis(50));
            pool.stats().gate_ticks == ticks
        });
        let woken = pool.spawn(async {}); // and a gate that sleeps does not keep work from running
        pool.block_on(woken);
    });
}

/// A wake of the gate takes longer than such a poll, and would be in its way.
#[test]
fn a_task_that_wakes_nobody_lets_the_gate_sleep() {
    on_each_pool(Workers::One, |pool| {
        for _ in 0..100 {
            until_parked(pool, 0);
            pool.block_on(pool.spawn(async {}));
        }
        assert_eq!(pool.stats().gate_ticks, 0);
    });
}

/// G4: workers that begin poll after poll see to it themselves that the gate need not look.
#[cfg(target_os = "linux")]
#[test]
fn g4_a_worker_that_gets_on_puts_off_the_gates_looks() {
    on_each_pool(Workers::One, |pool| {
        if !gate_watches(pool) {
            return;
        }
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let gets_on = pool.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                yield_now().await;
            }
        });
        until(|| {
            // Somebody has to wake the gate, which sleeps again if it meets a slot that is just empty.
            pool.block_on(pool.spawn(yield_now()));
            pool.stats().total.gate_ticks_put_off > 10
        });
        over.store(true, Ordering::Relaxed);
        pool.block_on(gets_on);
    });
}

/// No difference of counts is that large, unless it fell below zero.
const WRAPPED: usize = 1 << 31;

/// I1, and the gauges: as read by another thread at any time.
#[test]
fn i1_counts_are_never_negative_while_everything_moves() {
    on_each_pool(Workers::Many, |pool| {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    let stats = pool.stats();
                    let idle = stats.searching_workers + stats.parked_workers;
                    assert!(idle <= stats.workers_count, "{stats:#?}");
                    let queued = stats.injection_queue_depth + stats.total.local_queue_depth;
                    let most = stats.live_tasks_count.max(queued);
                    assert!(most < WRAPPED, "{stats:#?}");
                    thread::yield_now();
                }
            });
            for _ in 0..50 {
                hop(pool, 10);
                burst(pool);
            }
            over.store(true, Ordering::Release);
            reader.join().expect("every reading is sound");
        });
    });
}

/// Who worked between two snapshots: wakes by workers, all polls, and those of the busiest worker.
fn worked(before: &Stats, after: &Stats) -> (u64, u64, u64) {
    let pairs = before.workers.iter().zip(&after.workers);
    let polls = pairs.map(|(before, after)| after.polls_count - before.polls_count);
    (
        after.total.wakes_requested - before.total.wakes_requested,
        after.total.polls_count - before.total.polls_count,
        polls.max().unwrap_or(0),
    )
}

/// The others sleep and one works: a watch by spinning would wake a spinner every 36 us, or let two workers
/// hand the pair to and fro.
///
/// Rounds, because others on the machine may make polls long, and where polls are long the gate does ask.
#[test]
fn a_chain_of_hops_stays_on_its_worker_and_wakes_nobody_while_the_gate_watches() {
    on_each_pool(Workers::Several, |pool| {
        until(|| {
            let before = pool.stats();
            hop(pool, 10_000);
            let (wakes, polls, busiest) = worked(&before, &pool.stats());
            !gate_watches(pool) || (wakes < 20 && polls - busiest < polls / 100)
        });
    });
}

/// Two tasks hop; once the other workers sleep, one wakes the other in a poll that lasts until that has run.
fn stall(pool: &Pool) {
    let (ping, pong, answers) = (
        Notify::default(),
        Notify::default(),
        Arc::new(AtomicU64::new(0)),
    );
    let echo = pool.spawn({
        let (ping, pong, answers) = (ping.clone(), pong.clone(), answers.clone());
        async move {
            loop {
                ping.notified().await;
                answers.fetch_add(1, Ordering::Release);
                pong.notify();
            }
        }
    });
    let inner = pool.clone();
    let hops = pool.spawn(async move {
        for round in 1.. {
            let stats = inner.stats();
            let all_others_sleep = stats.parked_workers + 1 == stats.workers_count;
            let last = round >= 10 && (all_others_sleep || !gate_watches(&inner));
            ping.notify();
            if last {
                until(|| answers.load(Ordering::Acquire) == round);
                break;
            }
            pong.notified().await;
        }
        let _: Option<()> = echo.cancel().await;
    });
    pool.block_on(hops);
}

/// Rounds, because a gate that is about to go to sleep leaves it to the publish to wake somebody.
#[test]
fn g1_a_stalled_hop_is_rescued_while_its_wakers_poll_goes_on() {
    on_each_pool(Workers::Several, |pool| {
        until(|| {
            stall(pool);
            !gate_watches(pool) || pool.stats().stall_rescues > 0
        });
    });
}
