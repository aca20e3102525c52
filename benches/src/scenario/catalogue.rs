//! What is said of each scenario.
//!
//! "Proposal", "regression report", "spinning report" and "dispatcher change" are the four .NET discussions that the
//! scenarios come from: the run-next slot, the reply followed by housekeeping, spinning in low saturation, and the lazy
//! delegate.

use super::{Entry, Param, REST_MS, Scenario};

const fn entry(
    name: &'static str,
    param: Option<Param>,
    operation: &'static str,
    stands_for: &'static str,
) -> Entry {
    Entry {
        name,
        param,
        operation,
        stands_for,
        io: false,
        outside: false,
        spread: false,
        chunk: None,
    }
}

const fn latency(name: &'static str, stands_for: &'static str) -> Entry {
    entry(
        name,
        param(REST_MS, &[100, 3000]),
        "the wait of a task woken after a rest, by a task that goes on for 50 ms",
        stands_for,
    )
    .with_outside()
    .with_spread()
}

/// A scenario whose bytes allocated are as much of interest as its time.
const fn frames(name: &'static str, operation: &'static str, stands_for: &'static str) -> Entry {
    entry(name, param("depth", &[1, 10]), operation, stands_for)
}

const fn param(name: &'static str, values: &'static [u32]) -> Option<Param> {
    Some(Param { name, values })
}

impl Entry {
    const fn with_io(self) -> Self {
        Self { io: true, ..self }
    }

    const fn with_outside(self) -> Self {
        Self {
            outside: true,
            ..self
        }
    }

    const fn with_spread(self) -> Self {
        Self {
            spread: true,
            ..self
        }
    }

    const fn in_chunks(self, ops: u64) -> Self {
        Self {
            chunk: Some(ops),
            ..self
        }
    }
}

impl Scenario {
    /// What the catalogue says of it.
    #[must_use]
    pub const fn entry(self) -> Entry {
        match self {
            Self::Requeue => entry(
                "requeue",
                param("chains", &[1, 4]),
                "one poll caused by the task's own wake",
                "proposal, first two rows: a work item that queues itself again; the cost of one turn",
            ),
            Self::PingPong => entry(
                "ping-pong",
                param("pairs", &[1, 4, 20]),
                "one hop: one poll caused by the other task's wake",
                "proposal, ping-pong rows: two tasks that await each other, through a flag and a waker",
            ),
            Self::FanOut => entry(
                "fan-out",
                None,
                "one of 1024 tasks woken in a row, and its 200 ns of work",
                "proposal, fan-out row: one producer completes 1024 awaits; the first case to recheck there",
            ),
            Self::ChannelSpsc => entry(
                "channel-spsc",
                None,
                "one message through a bounded async-channel of 64 places",
                "proposal, channel row: a producer and a consumer that seldom wait for each other",
            ),
            Self::YieldGlobal => entry(
                "yield-global",
                param("chains", &[1, 20]),
                "one task, spawned by its predecessor to the global queue",
                "proposal, `Task.Yield` row: what goes through the global queue should gain and lose nothing",
            ),
            Self::Inline => entry(
                "inline",
                None,
                "one poll after the other future's wake, within one task",
                "proposal, inline row: the reference for ping-pong; the same work without a scheduler",
            ),
            Self::Spawn => entry(
                "spawn",
                None,
                "one task that does nothing, spawned on a worker",
                "proposal: a work item queued by a work item, with all that Rust adds to it: the task's memory",
            ),
            Self::SpawnOutside => entry(
                "spawn-outside",
                None,
                "one task that does nothing, spawned by another thread",
                "proposal, the case it leaves as it was: what comes from outside goes through the global queue",
            )
            .with_outside(),
            Self::ReplyExit => entry(
                "reply-exit",
                None,
                "one request, for which two tasks are spawned",
                "regression report, first row: the reply is delivered by a second task, the server exits",
            )
            .in_chunks(20_000),
            Self::ReplyHousekeeping => entry(
                "reply-housekeeping",
                None,
                "one request, after whose reply the server works for 5 us",
                "regression report, second row: a second worker should deliver the reply meanwhile",
            )
            .in_chunks(20_000),
            Self::ReplySpaced => entry(
                "reply-spaced",
                None,
                "one request's round trip; the 500 us between two are left out",
                "regression report, spaced lone requests: what it takes to start a pool that rests",
            )
            .with_spread()
            // Fewer, since with their gaps 20 000 would take all of the ten seconds.
            .in_chunks(500),
            Self::LatencySpin => latency(
                "latency-spin",
                "proposal, latency table: the CPU is spun on: the case that pays for deferring",
            ),
            Self::LatencySpinLate => latency(
                "latency-spin-late",
                "`latency-spin`, with 1 ms spun before the wake as well: no worker still looks for work when it comes",
            ),
            Self::LatencyNativeBlock => latency(
                "latency-native-block",
                "proposal, latency table: native code blocks, which no hook sees",
            ),
            Self::LatencySleep => latency(
                "latency-sleep",
                "proposal, latency table: `Thread.Sleep`, which Rust has no hook in either",
            ),
            Self::LatencyHookedSleep => latency(
                "latency-hooked-sleep",
                "proposal, latency table: `Thread.Sleep`, announced by `blocking` or tokio's `block_in_place`",
            ),
            Self::LatencyCondvar => latency(
                "latency-condvar",
                "proposal, latency table: `Monitor.Wait`",
            ),
            Self::LatencyMutex => latency(
                "latency-mutex",
                "proposal, latency table: a contended `Lock`",
            ),
            Self::LatencyAsyncMutex => latency(
                "latency-async-mutex",
                "proposal, latency table: a contended lock that tells the pool; here async-lock's, which parks through `parking`",
            ),
            Self::LatencyEvent => latency(
                "latency-event",
                "proposal, latency table: `ManualResetEventSlim`; here an event-listener, which parks through `parking`",
            ),
            Self::SuspendResume => frames(
                "suspend-resume",
                "one chain of frames suspended, and resumed by another task",
                "dispatcher change, SuspendResume: what a chain costs by itself",
            ),
            Self::AwaitPendingTask => frames(
                "await-pending-task",
                "one task spawned, and awaited through a chain of frames",
                "dispatcher change, AwaitPendingTask: the common await",
            ),
            Self::AwaitPendingValue => frames(
                "await-pending-value",
                "one value sent, and awaited through a chain of frames",
                "dispatcher change, AwaitPendingValueTask: an await without a task behind it",
            ),
            Self::FanOut16 => frames(
                "fan-out-16",
                "one of 16 chains spawned, suspended together, and resumed",
                "dispatcher change, FanOut16: many chains suspended at a time",
            ),
            Self::Yield => frames(
                "yield",
                "one yield at the end of a chain of frames",
                "dispatcher change, TaskYield: the awaiter that the change should not touch",
            ),
            Self::WebsocketEcho => entry(
                "websocket-echo",
                param("connections", &[1, 32]),
                "one frame of 1000 bytes, sent and echoed",
                "spinning report, websocket table: bursts on a pool that is not saturated",
            )
            .with_io()
            .with_spread(),
            Self::HttpJson => entry(
                "http-json",
                param("connections", &[32, 512]),
                "one request answered with a small JSON document",
                "spinning report, JSON tables: 512 connections saturate the pool, 32 do not",
            )
            .with_io()
            .with_spread(),
        }
    }
}
