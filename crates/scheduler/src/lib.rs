//! An executor for the futures ecosystem that makes the hop, one task waking another on the same
//! pool, almost free, without giving up what makes work stealing safe: whoever queues work may block or
//! run long, and another worker still starts it soon, within 100 us or so.
//!
//! ```
//! let task = runnext::spawn(async { "hello" });
//! assert_eq!(runnext::block_on(task), "hello");
//! ```
//!
//! [`spawn`] uses a [`global`] pool, built on first use; [`Pool`] and [`Builder`] make your own.
//! Every switch and every tuning constant is an environment variable (`docs/KNOBS.md`); the
//! variables of the .NET thread pool, from which the policy comes, are understood as well.
//! `docs/DESIGN.md` says why it is built this way.
//!
//! # Words
//!
//! A **hop** is a task woken from within a worker and run by that pool. The **slot** is the worker's
//! run-next place for one item, in front of its **local queue**; the **injector** is the global
//! queue. A **searcher** is an awake worker without work, looking for some. A **request** asks for
//! a worker: a searcher absorbs it, else a parked worker is woken. The **gate** is the pool's monitor
//! thread: it **watches** the slots so that a hop need ask for nobody, and what waits behind a long
//! poll it **rescues**, that is, gets another worker for.
//!
//! # Tasks that block
//!
//! What waits behind a task that blocks starts on another worker, and if all of them are blocked while work waits, the pool
//! adds one, up to `MaxThreads`. [`blocking`] and [`block_on`] tell it, and so does everything that waits through the crate
//! `parking` if that is patched with `crates/shims/parking`; of the rest the gate finds out. [`Builder::on_stall`] and
//! [`Pool::dump`] say who holds others up.
//!
//! # Features
//!
//! * `futures` (off by default): implements [`futures_task::Spawn`] for [`Pool`], so that
//!   `SpawnExt::spawn` and `spawn_with_handle` work on it. Costs one small dependency.
//!   The crate `runnext-compat` turns it on; not needed by those who call [`Pool::spawn`].
//!
//! # Panics in tasks
//!
//! See [`Task`]: a panic goes to whoever awaits the task, the workers stay.
//!
//! [`futures_task::Spawn`]: https://docs.rs/futures-task/0.3/futures_task/trait.Spawn.html

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Keeps the README's program compiling and running.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub mod slot;

#[cfg_attr(runnext_loom, path = "queue/model.rs")]
pub mod queue;

mod alarm;
#[cfg_attr(runnext_loom, allow(dead_code))]
mod headcount;
#[cfg_attr(runnext_loom, allow(dead_code))]
mod idle;
#[cfg_attr(runnext_loom, allow(dead_code))]
mod marks;
#[cfg_attr(runnext_loom, allow(dead_code))]
mod spares;
mod sync;

#[cfg(all(test, runnext_loom))]
mod model;

/// Under the model checker only the protocols are compiled, not the pool around them.
macro_rules! not_modelled {
    ($($item:item)*) => { $(#[cfg(not(runnext_loom))] $item)* };
}

not_modelled! {
    mod block_on;
    mod blocking;
    mod builder;
    mod compensate;
    mod contain;
    mod crew;
    mod dump;
    mod fork;
    #[cfg(feature = "futures")]
    mod futures;
    mod gate;
    mod global;
    mod lifecycle;
    mod pool;
    mod prompt;
    mod remotes;
    mod search;
    mod share;
    mod shutdown;
    mod spin;
    mod stall;
    mod stats;
    mod suspect;
    mod task;
    mod watch;
    mod worker;
    mod yield_now;

    pub use block_on::block_on;
    pub use blocking::{Blocking, about_to_block, blocking};
    pub use builder::Builder;
    pub use dump::{Dump, WorkerDump, WorkerState};
    pub use global::{global, spawn};
    pub use pool::Pool;
    pub use stall::{StallInfo, StallKind};
    pub use stats::{Stats, WorkerStats};
    pub use task::{Meta, Task};
    pub use yield_now::{YieldNow, yield_now};
    #[doc(no_inline)]
    pub use runnext_knobs::{Knobs, Watch};
}
