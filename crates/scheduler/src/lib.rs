//! An executor.
