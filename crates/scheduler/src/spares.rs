//! The spares: workers' threads that have given way and sleep until they are wanted again.
//!
//! # Concepts
//!
//! | a spare's sleep ends | it is then | so it |
//! |---|---|---|
//! | by a recall | off the list | works |
//! | by the close | on the list | ends |
//! | because its time is up | on the list | ends, or sleeps on if it is to be kept alive |
//! | because its time is up, and a recall is on its way | off the list | waits for that moment, and works |
//!
//! The newest is recalled first, so that the others grow old and end (typelevel/cats-effect#4382). How
//! long a spare sleeps is for its thread to know; nothing here has a clock.
//!
//! # Invariants
//!
//! * **C1** A spare is on the list exactly while nobody has recalled it. Whoever takes it off decides: the recaller,
//!   who then wakes it, or the spare itself, which then ends.
//! * **C4** A recalled spare has had its wake before it works, so none is left over for its next sleep.
//! * **C5** After the close nobody is recalled, and nobody begins to sleep.

use crate::idle::Idle;
use crate::sync::{Mutex, lock};

#[cfg(test)]
mod tests;

/// What becomes of a spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It works again, and counts as live already.
    Works,
    /// It sleeps until recalled, or until its time is up.
    Sleeps,
    /// Its thread ends.
    Ends,
}

/// The sleeping spares of a pool, under a lock that its owner has.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    /// Places whose threads sleep, the newest last.
    asleep: Vec<usize>,
    closed: bool,
}

impl Spares {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        if self.closed { 0 } else { self.asleep.len() }
    }

    /// Worker `index` has given way and sleeps from now on, or ends. Its thread only.
    pub(crate) fn add(&mut self, index: usize) -> Fate {
        if self.closed {
            return Fate::Ends; // C5
        }
        self.asleep.push(index);
        Fate::Sleeps
    }

    /// Wakes the newest spare to work again; the caller has counted it. False if there is none. Any thread.
    pub(crate) fn recall_newest(&mut self, idle: &Idle) -> bool {
        if self.closed {
            return false; // C5
        }
        let newest = self.asleep.pop();
        if let Some(newest) = newest {
            idle.recall(newest);
        }
        newest.is_some()
    }

    /// Ends the sleep of every spare, and those spares with it: the pool closes. Any thread, any number of times.
    pub(crate) fn close(&mut self, idle: &Idle) {
        self.closed = true;
        for &spare in &self.asleep {
            idle.recall(spare);
        }
    }

    fn decide(&mut self, index: usize, sleeps_on: impl FnOnce(usize) -> bool) -> Fate {
        let Some(position) = self.asleep.iter().position(|&spare| spare == index) else {
            return Fate::Works; // C1
        };
        if !self.closed && sleeps_on(self.asleep.len()) {
            return Fate::Sleeps;
        }
        self.asleep.remove(position);
        Fate::Ends
    }
}

impl AsMut<Spares> for Spares {
    fn as_mut(&mut self) -> &mut Spares {
        self
    }
}

/// What becomes of the spare `index`, whose sleep has ended because it was `woken`, or else because its time is up;
/// then `is_kept` says whether it sleeps on, given how many spares there are. Its thread only.
pub(crate) fn after_sleep(
    list: &Mutex<impl AsMut<Spares>>,
    idle: &Idle,
    index: usize,
    woken: bool,
    is_kept: impl FnOnce(usize) -> bool,
) -> Fate {
    let fate = lock(list)
        .as_mut()
        .decide(index, |spares| woken || is_kept(spares));
    if fate == Fate::Works && !woken {
        idle.await_recall(index); // C4
    }
    fate
}
