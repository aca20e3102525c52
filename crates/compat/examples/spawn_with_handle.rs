//! A function that is generic over `Spawn`, given a pool of ours: results through `spawn_with_handle`.
//!
//! Run with: cargo run -p runnext-compat --example spawn_with_handle

use std::error::Error;
use std::sync::Arc;

use futures::future::{RemoteHandle, join_all};
use futures::task::{Spawn, SpawnError, SpawnExt};
use runnext::Pool;

/// Knows futures' trait and nothing of the executor.
fn count_primes(spawner: &impl Spawn, below: u32) -> Result<Vec<RemoteHandle<usize>>, SpawnError> {
    const PIECES: u32 = 8;
    let piece = below.div_ceil(PIECES);
    (0..PIECES)
        .map(|i| {
            let range = i * piece..((i + 1) * piece).min(below);
            spawner.spawn_with_handle(async move { range.filter(|&n| is_prime(n)).count() })
        })
        .collect()
}

fn is_prime(n: u32) -> bool {
    n > 1
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = Arc::new(Pool::new()?);

    // An `Arc<Pool>` is a spawner, and so are `Pool`, `&Pool` and `Box<dyn Spawn>`.
    let handles = count_primes(&pool, 10_000)?;
    let counts = pool.block_on(join_all(handles));
    let primes: usize = counts.iter().sum();
    assert_eq!(primes, 1229);
    println!(
        "{primes} primes below 10000, counted by {} tasks",
        counts.len()
    );

    // After a shutdown the trait says so instead of losing the task.
    pool.shutdown();
    let refused = pool
        .spawn_with_handle(async {})
        .expect_err("the pool is shut down");
    assert!(refused.is_shutdown());
    println!("spawning now fails: {refused}");
    Ok(())
}
