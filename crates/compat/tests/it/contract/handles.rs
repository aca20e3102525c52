// Handles and tasks keep the pool; the pool ends after the last of them. Included twice by `contract.rs`.

/// A pool of `size` threads, and a channel that tells of each thread that ends and closes after the last.
fn pool_and_stops(size: usize) -> (ThreadPool, std::sync::mpsc::Receiver<usize>) {
    let (stopped, stops) = channel();
    let pool = ThreadPool::builder()
        .pool_size(size)
        .before_stop(move |index| stopped.send(index).unwrap())
        .create()
        .unwrap();
    (pool, stops)
}

#[test]
fn every_way_to_spawn_runs_the_future() {
    let pool = ThreadPool::new().unwrap();
    let (tx, rx) = channel();
    let report = |way: &'static str| {
        let tx = tx.clone();
        async move { tx.send(way).unwrap() }
    };
    pool.spawn_ok(report("spawn_ok"));
    pool.spawn_obj_ok(FutureObj::new(Box::new(report("spawn_obj_ok"))));
    pool.spawn_obj(FutureObj::new(Box::new(report("spawn_obj"))))
        .unwrap();
    pool.spawn(report("spawn")).unwrap();
    let handle = pool.spawn_with_handle(report("spawn_with_handle")).unwrap();
    assert!(pool.status().is_ok());
    block_on(handle);
    drop(tx);
    let mut ways = drain(&rx);
    ways.sort_unstable();
    assert_eq!(
        ways,
        [
            "spawn",
            "spawn_obj",
            "spawn_obj_ok",
            "spawn_ok",
            "spawn_with_handle"
        ]
    );
}

#[test]
fn dropping_the_last_handle_cancels_nothing() {
    let (pool, stops) = pool_and_stops(2);
    let (go, wait) = oneshot::channel();
    let (tx, rx) = channel();
    pool.spawn_ok(async move {
        wait.await.unwrap();
        // The task holds the pool, so no thread can have stopped.
        tx.send(stops.try_recv()).unwrap();
        drop(stops);
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(rx.recv_timeout(LIMIT).unwrap(), Err(TryRecvError::Empty));
}

#[test]
fn the_threads_end_after_the_last_task() {
    let (pool, stops) = pool_and_stops(3);
    let (go, wait) = oneshot::channel::<()>();
    let clone = pool.clone();
    pool.spawn_ok(wait.map(drop));
    drop(pool);
    drop(clone);
    assert_eq!(stops.try_recv(), Err(TryRecvError::Empty));
    go.send(()).unwrap();
    let mut indices = drain(&stops);
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2]);
}

#[test]
fn the_last_handle_may_be_dropped_on_a_worker() {
    let (pool, stops) = pool_and_stops(2);
    let (go, wait) = oneshot::channel::<()>();
    let last = pool.clone();
    pool.spawn_ok(async move {
        wait.await.unwrap();
        drop(last);
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(drain(&stops).len(), 2);
}

#[test]
fn a_task_may_spawn_after_the_last_handle_is_gone() {
    let (pool, stops) = pool_and_stops(1);
    let (tx, rx) = channel();
    let inner = pool.clone();
    pool.spawn_ok(async move {
        let next = inner.clone();
        inner.spawn_ok(async move { next.spawn_ok(async move { tx.send(()).unwrap() }) });
    });
    drop(pool);
    assert_eq!(rx.recv_timeout(LIMIT), Ok(()));
    assert_eq!(drain(&stops), [0]);
}

#[test]
fn a_finished_future_is_dropped_at_once() {
    let pool = ThreadPool::builder().pool_size(1).create().unwrap();
    let (tx, rx) = channel::<()>();
    let (hand_out, waker) = channel();
    let mut first = true;
    pool.spawn_ok(future::poll_fn(move |cx| {
        let _in_the_future = &tx;
        hand_out.send(cx.waker().clone()).unwrap();
        if std::mem::take(&mut first) {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    }));
    let waker = waker.recv_timeout(LIMIT).unwrap();
    waker.wake_by_ref();
    // The future is gone although the pool lives and a waker is still held.
    assert_ends(&rx);
    waker.wake();
}
