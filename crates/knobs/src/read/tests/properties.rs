//! What holds for any environment: the invariants K1 to K4 of the crate.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// An `OsString` of any bytes, as far as the platform can hold them.
fn os(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    return String::from_utf8_lossy(&bytes).into_owned().into();
}

fn bytes() -> impl Strategy<Value = OsString> {
    vec(any::<u8>(), 0..24).prop_map(os)
}

fn known() -> impl Strategy<Value = String> {
    let all: Vec<_> = variables().map(str::to_owned).collect();
    prop::sample::select(all)
}

/// A known name with one byte put in, taken out or replaced.
fn mutilated() -> impl Strategy<Value = OsString> {
    (
        known(),
        any::<prop::sample::Index>(),
        0..2_usize,
        vec(any::<u8>(), 0..2),
    )
        .prop_map(|(name, at, out, put)| {
            let mut name = name.into_bytes();
            let at = at.index(name.len());
            name.splice(at..at + out, put);
            os(name)
        })
}

fn name() -> impl Strategy<Value = OsString> {
    let prefixed = (
        "RUNNEXT_|DOTNET_ThreadPool_|DOTNET_HillClimbing_|dotnet_threadpool_",
        bytes(),
    );
    prop_oneof![
        4 => known().prop_map(OsString::from),
        2 => mutilated(),
        1 => prefixed.prop_map(|(mut prefix, rest)| {
            prefix.push_str(&rest.to_string_lossy());
            prefix.into()
        }),
        1 => bytes(),
    ]
}

fn value() -> impl Strategy<Value = OsString> {
    prop_oneof![
        2 => (-2..40_i64).prop_map(|number| number.to_string().into()),
        1 => any::<i128>().prop_map(|number| number.to_string().into()),
        1 => "(0x)?[0-9a-fA-F]{0,10}".prop_map(OsString::from),
        1 => "(?i)true|false|gate|spinner|yes".prop_map(OsString::from),
        1 => bytes(),
    ]
}

fn environment() -> impl Strategy<Value = Vec<(OsString, OsString)>> {
    vec((name(), value()), 0..12)
}

/// The variables of an export list.
fn exported(list: &str) -> Vec<(&str, &str)> {
    list.lines()
        .map(|line| {
            line.strip_prefix("export ")
                .and_then(|rest| rest.split_once('='))
                .unwrap()
        })
        .collect()
}

proptest! {
    #[test]
    fn k1_no_input_panics_and_every_value_is_legal(vars in environment()) {
        let (knobs, _) = Knobs::from_vars(vars);
        for setting in knobs.settings() {
            prop_assert!(setting.entry.range.contains(&setting.value), "{setting:?}");
        }
        prop_assert!(knobs.min_threads() <= knobs.max_threads());
        prop_assert!(knobs.run_next() || !knobs.defer_worker_requests());
        prop_assert_eq!(knobs.check(), Ok(()));
    }

    // Faults of meaning aside: they drop several variables at once, and are tested by example.
    #[test]
    fn k1_what_is_wrong_might_as_well_be_missing(vars in environment()) {
        let (knobs, warnings) = Knobs::from_vars(pairs(&vars));
        prop_assume!(warnings.iter().map(Warning::to_string).all(|w| !w.contains(" needs ") && !w.contains(" allows;")));
        let used = |name: &OsString| knobs.settings().any(|s| name == &*s.origin.to_string());
        let wrong = |name: &OsString| warnings.iter().any(|w| w.variable() == name.to_string_lossy());
        let right: Vec<_> = vars.iter().filter(|(name, _)| used(name) || !wrong(name)).cloned().collect();
        prop_assert_eq!(Knobs::from_vars(right).0, knobs);
    }

    #[test]
    fn k2_every_warning_names_a_given_variable_in_one_line(vars in environment()) {
        let (_, warnings) = Knobs::from_vars(pairs(&vars));
        for warning in warnings {
            let text = warning.to_string();
            prop_assert!(vars.iter().any(|(name, _)| name.to_string_lossy() == warning.variable()));
            prop_assert!(text.contains(&warning.variable().escape_debug().to_string()), "{}", text);
            prop_assert!(!text.chars().any(char::is_control), "{:?}", text);
        }
    }

    #[test]
    fn k2_a_value_is_in_force_or_overridden_or_told(name in known(), value in value()) {
        let (knobs, warnings) = Knobs::from_vars([(&name, &value)]);
        let set = knobs.settings().any(|setting| setting.origin.to_string() == name);
        let told = warnings.iter().any(|warning| warning.variable() == name);
        prop_assert!(set || told || value.is_empty());
    }

    #[test]
    fn k3_what_is_printed_sets_the_same_values(vars in environment(), min in 0..600_usize, max in 0..600_usize) {
        let (read, _) = Knobs::from_vars(vars);
        for knobs in [read.clone(), read.clone().with_min_threads(min), read.with_max_threads(max)] {
            let list = knobs.to_string();
            let (again, warnings) = Knobs::from_vars(exported(&list));
            prop_assert_eq!(warnings, []);
            prop_assert_eq!(again.to_string(), list);
        }
    }

    #[test]
    fn k4_names_far_from_ours_are_left_alone(name in "[A-Z_]{0,9}|DOTNET_(gc|GC|Tiered|JIT)[A-Za-z]{0,12}", value in value()) {
        let (knobs, warnings) = Knobs::from_vars([(name, value)]);
        prop_assert_eq!(warnings, []);
        prop_assert_eq!(knobs, Knobs::default());
    }
}

fn pairs(vars: &[(OsString, OsString)]) -> Vec<(&OsString, &OsString)> {
    vars.iter().map(|(name, value)| (name, value)).collect()
}
