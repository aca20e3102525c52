//! The typed face of [`Knobs`]: a getter for the effective value and a setter for the program, for each knob.
//!
//! Inside, a value is a number; a [`Form`] says which type the number has outside. One line of the list below
//! joins a knob, its form and its two methods.

use std::time::Duration;

use crate::catalogue::Knob;
use crate::knobs::{Knobs, Origin, Watch};

/// How a number looks to the program. `lower` does not check ranges: [`Knobs::check`] does.
trait Form {
    type Value;
    fn lift(number: i64) -> Self::Value;
    fn lower(value: Self::Value) -> i64;
}

/// On or off.
struct Switch;
/// A switch whose name says the opposite of the method's.
struct Inverse;
/// A number of things.
struct Count;
/// A number of spins.
struct Spins;
/// A number of things, or all of them.
struct CountOrAll;
/// A time in units of so many nanoseconds.
struct Time<const UNIT: u64>;
type Micros = Time<1_000>;
type Millis = Time<1_000_000>;
/// Milliseconds, or for ever.
struct MillisOrNever;
/// The watch's two kinds.
struct Watching;

/// The number that stands for "all" and "never".
const UNLIMITED: i64 = -1;

impl Form for Switch {
    type Value = bool;
    fn lift(number: i64) -> bool {
        number != 0
    }
    fn lower(on: bool) -> i64 {
        i64::from(on)
    }
}

impl Form for Inverse {
    type Value = bool;
    fn lift(number: i64) -> bool {
        number == 0
    }
    fn lower(on: bool) -> i64 {
        i64::from(!on)
    }
}

impl Form for Count {
    type Value = usize;
    fn lift(number: i64) -> usize {
        usize::try_from(number).unwrap_or(0)
    }
    fn lower(count: usize) -> i64 {
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

impl Form for Spins {
    type Value = u32;
    fn lift(number: i64) -> u32 {
        u32::try_from(number).unwrap_or(0)
    }
    fn lower(spins: u32) -> i64 {
        i64::from(spins)
    }
}

impl Form for CountOrAll {
    type Value = Option<usize>;
    fn lift(number: i64) -> Option<usize> {
        usize::try_from(number).ok()
    }
    fn lower(count: Option<usize>) -> i64 {
        count.map_or(UNLIMITED, Count::lower)
    }
}

impl<const UNIT: u64> Form for Time<UNIT> {
    type Value = Duration;
    fn lift(number: i64) -> Duration {
        let units = u64::try_from(number).unwrap_or(0);
        Duration::from_nanos(units.saturating_mul(UNIT))
    }
    fn lower(time: Duration) -> i64 {
        whole(time, Duration::from_nanos(UNIT))
    }
}

impl Form for MillisOrNever {
    type Value = Option<Duration>;
    fn lift(number: i64) -> Option<Duration> {
        u64::try_from(number).ok().map(Duration::from_millis)
    }
    fn lower(time: Option<Duration>) -> i64 {
        time.map_or(UNLIMITED, Millis::lower)
    }
}

impl Form for Watching {
    type Value = Watch;
    fn lift(number: i64) -> Watch {
        if number == 0 {
            Watch::Gate
        } else {
            Watch::Spinner
        }
    }
    fn lower(watch: Watch) -> i64 {
        match watch {
            Watch::Gate => 0,
            Watch::Spinner => 1,
        }
    }
}

/// `time` in whole units, rounded up: a short time must not become none.
fn whole(time: Duration, unit: Duration) -> i64 {
    i64::try_from(time.as_nanos().div_ceil(unit.as_nanos())).unwrap_or(i64::MAX)
}

macro_rules! accessors {
    ($($(#[$doc:meta])* $knob:ident: $type:ty as $form:ident => $get:ident, $with:ident;)*) => {
        impl Knobs {
            $(
                $(#[$doc])*
                pub fn $get(&self) -> $type {
                    $form::lift(self.effective(Knob::$knob).0)
                }

                #[doc = concat!("Sets what [`Knobs::", stringify!($get), "`] returns, over any variable.")]
                #[must_use = "the setting is in the returned value"]
                pub fn $with(mut self, value: $type) -> Self {
                    self.put(Knob::$knob, $form::lower(value), Origin::Builder);
                    self
                }
            )*
        }
    };
}

accessors! {
    /// Whether a worker runs the task it has just woken next, out of its slot.
    RunNext: bool as Switch => run_next, with_run_next;
    /// Whether a push into an empty slot requests no worker while somebody watches. Off if `run_next` is off.
    DeferWorkerRequests: bool as Switch => defer_worker_requests, with_defer_worker_requests;
    /// Whether a woken worker requests the next one only if it still sees work.
    LazyDispatchRequest: bool as Switch => lazy_dispatch_request, with_lazy_dispatch_request;
    /// How long a slot item must have been seen waiting before another worker may take it; whole microseconds.
    RunNextStealDelay: Duration as Micros => run_next_steal_delay, with_run_next_steal_delay;
    /// How long work may wait behind one poll before it is rescued; whole microseconds.
    StalledWork: Duration as Micros => stalled_work, with_stalled_work;
    /// Above this many running workers, a worker that was woken for nothing parks without spinning.
    SpuriousDispatchNoSpinThreshold: usize as Count => spurious_dispatch_no_spin_threshold, with_spurious_dispatch_no_spin_threshold;
    /// How long a worker without work spins before it parks, in spins of about 35 ns. 0: not at all.
    SpinLimit: u32 as Spins => spin_limit, with_spin_limit;
    /// Workers that the pool runs when none is blocked; at least 1, and not above `max_threads`.
    MinThreads: usize as Count => min_threads, with_min_threads;
    /// Workers that the pool never exceeds; not below `min_threads`.
    MaxThreads: usize as Count => max_threads, with_max_threads;
    /// How long a surplus worker stays parked before its thread ends; whole milliseconds. `None`: for ever.
    ThreadTimeout: Option<Duration> as MillisOrNever => thread_timeout, with_thread_timeout;
    /// Threads that never end for being idle. `None`: all.
    ThreadsToKeepAlive: Option<usize> as CountOrAll => threads_to_keep_alive, with_threads_to_keep_alive;
    /// Whether a blocked worker is made up for by another while work waits.
    CooperativeBlocking: bool as Switch => cooperative_blocking, with_cooperative_blocking;
    /// Whether workers that block where no hook sees it are detected. The variable says the opposite.
    DisableStarvationDetection: bool as Inverse => starvation_detection, with_starvation_detection;
    /// Workers beyond `min_threads` that are added without delay in place of blocked ones.
    BlockingThreadsWithoutDelay: usize as Count => blocking_threads_without_delay, with_blocking_threads_without_delay;
    /// By how much the delay before another such worker grows with each further set of processors; whole milliseconds.
    /// 0: they are added at once.
    BlockingDelayStep: Duration as Millis => blocking_delay_step, with_blocking_delay_step;
    /// The longest such delay, a longer `blocking_delay_step` included; whole milliseconds.
    BlockingMaxDelay: Duration as Millis => blocking_max_delay, with_blocking_max_delay;
    /// Processors that the pool thinks there are; at least 1. Other defaults follow it.
    ProcessorCount: usize as Count => processor_count, with_processor_count;
    /// Who looks after deferred work once the searching workers have parked.
    Watch: Watch as Watching => watch, with_watch;
    /// Whether each worker is pinned to a processor.
    PinThreads: bool as Switch => pin_threads, with_pin_threads;
    /// Whether the pool prints its counters on standard error when it ends.
    Stats: bool as Switch => stats_at_exit, with_stats_at_exit;
    /// Whether [`Knobs::from_env_or_warn`] prints.
    Warnings: bool as Switch => warnings_enabled, with_warnings_enabled;
}
