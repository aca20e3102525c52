//! Every function by its exact type, and which traits the types have and have not. It compiles or it does not.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;
use std::time::{Duration, Instant};

use parking::{Parker, Unparker};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Parker: Send, Unpin, UnwindSafe, Debug, Default);
assert_not_impl_any!(Parker: Sync, RefUnwindSafe, Clone, PartialEq);
assert_impl_all!(Unparker: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Clone);
assert_not_impl_any!(Unparker: Default, PartialEq);
assert_impl_all!(Waker: From<Unparker>);

const _: fn() -> (Parker, Unparker) = parking::pair;
const _: fn() -> Parker = Parker::new;
const _: fn(&Parker) = Parker::park;
const _: fn(&Parker, Duration) -> bool = Parker::park_timeout;
const _: fn(&Parker, Instant) -> bool = Parker::park_deadline;
const _: fn(&Parker) -> bool = Parker::unpark;
const _: fn(&Parker) -> Unparker = Parker::unparker;
const _: fn(&Unparker) -> bool = Unparker::unpark;
const _: fn(&Unparker, &Parker) -> bool = Unparker::will_unpark;
const _: fn(&Unparker, &Unparker) -> bool = Unparker::same_parker;

#[test]
fn debug_output() {
    let (parker, unparker) = parking::pair();
    assert_eq!(
        format!("{parker:?} {unparker:?}"),
        "Parker { .. } Unparker { .. }"
    );
    assert_eq!(
        format!("{parker:>15?}|{unparker:.8?}"),
        "  Parker { .. }|Unparker"
    );
}
