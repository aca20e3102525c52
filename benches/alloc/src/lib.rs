//! The system's allocator, which counts the bytes that are asked of it while somebody wants to know.
//!
//! It is a crate of its own because an allocator needs `unsafe`, which all other measuring code forbids. Whoever links
//! it gets it as global allocator, so that every subject has the same one. At rest it costs an allocation one load of a
//! flag that nobody writes, and a deallocation nothing; while counting, also one addition to a counter that all threads
//! share. So count in one run of the work and take its time in another.
//!
//! Rejected: the published counters. `stats_alloc` and `cap` add to shared counters on each allocation and each
//! deallocation, always; `accounting-allocator` does so on counters of each thread, six additions and a landing pad for
//! each pair; `allocation-counter` sees only the calling thread. At 50 ns a spawn each of them would be measured too.
//!
//! ```
//! let count = runnext_bench_alloc::Count::start();
//! let boxed = std::hint::black_box(Box::new([0u8; 1000]));
//! assert!(count.stop() >= 1000);
//! # drop(boxed);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many counts are under way.
static COUNTS: AtomicUsize = AtomicUsize::new(0);

/// Only grows, and only while a count is under way.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// A count under way, of all threads of this process. Counts may overlap; each then sees the bytes of both.
#[derive(Debug)]
#[must_use = "a count that is never stopped tells nothing"]
pub struct Count {
    before: u64,
}

impl Count {
    /// Starts counting.
    pub fn start() -> Self {
        // Ordering: Relaxed. Whoever hands work to another thread orders this before it, and the work before `stop`.
        COUNTS.fetch_add(1, Ordering::Relaxed);
        Self {
            before: BYTES.load(Ordering::Relaxed),
        }
    }

    /// The bytes that were asked for since the start, given back or not. A block that grows counts with what it grows by.
    #[must_use]
    pub fn stop(self) -> u64 {
        BYTES.load(Ordering::Relaxed) - self.before
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        COUNTS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn count(bytes: usize) {
    if COUNTS.load(Ordering::Relaxed) != 0 {
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

struct Counting;

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing and does not unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: our caller promises what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`; every block is the system's own.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: as in `dealloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    /// Tests must not see each other's bytes.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn all_threads_count_while_a_count_is_under_way() {
        let _alone = ALONE.lock().unwrap();
        let count = Count::start();
        thread::scope(|scope| {
            scope.spawn(|| drop(black_box(vec![1u8; 5000])));
        });
        let bytes = count.stop();
        assert!(bytes >= 5000, "{bytes}");
        drop(black_box(vec![1u8; 5000]));
        assert_eq!(Count::start().stop(), 0, "nobody asked for those");
    }

    #[test]
    fn a_block_that_grows_counts_once() {
        let _alone = ALONE.lock().unwrap();
        let mut block = black_box(Vec::<u8>::with_capacity(1000));
        let count = Count::start();
        block.reserve_exact(3000);
        let bytes = count.stop();
        assert!((2000..2500).contains(&bytes), "{bytes}");
    }
}
