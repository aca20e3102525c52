//! Hooks that run once for each of the first threads, and are let go then.

use std::sync::{Mutex, PoisonError};

use super::builder::Hook;

/// `hook`, once for each index below `threads`, in any order; dropped with the last call, although whoever calls it
/// lives on. Other indices, and repeated ones, are those of threads that the original would not have.
pub(super) fn once_a_thread(hook: Hook, threads: usize) -> impl Fn(usize) + Send + Sync + 'static {
    let left = Mutex::new(Left {
        hook: Some(hook),
        called: vec![false; threads],
    });
    move |index| {
        // The lock is free again when the hook runs.
        let due = left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .due(index);
        if let Some(hook) = due {
            hook(index);
        }
    }
}

struct Left {
    hook: Option<Hook>,
    called: Vec<bool>,
}

impl Left {
    /// The hook, if it is to run for `index`.
    fn due(&mut self, index: usize) -> Option<Hook> {
        let called = self.called.get_mut(index)?;
        if std::mem::replace(called, true) {
            return None;
        }
        match self.called.iter().all(|called| *called) {
            true => self.hook.take(),
            false => self.hook.clone(),
        }
    }
}
