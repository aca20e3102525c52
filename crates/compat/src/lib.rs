//! Faces of the [runnext] executor for code that was written against somebody else's.
//!
//! A face has the names, signatures and promises of the original, so that changing an import is all that existing code
//! needs. Where ours behaves differently, and it does so only on purpose, `docs/COMPARE.md` lists it.
//!
//! | you have | you write |
//! |---|---|
//! | `use futures::executor::ThreadPool;` | `use runnext_compat::executor::ThreadPool;` |
//! | a function that takes `impl Spawn` | pass a [`runnext::Pool`], `&Pool` or `Arc<Pool>`: `Spawn` is implemented on it |
//! | `hyper::rt::Executor`, needed for HTTP/2 | `runnext_compat::hyper::HyperExecutor`, feature `hyper` |
//! | `bencher.to_async(..)` of criterion | `runnext_compat::criterion::CriterionExecutor`, feature `criterion` |
//!
//! Only what is ours is exported: `LocalPool` and the rest of `futures::executor` stay where they are. `block_on` may
//! come from either; ours tells the pool when a task calls it.
//!
//! # Features
//!
//! None is on by default, and each only adds.
//!
//! **`hyper`** adds the module `hyper` with an executor for hyper 1. It compiles `hyper` itself, without any of its
//! features: a program that serves HTTP has that anyway. HTTP/1 does not need it, since there one future drives one
//! connection and can be spawned as it is.
//!
//! **`criterion`** adds the module `criterion`, through which a benchmark runs its async body on a pool. It compiles
//! criterion 0.8 without default features, some thirty crates: enable it as a dev-dependency, not in a library.
//!
//! [runnext]: runnext
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "criterion")]
#[cfg_attr(docsrs, doc(cfg(feature = "criterion")))]
pub mod criterion;
pub mod executor;
#[cfg(feature = "hyper")]
#[cfg_attr(docsrs, doc(cfg(feature = "hyper")))]
pub mod hyper;
