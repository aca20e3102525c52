//! A place outside every pool, for work that a subject must be given by a thread that is not its own.
//!
//! A thread inherits the cores of whoever starts it. Started by a pinned worker it would share that worker's core. So
//! one thread is started before any pool is, free to move, and it starts a thread for each job. The same holds for all
//! subjects; a job takes milliseconds at least, beside which starting a thread is nothing.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

static OUTSIDE: OnceLock<Sender<Job>> = OnceLock::new();

/// Starts the thread that starts the others, unless it runs. To be called before a pool has threads.
pub(crate) fn prepare() {
    OUTSIDE.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::spawn(move || {
            for job in jobs {
                thread::spawn(job);
            }
        });
        sender
    });
}

/// Runs `job` on a thread outside.
pub(super) fn run(job: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let sent = OUTSIDE.get().map(|outside| outside.send(Box::new(job)));
    match sent {
        Some(Ok(())) => Ok(()),
        _ => Err(io::Error::other("there is no thread outside the pool")),
    }
}
