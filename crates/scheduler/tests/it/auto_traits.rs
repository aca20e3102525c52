//! Auto traits and `Debug` of every public type, so that none changes unnoticed (smol-rs/async-executor#50: a future
//! silently lost `Send`; smol-rs/async-task#100: metadata that was not `Sync`).
//!
//! `Send` and `Sync` mean what the peers' types of the same role have. `Unpin` and `UnwindSafe` hold wherever nothing
//! stands against them.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use runnext::queue::{Injector, Local, Stealer};
use runnext::slot::{Slot, Thief};
use runnext::{Builder, Knobs, Meta, Pool, Stats, Task, WorkerStats, YieldNow};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Pool: Clone, Debug, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);

// Hooks are any functions, which may be anything but unwind safe.
assert_impl_all!(Builder: Clone, Debug, Default, Send, Sync, Unpin);

assert_impl_all!(Meta: Debug, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Task<()>: Debug, Future<Output = ()>, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
// A shared handle shows nothing of the output.
assert_impl_all!(Task<Cell<()>>: Send, Sync);
assert_not_impl_any!(Task<Rc<()>>: Send);

assert_impl_all!(YieldNow: Debug, Future<Output = ()>, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);

assert_impl_all!(Stats: Clone, Debug, Default, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(WorkerStats: Clone, Debug, Default, PartialEq, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Knobs: Clone, Debug, Default, PartialEq, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);

// The slot and the queues move items between threads but never share one: `Cell` is not `Sync`.
assert_impl_all!(Slot<Box<Cell<()>>>: Debug, Default, Send, Unpin, UnwindSafe);
assert_not_impl_any!(Slot<Box<()>>: Sync, Clone);
assert_impl_all!(Thief<Box<Cell<()>>>: Clone, Debug, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Injector<Cell<()>>: Debug, Default, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Stealer<Cell<()>>: Debug, Send, Sync, Unpin);
assert_impl_all!(Local<Cell<()>>: Debug, Send, Unpin);
assert_not_impl_any!(Local<()>: Sync, Clone);
assert_not_impl_any!(Injector<Rc<()>>: Send, Sync);
assert_not_impl_any!(Stealer<Rc<()>>: Send, Sync);
assert_not_impl_any!(Local<Rc<()>>: Send, Sync);

/// What static assertions cannot name: the types of functions and futures.
#[test]
fn futures_made_by_methods_may_be_sent() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }
    let pool = Pool::builder().threads(1).build().unwrap();
    let task = pool.spawn(async {});
    pool.block_on(sendable(task.cancel()));
    let task = pool.spawn(async { 7 }).fallible();
    assert_eq!(pool.block_on(sendable(task)), Some(7));
    pool.shutdown();
}
