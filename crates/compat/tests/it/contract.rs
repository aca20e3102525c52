//! What programs may expect of `futures::executor::ThreadPool`, signatures apart.
//!
//! Each test is instantiated twice, over the original and over ours: a promise that the original does not keep is not
//! a promise.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{TryRecvError, channel, sync_channel};
use std::sync::{Arc, Barrier};
use std::thread;

use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::future::{self, Either, FutureExt};
use futures::lock::Mutex;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::{FutureObj, Spawn, SpawnExt};

use crate::support::{LIMIT, assert_ends, drain, within_limit, yield_once};

macro_rules! contract {
    ($name:ident, $executor:path) => {
        mod $name {
            use $executor::{ThreadPool, ThreadPoolBuilder};

            use super::*;

            include!("contract/handles.rs");
            include!("contract/hooks.rs");
            include!("contract/workloads.rs");
        }
    };
}

contract!(original, futures::executor);
contract!(ours, runnext_compat::executor);
