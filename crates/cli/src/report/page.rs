//! The page as a whole: where it was measured, what failed, and then picture by picture, each with its table.
//!
//! It needs nothing but itself: the style sheet is inside, there is no script, and its own policy forbids the browser to
//! load anything. Light or dark is the reader's setting.

use std::fmt::Display;

use runnext_bench::machine::Machine;
use runnext_bench::scenario::Scenario;

use super::board::{Board, Line};
use super::date;
use super::document::{Document, Row};
use super::markup::Markup;
use super::{bars, course, curves, figures, heat, scaling};

const TITLE: &str = "Runnext beside its peers";

/// Nothing may be loaded from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The page that shows `document`.
pub(crate) fn render(document: &Document) -> String {
    let board = Board::new(document);
    let mut page = Markup::page();
    page.element("html", &[("lang", &"en")], |html| {
        html.element("head", &[], head);
        html.element("body", &[], |body| {
            bars::define_hatching(body);
            body.element("header", &[], |header| write_header(header, document));
            body.element("main", &[], |main| write_main(main, document, &board));
        });
    });
    page.finish()
}

fn head(head: &mut Markup) {
    head.empty("meta", &[("charset", &"utf-8")]);
    let policy: [(&str, &dyn Display); 2] = [
        ("http-equiv", &"Content-Security-Policy"),
        ("content", &POLICY),
    ];
    head.empty("meta", &policy);
    meta(head, "viewport", "width=device-width, initial-scale=1");
    meta(head, "color-scheme", "light dark");
    // Without one, a browser asks the server for it.
    head.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
    head.leaf("title", &[], TITLE);
    head.style(include_str!("page.css"));
}

fn meta(head: &mut Markup, name: &str, content: &str) {
    head.empty("meta", &[("name", &name), ("content", &content)]);
}

fn write_header(header: &mut Markup, document: &Document) {
    header.leaf("h1", &[], TITLE);
    let machine = &document.machine;
    header.element("dl", &[], |list| {
        for (term, text) in [
            ("machine", processor(machine)),
            ("system", system(machine)),
            ("build", build(machine)),
            ("workers", pinning(machine)),
            ("rounds", rounds(&document.rows)),
            ("measured", date::utc(machine.unix_time)),
        ] {
            list.element("div", &[], |fact| {
                fact.leaf("dt", &[], term);
                fact.leaf("dd", &[], text);
            });
        }
    });
}

fn processor(machine: &Machine) -> String {
    let cpu = machine.cpu.as_deref().unwrap_or("processor not named");
    let cores = if machine.cores == 1 { "core" } else { "cores" };
    format!("{} {cores}, {cpu}, {}", machine.cores, machine.arch)
}

fn system(machine: &Machine) -> String {
    format!(
        "{} {}",
        machine.os,
        machine.kernel.as_deref().unwrap_or_default()
    )
}

fn build(machine: &Machine) -> String {
    let commit = machine.commit.as_deref().unwrap_or("commit not known");
    format!("runnext {}, {commit}", machine.version)
}

fn pinning(machine: &Machine) -> String {
    let pinned = if machine.pinned {
        "each kept on its core"
    } else {
        "free to move between cores"
    };
    pinned.to_owned()
}

fn rounds(rows: &[Row]) -> String {
    let rounds = || {
        rows.iter()
            .filter_map(|row| Some(row.figures.as_ref()?.rounds))
    };
    match (rounds().min(), rounds().max()) {
        (Some(1), Some(1)) => "one, so no spread is known and nothing is claimed".to_owned(),
        (Some(min), Some(max)) if min == max => format!("{max}, of which medians are shown"),
        (Some(min), Some(max)) => format!("{min} to {max}, of which medians are shown"),
        _ => "none".to_owned(),
    }
}

fn write_main(main: &mut Markup, document: &Document, board: &Board<'_>) {
    write_failures(main, &document.rows);
    let heading = "Against the best peer";
    section(main, heading, |section| {
        heat::legend(section);
        scrolling(section, heading, |wide| heat::write(wide, board));
    });
    if scaling::has_any(board) {
        let heading = "Adding workers never hurts?";
        section(main, heading, |section| {
            scrolling(section, heading, |wide| scaling::write(wide, board));
        });
    }
    section(main, "Scenario by scenario", |section| {
        write_key(section);
        for (scenario, lines) in board.scenarios() {
            section.element("section", &[("class", &"scenario")], |section| {
                write_scenario(section, scenario, &lines);
            });
        }
    });
}

fn write_failures(main: &mut Markup, rows: &[Row]) {
    let failed = || rows.iter().filter(|row| row.error.is_some());
    if failed().next().is_none() {
        return;
    }
    section(main, "Failed", |section| {
        section.element("ul", &[("class", &"failed")], |list| {
            for row in failed() {
                let who = format!("{}, {}: ", row.work(), row.subject);
                list.element("li", &[], |item| {
                    item.leaf("b", &[], who);
                    item.text(figures::reason(row).unwrap_or_default());
                });
            }
        });
    });
}

fn section(page: &mut Markup, heading: &str, content: impl FnOnce(&mut Markup)) {
    page.element("section", &[], |section| {
        section.leaf("h2", &[], heading);
        content(section);
    });
}

/// What is wider than the window scrolls by itself, not with the whole page; by keyboard, too.
fn scrolling(page: &mut Markup, name: &str, content: impl FnOnce(&mut Markup)) {
    let attributes: [(&str, &dyn Display); 4] = [
        ("class", &"wide"),
        ("tabindex", &0),
        ("role", &"region"),
        ("aria-label", &name),
    ];
    page.element("div", &attributes, content);
}

fn write_key(page: &mut Markup) {
    page.element("p", &[("class", &"key")], |p| {
        p.leaf("span", &[("class", &"wall")], "wall time");
        p.leaf("span", &[("class", &"cpu")], "CPU time of all threads");
        p.text(KEY);
    });
}

const KEY: &str = "The thin line reaches from the least to the most of all rounds, where the file \
    has them. Each picture has a scale of its own.";

fn write_scenario(section: &mut Markup, scenario: &str, lines: &[&Line<'_>]) {
    section.leaf("h3", &[], scenario);
    if let Ok(known) = scenario.parse::<Scenario>() {
        let entry = known.entry();
        section.element("p", &[], |p| {
            p.text(format!("One operation: {}. ", entry.operation));
            p.leaf("i", &[], format!("{}.", entry.stands_for));
        });
    }
    section.element("div", &[("class", &"pictures")], |pictures| {
        for line in lines {
            figure(pictures, &line.terms(), |figure| bars::draw(figure, line));
        }
        for line in lines.iter().filter(|line| curves::has_any(line)) {
            let caption = format!("percentiles, {}", line.terms());
            figure(pictures, &caption, |figure| curves::draw(figure, line));
        }
        for line in lines.iter().filter(|line| course::has_any(line)) {
            figure(pictures, &course::caption(line), |figure| {
                course::draw(figure, line);
                if let Some(warning) = course::warning(line) {
                    figure.leaf("p", &[], warning);
                }
            });
        }
    });
    section.element("details", &[], |details| {
        let summary = format!("All figures of {scenario}");
        details.leaf("summary", &[], &summary);
        scrolling(details, &summary, |wide| {
            figures::write(wide, scenario, lines)
        });
    });
}

fn figure(page: &mut Markup, caption: &str, content: impl FnOnce(&mut Markup)) {
    page.element("figure", &[], |figure| {
        figure.leaf("figcaption", &[], caption);
        content(figure);
    });
}
