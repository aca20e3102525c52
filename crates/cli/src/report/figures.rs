//! The tables beside the pictures: every figure of the file, as text.
//!
//! A figure is printed to three digits, and its full value is in the element's `value` attribute, where programs and
//! the curious find it.

use std::collections::{BTreeMap, BTreeSet};

use super::board::Line;
use super::document::{Row, Spread};
use super::markup::Markup;
use crate::units::{three_digits, time, workers};

/// Writes the table of a scenario's `lines`, one row for each cell.
pub(crate) fn write(page: &mut Markup, scenario: &str, lines: &[&Line<'_>]) {
    let rows = || lines.iter().flat_map(|line| line.rows());
    let columns = Columns::of(rows());
    page.element("table", &[], |table| {
        table.leaf(
            "caption",
            &[],
            format!("All figures of {scenario}, per operation"),
        );
        table.element("thead", &[], |head| {
            head.element("tr", &[], |tr| columns.write_headings(tr));
        });
        table.element("tbody", &[], |body| {
            for line in lines {
                for row in line.rows() {
                    body.element("tr", &[], |tr| {
                        tr.leaf("th", &[("scope", &"row")], line.terms());
                        columns.write_row(tr, row);
                    });
                }
            }
        });
    });
    for row in rows() {
        write_stats(page, row);
    }
}

/// Which columns there are besides those that every row has.
struct Columns<'a> {
    quantiles: Vec<&'a str>,
    others: BTreeSet<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(rows: impl Iterator<Item = &'a Row>) -> Self {
        let figures: Vec<_> = rows.filter_map(|row| row.figures.as_ref()).collect();
        let mut quantiles: Vec<_> = figures.iter().flat_map(|row| &row.quantiles).collect();
        quantiles.sort_by(|one, other| one.part.total_cmp(&other.part));
        let mut quantiles: Vec<_> = quantiles.iter().map(|one| one.name.as_str()).collect();
        quantiles.dedup();
        let others = figures.iter().flat_map(|row| row.others.keys());
        Self {
            quantiles,
            others: others.map(String::as_str).collect(),
        }
    }

    fn write_headings(&self, tr: &mut Markup) {
        let fixed = [
            "terms",
            "subject",
            "wall",
            "least..most",
            "CPU",
            "least..most",
            "rounds",
        ];
        let others = self.others.iter().map(|name| name.replace('_', " "));
        let names = fixed.into_iter().chain(self.quantiles.iter().copied());
        for name in names.map(str::to_owned).chain(others) {
            tr.leaf("th", &[("scope", &"col")], name);
        }
    }

    fn write_row(&self, tr: &mut Markup, row: &Row) {
        tr.leaf("td", &[("class", &"text")], subject(row));
        let Some(figures) = &row.figures else {
            let span = 5 + self.quantiles.len() + self.others.len();
            let attributes: [(&str, &dyn std::fmt::Display); 2] =
                [("class", &"reason"), ("colspan", &span)];
            tr.leaf("td", &attributes, reason(row).unwrap_or("not measured"));
            return;
        };
        for spread in [figures.wall, figures.cpu] {
            figure(tr, Some(spread.median), time);
            range(tr, spread);
        }
        tr.leaf("td", &[], figures.rounds);
        for name in &self.quantiles {
            let quantile = figures.quantiles.iter().find(|one| one.name == *name);
            figure(tr, quantile.map(|quantile| quantile.nanoseconds), time);
        }
        for name in &self.others {
            figure(tr, figures.others.get(*name).copied(), three_digits);
        }
    }
}

/// Why there are no figures, or fewer.
pub(crate) fn reason(row: &Row) -> Option<&str> {
    row.error.as_deref().or(row.unsupported.as_deref())
}

fn subject(row: &Row) -> String {
    match row.subject.max_workers() {
        Some(_) => format!("{} ({})", row.subject, row.team()),
        None => row.subject.to_string(),
    }
}

fn figure(tr: &mut Markup, figure: Option<f64>, show: impl Fn(f64) -> String) {
    tr.element("td", &[], |td| match figure {
        Some(figure) => td.leaf("data", &[("value", &figure)], show(figure)),
        None => td.text("-"),
    });
}

fn range(tr: &mut Markup, spread: Spread) {
    tr.element("td", &[("class", &"range")], |td| {
        let Some((min, max)) = spread.range else {
            td.text("-");
            return;
        };
        td.leaf("data", &[("value", &min)], time(min));
        td.text(" .. ");
        td.leaf("data", &[("value", &max)], time(max));
    });
}

/// What a subject counted of its own doings, as a paragraph.
fn write_stats(page: &mut Markup, row: &Row) {
    let Some(stats) = row.figures.as_ref().map(|figures| &figures.stats) else {
        return;
    };
    if stats.is_empty() {
        return;
    }
    let params = joined(&row.params);
    page.element("p", &[("class", &"stats")], |p| {
        let who = format!("{}, {params}{}: ", row.subject, workers(row.workers));
        p.leaf("b", &[], who);
        p.text(joined(stats).trim_end_matches(", "));
    });
}

fn joined(counts: &BTreeMap<String, u64>) -> String {
    let named = counts.iter();
    named
        .map(|(name, count)| format!("{name} {count}, "))
        .collect()
}
