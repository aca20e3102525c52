//! Names that people type: looking one up in a closed list, and saying what else there is when it is not in it.

use std::fmt;

/// A name that is not in the list it was looked up in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    wanted: String,
    choices: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            wanted,
            choices,
        } = self;
        let choices = choices.join("`, `");
        write!(f, "unknown {what} `{wanted}`; choose from `{choices}`")
    }
}

impl std::error::Error for UnknownName {}

/// Looks `wanted` up in `all`, by what `name` says of each.
pub(crate) fn find<T: Copy>(
    what: &'static str,
    wanted: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    let found = all.iter().copied().find(|item| name(*item) == wanted);
    found.ok_or_else(|| UnknownName {
        what,
        wanted: wanted.to_owned(),
        choices: all.iter().map(|item| name(*item)).collect(),
    })
}

/// Gives a type that has `FromStr` and `Display` the serde form of its name.
macro_rules! serde_by_name {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_by_name;
