//! Candidates for a worker's local queue, measured on what a worker does with it.
//!
//! `cargo bench -p runnext-bench --bench queues`. Every figure is the time for **one item** (for the look: one look), so that cases can
//! be compared with each other and with the cost of a hop.
//!
//! Concepts: the *owner* pushes and pops; a *thief* takes half of what is there into its own queue; a *looker* only asks whether
//! there is something to take. All queues are FIFO and hold pointer-sized items, as the scheduler's do.
//!
//! The candidates do not offer the same: `crossbeam-deque` grows instead of handing an item back, `concurrent-queue` has no batch, and
//! `st3` lets a thief look only through a steal of nothing. [`LocalQueue`] asks for what the scheduler needs and each candidate
//! does it in the cheapest way its public interface allows.
//!
//! Not measured: thieves that fight each other. There a queue matters less than the limit on searchers does.

#![forbid(unsafe_code)]

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use core_affinity::CoreId;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

/// Stands for a pointer to a task.
type Item = usize;

/// The ring's size; the size that Go, tokio and nexosim use.
const CAPACITY: usize = 256;

/// A burst that fits half of the ring, so that no case meets the overflow path.
const BURST: usize = 128;

/// How often the looker of `alternate, looked at` looks: a searcher does not come more often.
const LOOK_EVERY: Duration = Duration::from_micros(2);

fn main_cases(c: &mut Criterion) {
    pin_to(0);
    all_cases::<st3::fifo::Worker<Item>>(c, "st3");
    all_cases::<crossbeam_deque::Worker<Item>>(c, "crossbeam-deque");
    all_cases::<Arc<concurrent_queue::ConcurrentQueue<Item>>>(c, "concurrent-queue");
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2)).sample_size(40);
    targets = main_cases
}
criterion_main!(benches);

/// What a scheduler asks of a worker's local queue.
trait LocalQueue: Send + Sized + 'static {
    /// The handle through which other threads see the queue.
    type Stealer: Send + 'static;

    fn new() -> Self;
    fn stealer(&self) -> Self::Stealer;

    /// Appends an item, or hands it back if the queue is full. Owner only.
    fn push(&self, item: Item) -> Result<(), Item>;

    /// Takes the oldest item. Owner only.
    fn pop(&self) -> Option<Item>;

    /// Moves half of `victim`'s items, the older ones, to the tail of this queue and returns their number.
    /// Owner of `self` only.
    fn steal_half(&self, victim: &Self::Stealer) -> usize;

    /// Whether `victim` has nothing to take. `self` is the looker's own queue.
    fn sees_empty(&self, victim: &Self::Stealer) -> bool;
}

impl LocalQueue for st3::fifo::Worker<Item> {
    type Stealer = st3::fifo::Stealer<Item>;

    fn new() -> Self {
        Self::new(CAPACITY)
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    fn push(&self, item: Item) -> Result<(), Item> {
        self.push(item)
    }

    fn pop(&self) -> Option<Item> {
        self.pop()
    }

    fn steal_half(&self, victim: &Self::Stealer) -> usize {
        victim.steal(self, |n| n - n / 2).unwrap_or(0)
    }

    /// A steal of nothing: the closure runs only if there is something, and its zero ends the attempt before the first write.
    fn sees_empty(&self, victim: &Self::Stealer) -> bool {
        let mut len = 0;
        let looked = victim.steal(self, |n| {
            len = n;
            0
        });
        len == 0 && looked != Err(st3::StealError::Busy)
    }
}

impl LocalQueue for crossbeam_deque::Worker<Item> {
    type Stealer = crossbeam_deque::Stealer<Item>;

    fn new() -> Self {
        Self::new_fifo()
    }

    fn stealer(&self) -> Self::Stealer {
        self.stealer()
    }

    /// Grows when it is full: there is no overflow to hand back.
    fn push(&self, item: Item) -> Result<(), Item> {
        self.push(item);
        Ok(())
    }

    fn pop(&self) -> Option<Item> {
        self.pop()
    }

    /// The limit lifts the default of 32 items a batch.
    fn steal_half(&self, victim: &Self::Stealer) -> usize {
        let before = self.len();
        match victim.steal_batch_with_limit(self, CAPACITY) {
            crossbeam_deque::Steal::Success(()) => self.len() - before,
            crossbeam_deque::Steal::Empty | crossbeam_deque::Steal::Retry => 0,
        }
    }

    fn sees_empty(&self, victim: &Self::Stealer) -> bool {
        victim.is_empty()
    }
}

impl LocalQueue for Arc<concurrent_queue::ConcurrentQueue<Item>> {
    type Stealer = Self;

    fn new() -> Self {
        Self::new(concurrent_queue::ConcurrentQueue::bounded(CAPACITY))
    }

    fn stealer(&self) -> Self {
        self.clone()
    }

    fn push(&self, item: Item) -> Result<(), Item> {
        (**self)
            .push(item)
            .map_err(concurrent_queue::PushError::into_inner)
    }

    fn pop(&self) -> Option<Item> {
        (**self).pop().ok()
    }

    /// Item by item, as async-executor does: there is no batch.
    fn steal_half(&self, victim: &Self) -> usize {
        let wanted = victim.len().div_ceil(2);
        (0..wanted)
            .map_while(|_| LocalQueue::push(self, LocalQueue::pop(victim)?).ok())
            .count()
    }

    fn sees_empty(&self, victim: &Self) -> bool {
        victim.is_empty()
    }
}

fn all_cases<Q: LocalQueue>(c: &mut Criterion, name: &str) {
    let mut group = c.benchmark_group(name);
    alternate::<Q>(&mut group);
    alternate_looked_at::<Q>(&mut group);
    burst::<Q>(&mut group);
    steal_half::<Q>(&mut group);
    look::<Q>(&mut group);
    group.finish();
}

/// The hop that missed the slot: the queue's length goes 0, 1, 0.
fn alternate<Q: LocalQueue>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let queue = Q::new();
    per_item(group, "alternate", 1, || push_pop(&queue));
}

/// The same while a searcher on another core looks at the queue every 2 us.
fn alternate_looked_at<Q: LocalQueue>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let queue = Q::new();
    let Some(_looker) = Looker::start(&queue) else {
        eprintln!("alternate, looked at: skipped, it needs a second core");
        return;
    };
    per_item(group, "alternate, looked at", 1, || push_pop(&queue));
}

/// Fan-out that the owner works off alone.
fn burst<Q: LocalQueue>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let queue = Q::new();
    per_item(group, "burst", BURST, || {
        fill(&queue, BURST);
        drain(&queue, BURST);
    });
}

/// Half of a full burst moves to another queue and is worked off there. An item's way is push, steal, pop.
fn steal_half<Q: LocalQueue>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (queue, thief) = (Q::new(), Q::new());
    let stealer = queue.stealer();
    fill(&queue, BURST / 2);
    per_item(group, "steal half", BURST / 2, || {
        fill(&queue, BURST / 2);
        assert_eq!(thief.steal_half(&stealer), BURST / 2);
        drain(&thief, BURST / 2);
    });
}

/// What a look costs the looker while the owner leaves the queue alone.
fn look<Q: LocalQueue>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (queue, own) = (Q::new(), Q::new());
    let stealer = queue.stealer();
    per_item(group, "look, empty", 1, || {
        assert!(own.sees_empty(black_box(&stealer)));
    });
    fill(&queue, 1);
    per_item(group, "look, one item", 1, || {
        assert!(!own.sees_empty(black_box(&stealer)));
    });
}

/// Measures `batch`, which handles `items` items, and reports the time for one.
fn per_item(
    group: &mut BenchmarkGroup<'_, WallTime>,
    case: &str,
    items: usize,
    mut batch: impl FnMut(),
) {
    group.bench_function(case, |bencher| {
        bencher.iter_custom(|iterations| {
            let batches = iterations.div_ceil(items as u64);
            let start = Instant::now();
            for _ in 0..batches {
                batch();
            }
            let moved = (batches * items as u64) as f64;
            start.elapsed().mul_f64(iterations as f64 / moved)
        });
    });
}

fn push_pop<Q: LocalQueue>(queue: &Q) {
    queue.push(black_box(1)).expect("the queue is empty");
    black_box(queue.pop()).expect("one item was pushed");
}

fn fill<Q: LocalQueue>(queue: &Q, items: usize) {
    for item in 0..items {
        queue.push(black_box(item)).expect("a burst fits the queue");
    }
}

fn drain<Q: LocalQueue>(queue: &Q, items: usize) {
    for _ in 0..items {
        black_box(queue.pop()).expect("each item is still there");
    }
}

/// A thread on another core that looks at a queue until it is dropped.
struct Looker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Looker {
    /// `None` if there is no second core: the looker would then take the owner's time instead of its cache line.
    fn start<Q: LocalQueue>(queue: &Q) -> Option<Self> {
        CORES.get(1)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stealer, stopped) = (queue.stealer(), stop.clone());
        let thread = thread::spawn(move || {
            pin_to(1);
            let own = Q::new();
            // Ordering: Relaxed, the flag carries no data.
            while !stopped.load(Ordering::Relaxed) {
                black_box(own.sees_empty(&stealer));
                spin_for(LOOK_EVERY);
            }
        });
        Some(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the looker does not panic");
        }
    }
}

fn spin_for(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        spin_loop();
    }
}

/// The cores we may use, listed before the first thread is pinned: a pinned thread sees only its own.
static CORES: LazyLock<Vec<CoreId>> =
    LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());

/// Where it cannot pin, the figures are noisier and still comparable.
fn pin_to(index: usize) {
    if let Some(&core) = CORES.get(index) {
        core_affinity::set_for_current(core);
    }
}
