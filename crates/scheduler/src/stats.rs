//! Counters: what the pool did, for whoever debugs it.
//!
//! Each worker counts on its own cache line with plain loads and stores: it is the only writer, so
//! no count costs a locked instruction. What other threads do is counted in [`Outside`].
//! A snapshot adds up counts that move meanwhile: each is exact on its own and never decreases;
//! two of them may differ by what happened in between. Names that tokio-metrics has are its names.

use crate::sync::{AtomicU64, Count};
use crossbeam_utils::atomic::AtomicCell;
use std::fmt;
use std::panic::Location;

macro_rules! worker_counters {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// What one worker counts apart from the hop itself, which has its own line.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            /// Where the task was spawned that is polled, or was last. Here because the owner writes this
            /// line at each poll anyway.
            pub(crate) polled: AtomicCell<Option<&'static Location<'static>>>,
            $(pub(crate) $name: Count,)+
        }

        /// One worker's part of [`Stats`].
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            /// Polls of tasks, wherever they came from.
            pub polls_count: u64,
            /// Whether an item waits in the slot now.
            pub slot_full: bool,
            /// Items in the local queue now.
            pub local_queue_depth: usize,
            $($(#[$doc])+ pub $name: u64,)+
        }

        impl Counters {
            pub(crate) fn copy_into(&self, stats: &mut WorkerStats) {
                $(stats.$name = self.$name.get();)+
            }
        }

        impl WorkerStats {
            pub(crate) fn accumulate(&mut self, other: &WorkerStats) {
                self.polls_count += other.polls_count;
                self.slot_full |= other.slot_full;
                self.local_queue_depth += other.local_queue_depth;
                $(self.$name += other.$name;)+
            }
        }
    };
}

worker_counters! {
    /// Polls of tasks that came out of this worker's own slot.
    slot_polls,
    /// Tasks that this worker scheduled into its local queue.
    local_schedule_count,
    /// Tasks that this worker scheduled into its local queue because its slot was full.
    slot_refusals,
    /// Tasks that left this worker's slot for the back of its local queue, because it was the others' turn.
    slot_turns,
    /// Tasks that this worker stole out of another worker's slot.
    slot_steals,
    /// Times that this worker stole from another worker's queue.
    steal_operations,
    /// Tasks that this worker took out of the injector.
    injector_polls,
    /// Times that this worker began to search for work.
    searches,
    /// Times that this worker's thread went to sleep.
    park_count,
    /// Times that this worker was woken and found nothing to do.
    noop_count,
    /// Parked workers that this worker woke.
    wakes_requested,
    /// Looks of the gate that this worker has put off, because all workers began poll after poll.
    gate_ticks_put_off,
    /// Tasks that were spawned on this worker.
    spawned,
    /// Futures that were dropped on this worker, completed or not.
    finished,
}

/// What threads that are not workers of the pool count; shared, hence with locked instructions.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) remote_schedules: AtomicU64,
    pub(crate) wakes_requested: AtomicU64,
    pub(crate) spawned: AtomicU64,
    pub(crate) finished: AtomicU64,
}

/// A snapshot of a pool's counters, from [`Pool::stats`](crate::Pool::stats).
///
/// Counts never decrease. With `RunNext` off every `slot_*` count stays zero.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Workers: those of the minimum, and one for each blocked one that is made up for.
    pub workers_count: usize,
    /// Workers that are blocked now: in a section of [`blocking`](crate::blocking), or found so by the gate.
    pub blocked_workers: usize,
    /// Threads that wait, with no work of theirs, to be workers again.
    pub spare_workers: usize,
    /// Workers that search for work now.
    pub searching_workers: usize,
    /// Workers that sleep now.
    pub parked_workers: usize,
    /// Tasks whose future exists: queued, running or waiting for a wake.
    pub live_tasks_count: usize,
    /// Items in the injector now.
    pub injection_queue_depth: usize,
    /// Tasks scheduled by threads that are not workers of this pool, or by `spawn_global`.
    pub num_remote_schedules: u64,
    /// Parked workers woken by threads that are not workers of this pool.
    pub remote_wakes_requested: u64,
    /// Looks of the gate, the pool's monitor thread. None while the pool rests, few while all workers run.
    pub gate_ticks: u64,
    /// Parked workers woken by the gate for work that waited behind one poll.
    pub stall_rescues: u64,
    /// Parked workers woken by the gate for work that nobody had come for within 100 ms. Other than
    /// zero on a machine that was not stopped meanwhile is a fault of this crate: please report it.
    pub gate_rescues: u64,
    /// Workers added, as threads or out of the spares, since the pool was built.
    pub injected_workers: u64,
    /// Threads that have ended after waiting as a spare for `ThreadTimeoutMs`.
    pub retired_workers: u64,
    /// Threads that could not be started since the pool was built; each is tried again while work waits.
    pub failed_thread_starts: u64,
    /// The sum over all workers.
    pub total: WorkerStats,
    /// Each worker on its own, by index; those whose thread has ended included.
    pub workers: Vec<WorkerStats>,
}

impl fmt::Display for Stats {
    /// A few lines for a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        writeln!(
            f,
            "workers {} (searching {}, parked {}, blocked {}; spares {}), live tasks {}, queued {} local + {} global",
            self.workers_count,
            self.searching_workers,
            self.parked_workers,
            self.blocked_workers,
            self.spare_workers,
            self.live_tasks_count,
            total.local_queue_depth,
            self.injection_queue_depth,
        )?;
        writeln!(
            f,
            "polls {}: slot {}, injector {}; slot refusals {}, slot steals {}, queue steals {}",
            total.polls_count,
            total.slot_polls,
            total.injector_polls,
            total.slot_refusals,
            total.slot_steals,
            total.steal_operations,
        )?;
        writeln!(
            f,
            "gate: ticks {}, put off {}, stall rescues {}, gate rescues {}; workers injected {}, retired {}, not started {}",
            self.gate_ticks,
            total.gate_ticks_put_off,
            self.stall_rescues,
            self.gate_rescues,
            self.injected_workers,
            self.retired_workers,
            self.failed_thread_starts,
        )?;
        write!(
            f,
            "schedules: local queue {}, remote {}; wakes {} + {} remote, parks {}, searches {}, no-ops {}",
            total.local_schedule_count,
            self.num_remote_schedules,
            total.wakes_requested,
            self.remote_wakes_requested,
            total.park_count,
            total.searches,
            total.noop_count,
        )
    }
}
