//! The data of the catalogue. To add a knob: a variant in [`Knob`], an entry here, an accessor in `access`.
//!
//! Ranges are .NET's where the knob is .NET's: 32767 is the limit of its 16-bit settings, 2147483647 of the others.

use super::{COUNT, Entry, Knob, MAX_WORKERS, Preset, Spelling};
use crate::parse::Rule::{self, Bool, Choice, Decimal, Hex, HexBool, Int16, Int32};

const MAX16: i64 = i16::MAX as i64;
const MAX32: i64 = i32::MAX as i64;

const PROPOSAL: &str = "run-next proposal for the .NET thread pool";
const SPINNING: &str = "dotnet/runtime#132765";
const DOTNET: &str = ".NET thread pool";
const OURS: &str = "runnext";

const fn spelling(variable: &'static str, rule: Rule) -> Spelling {
    Spelling { variable, rule }
}

/// What most entries share; each names only what differs. Its own texts never show.
const BLANK: Entry = Entry {
    knob: Knob::RunNext,
    ours: spelling("", Bool),
    dotnet: None,
    preset: Preset::Fixed(0),
    range: 0..=1,
    special: None,
    unit: "",
    needs: None,
    source: OURS,
    effect: "",
    detail: "",
};

pub(super) static CATALOGUE: [Entry; COUNT] = [
    Entry {
        knob: Knob::RunNext,
        ours: spelling("RUNNEXT_RUN_NEXT", Bool),
        dotnet: Some(spelling("DOTNET_ThreadPool_RunNext", Bool)),
        preset: Preset::Fixed(1),
        source: PROPOSAL,
        effect: "a worker runs the task it has just woken next, out of a slot of its own",
        detail: "On, a task woken by a worker goes into that worker's run-next slot if the slot is empty, and the \
                 worker takes it as soon as its current poll returns. Others can take it too once it has waited \
                 `RUNNEXT_RUN_NEXT_STEAL_DELAY_US`. Off, it goes to the local queue and a worker is requested on \
                 every push. The proposal has it off by default; swapping this executor in is the opt-in here.",
        ..BLANK
    },
    Entry {
        knob: Knob::DeferWorkerRequests,
        ours: spelling("RUNNEXT_DEFER_WORKER_REQUESTS", Bool),
        dotnet: Some(spelling("DOTNET_ThreadPool_DeferWorkerRequests", Bool)),
        preset: Preset::Fixed(1),
        needs: Some(Knob::RunNext),
        source: PROPOSAL,
        effect: "putting a task into an empty slot requests no worker while somebody watches the slots",
        detail: "On, a push into an empty slot wakes nobody while a searching worker or the gate has promised to \
                 look after slot items. That makes a hop cheap: no shared write, no system call. Off, each such \
                 push requests a worker. It has no effect without `RUNNEXT_RUN_NEXT`. The proposal has it off by \
                 default.",
        ..BLANK
    },
    Entry {
        knob: Knob::LazyDispatchRequest,
        ours: spelling("RUNNEXT_LAZY_DISPATCH_REQUEST", Bool),
        dotnet: Some(spelling("DOTNET_ThreadPool_LazyDispatchRequest", Bool)),
        needs: Some(Knob::DeferWorkerRequests),
        source: PROPOSAL,
        effect: "a worker that finds work asks for another one only if more work is visible",
        detail: "Off, a worker that has found work after a search asks for another worker before it runs its first \
                 task, because that task may publish another and then run long: the other one then watches, for as \
                 long as it spins, and leaves the watch to the gate. On, it asks only if more work is visible; \
                 the first push into a slot that nobody watches then wakes a worker. It saves a wake where a task \
                 wakes nobody, and lets the woken task wait for that wake where it does. The proposal found mixed \
                 results.",
        ..BLANK
    },
    Entry {
        knob: Knob::RunNextStealDelay,
        ours: spelling("RUNNEXT_RUN_NEXT_STEAL_DELAY_US", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_RunNextStealDelayUs", Int32)),
        preset: Preset::Fixed(5),
        range: 0..=MAX32,
        unit: "us",
        source: PROPOSAL,
        effect: "how long a slot item must have been seen waiting before another worker may take it",
        detail: "The time runs from the moment a searching worker first sees the item, by the searcher's clock: \
                 the worker that owns the slot reads no clock. Lower spreads work sooner and moves hot chains \
                 between cores more often; higher keeps a task with its worker and makes it wait longer behind a \
                 long poll. It is the longest wait while a searcher looks; good evidence may shorten it.",
        ..BLANK
    },
    Entry {
        knob: Knob::StalledWork,
        ours: spelling("RUNNEXT_STALLED_WORK_US", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_StalledWorkUs", Int32)),
        preset: Preset::Fixed(50),
        range: 0..=MAX32,
        unit: "us",
        source: PROPOSAL,
        effect: "how long work may wait behind one poll before it is rescued to another worker",
        detail: "While some worker is parked, the gate looks at this interval, and after half of it where polls are \
                 long. Work that waits behind a worker which has not finished a poll since the last look gets \
                 another worker, so it waits for one interval as a rule and for two at most. Lower shortens the wait \
                 behind a long poll and costs processor time for the looks; higher saves that time. Less than 5 us \
                 counts as 5.",
        ..BLANK
    },
    Entry {
        knob: Knob::SpuriousDispatchNoSpinThreshold,
        ours: spelling("RUNNEXT_SPURIOUS_DISPATCH_NO_SPIN_THRESHOLD", Decimal),
        dotnet: Some(spelling(
            "DOTNET_ThreadPool_SpuriousDispatchNoSpinThreshold",
            Int16,
        )),
        preset: Preset::TwoThirdsOfProcessors,
        range: 0..=MAX16,
        unit: "workers",
        source: SPINNING,
        effect: "a worker woken for nothing parks without spinning if more than this many workers run",
        detail: "A wake that finds no work is waste under high load and readiness under low load. Above this many \
                 running workers the worker parks at once, below it spins first. Lower saves processor time; too \
                 low costs throughput with few connections, since each request then pays for a wake.",
        ..BLANK
    },
    Entry {
        knob: Knob::SpinLimit,
        ours: spelling("RUNNEXT_SPIN_LIMIT", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_UnfairSemaphoreSpinLimit", Hex)),
        preset: Preset::Fixed(1024),
        range: 0..=MAX32,
        unit: "spins",
        source: SPINNING,
        effect: "how long a worker without work spins before it parks; a spin is about 35 ns",
        detail: "The default is about the cost of waking a parked thread, so that spinning never costs more than \
                 twice the best choice. 0 parks at once: least processor time, and every lone request pays for a \
                 wake. .NET reads its spelling as hexadecimal: `DOTNET_ThreadPool_UnfairSemaphoreSpinLimit=400` \
                 is 1024.",
        ..BLANK
    },
    Entry {
        knob: Knob::MinThreads,
        ours: spelling("RUNNEXT_MIN_THREADS", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_ForceMinWorkerThreads", Hex)),
        preset: Preset::Processors,
        range: 1..=MAX_WORKERS,
        unit: "threads",
        source: DOTNET,
        effect: "workers the pool runs when none is blocked",
        detail: "More than one for each processor helps only if tasks block in ways the pool cannot see. If only \
                 `RUNNEXT_MAX_THREADS` is set, and lower, the default follows it down. A value above an unset \
                 maximum raises the maximum. .NET reads its spelling as hexadecimal: \
                 `DOTNET_ThreadPool_ForceMinWorkerThreads=10` is 16.",
        ..BLANK
    },
    Entry {
        knob: Knob::MaxThreads,
        ours: spelling("RUNNEXT_MAX_THREADS", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_ForceMaxWorkerThreads", Hex)),
        preset: Preset::Fixed(512),
        range: 1..=MAX16,
        unit: "threads",
        source: DOTNET,
        effect: "workers the pool never exceeds, however many are blocked",
        detail: "Workers beyond the minimum are added only while others are blocked and work waits. The limit \
                 bounds memory: each thread has a stack; a pool never has more than 4096. .NET's own default is 32767. .NET reads its spelling as \
                 hexadecimal: `DOTNET_ThreadPool_ForceMaxWorkerThreads=40` is 64.",
        ..BLANK
    },
    Entry {
        knob: Knob::ThreadTimeout,
        ours: spelling("RUNNEXT_THREAD_TIMEOUT_MS", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_ThreadTimeoutMs", Int32)),
        preset: Preset::Fixed(20_000),
        range: -1..=MAX32,
        special: Some((-1, "never")),
        unit: "ms",
        source: DOTNET,
        effect: "how long a surplus worker waits as a spare before its thread ends",
        detail: "Surplus workers are those added while others were blocked. Shorter gives memory back sooner; \
                 longer saves thread creation where blocking comes in waves. -1 keeps every thread.",
        ..BLANK
    },
    Entry {
        knob: Knob::ThreadsToKeepAlive,
        ours: spelling("RUNNEXT_THREADS_TO_KEEP_ALIVE", Decimal),
        dotnet: Some(spelling("DOTNET_ThreadPool_ThreadsToKeepAlive", Int16)),
        preset: Preset::Fixed(0),
        range: -1..=MAX16,
        special: Some((-1, "all")),
        unit: "threads",
        source: DOTNET,
        effect: "threads that never end for being idle",
        detail: "While the pool has no more threads than that, none ends for `RUNNEXT_THREAD_TIMEOUT_MS`. Those of the \
                 minimum never do. -1 exempts all of them.",
        ..BLANK
    },
    Entry {
        knob: Knob::CooperativeBlocking,
        ours: spelling("RUNNEXT_COOPERATIVE_BLOCKING", Bool),
        dotnet: Some(spelling("DOTNET_ThreadPool_CooperativeBlocking", Bool)),
        preset: Preset::Fixed(1),
        source: DOTNET,
        effect: "a worker that says that it blocks is made up for by another while work waits",
        detail: "A worker says so by `blocking`, `about_to_block`, `block_on`, or by parking through the crate `parking` \
                 if that is patched. It is made up for while work waits and nobody is idle: at once up to the minimum \
                 and `RUNNEXT_BLOCKING_THREADS_WITHOUT_DELAY` more, then more and more slowly \
                 (`RUNNEXT_BLOCKING_DELAY_STEP_MS`), never above `RUNNEXT_MAX_THREADS`. Off, \
                 what waits behind such a worker is still free for the others, but none is added. Workers that do not \
                 say so are the business of `RUNNEXT_DISABLE_STARVATION_DETECTION`.",
        ..BLANK
    },
    Entry {
        knob: Knob::DisableStarvationDetection,
        ours: spelling("RUNNEXT_DISABLE_STARVATION_DETECTION", Bool),
        dotnet: Some(spelling(
            "DOTNET_ThreadPool_DisableStarvationDetection",
            HexBool,
        )),
        source: DOTNET,
        effect: "turns off the detection of workers that block where no hook sees it",
        detail: "The detection is what keeps a pool alive whose every worker sits in a sleep, a foreign lock or a \
                 system call: a worker that stays in one poll while work waits, and neither uses a processor nor wants \
                 one, is made up for as one that says so. Turn it off to find such places: the pool then stands still \
                 while they last. .NET \
                 reads its spelling as a hexadecimal number, so `true` is not understood there.",
        ..BLANK
    },
    // .NET has no variables for the next three, only options in an application's `runtimeconfig.json`.
    Entry {
        knob: Knob::BlockingThreadsWithoutDelay,
        ours: spelling("RUNNEXT_BLOCKING_THREADS_WITHOUT_DELAY", Decimal),
        preset: Preset::Processors,
        range: 0..=MAX16,
        unit: "threads",
        source: ".NET's option `System.Threading.ThreadPool.Blocking.ThreadsToAddWithoutDelay_ProcCountFactor`, \
                 which is a multiple of the processors",
        effect: "workers beyond the minimum that are added without delay in place of blocked ones",
        detail: "Raise it to the number of tasks that usually block at once: they then delay nobody, while a crowd of \
                 them still starts its threads slowly. 0 makes even the first one wait for \
                 `RUNNEXT_BLOCKING_DELAY_STEP_MS`. A spare, which is a thread that is there already, comes without \
                 delay in any case.",
        ..BLANK
    },
    Entry {
        knob: Knob::BlockingDelayStep,
        ours: spelling("RUNNEXT_BLOCKING_DELAY_STEP_MS", Decimal),
        preset: Preset::Fixed(25),
        range: 0..=MAX32,
        unit: "ms",
        source: ".NET's option `System.Threading.ThreadPool.Blocking.DelayStepMs`",
        effect: "by how much the delay before another worker grows with each further set of processors",
        detail: "Beyond `RUNNEXT_BLOCKING_THREADS_WITHOUT_DELAY`, workers are added in place of blocked ones one at a \
                 time. The delay before each is one step for as many workers as there are processors, two steps for \
                 as many again, and so on up to `RUNNEXT_BLOCKING_MAX_DELAY_MS`, which also caps a longer step. Lower \
                 suits a program whose tasks are known to block, for example on each other; higher saves the memory \
                 of threads where tasks block for a moment. 0 adds one for each that is blocked at once, as far as \
                 work waits for them; .NET takes 0 for 1. A worker that blocks without saying so has to be found \
                 first, in any case. A thread that cannot be started is tried again after 25 ms, whatever the step \
                 is.",
        ..BLANK
    },
    Entry {
        knob: Knob::BlockingMaxDelay,
        ours: spelling("RUNNEXT_BLOCKING_MAX_DELAY_MS", Decimal),
        preset: Preset::Fixed(250),
        range: 0..=MAX32,
        unit: "ms",
        source: ".NET's option `System.Threading.ThreadPool.Blocking.MaxDelayMs`",
        effect: "the longest delay before another worker is added in place of a blocked one",
        detail: "It bounds what `RUNNEXT_BLOCKING_DELAY_STEP_MS` adds up to. So it is about the longest that nothing \
                 starts while every worker is known to be blocked and there may be more of them. A value not above the step \
                 makes every delay this long, and 0 adds at once. .NET takes 0 for 1 and more than 500 for 500.",
        ..BLANK
    },
    Entry {
        knob: Knob::ProcessorCount,
        ours: spelling("RUNNEXT_PROCESSOR_COUNT", Decimal),
        dotnet: Some(spelling("DOTNET_PROCESSOR_COUNT", Decimal)),
        preset: Preset::Detected,
        range: 1..=MAX16,
        unit: "processors",
        source: DOTNET,
        effect: "how many processors the pool thinks there are",
        detail: "Other defaults are made from it. Set it where the detection is wrong, for example in a container \
                 that limits the processor by shares instead of by a quota.",
        ..BLANK
    },
    Entry {
        knob: Knob::Watch,
        ours: spelling("RUNNEXT_WATCH", Choice(&["gate", "spinner"])),
        effect: "who looks after deferred work once the searching workers have parked",
        detail: "`gate`: a searching worker hands the watch to the monitor thread when its spin budget ends, and \
                 parks. A lone chain then costs one core and a few percent. `spinner`: one searching worker keeps \
                 spinning past its budget while any slot is occupied, as the proposal does. It reacts sooner and \
                 costs a second core. What it watches it takes itself after \
                 `RUNNEXT_RUN_NEXT_STEAL_DELAY_US`, which then bounds the wait instead of `RUNNEXT_STALLED_WORK_US`.",
        ..BLANK
    },
    Entry {
        knob: Knob::PinThreads,
        ours: spelling("RUNNEXT_PIN_THREADS", Bool),
        effect: "pins each worker to a processor",
        detail: "Steadies measurements: the kernel no longer moves workers, nor wakes one onto the core of its \
                 waker. Leave it off where other programs share the machine.",
        ..BLANK
    },
    Entry {
        knob: Knob::Stats,
        ours: spelling("RUNNEXT_STATS", Bool),
        effect: "prints the pool's counters on standard error when the pool ends",
        detail: "The counters are those of `Pool::stats()`, which counts in any case: this only prints.",
        ..BLANK
    },
    Entry {
        knob: Knob::Warnings,
        ours: spelling("RUNNEXT_WARNINGS", Bool),
        preset: Preset::Fixed(1),
        effect: "prints a warning for each variable that is wrong or unknown",
        detail: "0 silences them. `runnext knobs --check` shows them all the same.",
        ..BLANK
    },
];
