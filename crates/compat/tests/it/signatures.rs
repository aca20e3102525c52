//! The face and the original are interchangeable to the compiler: signatures, auto traits, `Debug`.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

use static_assertions::{assert_impl_all, assert_not_impl_any};

/// States the whole public surface of `executor`, item by item. A function's type here is its exact signature, because
/// each is coerced to a pointer of that type.
macro_rules! surface {
    ($name:ident, $executor:path) => {
        mod $name {
            use std::future::Ready;
            use std::io;

            use futures::task::{FutureObj, Spawn};
            use $executor::{ThreadPool, ThreadPoolBuilder};

            use super::*;

            assert_impl_all!(
                ThreadPool: Clone, Debug, Spawn, Send, Sync, Unpin, UnwindSafe, RefUnwindSafe
            );
            assert_not_impl_any!(ThreadPool: Copy, Default);
            assert_impl_all!(ThreadPoolBuilder: Debug, Default, Send, Sync, Unpin);
            assert_not_impl_any!(ThreadPoolBuilder: Clone, UnwindSafe, RefUnwindSafe);

            const _: fn() -> Result<ThreadPool, io::Error> = ThreadPool::new;
            const _: fn() -> ThreadPoolBuilder = ThreadPool::builder;
            const _: fn(&ThreadPool, FutureObj<'static, ()>) = ThreadPool::spawn_obj_ok;
            const _: fn(&ThreadPool, Ready<()>) = ThreadPool::spawn_ok::<Ready<()>>;

            type Setter<T> = for<'a> fn(&'a mut ThreadPoolBuilder, T) -> &'a mut ThreadPoolBuilder;
            const _: fn() -> ThreadPoolBuilder = ThreadPoolBuilder::new;
            const _: Setter<usize> = ThreadPoolBuilder::pool_size;
            const _: Setter<usize> = ThreadPoolBuilder::stack_size;
            const _: Setter<&str> = ThreadPoolBuilder::name_prefix::<&str>;
            const _: Setter<String> = ThreadPoolBuilder::name_prefix::<String>;
            const _: Setter<fn(usize)> = ThreadPoolBuilder::after_start::<fn(usize)>;
            const _: Setter<fn(usize)> = ThreadPoolBuilder::before_stop::<fn(usize)>;
            const _: for<'a> fn(&'a mut ThreadPoolBuilder) -> Result<ThreadPool, io::Error> =
                ThreadPoolBuilder::create;

            pub(super) fn shown() -> [String; 3] {
                let mut builder = ThreadPool::builder();
                let pool = builder.pool_size(3).name_prefix("x-").create().unwrap();
                [format!("{builder:?}"), format!("{pool:?}"), format!("{pool:#?}")]
            }
        }
    };
}

surface!(original, futures::executor);
surface!(ours, runnext_compat::executor);

#[test]
fn debug_output_is_the_originals() {
    assert_eq!(ours::shown(), original::shown());
}
