//! `futures::task::Spawn` for [`Pool`], so that code generic over `Spawn` runs on it. Feature `futures`.
//!
//! The impl has to live in this crate: neither `Pool` nor `Spawn` belongs to `runnext-compat`, and a newtype there
//! would have to be unwrapped again for everything else a pool can do.
//!
//! `&Pool`, `Arc<Pool>`, `Box<Pool>` and their `dyn Spawn` forms need nothing from us: `futures-task` forwards them.
//!
//! Non-goal: keeping the pool alive. A task spawned here is an ordinary detached task, cancelled when the pool shuts
//! down; the `ThreadPool` of `runnext-compat` is the face whose tasks hold their pool.

use futures_task::{FutureObj, Spawn, SpawnError};

use crate::Pool;

impl Spawn for Pool {
    /// Spawns a detached task.
    ///
    /// `FutureObj` is itself a boxed future; it is spawned as it is, not boxed again.
    ///
    /// # Errors
    ///
    /// [`SpawnError::shutdown`] once a shutdown has begun; the future is dropped unpolled. A shutdown that begins
    /// while this runs may still cancel the task after `Ok`.
    #[track_caller]
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.status()?;
        self.spawn(future).detach();
        Ok(())
    }

    /// Says whether a spawn would be accepted now: [`SpawnError::shutdown`] once a shutdown has begun.
    fn status(&self) -> Result<(), SpawnError> {
        if self.is_shutdown() {
            return Err(SpawnError::shutdown());
        }
        Ok(())
    }
}
