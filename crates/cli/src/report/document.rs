//! The file that `runnext run --json` wrote, read back and checked.
//!
//! It is read by hand, not into the library's own rows: those take a row whose figures are wrong for one that was not
//! measured, and a picture must not hide that. Every fault names its place in the file. Figures that this build does
//! not know by name are kept and shown, so that a newer run's file still opens. A subject must be known: whether it is
//! a peer decides every comparison.

use std::collections::BTreeMap;
use std::fmt;

use runnext_bench::chunks::Chunks;
use runnext_bench::machine::Machine;
use runnext_bench::subject::Subject;
use serde_json::{Map, Value};

use crate::units::team;

/// Everything that a run found.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
}

/// One cell, all rounds together.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) scenario: String,
    pub(crate) params: BTreeMap<String, u64>,
    pub(crate) subject: Subject,
    pub(crate) workers: u64,
    pub(crate) figures: Option<Figures>,
    /// How the cost of an operation changed from the first one on.
    pub(crate) chunks: Option<Chunks>,
    /// Why a round failed.
    pub(crate) error: Option<String>,
    /// Why the subject cannot run the scenario.
    pub(crate) unsupported: Option<String>,
}

/// What was measured; times in nanoseconds.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) wall: Spread,
    pub(crate) cpu: Spread,
    pub(crate) rounds: u64,
    /// In rising order; empty where the scenario does not take them.
    pub(crate) quantiles: Vec<Quantile>,
    /// All other numbers, by their names in the file.
    pub(crate) others: BTreeMap<String, f64>,
    /// What the subject counted of its own doings.
    pub(crate) stats: BTreeMap<String, u64>,
}

/// A median, and between which figures all rounds lay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// Unknown where the file does not say it; a single round has none.
    pub(crate) range: Option<(f64, f64)>,
}

/// The time that a part of the operations did not exceed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantile {
    /// As in `p99`, or `max`.
    pub(crate) name: String,
    /// From 0 to 1, where `max` is 1.
    pub(crate) part: f64,
    pub(crate) nanoseconds: f64,
}

/// What is wrong with the file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    place: String,
    problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            return f.write_str(&self.problem);
        }
        write!(f, "`{}`: {}", self.place, self.problem)
    }
}

impl Document {
    /// Reads a whole file's text.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Fault> {
        let value = serde_json::from_slice(text).map_err(|error| Fault {
            place: String::new(),
            problem: format!("not JSON: {error}"),
        })?;
        Self::read(&value)
    }

    fn read(value: &Value) -> Result<Self, Fault> {
        let file = Place::root(value).fields()?;
        let machine = file.required("machine")?;
        let machine = serde_json::from_value(machine.value.clone())
            .map_err(|error| machine.fault(error.to_string()))?;
        let places = file.required("rows")?.items()?;
        let rows = places
            .iter()
            .map(Row::read)
            .collect::<Result<Vec<_>, _>>()?;
        for (index, row) in rows.iter().enumerate() {
            if let Some(first) = rows[..index].iter().position(|other| other.same_cell(row)) {
                return Err(places[index].fault(format!("the same cell as `rows[{first}]`")));
            }
        }
        Ok(Self { machine, rows })
    }
}

impl Row {
    fn read(place: &Place<'_>) -> Result<Self, Fault> {
        let fields = place.fields()?;
        let place = fields.required("subject")?;
        let subject: Subject = place
            .text()?
            .parse()
            .map_err(|error| place.fault(format!("{error}")))?;
        let place = fields.required("workers")?;
        let workers = place.count()?;
        if let Some(max) = subject.max_workers().filter(|max| workers > *max as u64) {
            return Err(place.fault(format!("`{subject}` has at most {max}, found {workers}")));
        }
        let optional_text = |name| fields.optional(name).map(|place| place.text()).transpose();
        Ok(Self {
            scenario: fields.required("scenario")?.text()?,
            params: fields.required("params")?.counts()?,
            subject,
            workers,
            // A row without figures has none of these; one that lacks only some is a fault.
            figures: match ["wall_ns", "cpu_ns", "rounds"]
                .iter()
                .any(|name| fields.optional(name).is_some())
            {
                true => Some(Figures::read(&fields)?),
                false => None,
            },
            chunks: read_chunks(&fields)?,
            error: optional_text("error")?,
            unsupported: optional_text("unsupported")?,
        })
    }

    /// How many workers it had, or threads.
    pub(crate) fn team(&self) -> String {
        team(self.scenario.parse().ok(), self.subject, self.workers)
    }

    /// The scenario, its parameters and the number of workers.
    pub(crate) fn work(&self) -> String {
        let params = self.params.iter();
        let params: String = params
            .map(|(name, value)| format!(", {name} {value}"))
            .collect();
        format!("{}{params}, {}", self.scenario, self.team())
    }

    fn same_cell(&self, other: &Self) -> bool {
        (&self.scenario, &self.params, self.subject, self.workers)
            == (&other.scenario, &other.params, other.subject, other.workers)
    }
}

impl Figures {
    fn read(fields: &Fields<'_>) -> Result<Self, Fault> {
        let rounds = fields.required("rounds")?.count()?;
        let mut quantiles = Vec::new();
        let mut others = BTreeMap::new();
        for place in fields.all() {
            let name = place.name();
            if let Some(part) = quantile_part(name) {
                quantiles.push(Quantile {
                    name: name.trim_end_matches("_us").to_owned(),
                    part,
                    nanoseconds: place.number()? * 1e3,
                });
            } else if place.value.is_number() && !NAMED.contains(&name) {
                others.insert(name.to_owned(), place.number()?);
            }
        }
        quantiles.sort_by(|one, other| one.part.total_cmp(&other.part));
        Ok(Self {
            wall: Spread::read(fields, ["wall_ns", "wall_min", "wall_max"], rounds)?,
            cpu: Spread::read(fields, ["cpu_ns", "cpu_min", "cpu_max"], rounds)?,
            rounds,
            quantiles,
            others,
            stats: fields
                .optional("stats")
                .map_or_else(|| Ok(BTreeMap::new()), |place| place.counts())?,
        })
    }
}

/// Numbers of a row that have a field of their own here.
const NAMED: [&str; 10] = [
    "workers",
    "wall_ns",
    "wall_min",
    "wall_max",
    "cpu_ns",
    "cpu_min",
    "cpu_max",
    "rounds",
    "chunk_ops",
    "chunks_took_ms",
];

fn read_chunks(fields: &Fields<'_>) -> Result<Option<Chunks>, Fault> {
    let Some(averages) = fields.optional("chunks_ns") else {
        return Ok(None);
    };
    let averages = averages.items()?;
    Ok(Some(Chunks {
        chunk_ops: fields.required("chunk_ops")?.count()?,
        chunks_ns: averages
            .iter()
            .map(Place::number)
            .collect::<Result<_, _>>()?,
        chunks_took_ms: fields.required("chunks_took_ms")?.number()?,
    }))
}

/// 0.99 for `p99_us`, 0.999 for `p999_us`, 1 for `max_us`.
fn quantile_part(name: &str) -> Option<f64> {
    let stem = name.strip_suffix("_us")?;
    if stem == "max" {
        return Some(1.0);
    }
    let digits = stem.strip_prefix('p')?;
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    format!("0.{digits}").parse().ok()
}

impl Spread {
    fn read(
        fields: &Fields<'_>,
        [median, min, max]: [&'static str; 3],
        rounds: u64,
    ) -> Result<Self, Fault> {
        let place = fields.required(median)?;
        let median = place.number()?;
        let (Some(min), Some(max)) = (fields.optional(min), fields.optional(max)) else {
            return Ok(Self {
                median,
                range: None,
            });
        };
        let (min, max) = (min.number()?, max.number()?);
        if !(min..=max).contains(&median) {
            return Err(place.fault(format!("{median} is not between {min} and {max}")));
        }
        Ok(Self {
            median,
            range: (rounds > 1).then_some((min, max)),
        })
    }
}

/// A value and the way to it.
struct Place<'a> {
    path: String,
    value: &'a Value,
}

/// An object and the way to it.
struct Fields<'a> {
    path: String,
    object: &'a Map<String, Value>,
}

impl<'a> Place<'a> {
    fn root(value: &'a Value) -> Self {
        Self {
            path: String::new(),
            value,
        }
    }

    fn fault(&self, problem: String) -> Fault {
        Fault {
            place: self.path.clone(),
            problem,
        }
    }

    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Err(self.fault(format!("expected {what}, found {found}")))
    }

    /// The last part of the path.
    fn name(&self) -> &str {
        self.path
            .rsplit_once('.')
            .map_or(&self.path, |(_, name)| name)
    }

    fn fields(&self) -> Result<Fields<'a>, Fault> {
        match self.value {
            Value::Object(object) => Ok(Fields {
                path: self.path.clone(),
                object,
            }),
            _ => self.expected("an object"),
        }
    }

    fn items(&self) -> Result<Vec<Place<'a>>, Fault> {
        let Value::Array(items) = self.value else {
            return self.expected("an array");
        };
        let item = |(index, value)| Place {
            path: format!("{}[{index}]", self.path),
            value,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn text(&self) -> Result<String, Fault> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            _ => self.expected("a string"),
        }
    }

    fn number(&self) -> Result<f64, Fault> {
        match self.value.as_f64() {
            Some(number) if number >= 0.0 => Ok(number),
            _ => self.expected("a number of at least 0"),
        }
    }

    fn count(&self) -> Result<u64, Fault> {
        match self.value.as_u64() {
            Some(count) => Ok(count),
            None => self.expected("a whole number of at least 0"),
        }
    }

    fn counts(&self) -> Result<BTreeMap<String, u64>, Fault> {
        let fields = self.fields()?;
        let named = |place: Place<'_>| Ok((place.name().to_owned(), place.count()?));
        fields.all().map(named).collect()
    }
}

impl<'a> Fields<'a> {
    fn at(&self, name: &str, value: &'a Value) -> Place<'a> {
        let separator = if self.path.is_empty() { "" } else { "." };
        Place {
            path: format!("{}{separator}{name}", self.path),
            value,
        }
    }

    fn all(&self) -> impl Iterator<Item = Place<'a>> {
        self.object.iter().map(|(name, value)| self.at(name, value))
    }

    fn optional(&self, name: &str) -> Option<Place<'a>> {
        self.object.get(name).map(|value| self.at(name, value))
    }

    fn required(&self, name: &str) -> Result<Place<'a>, Fault> {
        self.optional(name).ok_or_else(|| Fault {
            place: self.path.clone(),
            problem: format!("no field `{name}`"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_told_from_other_figures() {
        let parts = ["p50_us", "p999_us", "max_us", "p_us", "polls_us", "p50"].map(quantile_part);
        assert_eq!(parts, [Some(0.5), Some(0.999), Some(1.0), None, None, None]);
    }
}
