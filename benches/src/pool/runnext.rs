//! Our own pool, with the switches that the variant says and all other knobs from the environment.

use std::future::Future;
use std::io;

use runnext::{Builder, Pool as RunnextPool};
use runnext_knobs::Knobs;

use super::{Counters, Pool, Spawner, Threads};
use crate::subject::Variant;

/// Starts the pool that `variant` names. The variant's switches win over the environment's.
pub(crate) fn start(variant: Variant, threads: &Threads) -> io::Result<RunnextPool> {
    Builder::new()
        .knobs(knobs(variant))
        .threads(threads.workers)
        .pin_threads(threads.pinned())
        .build()
}

fn knobs(variant: Variant) -> Knobs {
    let (run_next, defer, lazy) = match variant {
        Variant::Base => (false, false, false),
        Variant::RunNext => (true, false, false),
        Variant::Defer => (true, true, false),
        Variant::Lazy => (true, true, true),
    };
    Knobs::from_env_or_warn()
        .with_run_next(run_next)
        .with_defer_worker_requests(defer)
        .with_lazy_dispatch_request(lazy)
}

impl Pool for RunnextPool {
    type Spawner = Self;

    fn spawner(&self) -> Self {
        self.clone()
    }
}

impl Spawner for RunnextPool {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        RunnextPool::spawn(self, future).detach();
    }

    fn spawn_global(&self, future: impl Future<Output = ()> + Send + 'static) {
        RunnextPool::spawn_global(self, future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        runnext::yield_now()
    }

    fn blocking<R>(f: impl FnOnce() -> R) -> R {
        runnext::blocking(f)
    }

    fn counters(&self) -> Counters {
        let stats = self.stats();
        let total = stats.total;
        Counters::from([
            ("polls", total.polls_count),
            ("slot_polls", total.slot_polls),
            ("slot_refusals", total.slot_refusals),
            ("slot_steals", total.slot_steals),
            ("steal_operations", total.steal_operations),
            ("injector_polls", total.injector_polls),
            ("local_schedules", total.local_schedule_count),
            ("remote_schedules", stats.num_remote_schedules),
            ("searches", total.searches),
            ("parks", total.park_count),
            ("no_ops", total.noop_count),
            ("gate_ticks", stats.gate_ticks),
            ("gate_ticks_put_off", total.gate_ticks_put_off),
            ("stall_rescues", stats.stall_rescues),
            ("gate_rescues", stats.gate_rescues),
            (
                "wakes",
                total.wakes_requested + stats.remote_wakes_requested,
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_turns_one_more_switch_on() {
        let on = Variant::ALL.map(|variant| {
            let knobs = knobs(variant);
            [
                knobs.run_next(),
                knobs.defer_worker_requests(),
                knobs.lazy_dispatch_request(),
            ]
            .map(u8::from)
        });
        assert_eq!(on, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]);
    }
}
