use std::collections::HashSet;

use super::*;
use crate::subject::Variant;

#[test]
fn every_name_reads_back_and_is_there_once() {
    let mut names = HashSet::new();
    for scenario in Scenario::ALL {
        assert_eq!(scenario.to_string().parse(), Ok(scenario));
        assert!(names.insert(scenario.name()));
    }
}

#[test]
fn an_unknown_name_is_answered_with_all_of_them() {
    let error = "nonsense".parse::<Scenario>().unwrap_err().to_string();
    for scenario in Scenario::ALL {
        assert!(error.contains(&format!("`{scenario}`")), "{error}");
    }
}

#[test]
fn sizes_are_the_values_of_the_parameter() {
    assert_eq!(Scenario::PingPong.sizes(), [Some(1), Some(4), Some(20)]);
    assert_eq!(Scenario::ReplyExit.sizes(), [None]);
}

#[test]
fn the_limit_is_two_threads_where_a_wake_is_measured_after_a_rest() {
    let limit = Subject::Peer(Peer::Limit);
    assert_eq!(Scenario::LatencySleep.fixed_threads(limit), Some(2));
    assert_eq!(Scenario::Requeue.fixed_threads(limit), Some(1));
    let tokio = Subject::Peer(Peer::Tokio);
    assert_eq!(Scenario::LatencySleep.fixed_threads(tokio), None);
}

#[test]
fn only_the_limit_lacks_something() {
    for scenario in Scenario::ALL {
        assert!(
            scenario
                .supported_by(Subject::Variant(Variant::Base))
                .is_ok()
        );
        assert_eq!(
            scenario.supported_by(Subject::Peer(Peer::Limit)).is_err(),
            scenario.entry().io || scenario == Scenario::SpawnOutside
        );
    }
}
