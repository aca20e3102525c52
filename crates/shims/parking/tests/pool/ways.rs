//! The ways to wait that end up in a parker: each call gives a wait and what ends it.

use std::time::Instant;

use event_listener::{Event, EventListener, Listener};
use parking::Parker;

use crate::LIMIT;

pub(crate) type Act = Box<dyn FnOnce() + Send>;
pub(crate) type Way = fn() -> (Act, Act);

pub(crate) const WAYS: [(&str, Way); 7] = [
    ("park", || parker(|parker| parker.park())),
    ("park_timeout", || {
        parker(|parker| assert!(parker.park_timeout(LIMIT)))
    }),
    ("park_deadline", || {
        parker(|parker| assert!(parker.park_deadline(Instant::now() + LIMIT)))
    }),
    ("event-listener, wait", || event(|listener| listener.wait())),
    ("event-listener, wait_timeout", || {
        event(|listener| listener.wait_timeout(LIMIT).expect("an event"))
    }),
    ("futures-lite, block_on", || {
        event(futures_lite::future::block_on)
    }),
    ("async-channel, recv_blocking", channel),
];

fn parker(wait: fn(Parker)) -> (Act, Act) {
    let (parker, unparker) = parking::pair();
    let release = move || assert!(unparker.unpark());
    (Box::new(move || wait(parker)), Box::new(release))
}

fn event(wait: fn(EventListener)) -> (Act, Act) {
    let event = Event::new();
    let listener = event.listen();
    let release = move || assert_eq!(event.notify(1), 1);
    (Box::new(move || wait(listener)), Box::new(release))
}

fn channel() -> (Act, Act) {
    let (sender, receiver) = async_channel::bounded(1);
    let wait = move || receiver.recv_blocking().expect("it was sent");
    let release = move || sender.try_send(()).expect("there is room");
    (Box::new(wait), Box::new(release))
}
