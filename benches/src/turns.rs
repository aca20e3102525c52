//! Taking turns with other processes: cells that rest most of the time run side by side, while one at a time does
//! anything.
//!
//! A **turn** is the lock of a file that all of them have opened, each for itself. A process takes it when it joins,
//! gives it away while it rests, and holds it otherwise to its end; the kernel gives it away for a process that dies.
//!
//! What is measured is then the rest of the pool, not that of the machine: other cells use its cores meanwhile. And a
//! rest may be longer than asked, by the turns of those who came first. Whoever needs either must measure cells one by
//! one.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

static TURN: OnceLock<File> = OnceLock::new();

/// How long the pool that had the turn before may take to come to rest.
const SETTLE: Duration = Duration::from_millis(1);

/// Waits for the first turn. From now on this process rests only without it.
///
/// # Errors
/// If the file cannot be locked, or if this process takes turns already.
pub fn join(file: File) -> io::Result<()> {
    file.lock()?;
    TURN.set(file)
        .map_err(|_| io::Error::other("this process takes turns already"))
}

/// Does nothing for `time`, and on until it is this process's turn again.
pub(crate) fn rest(time: Duration) {
    let Some(turn) = TURN.get() else {
        return thread::sleep(time);
    };
    turn.unlock().expect("a lock that we hold can be released");
    thread::sleep(time);
    turn.lock().expect("a file that could be locked still can");
    thread::sleep(SETTLE);
}
