//! Unit and property tests of the head count; the models are in `loom`.

#[cfg(runnext_loom)]
mod loom;

#[cfg(not(runnext_loom))]
mod plain {
    use crate::headcount::Headcount;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_blocked_worker_is_made_up_for_and_the_surplus_gives_way() {
        let heads = Headcount::new(2, 3);
        assert!(!heads.try_add(), "nobody is blocked");
        heads.block();
        assert!(heads.try_add());
        assert!(!heads.try_add() && !heads.try_give_way());
        heads.unblock();
        assert!(heads.try_give_way());
        assert!(!heads.try_give_way());
        assert_eq!(heads.get().live(), 2);
    }

    #[test]
    fn the_maximum_is_never_exceeded() {
        let heads = Headcount::new(2, 3);
        (0..3).for_each(|_| heads.block());
        assert!(heads.try_add());
        assert!(!heads.try_add());
        assert!(heads.get().is_exhausted());
    }

    #[test]
    fn h2_a_pool_that_everybody_has_left_gets_nobody_any_more() {
        let heads = Headcount::new(1, 9);
        assert_eq!(heads.leave(), 0);
        heads.block();
        assert!(!heads.try_add());
    }

    #[test]
    fn a_lower_minimum_makes_a_surplus_and_a_higher_one_wants_more() {
        let heads = Headcount::new(4, 8);
        heads.set(2, 8);
        assert!(heads.try_give_way() && heads.try_give_way() && !heads.try_give_way());
        heads.set(5, 5);
        assert!(heads.try_add() && heads.try_add() && heads.try_add() && !heads.try_add());
    }

    proptest! {
        #[test]
        fn h1_no_step_leads_away_from_the_goal(
            (min, max) in (1..5_usize).prop_flat_map(|min| (Just(min), min..9_usize)),
            steps in vec(0..4, 0..100),
        ) {
            let heads = Headcount::new(min, max);
            for step in steps {
                let (before, blocked) = (heads.get(), heads.get().blocked());
                match step {
                    0 if blocked < before.live() => heads.block(),
                    1 if blocked > 0 => heads.unblock(),
                    2 => prop_assert_eq!(heads.try_add(), before.live() < before.goal()),
                    3 => prop_assert_eq!(heads.try_give_way(), before.live() > before.goal()),
                    _ => {}
                }
                let after = heads.get();
                prop_assert!((min..=max).contains(&after.live()), "{:?}", after);
            }
        }
    }
}
