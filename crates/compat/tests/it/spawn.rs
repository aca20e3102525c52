//! `Spawn` on a `Pool` and on what points to one. The impl is in `runnext`, its users are here.

use std::sync::Arc;
use std::sync::mpsc::channel;

use futures::channel::oneshot;
use futures::future;
use futures::task::{FutureObj, Spawn, SpawnExt};
use runnext::Pool;

use crate::support::{LIMIT, assert_ends, within_limit};

/// Code that knows nothing but the trait.
fn answer_of(spawner: impl Spawn) -> u32 {
    assert!(spawner.status().is_ok());
    let (tx, rx) = channel();
    spawner
        .spawn_obj(FutureObj::new(Box::new(
            async move { tx.send(42).unwrap() },
        )))
        .unwrap();
    rx.recv_timeout(LIMIT).unwrap()
}

#[test]
fn a_pool_and_its_pointers_spawn() {
    let pool = Pool::new().unwrap();
    assert_eq!(answer_of(pool.clone()), 42);
    assert_eq!(answer_of(&pool), 42);
    assert_eq!(answer_of(Arc::new(pool.clone())), 42);
    assert_eq!(answer_of(&pool as &dyn Spawn), 42);
    assert_eq!(
        answer_of(Box::new(pool.clone()) as Box<dyn Spawn + Send>),
        42
    );
    assert_eq!(
        answer_of(Arc::new(pool) as Arc<dyn Spawn + Send + Sync>),
        42
    );
}

/// `Pool` has a `spawn` of its own, which goes before the trait's; behind an `Arc` the trait's is found first.
#[test]
fn spawn_ext_does_not_hide_the_pools_own_spawn() {
    let pool = Pool::new().unwrap();
    let task: runnext::Task<u32> = pool.spawn(async { 1 });
    let handle = pool.spawn_with_handle(async { 2 }).unwrap();
    let (tx, rx) = oneshot::channel();
    Arc::new(pool.clone())
        .spawn(async { tx.send(3).unwrap() })
        .unwrap();
    let all = within_limit("three tasks", move || {
        pool.block_on(future::join3(task, handle, rx))
    });
    assert_eq!(all, (1, 2, Ok(3)));
}

#[test]
fn dropping_a_remote_handle_cancels_its_task() {
    let pool = Pool::new().unwrap();
    let (in_task, dropped) = channel::<()>();
    let handle = pool.spawn_with_handle(async move {
        future::pending::<()>().await;
        drop(in_task);
    });
    drop(handle.unwrap());
    assert_ends(&dropped);
}

/// Unlike a `ThreadPool`'s, the tasks of a plain pool do not keep it.
#[test]
fn dropping_the_last_pool_cancels_spawned_tasks() {
    let pool = Pool::new().unwrap();
    let (in_task, dropped) = channel::<()>();
    let (started, start) = channel();
    SpawnExt::spawn(&pool, async move {
        started.send(()).unwrap();
        future::pending::<()>().await;
        drop(in_task);
    })
    .unwrap();
    start.recv_timeout(LIMIT).unwrap();
    drop(pool);
    assert_ends(&dropped);
}

#[test]
fn after_a_shutdown_the_trait_refuses() {
    let pool = Pool::new().unwrap();
    pool.shutdown();
    assert!(pool.status().unwrap_err().is_shutdown());
    let (in_task, dropped) = channel();
    let late = async move { in_task.send("polled").unwrap() };
    let refused = pool.spawn_obj(FutureObj::new(Box::new(late))).unwrap_err();
    assert!(refused.is_shutdown());
    assert_ends(&dropped);
    assert!(pool.spawn_with_handle(async {}).is_err());
}
