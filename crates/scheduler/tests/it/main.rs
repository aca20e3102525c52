//! Integration tests of the pool, in one binary: each under every switch setting and number of workers.

mod lifecycle;
mod spawning;
mod support;
mod switches;
