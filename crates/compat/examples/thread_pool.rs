//! A program for futures' `ThreadPool`, moved to this executor by its import alone.
//!
//! Run with: cargo run -p runnext-compat --example thread_pool

use std::sync::Arc;

use futures::channel::{mpsc, oneshot};
use futures::executor::block_on;
use futures::future::try_join_all;
use futures::lock::Mutex;
use futures::{SinkExt, StreamExt};
use runnext_compat::executor::ThreadPool; // was: use futures::executor::ThreadPool;

type Lines = mpsc::Receiver<String>;

const PARSERS: usize = 4;
const LINES: u64 = 1000;

pub(crate) fn main() -> Result<(), std::io::Error> {
    let pool = ThreadPool::builder()
        .pool_size(2)
        .name_prefix("parser-")
        .after_start(|index| println!("thread {index} starts"))
        .create()?;

    // Bounded, so that producer and parsers take turns: each line is a hop or two.
    let (lines_in, lines) = mpsc::channel(8);
    let lines = Arc::new(Mutex::new(lines));
    pool.spawn_ok(produce(lines_in));

    let parsers: Vec<_> = (0..PARSERS).map(|_| parser(&pool, lines.clone())).collect();

    // The tasks hold the pool, so the last handle may go before they are done.
    drop(pool);
    let sums = block_on(try_join_all(parsers)).expect("each parser reports");
    let total: u64 = sums.iter().sum();
    assert_eq!(total, LINES * (LINES + 1) / 2);
    println!("{PARSERS} parsers added 1 to {LINES} up to {total}");
    Ok(())
}

async fn produce(mut lines: mpsc::Sender<String>) {
    for number in 1..=LINES {
        let line = number.to_string();
        lines.send(line).await.expect("the parsers still read");
    }
}

fn parser(pool: &ThreadPool, lines: Arc<Mutex<Lines>>) -> oneshot::Receiver<u64> {
    let (result, total) = oneshot::channel();
    pool.spawn_ok(async move {
        let mut sum = 0;
        while let Some(line) = { lines.lock().await.next().await } {
            sum += line.parse::<u64>().expect("the producer sends numbers");
        }
        result.send(sum).expect("main waits for each parser");
    });
    total
}
