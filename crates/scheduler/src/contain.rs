//! User code whose panic must not get any further.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`; false if it panicked, which the panic hook has reported by then.
///
/// The payload is leaked: its destructor is user code as well, and may panic in turn.
/// For code after which no state of ours depends on what `f` left undone.
pub(crate) fn contain(f: impl FnOnce()) -> bool {
    let caught = catch_unwind(AssertUnwindSafe(f)).map_err(std::mem::forget);
    caught.is_ok()
}
