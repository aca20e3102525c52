//! Makes the calling thread run as soon as it should: for the gate, whose looks are worth nothing when late.
//!
//! Two things delay a thread that sleeps for 50 us. The system bundles timers: on Linux by 50 us, the *timer slack*.
//! And where a busy worker has the processor, the woken thread waits for the end of that worker's time
//! slice, 3 ms or so, though another processor may be idle. A thread that asks for a short slice of its own comes first
//! when it wakes (Linux 6.12; earlier ones ignore it). It gets no more of the processor for that, only sooner.
//!
//! Neither needs a privilege. Where they fail or do not exist the looks come later: worse, not wrong.

#[cfg(target_os = "linux")]
pub(crate) fn be_prompt() {
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
    shorten_slice();
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn be_prompt() {}

/// Asks for the shortest time slice that Linux gives, 0.1 ms, if the thread is an ordinary one.
#[cfg(target_os = "linux")]
fn shorten_slice() {
    const SLICE_NS: u64 = 100_000;
    const THIS_THREAD: libc::pid_t = 0;
    // SAFETY: takes and returns numbers.
    let policy = unsafe { libc::sched_getscheduler(THIS_THREAD) };
    let Ok(nice) = rustix::process::getpriority_process(None) else {
        return;
    };
    if policy != libc::SCHED_OTHER {
        return; // whoever started us has chosen something else
    }
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: nice,
        sched_priority: 0,
        sched_runtime: SLICE_NS,
        sched_deadline: 0,
        sched_period: 0,
    };
    let no_flags: libc::c_uint = 0;
    // SAFETY: the kernel reads `size` bytes of `attributes`, which outlives the call.
    unsafe { libc::syscall(libc::SYS_sched_setattr, THIS_THREAD, &raw const attributes, no_flags) };
}
