use super::*;

const FORM: Option<i64> = None;

/// What each text says under a rule; `None`: nothing, for its form.
fn check(rule: Rule, table: &[(&str, Option<i64>)]) {
    for (text, value) in table {
        let read = rule.read(text).map(|reading| reading.value);
        assert_eq!(read, value.ok_or(Unreadable::Form), "{rule:?} {text:?}");
    }
}

#[test]
fn bool_takes_four_words_and_nothing_around_them() {
    check(
        Rule::Bool,
        &[
            ("1", Some(1)),
            ("0", Some(0)),
            ("true", Some(1)),
            ("True", Some(1)),
            ("TRUE", Some(1)),
            ("false", Some(0)),
            ("fAlSe", Some(0)),
            ("", FORM),
            (" 1", FORM),
            ("1 ", FORM),
            ("2", FORM),
            ("01", FORM),
            ("-1", FORM),
            ("+1", FORM),
            ("0x1", FORM),
            ("yes", FORM),
            ("on", FORM),
        ],
    );
}

#[test]
fn int_takes_its_base_from_a_leading_0() {
    let table = [
        ("0", Some(0)),
        ("00", Some(0)),
        ("50", Some(50)),
        ("+5", Some(5)),
        ("-1", Some(-1)),
        ("-010", Some(-10)),
        ("+010", Some(10)),
        ("010", Some(8)),
        ("0777", Some(511)),
        ("0x10", Some(16)),
        ("0xfF", Some(255)),
        ("08", FORM),
        ("0X1", FORM),
        ("0x", FORM),
        ("0x-1", FORM),
        ("0x+1", FORM),
        ("0-1", FORM),
        ("ff", FORM),
        ("", FORM),
        (" 1", FORM),
        ("1 ", FORM),
        ("+", FORM),
        ("+-5", FORM),
        ("1_000", FORM),
        ("1,000", FORM),
        ("1e3", FORM),
        ("true", FORM),
        ("fifty", FORM),
        ("\u{0665}", FORM),
    ];
    check(Rule::Int16, &table);
    check(Rule::Int32, &table);
}

#[test]
fn int_wraps_full_width_texts_and_refuses_wider_ones() {
    let value = |rule: Rule, text| rule.read(text).map(|reading| reading.value);
    assert_eq!(value(Rule::Int16, "0x7fff"), Ok(32_767));
    assert_eq!(value(Rule::Int16, "0xffff"), Ok(-1));
    assert_eq!(value(Rule::Int16, "0177777"), Ok(-1));
    assert_eq!(value(Rule::Int16, "0x10000"), Err(Unreadable::TooLarge));
    assert_eq!(value(Rule::Int32, "0xffff"), Ok(65_535));
    assert_eq!(value(Rule::Int32, "0xffffffff"), Ok(-1));
    assert_eq!(value(Rule::Int32, "037777777777"), Ok(-1));
    assert_eq!(value(Rule::Int32, "0x80000000"), Ok(i64::from(i32::MIN)));
    assert_eq!(value(Rule::Int32, "0x100000000"), Err(Unreadable::TooLarge));
    assert_eq!(
        value(Rule::Int32, "99999999999999999999"),
        Err(Unreadable::TooLarge)
    );
    assert_eq!(
        value(Rule::Int32, "-99999999999999999999"),
        Err(Unreadable::TooLarge)
    );
}

#[test]
fn hex_is_always_hexadecimal() {
    check(
        Rule::Hex,
        &[
            ("10", Some(16)),
            ("010", Some(16)),
            ("0x10", Some(16)),
            ("400", Some(1024)),
            ("fF", Some(255)),
            ("0", Some(0)),
            (" 1", Some(1)),
            ("1\t", Some(1)),
            ("\u{b}1\r\n", Some(1)),
            ("0x 1", Some(1)),
            (" 0x1", FORM),
            ("0X1", FORM),
            ("0x", FORM),
            ("0x0x1", FORM),
            ("", FORM),
            (" ", FORM),
            ("\u{a0}1", FORM),
            ("1 0", FORM),
            ("+5", FORM),
            ("-1", FORM),
            ("true", FORM),
            ("fifty", FORM),
        ],
    );
    assert_eq!(
        Rule::Hex.read("ffffffffffffffffff"),
        Err(Unreadable::TooLarge)
    );
    assert_eq!(
        Rule::Hex.read("ffffffffffffffff"),
        Err(Unreadable::TooLarge)
    );
}

#[test]
fn hex_bool_is_a_number_but_for_0() {
    check(
        Rule::HexBool,
        &[
            ("0", Some(0)),
            ("0x0", Some(0)),
            ("1", Some(1)),
            ("10", Some(1)),
            ("f", Some(1)),
            ("true", FORM),
            ("false", FORM),
            ("-1", FORM),
        ],
    );
}

#[test]
fn decimal_is_decimal() {
    check(
        Rule::Decimal,
        &[
            ("10", Some(10)),
            ("010", Some(10)),
            ("08", Some(8)),
            ("+5", Some(5)),
            ("-1", Some(-1)),
            ("0x10", FORM),
            ("ff", FORM),
            (" 1", FORM),
            ("", FORM),
            ("1.5", FORM),
            ("true", FORM),
        ],
    );
    assert_eq!(
        Rule::Decimal.read("99999999999999999999"),
        Err(Unreadable::TooLarge)
    );
}

#[test]
fn choice_is_one_of_its_words() {
    let rule = Rule::Choice(&["gate", "spinner"]);
    check(
        rule,
        &[
            ("gate", Some(0)),
            ("Spinner", Some(1)),
            ("", FORM),
            ("1", FORM),
            ("gates", FORM),
        ],
    );
}

#[test]
fn a_text_that_reads_otherwise_than_it_looks_is_marked() {
    let decimal = |rule: Rule, text| rule.read(text).map(|reading| reading.decimal);
    for (rule, text, expected) in [
        (Rule::Hex, "10", Some(10)),
        (Rule::Hex, " 10 ", Some(10)),
        (Rule::Hex, "9", None),
        (Rule::Hex, "0x10", None),
        (Rule::Hex, "a", None),
        (Rule::Int32, "010", Some(10)),
        (Rule::Int32, "07", None),
        (Rule::Int32, "0x10", None),
        (Rule::Int32, "10", None),
        (Rule::Int16, "010", Some(10)),
        (Rule::HexBool, "10", None),
        (Rule::Decimal, "010", None),
        (Rule::Bool, "1", None),
    ] {
        assert_eq!(decimal(rule, text), Ok(expected), "{rule:?} {text:?}");
    }
}
