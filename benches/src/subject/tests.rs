use super::*;

#[test]
fn every_name_reads_back() {
    for subject in Subject::all() {
        assert_eq!(subject.name().parse(), Ok(subject));
    }
}

#[test]
fn an_unknown_peer_is_answered_with_all_of_them() {
    let error = "glommio".parse::<Peer>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown peer `glommio`; choose from `tokio`, `async-executor`, `futures`, `limit`"
    );
}

#[test]
fn an_unknown_variant_is_answered_with_all_of_them() {
    let error = "eager".parse::<Variant>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown variant `eager`; choose from `base`, `run-next`, `defer`, `lazy`"
    );
}

#[test]
fn a_peer_is_not_a_variant() {
    assert!("tokio".parse::<Variant>().is_err());
    assert!("base".parse::<Peer>().is_err());
}

#[test]
fn names_travel_in_json() {
    let json = serde_json::to_string(&Subject::Peer(Peer::AsyncExecutor)).unwrap();
    assert_eq!(json, r#""async-executor""#);
    assert_eq!(
        serde_json::from_str::<Subject>(&json).unwrap(),
        Subject::Peer(Peer::AsyncExecutor)
    );
}
