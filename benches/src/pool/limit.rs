//! The least that a hop can cost on `async-task`: one thread, one [`Cell`] for the next task, a plain queue behind it.
//!
//! Nothing here may be stolen, woken from outside, or starved politely: a task that always has a successor keeps the
//! thread. It is a ruler, not an executor, and runs only scenarios in which every wake comes from its own tasks.
//!
//! What a wake costs after a rest is another question, for which there is [another ruler](pair): two threads.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;

use async_task::Runnable;

use super::{Pool, Spawner, Threads};

pub(crate) mod pair;

thread_local! {
    static NEXT: Cell<Option<Runnable>> = const { Cell::new(None) };
    static QUEUE: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

/// The loop, which needs nothing that its thread does not have.
pub(crate) struct Loop;

/// Spawns onto the loop of the calling thread.
#[derive(Clone)]
pub(crate) struct Here;

/// Makes the calling thread the worker.
pub(crate) fn start(threads: &Threads) -> Loop {
    threads.pin_worker(0);
    Loop
}

impl Pool for Loop {
    type Spawner = Here;

    fn spawner(&self) -> Here {
        Here
    }

    /// Runs the loop until `root` is done, or until no task is left that could wake another.
    fn drive<T: Send + 'static>(
        &self,
        root: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        Here.spawn(async move {
            let _ = sender.send(root.await);
        });
        while let Some(runnable) = NEXT
            .take()
            .or_else(|| QUEUE.with_borrow_mut(VecDeque::pop_front))
        {
            runnable.run();
        }
        receiver.try_recv().ok()
    }
}

impl Spawner for Here {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let (runnable, task) = async_task::spawn(future, schedule);
        task.detach();
        runnable.schedule();
    }
}

/// The first of a burst keeps the cell, as it does in our own pool.
fn schedule(runnable: Runnable) {
    NEXT.with(|next| match next.take() {
        None => next.set(Some(runnable)),
        Some(first) => {
            next.set(Some(first));
            QUEUE.with_borrow_mut(|queue| queue.push_back(runnable));
        }
    });
}
