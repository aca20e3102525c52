//! Public fault reports of other executors, replayed here.
//!
//! Each test bears the repository and number of the report and tells its story in a line or two. What counts is the
//! class of the fault, so the scenario is often harsher than the report's. Reports that belong to another concern are
//! tested there: destructors and hooks in `lifecycle`, panics in `panics`, gauges in `spawning`, auto traits in
//! `auto_traits`.
//!
//! Non-goal so far: work behind a worker that is blocked when no other is free. Compensation for blocked workers is
//! not there yet, so tests that block leave at least one worker alone.

mod endings;
mod fairness;
mod memory;
mod thread_locals;
mod wakes;
