//! Runs one small case a given number of times, for `scripts/instructions` to count its instructions.
//!
//! ```sh
//! cargo run --release -p runnext-bench --example counted -- hop 1000
//! ```
//!
//! Every case has one worker that never spins: waiting is then a system call, which costs the process no
//! instruction, so that the count does not depend on the machine's mood. What remains is divided out by counting
//! two runs of different length.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;
use runnext::slot::Slot;
use runnext::{Builder, Knobs, Pool, queue};

/// Name, what one operation is, and how to do `n` of them.
type Case = (&'static str, &'static str, fn(u64));

const CASES: [Case; 7] = [
    ("hop", "a task wakes another, through the slot", |n| {
        on_pool(true, |_| ping_pong(n));
    }),
    ("hop-base", "the same with every switch off", |n| {
        on_pool(false, |_| ping_pong(n));
    }),
    ("yield", "a task wakes itself, through the slot", |n| {
        on_pool(true, |_| yields(n));
    }),
    ("spawn", "a task spawns another and awaits it", |n| {
        on_pool(true, move |pool| spawns(pool, n));
    }),
    ("spawn-global", "the same through the injector", |n| {
        on_pool(true, move |pool| global_spawns(pool, n));
    }),
    (
        "steal-slot",
        "publish into a slot, steal from it",
        steal_slots,
    ),
    (
        "steal-queue",
        "push 2 items, steal one of them, take both",
        steal_queued,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, n] = &arguments[..] else {
        CASES
            .iter()
            .for_each(|(name, what, _)| println!("{name}\t{what}"));
        return ExitCode::SUCCESS;
    };
    let case = CASES.iter().find(|(known, ..)| known == name);
    let (Some((.., run)), Ok(n)) = (case, n.parse()) else {
        eprintln!("no case `{name}` or no number `{n}`; without arguments, this lists the cases");
        return ExitCode::from(2);
    };
    run(n);
    ExitCode::SUCCESS
}

/// Runs the future that `root` makes on a pool of one worker.
fn on_pool<F>(run_next: bool, root: impl FnOnce(Pool) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let knobs = Knobs::default()
        .with_run_next(run_next)
        .with_defer_worker_requests(false)
        .with_spin_limit(0);
    let pool = Builder::new().threads(1).knobs(knobs).build();
    let pool = pool.expect("one thread can be started");
    let task = pool.spawn(root(pool.clone()));
    pool.block_on(task);
    pool.shutdown();
}

/// Where one of two players waits for its turn.
#[derive(Default)]
struct Turn {
    mine: AtomicBool,
    waker: AtomicWaker,
}

impl Turn {
    fn give(&self) {
        // Ordering: SeqCst, as plain as can be: what is counted is the same for any.
        self.mine.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    async fn take(&self) {
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            match self.mine.swap(false, Ordering::SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

async fn ping_pong(hops: u64) {
    let (ping, pong) = (Arc::new(Turn::default()), Arc::new(Turn::default()));
    let answers = {
        let (ping, pong) = (ping.clone(), pong.clone());
        runnext::spawn(async move {
            for _ in 0..hops / 2 {
                ping.take().await;
                pong.give();
            }
        })
    };
    for _ in 0..hops / 2 {
        ping.give();
        pong.take().await;
    }
    answers.await;
}

async fn yields(n: u64) {
    for _ in 0..n {
        runnext::yield_now().await;
    }
}

async fn spawns(pool: Pool, n: u64) {
    for i in 0..n {
        black_box(pool.spawn(async move { i }).await);
    }
}

async fn global_spawns(pool: Pool, n: u64) {
    for i in 0..n {
        black_box(pool.spawn_global(async move { i }).await);
    }
}

fn steal_slots(n: u64) {
    let slot = Slot::new();
    let thief = slot.thief();
    let mut item = Some(Box::new(0));
    for _ in 0..n {
        let refused = item.take().map(|item| slot.publish(item));
        assert!(matches!(refused, Some(Ok(()))), "the slot was empty");
        item = black_box(&thief).steal();
    }
}

fn steal_queued(n: u64) {
    let (owner, stealer) = queue::local();
    let (thief, _) = queue::local();
    for i in 0..n {
        owner.push(i);
        owner.push(i);
        assert_eq!(black_box(&stealer).steal_half_into(&thief), Some(i));
        assert_eq!(owner.pop(), Some(i));
    }
}
