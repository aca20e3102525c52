//! Lists on the command line: `a,b,c`, or `none`.

use std::fmt;
use std::str::FromStr;

/// A list without duplicates, in the order in which it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T: FromStr<Err: fmt::Display> + PartialEq> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut list = Vec::new();
        if text == "none" {
            return Ok(Self(list));
        }
        for item in text.split(',') {
            let item = item
                .trim()
                .parse()
                .map_err(|error: T::Err| error.to_string())?;
            if !list.contains(&item) {
                list.push(item);
            }
        }
        Ok(Self(list))
    }
}

impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<_> = self.0.iter().map(T::to_string).collect();
        f.write_str(&items.join(","))
    }
}

/// How many threads a subject gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workers(pub(crate) usize);

impl Workers {
    /// Far more than the cores of any machine, and still few enough to start.
    const MAX: usize = 1024;
}

impl FromStr for Workers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(workers @ 1..=Self::MAX) => Ok(Self(workers)),
            _ => Err(format!(
                "`{text}` is not a number of workers; choose from 1 to {}, as in `1,2`",
                Self::MAX
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(text: &str) -> Result<Vec<usize>, String> {
        let list: List<Workers> = text.parse()?;
        Ok(list.0.into_iter().map(|workers| workers.0).collect())
    }

    #[test]
    fn a_list_keeps_its_order_and_drops_what_it_has() {
        assert_eq!(workers("4, 1,2,1"), Ok(vec![4, 1, 2]));
        assert_eq!(workers("none"), Ok(vec![]));
    }

    #[test]
    fn a_wrong_item_is_named_with_what_is_possible() {
        for wrong in ["0", "-1", "two", "", "1025", "1,,2"] {
            let error = workers(wrong).unwrap_err();
            assert!(error.contains("choose from 1 to 1024"), "{error}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        let list = List(vec![3, 5]);
        assert_eq!(list.to_string().parse(), Ok(list));
    }
}
