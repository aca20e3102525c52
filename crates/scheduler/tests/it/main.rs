//! Integration tests of the pool, in one binary.

mod smoke;
