//! Scenarios, subjects and measuring: what it costs to run the same futures on this executor and on its peers.
//!
//! A **scenario** is a workload taken from a real report; a **subject** is what it runs on: a *variant* of our own
//! pool or a *peer*. A **cell** is one scenario, with one parameter, on one subject with one number of workers. It runs
//! in a process of its own, because what ran before in a process changes how its pool behaves; the `runnext` command
//! starts those processes and makes **rows** of what they report.
//!
//! Equal terms: each subject gets the same futures, the same primitives (`futures`, `async-net`), the same allocator,
//! the same number of threads, pinned alike or not at all, and is driven from outside in the same way.
//!
//! ```
//! use runnext_bench::cell::{self, Cell, Effort};
//!
//! let cell = Cell {
//!     scenario: "ping-pong".parse()?,
//!     size: Some(1),
//!     subject: "tokio".parse()?,
//!     workers: 2,
//!     pin: false,
//! };
//! let measured = cell::run(&cell, Effort::QUICK.with_ops(100))?;
//! assert_eq!(measured.ops, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod cell;
pub mod chunks;
pub mod machine;
pub mod measure;
pub mod name;
mod pool;
pub mod row;
pub mod scenario;
mod scenarios;
mod spin;
pub mod subject;
pub mod turns;
