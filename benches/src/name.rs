//! Names that people type: looking one up in a closed list, and saying what else there is when it is not in it.

use std::fmt;

/// A name that is not in the list it was looked up in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    wanted: String,
    problem: Problem,
    choices: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Unknown,
    /// A name that the project reserves, for something that this build cannot do.
    NotInThisBuild,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, wanted, .. } = self;
        match self.problem {
            Problem::Unknown => write!(f, "unknown {what} `{wanted}`")?,
            Problem::NotInThisBuild => {
                write!(f, "{what} `{wanted}` is not implemented by this build")?
            }
        }
        write!(f, "; choose from `{}`", self.choices.join("`, `"))
    }
}

impl std::error::Error for UnknownName {}

/// Looks `wanted` up in `all`, by what `name` says of each. `reserved` names are told apart from unknown ones.
pub(crate) fn find<T: Copy>(
    what: &'static str,
    wanted: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    reserved: &[&str],
) -> Result<T, UnknownName> {
    let found = all.iter().copied().find(|item| name(*item) == wanted);
    found.ok_or_else(|| UnknownName {
        what,
        wanted: wanted.to_owned(),
        problem: if reserved.contains(&wanted) {
            Problem::NotInThisBuild
        } else {
            Problem::Unknown
        },
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
