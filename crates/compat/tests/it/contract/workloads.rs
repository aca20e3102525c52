// Programs of the kind that `ThreadPool` is used for. Included twice by `contract.rs`.

/// Spawns on a pool whose only handle is dropped at once.
fn run(future: impl Future + Send + 'static) {
    ThreadPool::new().unwrap().spawn(future.map(drop)).unwrap();
}

#[test]
fn a_join_ends_with_its_later_half() {
    let (first, a) = oneshot::channel::<i32>();
    let (second, b) = oneshot::channel::<i32>();
    let (tx, rx) = channel();
    run(future::try_join(a, b).map(move |both| tx.send(both).unwrap()));
    first.send(1).unwrap();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    second.send(2).unwrap();
    assert_eq!(drain(&rx), [Ok((1, 2))]);
}

#[test]
fn a_join_ends_with_its_first_error() {
    let (first, a) = oneshot::channel::<i32>();
    let (second, b) = oneshot::channel::<i32>();
    let (tx, rx) = channel();
    run(future::try_join(a, b).map(move |both| tx.send(both).unwrap()));
    drop(first);
    assert_eq!(drain(&rx), [Err(oneshot::Canceled)]);
    drop(second);
}

#[test]
fn the_loser_of_a_select_moves_to_another_pool() {
    let (first, a) = oneshot::channel::<i32>();
    let (second, b) = oneshot::channel::<i32>();
    let (tx, rx) = channel();
    run(future::select(a, b).map(move |winner| drop(tx.send(winner))));
    first.send(1).unwrap();
    let Ok(Either::Left((Ok(1), loser))) = rx.recv_timeout(LIMIT) else {
        panic!("the first half was sent and the second was not");
    };
    let (tx, rx) = channel();
    run(loser.map(move |value| tx.send(value).unwrap()));
    second.send(2).unwrap();
    assert_eq!(drain(&rx), [Ok(2)]);
}

#[test]
fn pools_come_and_go_while_a_thread_wakes_their_tasks() {
    const POOLS: usize = 300;
    let (wake, wakes) = channel::<oneshot::Sender<usize>>();
    let waker = thread::spawn(move || {
        for (number, reply) in wakes.into_iter().enumerate() {
            reply.send(number).unwrap();
        }
    });
    let (tx, rx) = channel();
    for number in 0..POOLS {
        let (reply, a) = oneshot::channel();
        let (never, b) = oneshot::channel::<usize>();
        let tx = tx.clone();
        run(future::select(a, b).map(move |winner| match winner {
            Either::Left((value, _)) => tx.send(value).unwrap(),
            Either::Right(_) => unreachable!("nobody sends on it"),
        }));
        wake.send(reply).unwrap();
        assert_eq!(rx.recv_timeout(LIMIT), Ok(Ok(number)));
        drop(never);
    }
    drop(wake);
    waker.join().unwrap();
}

#[test]
fn a_contested_mutex_lets_every_task_through() {
    const TASKS: usize = 1000;
    let pool = ThreadPool::builder().pool_size(16).create().unwrap();
    let sum = Arc::new(Mutex::new(0));
    let (tx, rx) = mpsc::unbounded();
    for number in 0..TASKS {
        let (sum, tx) = (sum.clone(), tx.clone());
        pool.spawn_ok(async move {
            let mut sum = sum.lock().await;
            // Suspends while it holds the lock, so that others queue up behind it.
            yield_once().await;
            *sum += number;
            tx.unbounded_send(()).unwrap();
        });
    }
    drop(tx);
    within_limit("the tasks behind the mutex", move || {
        assert_eq!(block_on(rx.count()), TASKS);
        assert_eq!(*block_on(sum.lock()), TASKS * (TASKS - 1) / 2);
    });
}

#[test]
fn futures_unordered_drives_handles_inside_a_task() {
    const TASKS: u64 = 2000;
    let pool = ThreadPool::builder().pool_size(4).create().unwrap();
    let inner = pool.clone();
    let sum = pool.spawn_with_handle(async move {
        let squares: FuturesUnordered<_> = (0..TASKS)
            .map(|n| {
                inner.spawn_with_handle(async move {
                    yield_once().await;
                    n * n
                })
            })
            .map(Result::unwrap)
            .collect();
        squares.fold(0, async |sum, square| sum + square).await
    });
    let sum = within_limit("the tasks in the set", move || block_on(sum.unwrap()));
    let expected: u64 = (0..TASKS).map(|n| n * n).sum();
    assert_eq!(sum, expected);
}

#[test]
fn tasks_of_two_pools_pass_a_token_round() {
    const ROUNDS: usize = 2000;
    let pools = [
        ThreadPool::new().unwrap(),
        ThreadPool::builder().pool_size(1).create().unwrap(),
    ];
    let (mut there, mut from_here) = mpsc::channel::<usize>(0);
    let (mut back, mut from_there) = mpsc::channel::<usize>(0);
    pools[1].spawn_ok(async move {
        while let Some(token) = from_here.next().await {
            future::poll_fn(|cx| back.poll_ready(cx)).await.unwrap();
            back.start_send(token + 1).unwrap();
        }
    });
    let round_trip = pools[0].spawn_with_handle(async move {
        let mut token = 0;
        for _ in 0..ROUNDS {
            future::poll_fn(|cx| there.poll_ready(cx)).await.unwrap();
            there.start_send(token).unwrap();
            token = from_there.next().await.unwrap();
        }
        token
    });
    let token = within_limit("the token", move || block_on(round_trip.unwrap()));
    assert_eq!(token, ROUNDS);
}

#[test]
fn a_panic_reaches_the_handle_that_waits() {
    let pool = ThreadPool::new().unwrap();
    let handle = pool
        .spawn_with_handle(async { panic!("on purpose") })
        .unwrap();
    let joined = thread::spawn(move || block_on(handle)).join();
    let panic = joined.expect_err("the handle passes the panic on");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
}
