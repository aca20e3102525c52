// What the builder promises: hooks, names, stacks, sizes. Included twice by `contract.rs`.

#[test]
fn after_start_is_let_go_while_the_pool_lives() {
    let (tx, rx) = sync_channel(2);
    let _pool = ThreadPoolBuilder::new()
        .pool_size(2)
        .after_start(move |index| tx.send(index).unwrap())
        .create()
        .unwrap();
    let mut indices = drain(&rx);
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

#[test]
fn the_builder_keeps_its_hooks_and_can_start_more_pools() {
    let (tx, rx) = channel();
    let mut builder = ThreadPoolBuilder::new();
    builder
        .pool_size(2)
        .after_start(move |index| tx.send(index).unwrap());
    for _ in 0..2 {
        let _pool = builder.create().unwrap();
        let mut indices = [0; 2].map(|_: usize| rx.recv_timeout(LIMIT).unwrap());
        indices.sort_unstable();
        assert_eq!(indices, [0, 1]);
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    drop(builder);
    assert_ends(&rx);
}

#[test]
fn before_stop_is_let_go_when_the_threads_have_ended() {
    let (tx, rx) = channel();
    let pool = ThreadPool::builder()
        .pool_size(4)
        .before_stop(move |index| tx.send(index).unwrap())
        .create()
        .unwrap();
    block_on(pool.spawn_with_handle(async {}).unwrap());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    drop(pool);
    let mut indices = drain(&rx);
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3]);
}

#[test]
fn hooks_and_tasks_run_on_the_named_threads() {
    let (tx, rx) = channel();
    let name = || thread::current().name().map(str::to_owned);
    let started = tx.clone();
    let stopped = tx.clone();
    let pool = ThreadPool::builder()
        .pool_size(1)
        .name_prefix("named-")
        .after_start(move |index| started.send(("start", index, name())).unwrap())
        .before_stop(move |index| stopped.send(("stop", index, name())).unwrap())
        .create()
        .unwrap();
    pool.spawn_ok(async move { tx.send(("task", 0, name())).unwrap() });
    drop(pool);
    let expected = ["start", "task", "stop"].map(|when| (when, 0, Some("named-0".to_owned())));
    assert_eq!(drain(&rx), expected);
}

#[test]
fn no_task_runs_before_after_start_has_returned() {
    let (release, held) = channel::<()>();
    let held = std::sync::Mutex::new(held);
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let pool = ThreadPool::builder()
        .pool_size(1)
        .after_start(move |_| {
            held.lock().unwrap().recv_timeout(LIMIT).unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        })
        .create()
        .unwrap();
    let seen = pool
        .spawn_with_handle(async move { started.load(Ordering::Relaxed) })
        .unwrap();
    release.send(()).unwrap();
    assert_eq!(block_on(seen), 1);
}

#[test]
fn so_many_threads_really_run_at_once() {
    const SIZE: usize = 5;
    let pool = ThreadPool::builder().pool_size(SIZE).create().unwrap();
    let barrier = Arc::new(Barrier::new(SIZE));
    within_limit("a barrier over all workers", move || {
        let handles: Vec<_> = (0..SIZE)
            .map(|_| {
                let barrier = barrier.clone();
                pool.spawn_with_handle(async move { barrier.wait().is_leader() })
                    .unwrap()
            })
            .collect();
        let leaders = block_on(future::join_all(handles))
            .into_iter()
            .filter(|leader| *leader);
        assert_eq!(leaders.count(), 1);
    });
}

#[test]
fn stack_size_is_honoured() {
    const FRAME: usize = 6 << 20;
    // Larger than the standard library's 2 MiB: without the setting this overflows and aborts.
    fn deep() -> usize {
        let frame = [1u8; FRAME];
        std::hint::black_box(&frame)
            .iter()
            .map(|&byte| usize::from(byte))
            .sum()
    }
    let pool = ThreadPool::builder()
        .pool_size(1)
        .stack_size(4 * FRAME)
        .create()
        .unwrap();
    assert_eq!(
        block_on(pool.spawn_with_handle(async { deep() }).unwrap()),
        FRAME
    );
}

#[test]
fn stack_size_0_means_the_default() {
    let pool = ThreadPool::builder()
        .pool_size(1)
        .stack_size(0)
        .create()
        .unwrap();
    assert_eq!(block_on(pool.spawn_with_handle(async { 7 }).unwrap()), 7);
}

#[test]
fn a_stack_that_no_system_has_is_an_error() {
    let (tx, rx) = channel::<usize>();
    let mut builder = ThreadPool::builder();
    builder
        .stack_size(usize::MAX)
        .after_start(move |index| tx.send(index).unwrap());
    assert!(builder.create().is_err());
    drop(builder);
    assert_ends(&rx);
}

#[test]
#[should_panic(expected = "assertion failed: size > 0")]
fn pool_size_0_panics() {
    ThreadPoolBuilder::new().pool_size(0);
}
