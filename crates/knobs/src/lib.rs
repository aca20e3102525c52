//! The environment variables that switch and tune the runnext executor.
//!
//! ```
//! use runnext_knobs::Knobs;
//!
//! let (knobs, warnings) = Knobs::from_vars([
//!     ("DOTNET_ThreadPool_StalledWorkUs", "80"),
//!     ("RUNNEXT_MIN_THREADS", "4"),
//! ]);
//! assert!(warnings.is_empty());
//! assert_eq!(knobs.stalled_work().as_micros(), 80);
//! assert_eq!(knobs.with_min_threads(2).min_threads(), 2); // the program wins over the environment
//! ```
//!
//! A knob has up to two **spellings**: .NET's (`DOTNET_ThreadPool_RunNext`), with .NET's meaning and .NET's
//! way of reading the text, and ours (`RUNNEXT_RUN_NEXT`), decimal and with its unit in the name. Ours wins over
//! .NET's, and the program ([`Knobs::with_run_next`]) wins over both. Every value remembers its [`Origin`].
//!
//! # Invariants
//!
//! - K1: no input panics, and a wrong one changes no value: the next weaker source or the default stays.
//! - K2: nothing wrong is silent: each [`Warning`] names its variable, and what is kept.
//! - K3: what [`Knobs`] prints sets the same values again.
//! - K4: variables that are neither ours nor close to ours are not touched, and not mentioned.
//!
//! # Not here
//!
//! Variables are read when [`Knobs::from_env`] is called, once for a pool; a later change has no effect.
//! There is no configuration file. .NET's second source, its application settings, has no counterpart.

#![forbid(unsafe_code)]

mod access;
mod catalogue;
mod knobs;
mod page;
mod parse;
mod read;
mod warning;

pub use catalogue::{Entry, Preset, Spelling, catalogue, find, nearest};
pub use knobs::{Invalid, Knobs, Origin, Setting, Watch};
pub use page::reference_page;
pub use parse::Rule;
pub use warning::Warning;
