//! `ThreadPool` and `ThreadPoolBuilder` with the names, signatures and auto traits of `futures::executor` 0.3.
//!
//! ```
//! use futures::channel::oneshot;
//! use runnext_compat::executor::{ThreadPool, block_on}; // was: use futures::executor::{..};
//!
//! let pool = ThreadPool::new()?;
//! let (reply, answer) = oneshot::channel();
//! pool.spawn_ok(async move { reply.send(6 * 7).expect("the receiver waits") });
//! assert_eq!(block_on(answer), Ok(42));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Three promises of the original do not show in its signatures, and programs lean on them:
//!
//! - **Tasks keep their pool.** Dropping the last handle cancels nothing: the threads end when the last task has
//!   ended too. A [`runnext::Pool`] does the opposite and cancels, so each task here owns a handle (`tether`).
//! - **Hooks get each index below `pool_size` exactly once,** and a program may use it to index a table. A thread that
//!   the pool adds while others are blocked runs none (`once`).
//! - **Hooks are let go.** A hook is dropped when the last thread has run it and the builder is gone, although the pool
//!   lives: a channel whose sender the hook captured then ends.
//!
//! [`block_on`] is ours, so that a task may call it: it tells the pool, and polls a [`runnext::Task`] that waits on its
//! own worker in place. The original's, which panics within the original's pool, works on ours too; the pool then has to
//! find out that the worker is blocked.
//!
//! Non-goals: `LocalPool` and `enter`, which run on the caller's thread and gain nothing from a pool.

mod builder;
mod once;
mod tether;
mod thread_pool;

pub use builder::ThreadPoolBuilder;
pub use runnext::block_on;
pub use thread_pool::ThreadPool;
