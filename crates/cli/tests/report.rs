//! `runnext report` as a user meets it: the page it makes of a file, and what it says of a file that it cannot read.
//!
//! The page is read with a strict XML parser, which no forgotten bracket or closing tag passes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A scenario that no build knows, with everything that means something in HTML.
const HOSTILE: &str = "<script>alert(\"1\")</script>&amp;'";

struct Files {
    _directory: TempDir,
    json: PathBuf,
    html: PathBuf,
}

impl Files {
    fn new(json: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files = Self {
            json: directory.path().join("out.json"),
            html: directory.path().join("out.html"),
            _directory: directory,
        };
        fs::write(&files.json, json).unwrap();
        files
    }

    fn report(&self) -> Output {
        report(&self.json, &self.html)
    }

    /// The page of a file that must be readable.
    fn page(&self) -> String {
        let output = self.report();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read_to_string(&self.html).unwrap()
    }
}

fn report(json: &Path, html: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_runnext"))
        .arg("report")
        .arg(json)
        .arg("--html")
        .arg(html)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

fn measured(subject: &str, workers: u64, wall: [f64; 3]) -> Value {
    json!({
        "scenario": "ping-pong", "params": { "pairs": 4 }, "subject": subject, "workers": workers,
        "wall_ns": wall[1], "wall_min": wall[0], "wall_max": wall[2],
        "cpu_ns": wall[1] * 1.5, "cpu_min": wall[0] * 1.25, "cpu_max": wall[2] * 1.75,
        "rounds": 3, "ops": 98765, "voluntary_switches_per_op": 0.0625,
    })
}

/// Every kind of row: several workers, quantiles, counters, one that failed, one that cannot be, one without rounds.
fn fixture() -> Value {
    let mut rows = vec![
        measured("run-next", 1, [41.0, 42.5, 44.0]),
        measured("tokio", 1, [84.0, 85.0, 86.0]),
        measured("futures", 1, [83.0, 86.0, 88.0]),
        measured("limit", 1, [20.0, 21.0, 22.0]),
        measured("run-next", 2, [30.0, 31.5, 40.0]),
        measured("tokio", 2, [120.0, 127.5, 130.0]),
    ];
    rows[0]["stats"] = json!({ "slot_polls": 424_242 });
    // Watched without warm-up: one falls off a cliff, the other does not.
    for (row, after) in [(0, 40.0), (1, 100.0)] {
        let chunks: Vec<_> = (0..40)
            .map(|chunk| if chunk < 20 { 100.0 } else { after })
            .collect();
        rows[row]["chunks_ns"] = json!(chunks);
        rows[row]["chunk_ops"] = json!(500);
        rows[row]["chunks_took_ms"] = json!(250);
    }
    let servers = [("run-next", 1.0), ("tokio", 3.0)].map(|(subject, factor)| {
        let mut row = measured(subject, 2, [9e3 * factor, 1e4 * factor, 1.1e4 * factor]);
        row["scenario"] = json!("http-json");
        row["params"] = json!({ "connections": 32 });
        for (name, value) in [
            ("p50_us", 12.5),
            ("p75_us", 25.0),
            ("p99_us", 1250.0),
            ("max_us", 9750.0),
        ] {
            row[name] = json!(value * factor);
        }
        row["alloc_bytes_per_op"] = json!(4321.5);
        row
    });
    rows.extend(servers);
    let empty = |subject, workers: u64, name: &str, reason: &str| {
        json!({
            "scenario": "http-json", "params": { "connections": 32 }, "subject": subject, "workers": workers,
            name: reason,
        })
    };
    rows.push(empty("futures", 2, "error", "timed out <after> 1 s"));
    rows.push(empty(
        "limit",
        1,
        "unsupported",
        "no \"reactor\" & no threads",
    ));
    rows.push(json!({ "scenario": HOSTILE, "params": {}, "subject": "base", "workers": 2 }));
    json!({
        "machine": {
            "cpu": "Model <7>", "cores": 2, "os": "linux", "kernel": "6.1", "arch": "x86_64", "version": "0.1.0",
            "commit": "abcdef123456", "pinned": true, "unix_time": 1_798_761_599
        },
        "rows": rows,
    })
}

fn elements<'a>(page: &'a Document<'_>, name: &str) -> Vec<Node<'a, 'a>> {
    let named = |node: &Node<'_, '_>| node.has_tag_name(name);
    page.descendants().filter(named).collect()
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|text| text.text()).collect()
}

#[test]
fn the_page_holds_every_figure_of_the_file() {
    let fixture = fixture();
    let page = Files::new(&fixture.to_string()).page();
    let page = parse(&page);
    let values: Vec<f64> = elements(&page, "data")
        .iter()
        .map(|data| data.attribute("value").unwrap().parse().unwrap())
        .collect();
    let whole = text(page.root_element());
    for row in fixture["rows"].as_array().unwrap() {
        for (name, value) in row.as_object().unwrap() {
            match (name.strip_suffix("_us"), value) {
                (_, Value::String(value)) => assert!(whole.contains(value), "{value}"),
                (_, Value::Number(_)) if ["workers", "rounds"].contains(&name.as_str()) => {}
                // A picture of its own shows those.
                _ if name.starts_with("chunk") => {}
                (Some(_), value) => assert!(values.contains(&(value.as_f64().unwrap() * 1e3))),
                (None, Value::Number(value)) => {
                    assert!(values.contains(&value.as_f64().unwrap()), "{name} {value}");
                }
                (None, counts) => {
                    for (name, count) in counts.as_object().unwrap() {
                        assert!(whole.contains(&format!("{name} {count}")), "{name} {count}");
                    }
                }
            }
        }
    }
    for fact in [
        "2 cores, Model <7>",
        "6.1",
        "abcdef123456",
        "2026-12-31 23:59 UTC",
    ] {
        assert!(whole.contains(fact), "{fact}");
    }
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = Files::new(&fixture().to_string()).page();
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "{page}"
    );
    assert!(page.contains("default-src 'none'") || page.contains("default-src &#39;none&#39;"));
    let page = parse(&page);
    for name in ["script", "img", "iframe", "object"] {
        assert!(elements(&page, name).is_empty(), "{name}");
    }
    for link in elements(&page, "link") {
        assert_eq!(link.attribute("href"), Some("data:,"));
    }
    let references = page.descendants().flat_map(|node| node.attributes());
    for reference in references.filter(|one| ["src", "href"].contains(&one.name())) {
        assert!(reference.value().starts_with("data:"), "{reference:?}");
    }
}

#[test]
fn text_from_the_file_stays_text() {
    let page = Files::new(&fixture().to_string()).page();
    assert!(!page.contains("<script>"), "{page}");
    let page = parse(&page);
    let headings: Vec<_> = elements(&page, "h3").into_iter().map(text).collect();
    assert!(headings.contains(&HOSTILE.to_owned()), "{headings:?}");
}

#[test]
fn pictures_have_names_and_tables_headings() {
    let page = Files::new(&fixture().to_string()).page();
    let page = parse(&page);
    let pictures: Vec<_> = elements(&page, "svg")
        .into_iter()
        .filter(|svg| svg.attribute("aria-hidden").is_none())
        .collect();
    // Bars for each of four lines, curves for the one that has quantiles, and for the one that was watched.
    assert_eq!(pictures.len(), 4 + 1 + 1);
    for picture in pictures {
        let name = picture.attribute("aria-label").unwrap();
        let title = picture.children().find(|node| node.has_tag_name("title"));
        assert_eq!(title.map(text).as_deref(), Some(name));
        assert_eq!(picture.attribute("role"), Some("img"));
    }
    for table in elements(&page, "table") {
        assert!(table.children().any(|node| node.has_tag_name("caption")));
    }
    for heading in elements(&page, "th") {
        assert!(heading.attribute("scope").is_some(), "{heading:?}");
    }
}

#[test]
fn a_cell_that_was_watched_has_a_curve_with_a_point_for_each_chunk() {
    let page = Files::new(&fixture().to_string()).page();
    let page = parse(&page);
    let picture = elements(&page, "svg").into_iter().find(|svg| {
        let name = svg.attribute("aria-label").unwrap_or_default();
        name.starts_with("From the first operation on")
    });
    let picture = picture.expect("a picture of the chunks");
    let curves = picture
        .descendants()
        .filter(|node| node.has_tag_name("polyline"));
    let points: Vec<_> = curves
        .map(|curve| curve.attribute("points").unwrap().split(' ').count())
        .collect();
    assert_eq!(points, [40, 40]);
    let whole = text(page.root_element());
    assert!(whole.contains("average of each 500 operations, pairs 4, 1 worker; run-next went from 100 ns to 40.0 ns"), "{whole}");
    assert!(!whole.contains("tokio went"), "{whole}");
    assert!(whole.contains("A quick run"), "{whole}");
}

#[test]
fn bars_of_wall_and_of_cpu_time_have_whiskers() {
    let whiskers = |file: &Value| {
        let page = Files::new(&file.to_string()).page();
        let page = parse(&page);
        let lines = elements(&page, "line");
        let whiskers = lines
            .iter()
            .filter(|line| line.attribute("class") == Some("whisker"));
        whiskers.count()
    };
    let mut file = fixture();
    let both = whiskers(&file);
    for row in file["rows"].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("cpu_min");
    }
    let wall_only = whiskers(&file);
    assert!(0 < wall_only && wall_only < both, "{wall_only} of {both}");
}

/// The texts of the cells with figures, row by row, of the table with this beginning of its caption.
fn cells(page: &Document<'_>, caption: &str) -> Vec<Vec<(String, String)>> {
    let table = elements(page, "table")
        .into_iter()
        .find(|table| text(*table).trim_start().starts_with(caption));
    let table = table.unwrap_or_else(|| panic!("no table `{caption}`"));
    let rows = table.descendants().filter(|node| node.has_tag_name("tr"));
    let cell = |td: Node<'_, '_>| {
        let class = td.attribute("class").unwrap_or_default().to_owned();
        (class, text(td).trim().replace('\n', ""))
    };
    rows.skip(1)
        .map(|tr| {
            let cells = tr.children().filter(|node| node.has_tag_name("td"));
            cells.map(cell).collect()
        })
        .collect()
}

#[test]
fn claims_are_made_only_outside_of_the_spread() {
    let page = Files::new(&fixture().to_string()).page();
    let page = parse(&page);
    let map = cells(
        &page,
        "Wall time per operation as a multiple of the line's best peer",
    );
    let of = |row: usize, cell: usize| (map[row][cell].0.as_str(), map[row][cell].1.as_str());
    // Columns: workers, base, run-next, tokio, futures, limit.
    assert_eq!(of(0, 1), ("none", "-"));
    assert_eq!(of(0, 2), ("faster2", "0.50\u{d7}42.5 ns"));
    assert_eq!(of(0, 3), ("best", "best peer85.0 ns"));
    assert_eq!(of(0, 4), ("unclear", "\u{2248} 1.01\u{d7}86.0 ns"));
    assert_eq!(of(0, 5), ("faster3", "0.25\u{d7}21.0 ns"));
    // `limit` has one worker on every line.
    assert_eq!(of(1, 5).1, "0.16\u{d7}21.0 ns");
    assert_eq!((of(2, 4).1, of(2, 5).1), ("failed", "unsupported"));
    assert_eq!(of(3, 1), ("none", "not measured"));

    let scaling = cells(
        &page,
        "Wall time per operation as a multiple of the same subject's",
    );
    // Columns: workers, against, base, run-next, tokio, futures.
    assert_eq!(scaling.len(), 1);
    assert_eq!(scaling[0][3].1, "0.74\u{d7}31.5 ns");
    assert_eq!(
        scaling[0][4],
        ("slower2".to_owned(), "1.50\u{d7}128 ns".to_owned())
    );
    let whole = text(page.root_element());
    assert!(
        whole.contains("run-next in 0 of 1, tokio in 1 of 1"),
        "{whole}"
    );
}

#[test]
fn one_round_claims_nothing() {
    let mut file = fixture();
    for row in file["rows"].as_array_mut().unwrap() {
        if row.get("rounds").is_some() {
            row["rounds"] = json!(1);
        }
    }
    let page = Files::new(&file.to_string()).page();
    for class in ["faster", "slower"] {
        assert!(!page.contains(&format!("<td class=\"{class}")), "{class}");
    }
}

/// What the fixture is after one change.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut fixture = fixture();
    change(&mut fixture);
    fixture.to_string()
}

#[test]
fn a_file_that_is_no_report_is_named_with_the_place() {
    let cases = [
        (String::new(), "not JSON"),
        ("{\"machine\": {},\n oops".to_owned(), "line 2 column 2"),
        ("[]".to_owned(), "expected an object, found an array"),
        ("{\"rows\": []}".to_owned(), "no field `machine`"),
        (
            changed(|file| file["machine"]["cores"] = json!("2")),
            "`machine`: invalid type",
        ),
        (
            changed(|file| file["rows"] = json!(7)),
            "`rows`: expected an array, found 7",
        ),
        (
            changed(|file| file["rows"][2]["wall_ns"] = json!("fast")),
            "`rows[2].wall_ns`: expected a number of at least 0, found a string",
        ),
        (
            changed(|file| file["rows"][2]["wall_ns"] = json!(-1.0)),
            "`rows[2].wall_ns`: expected a number of at least 0, found -1",
        ),
        (
            changed(|file| file["rows"][1]["wall_min"] = json!(85.5)),
            "`rows[1].wall_ns`: 85 is not between 85.5 and 86",
        ),
        (
            changed(|file| file["rows"][0]["subject"] = json!("glommio")),
            "`rows[0].subject`: unknown subject `glommio`; choose from `base`",
        ),
        (
            changed(|file| file["rows"][0]["chunks_ns"][7] = json!("fast")),
            "`rows[0].chunks_ns[7]`: expected a number of at least 0, found a string",
        ),
        (
            changed(|file| drop(file["rows"][0].as_object_mut().unwrap().remove("chunk_ops"))),
            "`rows[0]`: no field `chunk_ops`",
        ),
        (
            changed(|file| file["rows"][3]["workers"] = json!(2)),
            "`rows[3].workers`: `limit` has at most 1, found 2",
        ),
        (
            changed(|file| drop(file["rows"][0].as_object_mut().unwrap().remove("wall_ns"))),
            "`rows[0]`: no field `wall_ns`",
        ),
        (
            changed(|file| file["rows"][1] = file["rows"][0].clone()),
            "`rows[1]`: the same cell as `rows[0]`",
        ),
    ];
    for (content, answer) in cases {
        let files = Files::new(&content);
        let output = files.report();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{answer}: {said}");
        for part in [answer, "out.json", "runnext run --json FILE"] {
            assert!(said.contains(part), "no `{part}` in {said}");
        }
        assert!(!files.html.exists(), "{answer}: a page was written");
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let files = Files::new(&fixture().to_string());
    let cases = [
        (
            Path::new("/nowhere/in.json"),
            files.html.as_path(),
            "cannot read `/nowhere/in.json`",
        ),
        (
            &files.json,
            Path::new("/nowhere/out.html"),
            "cannot write `/nowhere/out.html`",
        ),
        (&files.json, &files.json, "the page would overwrite"),
    ];
    for (json, html, answer) in cases {
        let output = report(json, html);
        assert_eq!(output.status.code(), Some(2), "{answer}");
        assert!(stderr(&output).contains(answer), "{}", stderr(&output));
    }
    let kept = fs::read_to_string(&files.json).unwrap();
    assert_eq!(kept, fixture().to_string());
}
