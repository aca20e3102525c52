//! Integration tests: one binary.
//!
//! - `signatures`: the face and the original are interchangeable to the compiler.
//! - `contract`: one body of tests runs over the original and over ours, so that the promises it states are really the
//!   original's.
//! - `deviations`: what ours does differently on purpose; `docs/COMPARE.md` lists the same.
//! - `spawn`: `Spawn` on the pool itself.
//! - `adapters`: hyper and criterion.
//! - `examples`: every example ends, and its own assertions hold.

mod adapters;
mod contract;
mod deviations;
mod examples;
mod signatures;
mod spawn;
mod support;
