//! What the tests share: the settings they run under, the watchdog, and fresh processes. Smaller things are in `tools`.
//!
//! **Settings.** A test runs with each of [`SWITCHES`] and with 1, 2 and 4 workers. `POOL_TEST_WORKERS`
//! narrows that to one number of workers, `POOL_TEST_SWITCHES` to one name of a setting. A test that
//! makes no sense with that number of workers (nobody can steal from a single one) then runs nothing.
//!
//! **Watchdog.** Every body runs on a thread of its own. A deadline only turns a hang into a failure that shows all
//! counters and a dump of all workers; no result depends on how long something took. The thread that hangs is left behind.
//!
//! **Fresh processes.** What ends a process, or changes its limits, runs in one of its own: the test binary starts
//! itself, asking for the same test alone.

mod switches;
mod tools;

use std::panic::resume_unwind;
use std::process::{Command, Output};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use runnext::{Builder, Knobs, Pool};

use switches::SWITCHES;
pub(crate) use tools::*;

/// How long anything here may take before it counts as lost. Nothing waits so long in a run that passes.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// With how many workers a test makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workers {
    /// Exactly one, so that it is certain what runs in which order.
    One,
    /// Any number.
    Any,
    /// Two or more, so that one may block or be stolen from.
    Several,
    /// Any number, and more than there are processors as well.
    Many,
}

impl Workers {
    fn counts(self) -> Vec<usize> {
        let usual: &[usize] = match self {
            Workers::One => &[1],
            Workers::Any => &[1, 2, 4],
            Workers::Several => &[2, 4],
            Workers::Many => &[1, 2, 4, 8],
        };
        let Ok(text) = std::env::var("POOL_TEST_WORKERS") else {
            return usual.to_vec();
        };
        let only: usize = text
            .parse()
            .expect("`POOL_TEST_WORKERS` is not a number of workers: give one, or unset it");
        let fits = match self {
            Workers::One => only == 1,
            Workers::Several => only > 1,
            Workers::Any | Workers::Many => true,
        };
        Vec::from_iter(fits.then_some(only))
    }
}

/// One way to build a pool.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) workers: usize,
    pub(crate) knobs: Knobs,
}

impl Setting {
    /// No more workers than said, so that a test that blocks knows how many there are.
    pub(crate) fn builder(&self) -> Builder {
        Builder::new()
            .threads(self.workers)
            .max_threads(self.workers)
            .knobs(self.knobs.clone())
    }

    pub(crate) fn pool(&self) -> Pool {
        self.builder().build().expect("the threads start")
    }
}

/// Calls `body` once for each setting. What fails is named by the last line that the test printed.
pub(crate) fn for_each_setting(workers: Workers, body: impl Fn(&Setting)) {
    let only = std::env::var("POOL_TEST_SWITCHES").ok();
    let known = |only: &String| SWITCHES.iter().any(|(name, _)| name == only);
    assert!(
        only.iter().all(known),
        "`POOL_TEST_SWITCHES` names no setting of the switches: see `SWITCHES`"
    );
    for workers in workers.counts() {
        for (name, set) in SWITCHES {
            if only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            println!("workers {workers}, {name}");
            let knobs = set(Knobs::from_env_or_warn());
            body(&Setting { workers, knobs });
        }
    }
}

/// Calls `body` with a pool of each setting, then shuts the pool down and looks whether it left anything behind.
pub(crate) fn on_each_pool(workers: Workers, body: fn(&Pool)) {
    for_each_setting(workers, |setting| {
        let pool = setting.pool();
        let inner = pool.clone();
        within(LIMIT, &pool, move || {
            body(&inner);
            inner.shutdown();
        });
        assert_at_rest(&pool);
    });
}

/// No future, no queued item, nothing that the gate found forgotten; and no trace of what is switched off.
#[track_caller]
pub(crate) fn assert_at_rest(pool: &Pool) {
    let stats = pool.stats();
    let left = (
        stats.live_tasks_count,
        stats.injection_queue_depth,
        stats.total.local_queue_depth,
        stats.total.slot_full,
    );
    assert_eq!(left, (0, 0, 0, false), "{stats:#?}");
    assert_eq!(stats.gate_rescues, 0, "{stats:#?}");
    if !pool.knobs().run_next() {
        assert_no_slot(pool);
    }
    assert_eq!(stats.blocked_workers, 0, "{stats:#?}");
    if !pool.knobs().run_next() {
        assert_no_gate(pool);
    }
}

/// All switches are off, and the counters prove it.
#[track_caller]
pub(crate) fn assert_no_gate(pool: &Pool) {
    let stats = pool.stats();
    let gate = (
        stats.gate_ticks,
        stats.total.gate_ticks_put_off,
        stats.stall_rescues,
        stats.gate_rescues,
    );
    assert_eq!(gate, (0, 0, 0, 0), "{stats:#?}");
}

/// The switch `RunNext` is off, and the counters prove it.
#[track_caller]
pub(crate) fn assert_no_slot(pool: &Pool) {
    let stats = pool.stats();
    let total = &stats.total;
    let slot = (
        total.slot_polls,
        total.slot_refusals,
        total.slot_steals,
        total.slot_full,
    );
    assert_eq!(slot, (0, 0, 0, false), "{stats:#?}");
}

/// Runs `body`, which uses `pool`, and fails with the state of every worker if it does not return within `limit`.
///
/// Holds a handle of the pool meanwhile: where the last handle matters, use [`in_time`].
#[track_caller]
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    pool: &Pool,
    body: impl FnOnce() -> T + Send + 'static,
) -> T {
    watched(limit, body, || {
        format!("{:#?}\n{}", pool.stats(), pool.dump())
    })
}

/// Runs `body` and fails if it does not return within [`LIMIT`].
#[track_caller]
pub(crate) fn in_time<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    watched(LIMIT, body, || "no pool to show".into())
}

/// Runs `body` and fails with `state` if it does not return within `limit`.
#[track_caller]
pub(crate) fn watched<T: Send + 'static>(
    limit: Duration,
    body: impl FnOnce() -> T + Send + 'static,
    state: impl FnOnce() -> String,
) -> T {
    let (done, result) = channel();
    let thread = thread::spawn(move || drop(done.send(body())));
    match result.recv_timeout(limit) {
        Ok(value) => {
            // The thread drops what `body` captured before it ends.
            thread.join().expect("nothing is left to panic");
            value
        }
        Err(RecvTimeoutError::Timeout) => panic!("no end within {limit:?}: {}", state()),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(()) => unreachable!("the thread sends before it ends"),
            Err(payload) => resume_unwind(payload),
        },
    }
}

/// Runs `body` in a fresh process and gives its exit status and output. `test` is the path of the calling test, which
/// the child process runs again, to find itself here and go on with `body`.
pub(crate) fn fresh_process(test: &str, body: impl FnOnce()) -> Output {
    const CHILD: &str = "TEST_CHILD";
    const BEGUN: &str = "child: begun";
    if std::env::var_os(CHILD).is_some() {
        thread::spawn(|| {
            thread::sleep(LIMIT);
            eprintln!("child: no end within {LIMIT:?}");
            std::process::exit(1);
        });
        eprintln!("{BEGUN}");
        body();
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("the test binary starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains(BEGUN), "there is no test `{test}`: {told}");
    output
}
