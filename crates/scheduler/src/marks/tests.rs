//! Unit tests of the marks; the models are in `loom`.

#[cfg(runnext_loom)]
mod loom;

#[cfg(not(runnext_loom))]
mod plain {
    use crate::headcount::Headcount;
    use crate::marks::Marks;

    fn new() -> (Marks, Headcount) {
        (Marks::default(), Headcount::new(1, 4))
    }

    #[test]
    fn nested_sections_count_once_and_end_with_the_outermost() {
        let (marks, heads) = new();
        let outer = marks.begin_section(7, Some(&heads));
        let inner = marks.begin_section(7, Some(&heads));
        assert_eq!(heads.get().blocked(), 1);
        marks.end_section(inner, Some(&heads));
        assert!(marks.says(7));
        assert_eq!(heads.get().blocked(), 1);
        marks.end_section(outer, Some(&heads));
        assert!(!marks.says(7));
        assert_eq!(heads.get().blocked(), 0);
    }

    #[test]
    fn b3_the_next_poll_ends_what_a_leaked_section_says_and_the_count_goes_between_two_polls() {
        let (marks, heads) = new();
        marks.begin_section(7, Some(&heads));
        assert!(!marks.says(8));
        let outer = marks.begin_section(8, Some(&heads));
        assert_eq!(
            heads.get().blocked(),
            1,
            "one worker, and the first is still counted"
        );
        marks.end_poll(&heads, Some(&heads));
        assert_eq!(heads.get().blocked(), 0);
        marks.end_section(outer, Some(&heads)); // a guard that has outlived its poll
        assert_eq!(heads.get().blocked(), 0);
    }

    #[test]
    fn b2_a_section_takes_over_what_the_gate_has_counted() {
        let (marks, heads) = new();
        marks.find(7, &heads, true);
        let outer = marks.begin_section(7, Some(&heads));
        assert_eq!(heads.get().blocked(), 1);
        assert!(!marks.is_found());
        marks.end_section(outer, Some(&heads));
        assert_eq!(heads.get().blocked(), 0);
    }

    #[test]
    fn where_sections_do_not_count_the_gate_does() {
        let (marks, heads) = new();
        let outer = marks.begin_section(7, None);
        marks.find(7, &heads, false);
        assert_eq!(heads.get().blocked(), 1);
        marks.end_section(outer, None);
        marks.end_poll(&heads, None);
        assert_eq!(heads.get().blocked(), 0);
    }

    #[test]
    fn what_the_gate_has_found_is_stale_once_the_worker_has_gone_on() {
        let (marks, heads) = new();
        assert!(!marks.is_stale(7, true));
        marks.find(7, &heads, true);
        assert!(!marks.is_stale(7, true) && marks.is_blocked(7));
        assert!(marks.is_stale(8, true) && marks.is_stale(7, false));
    }

    #[test]
    fn who_has_polled_nothing_is_not_found_blocked() {
        let (marks, heads) = new();
        marks.find(0, &heads, true);
        assert!(!marks.is_found());
        assert_eq!(heads.get().blocked(), 0);
    }
}
