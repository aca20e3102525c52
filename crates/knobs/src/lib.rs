//! The environment variables that switch and tune the executor.
