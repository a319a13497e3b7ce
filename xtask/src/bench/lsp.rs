//! What `terret-lsp-supervisor` costs on top of the servers: its example `overhead` measures, beside a client as small as
//! can be.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::{PAGE, Then, load, page};
use crate::servers;
use crate::shell;
use crate::workspace::Workspace;

const JSON: &str = "docs/benchmarks/lsp.json";
const BLOCK: &str = "lsp: measured";

/// The servers that are measured one by one.
const SERVERS: [&str; 9] = [
    "rust-analyzer",
    "gopls",
    "pyright",
    "basedpyright",
    "ty",
    "clangd",
    "typescript-language-server",
    "typescript-native",
    "dart",
];

/// What is wanted of a figure.
#[derive(Clone, Copy)]
enum Bound {
    /// So much more than the bare client takes, at most.
    More(f64),
    /// So many times what the bare client takes, at most.
    Times(f64),
    /// So much, at most.
    Most(f64),
    /// Nothing: it is told.
    Told,
}

/// What is measured of each server.
const OF_EACH: &[(&str, Bound)] = &[
    ("definition, median", Bound::More(1.0)),
    ("definition, 95 %", Bound::More(3.0)),
    ("references, median", Bound::More(1.0)),
    ("references, 95 %", Bound::More(3.0)),
    ("hover, median", Bound::More(1.0)),
    ("hover, 95 %", Bound::More(3.0)),
    ("write: after the last word, median", Bound::Most(5.0)),
    ("write: after the last word, worst", Bound::Told),
    ("write: the whole call, median", Bound::Told),
    ("start to the first answer", Bound::Times(1.1)),
];

/// What is measured once.
const ONCE: &[(&str, &str, Bound)] = &[
    ("write without a server, median", "none", Bound::More(1.0)),
    ("100 runs over one root: servers", "ty", Bound::Most(1.0)),
    (
        "100 runs over one root: memory for a further run",
        "ty",
        Bound::Most(100.0),
    ),
    ("1,000 documents: open at the end", "ty", Bound::Most(64.0)),
    (
        "1,000 documents: memory, less that of 500",
        "ty",
        Bound::Most(5.0),
    ),
];

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Outcome {
    cores: usize,
    /// How many processes wanted to run, on the average of the minute before.
    load: f64,
    rows: Vec<Row>,
}

/// A figure as the example prints it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Row {
    what: String,
    server: String,
    ours: f64,
    /// The same by the bare client.
    raw: Option<f64>,
    unit: String,
}

/// Does what is asked for; gives what is wrong with the table in docs.
pub(crate) fn run(workspace: &Workspace, then: Then) -> Result<Vec<String>> {
    match then {
        Then::Check => return check(workspace),
        Then::Redo => {
            let table = table(&read(workspace)?);
            return page::write(workspace, PAGE, &[(BLOCK, table)]).map(|()| Vec::new());
        }
        _ => {}
    }
    let outcome = measure(workspace)?;
    match then {
        Then::Json => println!("{}", serde_json::to_string_pretty(&outcome)?),
        Then::Save => {
            let text = serde_json::to_string_pretty(&outcome)? + "\n";
            fs::write(workspace.root.join(JSON), text).context(JSON)?;
            page::write(workspace, PAGE, &[(BLOCK, table(&outcome))])?;
        }
        _ => println!("{}", table(&outcome)),
    }
    Ok(Vec::new())
}

/// What is wrong with the table in docs: it measures nothing.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let outcome = read(workspace)?;
    let missing = wanted().filter(|(what, server, _)| find(&outcome, what, server).is_none());
    let mut problems: Vec<String> = missing
        .map(|(what, server, _)| format!("{PAGE}: nothing was measured for: {server}, {what}"))
        .collect();
    problems.extend(page::problems(
        workspace,
        PAGE,
        &[(BLOCK, table(&outcome))],
    )?);
    Ok(problems)
}

fn read(workspace: &Workspace) -> Result<Outcome> {
    let text = fs::read_to_string(workspace.root.join(JSON)).context(JSON)?;
    serde_json::from_str(&text).context(JSON)
}

fn measure(workspace: &Workspace) -> Result<Outcome> {
    let shell = workspace.shell.clone();
    let what = ["build", "--release", "--package", "terret-lsp-supervisor"];
    shell::pass(shell.cargo(&[&what[..], &["--example", "overhead"]].concat()))?;
    let shell = shell.prepend_path(&[servers::bin(workspace)?])?;
    let load = load();
    let program = workspace.target().join("release/examples/overhead");
    let printed = shell::read(shell.command(&program, &[]))?;
    let rows: Result<Vec<Row>, _> = printed.lines().map(serde_json::from_str).collect();
    let mut rows = rows.context("what the example prints")?;
    for row in &mut rows {
        row.ours = rounded(row.ours);
        row.raw = row.raw.map(rounded);
    }
    Ok(Outcome {
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        load,
        rows,
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn wanted() -> impl Iterator<Item = (&'static str, &'static str, Bound)> {
    let each = SERVERS.into_iter().flat_map(|server| {
        let all = OF_EACH.iter();
        all.map(move |(what, bound)| (*what, server, *bound))
    });
    each.chain(ONCE.iter().copied())
}

fn find<'a>(outcome: &'a Outcome, what: &str, server: &str) -> Option<&'a Row> {
    let mut rows = outcome.rows.iter();
    rows.find(|row| row.what == what && row.server == server)
}

fn table(outcome: &Outcome) -> String {
    let mut text = format!(
        "{} cores, load {} before.\n\n\
         | server | what | bare client | Terret | wanted | measured | holds |\n\
         | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
        outcome.cores, outcome.load
    );
    for (what, server, bound) in wanted() {
        if let Some(row) = find(outcome, what, server) {
            text += &line(row, bound);
        }
    }
    text
}

fn line(row: &Row, bound: Bound) -> String {
    let number = page::number;
    let unit = match row.unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let raw = row.raw.unwrap_or_default();
    let (wanted, measured, holds) = match bound {
        Bound::More(most) => {
            let more = row.ours - raw;
            (
                format!("≤ {most} ms more"),
                format!("{} ms more", number(more)),
                more <= most,
            )
        }
        Bound::Times(most) => {
            let times = row.ours / raw;
            (
                format!("≤ {most}×"),
                format!("{}×", number(times)),
                times <= most,
            )
        }
        Bound::Most(most) => (
            format!("≤ {most}{unit}"),
            format!("{}{unit}", number(row.ours)),
            row.ours <= most,
        ),
        Bound::Told => (String::new(), String::new(), true),
    };
    let holds = match bound {
        Bound::Told => "",
        _ if holds => "yes",
        _ => "**no**",
    };
    let bare = row.raw.map_or_else(String::new, |raw| number(raw) + &unit);
    format!(
        "| {} | {} | {bare} | {}{unit} | {wanted} | {measured} | {holds} |\n",
        row.server,
        row.what,
        number(row.ours),
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(what: &str, server: &str, ours: f64, raw: Option<f64>) -> Row {
        Row {
            what: what.into(),
            server: server.into(),
            ours,
            raw,
            unit: "ms".into(),
        }
    }

    #[test]
    fn a_bound_that_is_missed_is_told() {
        let outcome = Outcome {
            cores: 2,
            load: 0.5,
            rows: vec![
                row("definition, median", "ty", 0.5, Some(0.2)),
                row("hover, 95 %", "ty", 5.0, Some(1.0)),
                row("write: the whole call, median", "ty", 2.0, None),
                row("start to the first answer", "ty", 90.0, Some(60.0)),
                row("something else", "ty", 90.0, Some(60.0)),
            ],
        };
        expect![[r#"
            2 cores, load 0.5 before.

            | server | what | bare client | Terret | wanted | measured | holds |
            | --- | --- | ---: | ---: | ---: | ---: | --- |
            | ty | definition, median | 0.20 ms | 0.50 ms | ≤ 1 ms more | 0.30 ms more | yes |
            | ty | hover, 95 % | 1.00 ms | 5.00 ms | ≤ 3 ms more | 4.00 ms more | **no** |
            | ty | write: the whole call, median |  | 2.00 ms |  |  |  |
            | ty | start to the first answer | 60.0 ms | 90.0 ms | ≤ 1.1× | 1.50× | **no** |
        "#]]
        .assert_eq(&table(&outcome));
        let missing = wanted().filter(|(what, server, _)| find(&outcome, what, server).is_none());
        assert_eq!(
            missing.count(),
            SERVERS.len() * OF_EACH.len() + ONCE.len() - 4
        );
    }
}
