//! The ways in which a waker goes on, those of the proposal's latency table by their nearest kin in Rust.

use std::sync::{self, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollTimeout, poll};

use super::{Held, Way};
use crate::measure::Aside;
use crate::pool::Spawner;

/// How long a waker computes that wakes late: until a worker that was woken with its own has looked for work in vain and
/// sleeps again, which takes some tens of microseconds.
const LATE: Duration = Duration::from_millis(1);

/// Computes: `latency-spin`.
pub(crate) struct SpinOn;

/// Computes before its wake, too: `latency-spin-late`.
pub(crate) struct SpinOnLate;

/// Blocks in a system call: `latency-native-block`. No hook of a library sees it.
pub(crate) struct NativeBlock;

/// `std::thread::sleep`: `latency-sleep`. .NET's own sleep tells the pool; Rust's does not.
pub(crate) struct Sleep;

/// The same, announced to the pool: `latency-hooked-sleep`.
pub(crate) struct HookedSleep;

/// Waits on a `std::sync::Condvar`: `latency-condvar`.
pub(crate) struct Condvar;

/// Waits for a contended `std::sync::Mutex`: `latency-mutex`.
pub(crate) struct MutexLock;

/// Waits for an `event_listener::Event`, which parks through the crate `parking`: `latency-event`.
pub(crate) struct Event;

/// Waits for a contended `async_lock::Mutex` with its blocking call: `latency-async-mutex`.
pub(crate) struct AsyncMutexLock;

impl Way for SpinOn {
    const COMPUTES: bool = true;

    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        compute(time);
    }
}

impl Way for SpinOnLate {
    const COMPUTES: bool = true;

    fn begin() -> Aside {
        Aside::of(|| compute(LATE))
    }

    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        compute(time);
    }
}

impl Way for NativeBlock {
    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        let milliseconds = time.as_millis() as u16;
        // Waits for nothing but its time limit; a signal may cut it short, which changes no figure.
        let _ = poll(&mut [], PollTimeout::from(milliseconds));
    }
}

impl Way for Sleep {
    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        thread::sleep(time);
    }
}

impl Way for Condvar {
    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        let (mutex, condvar) = (Mutex::new(()), sync::Condvar::new());
        let guard = mutex.lock().expect("nobody has had it yet");
        // Nobody notifies: the time limit ends the wait.
        drop(condvar.wait_timeout_while(guard, time, |()| true));
    }
}

impl Way for MutexLock {
    fn go_on<S: Spawner>(held: &Held, _: Duration) {
        drop(held.std.lock());
    }
}

impl Way for Event {
    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        use event_listener::Listener;
        let event = event_listener::Event::<()>::new();
        // Nobody notifies: the time limit ends the wait.
        let _ = event.listen().wait_timeout(time);
    }
}

impl Way for HookedSleep {
    fn go_on<S: Spawner>(_: &Held, time: Duration) {
        S::blocking(|| thread::sleep(time));
    }
}

impl Way for AsyncMutexLock {
    fn go_on<S: Spawner>(held: &Held, _: Duration) {
        drop(held.of_async_lock.lock_blocking());
    }
}

fn compute(time: Duration) {
    // By the clock: a waker that is interrupted meanwhile need not make up for it.
    let start = Instant::now();
    while start.elapsed() < time {}
}
