//! Bad use: an error that says what is wrong and why, and nothing left behind.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runnext::{Builder, Knobs, Pool};

use crate::support::*;

/// The error of a build, whose text names each of `parts`.
#[track_caller]
fn refused(builder: Builder, kind: ErrorKind, parts: &[&str]) -> Error {
    let error = builder.build().expect_err("this should be refused");
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing from: {text}");
    }
    assert!(
        text.starts_with(|first: char| !first.is_uppercase()),
        "{text}"
    );
    error
}

#[test]
fn no_threads() {
    refused(
        Pool::builder().threads(0),
        ErrorKind::InvalidInput,
        &["`threads`", "0"],
    );
    refused(
        Pool::builder().max_threads(0),
        ErrorKind::InvalidInput,
        &["`max_threads`", "0"],
    );
}

#[test]
fn absurdly_many_threads() {
    for many in [32_768, usize::MAX] {
        let parts = [&*many.to_string(), "4096"];
        let invalid = ErrorKind::InvalidInput;
        refused(
            Pool::builder().threads(many),
            invalid,
            &[&["`threads`"], &parts[..]].concat(),
        );
        refused(
            Pool::builder().max_threads(many),
            invalid,
            &[&["`max_threads`"], &parts[..]].concat(),
        );
    }
}

#[test]
fn a_maximum_below_the_number_of_threads() {
    refused(
        Pool::builder().threads(3).max_threads(2),
        ErrorKind::InvalidInput,
        &["`max_threads`", "2", "3"],
    );
    refused(
        Pool::builder().max_threads(2).threads(3),
        ErrorKind::InvalidInput,
        &["`max_threads`", "2", "3"],
    );
}

#[test]
fn a_maximum_alone_lowers_the_default_number_of_threads() {
    in_time(|| {
        let knobs = Knobs::default().with_processor_count(4);
        let pool = Pool::builder().knobs(knobs).max_threads(1).build().unwrap();
        assert_eq!(pool.stats().workers_count, 1);
    });
}

#[test]
fn knobs_that_no_pool_can_have() {
    refused(
        Pool::builder().knobs(Knobs::default().with_min_threads(0)),
        ErrorKind::InvalidInput,
        &["MIN_THREADS", "0"],
    );
    refused(
        Pool::builder().knobs(Knobs::default().with_min_threads(3).with_max_threads(2)),
        ErrorKind::InvalidInput,
        &["MAX_THREADS", "2", "3"],
    );
}

#[test]
fn a_name_that_no_thread_can_have() {
    refused(
        Pool::builder().threads(1).name_prefix("nul\0"),
        ErrorKind::InvalidInput,
        &["`name_prefix`"],
    );
}

#[test]
fn a_stack_size_that_overflows() {
    refused(
        Pool::builder().threads(1).stack_size(usize::MAX),
        ErrorKind::InvalidInput,
        &["`stack_size`", &usize::MAX.to_string()],
    );
}

#[test]
fn a_stack_size_that_no_thread_can_live_on() {
    for bytes in [0, 1, 16_383] {
        refused(
            Pool::builder().threads(1).stack_size(bytes),
            ErrorKind::InvalidInput,
            &["`stack_size`", &bytes.to_string(), "at least 16384"],
        );
    }
}

/// Builds a pool that cannot be, and looks what the attempt leaves behind. Gives the number of workers that ran.
#[cfg(target_os = "linux")]
fn fails_cleanly(threads: usize, bytes: usize, prefix: &'static str) -> usize {
    let hooks: Arc<[AtomicUsize; 2]> = Arc::default();
    let count = |which: usize| {
        let hooks = hooks.clone();
        move |_| _ = hooks[which].fetch_add(1, Ordering::SeqCst)
    };
    let builder = Pool::builder()
        .threads(threads)
        .stack_size(bytes)
        .name_prefix(prefix)
        .on_thread_start(count(0))
        .on_thread_stop(count(1));
    let error = builder.build().expect_err("no system has such a stack");
    let text = error.to_string();
    for part in ["`stack_size`", "could not start worker", &bytes.to_string()] {
        assert!(text.contains(part), "`{part}` is missing from: {text}");
    }
    assert!(text.contains("os error"), "the reason is missing: {text}");
    let [started, stopped] = hooks.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert_eq!(started, stopped, "hooks come in pairs");
    assert!(
        text.contains(&format!("worker {started} of {threads}")),
        "{text}"
    );
    until(|| threads_named(prefix) == 0);
    started
}

#[test]
#[cfg(target_os = "linux")]
fn a_stack_size_that_the_system_refuses() {
    in_time(|| {
        for bits in [50, 62] {
            assert_eq!(fails_cleanly(3, 1 << bits, "refused-"), 0);
        }
        assert_eq!(fails_cleanly(3, usize::MAX / 2, "refused-"), 0);
    });
}

/// Eight stacks of this size exceed every address space of today, but one may well fit.
#[test]
#[cfg(target_os = "linux")]
fn stacks_that_exceed_the_address_space_together() {
    in_time(|| {
        let ran = fails_cleanly(8, 1 << 46, "together-");
        println!("{ran} of 8 workers ran");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn thread_creation_that_fails_half_way() {
    const STACK: usize = 64 << 20;
    let test = "bad_use::thread_creation_that_fails_half_way";
    let output = fresh_process(test, || {
        limit_memory(STACK as u64 * 7 / 2); // room for about three more stacks
        let ran = fails_cleanly(16, STACK, "half-");
        assert!((1..16).contains(&ran), "{ran} workers ran");
        // The process goes on, and a smaller pool fits.
        let pool = Pool::builder().threads(1).build().unwrap();
        assert_eq!(pool.block_on(pool.spawn(async { 7 })), 7);
    });
    assert!(output.status.success(), "{output:#?}");
}

/// A stack so large that what the allocator maps and gives back, 128 MiB a thread, makes no difference beside it.
#[cfg(target_os = "linux")]
pub(crate) const LARGE_STACK: usize = 1 << 30;

/// Lets this process have only so many bytes of address space beyond what it has already.
#[cfg(target_os = "linux")]
pub(crate) fn limit_memory(more: u64) {
    let sizes = std::fs::read_to_string("/proc/self/statm").expect("Linux tells our size");
    let pages: u64 = sizes
        .split(' ')
        .next()
        .and_then(|size| size.parse().ok())
        .unwrap();
    // SAFETY: takes no pointer.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let limit = libc::rlimit {
        rlim_cur: pages * page + more,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is a valid `rlimit`, and only read.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(result, 0, "{}", Error::last_os_error());
}
