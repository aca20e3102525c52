//! The one file that names std's or loom's atomics, locks, threads and time.
//!
//! Everything that takes part in a protocol comes from here, so that `--cfg runnext_loom` turns the
//! same source into a model. The cfg is ours alone: a dependant that sets `--cfg loom` for its own
//! tests gets the real pool.
//!
//! These helpers carry the memory model:
//!
//! * [`full_barrier`] orders everything before it against everything after it.
//! * [`complete_barrier`] stands after a `SeqCst` read-modify-write that already is a full barrier.
//!   std needs nothing more, since the accesses that it pairs with are `SeqCst` as well; loom
//!   treats `SeqCst` accesses as acquire and release, so there it is a fence.
//! * [`light_barrier`] and [`heavy_barrier`] are a pair: together they order two threads as two full
//!   barriers would, but the heavy side pays for both. In a model both are fences.

#[cfg(not(runnext_loom))]
mod imp {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
        compiler_fence, fence,
    };
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread;
}

#[cfg(runnext_loom)]
mod imp {
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence,
    };
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
}

pub(crate) use imp::*;

/// Orders every access before it against every access after it.
#[inline]
pub(crate) fn full_barrier() {
    fence(Ordering::SeqCst);
}

/// Completes the full barrier of the `SeqCst` read-modify-write just before it.
#[inline]
pub(crate) fn complete_barrier() {
    #[cfg(runnext_loom)]
    fence(Ordering::SeqCst);
}

/// The half of an asymmetric pair that costs nothing: the other side executes it for us.
#[inline]
pub(crate) fn light_barrier() {
    #[cfg(not(runnext_loom))]
    compiler_fence(Ordering::SeqCst);
    #[cfg(runnext_loom)]
    fence(Ordering::SeqCst);
}

/// A full barrier on this thread, and on every other thread of the process at some moment during
/// the call: a thread that runs is interrupted for it, one that does not has had it when it was
/// switched off. False if the system refused, although [`asymmetric_barriers`] are there.
#[cold]
pub(crate) fn heavy_barrier() -> bool {
    #[cfg(runnext_loom)]
    fence(Ordering::SeqCst);
    membarrier::execute()
}

/// Stores `value`, released, into a place that other threads swap. A plain store, but in a model: loom
/// lets one fall between the two halves of another thread's swap, which then overwrites it unseen.
#[inline]
pub(crate) fn store_release(place: &AtomicPtr<()>, value: *mut ()) {
    #[cfg(not(runnext_loom))]
    place.store(value, Ordering::Release);
    #[cfg(runnext_loom)]
    place.swap(value, Ordering::Release);
}

/// Whether this system has a heavy barrier.
pub(crate) fn asymmetric_barriers() -> bool {
    membarrier::is_ready()
}

#[cfg(all(target_os = "linux", not(runnext_loom)))]
mod membarrier {
    use once_cell::sync::OnceCell;
    use rustix::thread::{MembarrierCommand, membarrier, membarrier_query};

    /// Registers the process on first use: the kernel then knows whom to interrupt.
    pub(super) fn is_ready() -> bool {
        static READY: OnceCell<bool> = OnceCell::new();
        *READY.get_or_init(|| {
            membarrier_query().contains_command(MembarrierCommand::PrivateExpedited)
                && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
        })
    }

    pub(super) fn execute() -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
}

#[cfg(all(not(target_os = "linux"), not(runnext_loom)))]
mod membarrier {
    pub(super) fn is_ready() -> bool {
        false
    }

    pub(super) fn execute() -> bool {
        false
    }
}

#[cfg(runnext_loom)]
mod membarrier {
    pub(super) fn is_ready() -> bool {
        true
    }

    pub(super) fn execute() -> bool {
        true
    }
}

/// A count with one writer.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds one. Owner only.
    #[inline]
    pub(crate) fn bump(&self) -> u64 {
        self.add(1)
    }

    /// Adds `n` and returns the new value. Owner only.
    #[inline]
    pub(crate) fn add(&self, n: u64) -> u64 {
        // Relaxed: the owner is the only writer, readers want a number and no order.
        let new = self.0.load(Ordering::Relaxed) + n;
        self.0.store(new, Ordering::Relaxed);
        new
    }

    /// The value. Any thread.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: see `add`.
        self.0.load(Ordering::Relaxed)
    }
}

/// Puts one worker's thread to sleep and wakes it. A wake that comes first is remembered.
///
/// `thread::park` alone would do but for user code, which may park and unpark the same thread
/// inside a poll: our own flag tells a wake of ours from a stray token.
#[derive(Debug, Default)]
pub(crate) struct Parker {
    unparked: AtomicBool,
    sleeper: Sleeper,
}

impl Parker {
    /// Says whom to wake. By the thread that will park, before it does; another may follow it when it is
    /// gone.
    pub(crate) fn register(&self) {
        self.sleeper.register();
    }

    /// Sleeps until an `unpark`. The registered thread only.
    pub(crate) fn park(&self) {
        while !self.take_wake() {
            self.sleeper.sleep();
        }
    }

    /// Takes the wake that has come, if one has. The registered thread only.
    pub(crate) fn take_wake(&self) -> bool {
        // Ordering: Acquire pairs with the release in `unpark`.
        self.unparked.swap(false, Ordering::Acquire)
    }

    /// Sleeps until an `unpark`, at most for `time`, perhaps less. True if it was unparked. The registered
    /// thread only.
    #[cfg(not(runnext_loom))]
    pub(crate) fn park_timeout(&self, time: std::time::Duration) -> bool {
        self.take_wake() || {
            thread::park_timeout(time);
            self.take_wake()
        }
    }

    /// Ends the current or the next `park`. Any thread.
    pub(crate) fn unpark(&self) {
        // Ordering: Release pairs with the acquire in `take_wake`.
        if !self.unparked.swap(true, Ordering::Release) {
            self.sleeper.wake();
        }
    }
}

/// A thread that may sleep; it may wake for no reason, but no wake is lost.
#[cfg(not(runnext_loom))]
#[derive(Debug, Default)]
struct Sleeper(Mutex<Option<thread::Thread>>);

#[cfg(not(runnext_loom))]
impl Sleeper {
    fn register(&self) {
        *lock(&self.0) = Some(thread::current());
    }

    fn sleep(&self) {
        thread::park();
    }

    fn wake(&self) {
        // Either we see the thread, or it sees, after it has registered, that it was unparked: the lock
        // orders the two.
        let thread = lock(&self.0).clone();
        if let Some(thread) = thread {
            thread.unpark();
        }
    }
}

/// The same in a model. loom's own `park` forgets a wake when its thread meets a lock.
#[cfg(runnext_loom)]
#[derive(Debug, Default)]
struct Sleeper(loom::sync::Notify);

#[cfg(runnext_loom)]
impl Sleeper {
    fn register(&self) {}

    fn sleep(&self) {
        self.0.wait();
    }

    fn wake(&self) {
        self.0.notify();
    }
}

/// A timer that one thread waits for while others set it anew.
#[cfg(all(target_os = "linux", not(runnext_loom)))]
#[derive(Debug, Default)]
pub(crate) struct Timer(once_cell::sync::OnceCell<Option<rustix::fd::OwnedFd>>);

#[cfg(all(target_os = "linux", not(runnext_loom)))]
impl Timer {
    /// Lets the timer expire after `time`, and takes back an expiry that nobody has waited for. False if the
    /// system refuses. Any thread.
    pub(crate) fn set(&self, time: std::time::Duration) -> bool {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        const NEVER: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let Some(timer) = self.file() else {
            return false;
        };
        let at_least = time.max(std::time::Duration::from_nanos(1)); // zero would stop it
        let Ok(it_value) = Timespec::try_from(at_least) else {
            return false;
        };
        let time = Itimerspec {
            it_interval: NEVER,
            it_value,
        };
        timerfd_settime(timer, TimerfdTimerFlags::empty(), &time).is_ok()
    }

    /// Waits until the timer expires, or for less if a signal comes. False if the system refuses. Once it is set.
    pub(crate) fn wait(&self) -> bool {
        let mut expiries = [0; size_of::<u64>()];
        let read = self
            .file()
            .map(|timer| rustix::io::read(timer, &mut expiries));
        matches!(read, Some(Ok(_) | Err(rustix::io::Errno::INTR)))
    }

    fn file(&self) -> Option<&rustix::fd::OwnedFd> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let create = || timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).ok();
        self.0.get_or_init(create).as_ref()
    }
}

/// The same where there is none.
#[cfg(all(not(target_os = "linux"), not(runnext_loom)))]
#[derive(Debug, Default)]
pub(crate) struct Timer;

#[cfg(all(not(target_os = "linux"), not(runnext_loom)))]
impl Timer {
    pub(crate) fn set(&self, _: std::time::Duration) -> bool {
        false
    }

    pub(crate) fn wait(&self) -> bool {
        false
    }
}

/// The same in a model: it expires at once if set to zero, and else never.
#[cfg(runnext_loom)]
#[derive(Debug, Default)]
pub(crate) struct Timer {
    expired: AtomicBool,
    waiting: loom::sync::Notify,
}

#[cfg(runnext_loom)]
impl Timer {
    pub(crate) fn set(&self, time: std::time::Duration) -> bool {
        // No store: see `store_release`. Relaxed: a swap reads the latest.
        self.expired.swap(time.is_zero(), Ordering::Relaxed);
        if time.is_zero() {
            self.waiting.notify();
        }
        true
    }

    pub(crate) fn wait(&self) -> bool {
        // Relaxed: as above.
        while !self.expired.swap(false, Ordering::Relaxed) {
            self.waiting.wait();
        }
        true
    }
}

/// Takes `mutex`, whatever a panic elsewhere did to it.
///
/// Our critical sections are a few plain assignments, none of them user code, so a poisoned lock
/// still guards a consistent value.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The clock of the scheduler. The hop never reads it: only lookers do.
#[cfg(not(runnext_loom))]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
