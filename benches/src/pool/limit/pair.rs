//! What a wake costs after a rest without an executor: two plain threads, each with a task of its own.
//!
//! A thread sleeps in `thread::park` until it is given a task, and again whenever its task waits: that is what a std
//! channel and futures' `block_on` do, which also see to unparks that mean nothing. So a task is woken by unparking its
//! thread, and nothing else has to happen.
//!
//! A task that was given by an outside thread, and wakes the other one, is **a wake chained to a wake**. What that takes
//! is the machine's share in the figure of each pool that wakes its second worker because the task wakes something.
//!
//! It is no floor for a pool that wakes the second worker before it runs the task, as async-executor and futures do: the
//! call that unparks is then over when the clock starts. Nor for one that has a worker awake, looking for work.
//!
//! A ruler, like [the loop](super::Loop), and for no more than two tasks at a time: a third waits for one to end.
//!
//! Rejected: an outside thread that unparks both. What is left is a look at a flag, which tells nothing of the machine.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use futures::executor::block_on;
use futures::future::BoxFuture;

use crate::pool::{Pool, Spawner, Threads};

/// How many threads there are.
pub(crate) const THREADS: usize = 2;

/// A task; nothing at the end.
type Message = Option<BoxFuture<'static, ()>>;

/// The two threads.
pub(crate) struct Pair {
    spawner: InTurn,
    threads: Vec<JoinHandle<()>>,
}

/// Spawns each task onto the thread that did not get the one before.
#[derive(Clone)]
pub(crate) struct InTurn(Arc<Inboxes>);

struct Inboxes {
    senders: Vec<Sender<Message>>,
    spawned: AtomicUsize,
}

/// Starts both, pinned like the first two workers of others.
pub(crate) fn start(threads: &Threads) -> io::Result<Pair> {
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| mpsc::channel()).unzip();
    let spawned = AtomicUsize::new(0);
    let mut pair = Pair {
        spawner: InTurn(Arc::new(Inboxes { senders, spawned })),
        threads: Vec::new(),
    };
    for (index, inbox) in inboxes.into_iter().enumerate() {
        let threads = threads.clone();
        let worker = move || {
            threads.pin_worker(index);
            run(&inbox);
        };
        let named = thread::Builder::new().name(format!("limit-{index}"));
        pair.threads.push(named.spawn(worker)?);
    }
    Ok(pair)
}

fn run(inbox: &Receiver<Message>) {
    while let Ok(Some(task)) = inbox.recv() {
        block_on(task);
    }
}

impl Pool for Pair {
    type Spawner = InTurn;

    fn spawner(&self) -> InTurn {
        self.spawner.clone()
    }

    /// Runs `root` on the calling thread, since both others are for tasks.
    fn drive<T: Send + 'static>(
        &self,
        root: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        Some(block_on(root))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for sender in &self.spawner.0.senders {
            // A thread that is gone needs no end.
            let _ = sender.send(None);
        }
        for thread in self.threads.drain(..) {
            // A panic was printed when it happened; a second one here would abort.
            let _ = thread.join();
        }
    }
}

impl Spawner for InTurn {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let Inboxes { senders, spawned } = &*self.0;
        // Ordering: Relaxed; a number for each task, and the channel does the rest.
        let turn = spawned.fetch_add(1, Ordering::Relaxed) % senders.len();
        // Who waits for the task notices that it was dropped.
        let _ = senders[turn].send(Some(Box::pin(future)));
    }
}
