//! Integration tests of the pool, in one binary: each under every switch setting and number of workers.

mod auto_traits;
mod bad_use;
mod blocking;
mod lifecycle;
mod panics;
mod properties;
mod replay;
mod spawning;
mod support;
mod switches;
mod watch;
