//! Building a pool: what can be chosen, what is checked, and starting the threads.

use std::fmt;
use std::io;

use core_affinity::CoreId;
use runnext_knobs::Knobs;

use crate::crew::{self, Hook, Hooks, ThreadSettings};
use crate::pool::{Handle, MAX_WORKERS, Pool, Shared};
use crate::stall::{self, OnStall, StallInfo};
use crate::sync::Arc;
use crate::worker::work_for;

/// What a [`Pool`] is built from.
///
/// What is chosen here wins over the environment variables, which win over the defaults.
///
/// ```
/// let pool = runnext::Builder::new()
///     .threads(2)
///     .name_prefix("web-")
///     .on_thread_start(|index| println!("worker {index} is there"))
///     .build()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    threads: Option<usize>,
    max_threads: Option<usize>,
    name_prefix: Option<String>,
    stack_size: Option<usize>,
    on_thread_start: Option<Hook>,
    on_thread_stop: Option<Hook>,
    on_stall: Option<Arc<OnStall>>,
    pin_threads: Option<bool>,
    knobs: Option<Knobs>,
}

impl Builder {
    /// A builder in which nothing is chosen.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of workers. Default: the knob `MIN_THREADS`, else one a processor.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most workers that the pool may have. Default: the knob `MAX_THREADS`, else 512.
    ///
    /// Workers beyond [`threads`](Self::threads) are added only while others are blocked and work waits. It is also the
    /// most that [`Pool::set_threads`] may ask for later.
    pub fn max_threads(mut self, threads: usize) -> Self {
        self.max_threads = Some(threads);
        self
    }

    /// What the names of the threads begin with; the worker's index, from 0, follows.
    /// Default: `runnext-`.
    pub fn name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.name_prefix = Some(prefix.into());
        self
    }

    /// The stack size of each worker thread, in bytes; at least 16 KiB. Default: the standard
    /// library's, 2 MiB.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Runs `hook` on each worker thread before its first task, with the worker's index.
    ///
    /// A panic in a hook is reported by the panic hook and otherwise ignored: the worker goes on.
    ///
    /// Until the hook returns its worker counts as running and takes no task, and no other is added for it, also if the hook
    /// blocks in [`blocking`](crate::blocking) or [`block_on`](crate::block_on). So a hook should be short, and must not wait for a
    /// task of its own pool: with a single worker nobody would be there to run that.
    pub fn on_thread_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_thread_start = Some(crew::hook(hook));
        self
    }

    /// Runs `hook` on each worker thread after its last task: once for each run of the start hook.
    pub fn on_thread_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_thread_stop = Some(crew::hook(hook));
        self
    }

    /// Runs `report` when work has had to wait behind one poll for the knob `STALLED_WORK_US`, or longer if no other
    /// worker was idle: once for each such poll, so that its task can be found.
    ///
    /// It runs on a thread of its own, `stall` after the name prefix. What it is too slow for is dropped, and so is what
    /// it has not begun when the pool closes. A panic is reported by the panic hook and otherwise ignored. Without the gate
    /// (every switch off, see `docs/KNOBS.md`) it is never called. A `Pool` that it captures is a handle like any other: the
    /// pool then ends only by a shutdown.
    ///
    /// ```
    /// let pool = runnext::Builder::new()
    ///     .on_stall(|stall| eprintln!("{stall}"))
    ///     .build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_stall(mut self, report: impl Fn(&StallInfo) + Send + Sync + 'static) -> Self {
        self.on_stall = Some(Arc::new(report));
        self
    }

    /// Whether to pin worker `i` to the `i`-th processor that the process may use, counted round.
    /// Default: the knob `PIN_THREADS`, else no. Where the system cannot pin, nothing happens.
    pub fn pin_threads(mut self, pin: bool) -> Self {
        self.pin_threads = Some(pin);
        self
    }

    /// The knobs, instead of those of the environment.
    pub fn knobs(mut self, knobs: Knobs) -> Self {
        self.knobs = Some(knobs);
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a number that makes no sense; the system's error if a thread cannot be
    /// started, with its index and the stack size. Those that had been started are then gone.
    pub fn build(self) -> io::Result<Pool> {
        let knobs = self.effective_knobs()?;
        let threads = ThreadSettings {
            name_prefix: self.name_prefix.unwrap_or_else(|| "runnext-".into()),
            stack_size: self.stack_size,
            cores: Self::cores(knobs.pin_threads()),
        };
        let hooks = Hooks {
            on_start: self.on_thread_start,
            on_stop: self.on_thread_stop,
        };
        let shared = Arc::new(Shared::new(knobs, threads, hooks));
        let handle = Arc::new(Handle::new(shared.clone()));
        let workers = shared.headcount.get().live();
        let started = shared.start_workers().map_err(|(index, error)| {
            cannot_start(&format!("worker {index} of {workers}"), self.stack_size, &error)
        });
        let started = started.and_then(|()| {
            let gate = Self::start_gate(&shared, self.on_stall);
            gate.map_err(|error| cannot_start("the gate", self.stack_size, &error))
        });
        if let Err(error) = started {
            handle.shutdown(None);
            return Err(error);
        }
        Ok(handle.into())
    }

    fn start_gate(shared: &Arc<Shared>, on_stall: Option<Arc<OnStall>>) -> io::Result<()> {
        if !shared.switches.gate() {
            return Ok(());
        }
        if let Some(on_stall) = on_stall {
            let (own, reports) = (shared.clone(), shared.reports.open());
            let reporter = shared.crew.settings.thread("stall").spawn(move || {
                work_for(own.id);
                stall::report(&own, &reports, &*on_stall);
            })?;
            shared.crew.add_thread(reporter);
        }
        let own = shared.clone();
        let gate = shared.crew.settings.thread("gate").spawn(move || {
            work_for(own.id);
            own.gate.run(&own);
        })?;
        shared.crew.add_thread(gate);
        Ok(())
    }

    /// The knobs with everything that was chosen here, checked.
    fn effective_knobs(&self) -> io::Result<Knobs> {
        let mut knobs = match &self.knobs {
            Some(knobs) => knobs.clone(),
            None => Knobs::from_env_or_warn(),
        };
        if let Some(pin) = self.pin_threads {
            knobs = knobs.with_pin_threads(pin);
        }
        if let Some(max) = self.max_threads {
            knobs = knobs.with_max_threads(check_count("max_threads", max)?);
        }
        if let Some(threads) = self.threads {
            knobs = knobs.with_min_threads(check_count("threads", threads)?);
        }
        if let (Some(threads), Some(max)) = (self.threads, self.max_threads)
            && threads > max
        {
            return Err(invalid(format!(
                "`threads` is {threads} and `max_threads` is {max}: \
                 raise `max_threads` or lower `threads`"
            )));
        }
        // The knobs may come from the caller, who may have put anything into them.
        knobs.check().map_err(|error| invalid(error.to_string()))?;
        check_stack_size(self.stack_size)?;
        check_name_prefix(self.name_prefix.as_deref())?;
        Ok(knobs)
    }

    fn cores(pin: bool) -> Vec<CoreId> {
        pin.then(core_affinity::get_core_ids)
            .flatten()
            .unwrap_or_default()
    }
}

fn cannot_start(who: &str, stack_size: Option<usize>, error: &io::Error) -> io::Error {
    let stack = match stack_size {
        Some(bytes) => format!("a `stack_size` of {bytes} bytes"),
        None => "the default stack size".into(),
    };
    io::Error::new(
        error.kind(),
        format!(
            "could not start {who} with {stack}: {error}; \
             no thread is left: lower `threads` or `stack_size`, \
             or raise the system's limits"
        ),
    )
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.threads)
            .field("max_threads", &self.max_threads)
            .field("name_prefix", &self.name_prefix)
            .field("stack_size", &self.stack_size)
            .field("on_thread_start", &self.on_thread_start.is_some())
            .field("on_thread_stop", &self.on_thread_stop.is_some())
            .field("on_stall", &self.on_stall.is_some())
            .field("pin_threads", &self.pin_threads)
            .field("knobs", &self.knobs)
            .finish()
    }
}

fn check_count(name: &str, count: usize) -> io::Result<usize> {
    match count {
        0 => Err(invalid(format!(
            "`{name}` is 0: a pool needs at least one worker; \
             leave it out for one a processor"
        ))),
        1..=MAX_WORKERS => Ok(count),
        _ => Err(invalid(format!(
            "`{name}` is {count}: a pool has at most {MAX_WORKERS} workers"
        ))),
    }
}

/// Refuses sizes that overflow when they are rounded up to whole pages, on which the standard
/// library would panic, and those that it would silently raise.
fn check_stack_size(bytes: Option<usize>) -> io::Result<()> {
    const LEAST: usize = 16 << 10;
    const TOO_MUCH: usize = usize::MAX / 2 + 1;
    let reason = match bytes {
        Some(0..LEAST) => "a thread needs at least 16384",
        Some(TOO_MUCH..) => "no address space holds that",
        _ => return Ok(()),
    };
    let bytes = bytes.unwrap_or_default();
    Err(invalid(format!(
        "`stack_size` is {bytes} bytes: {reason}; leave it out for the default"
    )))
}

/// Refuses what the standard library would panic on.
fn check_name_prefix(prefix: Option<&str>) -> io::Result<()> {
    match prefix {
        Some(prefix) if prefix.contains('\0') => Err(invalid(format!(
            "`name_prefix` is {prefix:?}: no thread can have a NUL in its name; leave it out"
        ))),
        _ => Ok(()),
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
