//! The rules by which the text of a variable becomes a number.
//!
//! .NET has three, by the age of the setting, and a variable with .NET's name must mean here what it means there:
//! a deployment that sets it may serve both. Our own spelling is decimal.
//!
//! | rule | `10` | `010` | `0x10` | `0X10` | ` 1` | `+5` | `-1` | `true` |
//! |---|---|---|---|---|---|---|---|---|
//! | `Bool` | - | - | - | - | - | - | - | 1 |
//! | `Int16`, `Int32` | 10 | 8 | 16 | - | - | 5 | -1 | - |
//! | `Hex` | 16 | 16 | 16 | - | 1 | - | - | - |
//! | `HexBool` | 1 | 1 | 1 | - | 1 | - | - | - |
//! | `Decimal` | 10 | 10 | - | - | - | 5 | -1 | - |
//!
//! Ranges are not looked at here, but for what does not fit the rule's own width.

#[cfg(test)]
mod tests;

use std::fmt;
use std::num::IntErrorKind;

/// How the text of a variable is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// `1`, `0`, `true` or `false`, in any case.
    Bool,
    /// .NET's newer rule for 16 bits: decimal with optional sign, `0x` hexadecimal, or a leading `0` for octal.
    Int16,
    /// The same for 32 bits. Hexadecimal and octal texts that use the top bit are negative.
    Int32,
    /// .NET's older rule: always hexadecimal, `0x` optional, white space around it allowed.
    Hex,
    /// A switch under the older rule: any hexadecimal number but 0 is on; `true` is not understood.
    HexBool,
    /// Decimal with optional sign.
    Decimal,
    /// One of the words, in any case.
    Choice(&'static [&'static str]),
}

/// What a text says under a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: i64,
    /// The plain decimal meaning of the text, where the rule gives it another one.
    pub(crate) decimal: Option<i64>,
}

/// Why a text says nothing under a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It does not have the rule's form.
    Form,
    /// It has, but the number does not fit.
    TooLarge,
}

impl Rule {
    /// The base of a text of which [`Reading::decimal`] says that it is not decimal.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Rule::Hex => "hexadecimal",
            _ => "octal",
        }
    }

    /// What `text` says under this rule.
    pub(crate) fn read(self, text: &str) -> Result<Reading, Unreadable> {
        let value = match self {
            Rule::Bool => boolean(text)?,
            Rule::Int16 => int(text, 16)?,
            Rule::Int32 => int(text, 32)?,
            Rule::Hex => hex(text)?,
            Rule::HexBool => i64::from(hex(text)? != 0),
            Rule::Decimal => decimal(text)?,
            Rule::Choice(words) => choice(text, words)?,
        };
        let surprising = matches!(self, Rule::Int16 | Rule::Int32 | Rule::Hex);
        let plain = decimal(text.trim_ascii())
            .ok()
            .filter(|plain| surprising && *plain != value);
        Ok(Reading {
            value,
            decimal: plain,
        })
    }
}

/// The form that a text must have: `a decimal integer`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Bool => f.write_str("1, 0, true or false"),
            Rule::Int16 | Rule::Int32 => {
                f.write_str("an integer (decimal, `0x` hexadecimal, or octal after a leading 0)")
            }
            Rule::Hex => f.write_str("a hexadecimal integer, `0x` optional"),
            Rule::HexBool => f.write_str("a hexadecimal integer, 0 for off"),
            Rule::Decimal => f.write_str("a decimal integer"),
            Rule::Choice(words) => f.write_str(&words.join(" or ")),
        }
    }
}

fn boolean(text: &str) -> Result<i64, Unreadable> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match () {
        () if is("1") || is("true") => Ok(1),
        () if is("0") || is("false") => Ok(0),
        () => Err(Unreadable::Form),
    }
}

/// A leading 0 decides: `0x` (lower case only) is hexadecimal, every other one octal, 0 itself included.
fn int(text: &str, bits: u32) -> Result<i64, Unreadable> {
    if let Some(digits) = text.strip_prefix("0x") {
        signed(unsigned(digits, 16)?, bits)
    } else if text.starts_with('0') {
        signed(unsigned(text, 8)?, bits)
    } else {
        decimal(text)
    }
}

/// White space is what .NET takes for it. The prefix is taken off first, so `0x 1` is read and ` 0x1` is not.
fn hex(text: &str) -> Result<i64, Unreadable> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let digits = digits.trim_matches(|c| matches!(c, ' ' | '\t'..='\r'));
    i64::try_from(unsigned(digits, 16)?).map_err(|_| Unreadable::TooLarge)
}

fn choice(text: &str, words: &[&str]) -> Result<i64, Unreadable> {
    let index = words
        .iter()
        .position(|word| text.eq_ignore_ascii_case(word));
    index
        .and_then(|index| i64::try_from(index).ok())
        .ok_or(Unreadable::Form)
}

fn decimal(text: &str) -> Result<i64, Unreadable> {
    text.parse()
        .map_err(|error: std::num::ParseIntError| unreadable(error.kind()))
}

/// Digits only: `from_str_radix` alone would let a sign pass.
fn unsigned(digits: &str, radix: u32) -> Result<u64, Unreadable> {
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(Unreadable::Form);
    }
    u64::from_str_radix(digits, radix).map_err(|error| unreadable(error.kind()))
}

/// The two's complement meaning of the low `bits` bits.
fn signed(raw: u64, bits: u32) -> Result<i64, Unreadable> {
    if raw >> bits != 0 {
        return Err(Unreadable::TooLarge);
    }
    let unused = u64::BITS - bits;
    Ok((raw << unused).cast_signed() >> unused)
}

fn unreadable(kind: &IntErrorKind) -> Unreadable {
    match kind {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Unreadable::TooLarge,
        _ => Unreadable::Form,
    }
}
