use runnext::{Builder, Knobs};

#[test]
fn spawn_and_await() {
    for run_next in [false, true] {
        let pool = Builder::new()
            .threads(2)
            .knobs(Knobs::default().with_run_next(run_next))
            .build()
            .unwrap();
        let task = pool.spawn({
            let pool = pool.clone();
            async move {
                let mut sum = 0;
                for i in 0..1000 {
                    sum += pool.spawn(async move { i }).await;
                    runnext::yield_now().await;
                }
                sum
            }
        });
        assert_eq!(pool.block_on(task), 499_500);
        println!("{}", pool.stats());
        pool.shutdown();
        assert_eq!(pool.stats().live_tasks_count, 0);
    }
}
