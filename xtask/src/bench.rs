//! Measures whole commands, the cases of a family in turn, so that what else the machine does
//! falls on all of them alike.
//!
//! What was measured last is kept in `docs/benchmarks/FAMILY.json`; the tables of
//! `docs/benchmarks.md` are made from it, and `--check` holds them to it.

mod bounds;
pub(crate) mod corpora;
mod lsp;
mod measure;
pub(crate) mod page;
mod structural;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::diff;
use crate::shell::{self, Shell};
use crate::workspace::Workspace;
use corpora::{Corpora, Corpus};
use measure::{Ask, Sample};

pub(crate) use structural::{build, find};

/// Where the tables stand.
const PAGE: &str = "docs/benchmarks.md";
/// A command that takes no longer runs several times a round: it is easily disturbed.
const SHORT: Duration = Duration::from_millis(150);
const SHORT_RUNS: usize = 4;

/// What can be measured.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// Searches by `ast_grep`, beside `ast-grep` and `rg` over the same trees
    Structural,
    /// The tools over language servers, beside a bare client of the same servers
    Lsp,
}

/// What to do with what is measured, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Then {
    /// Print the tables.
    #[default]
    Table,
    /// Print the JSON.
    Json,
    /// Write the JSON and the tables to their places in docs.
    Save,
    /// Measure nothing: make the tables in docs anew from their JSON.
    Redo,
    /// Measure nothing: say whether the tables in docs are those of their JSON, with every row.
    Check,
}

/// One command of a family.
struct Case {
    corpus: String,
    name: String,
    /// Whose command it is, for the rows that compare.
    by: String,
    ask: Ask,
    words: Vec<String>,
}

/// The cases, and on what they work.
struct Suite {
    corpora: Corpora,
    /// The programs that are compared with, each with its version.
    tools: Vec<String>,
    shell: Shell,
    /// Where programs are looked for first.
    path: Vec<PathBuf>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Outcome {
    family: Family,
    cores: usize,
    /// How many processes wanted to run, on the average of the minute before.
    load: f64,
    runs: u16,
    tools: Vec<String>,
    corpora: Vec<Corpus>,
    /// Trees that were not to be had, and why.
    missing: Vec<String>,
    cases: Vec<Measured>,
}

/// A case with the medians of its runs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Measured {
    corpus: String,
    name: String,
    by: String,
    command: String,
    /// The proof that it did its work.
    answer: String,
    wall_ms: f64,
    cpu_ms: f64,
    peak_mib: f64,
}

/// Does what is asked for; gives what is wrong with the tables in docs.
pub(crate) fn run(
    workspace: &Workspace,
    family: Family,
    runs: u16,
    then: Then,
) -> Result<Vec<String>> {
    if family == Family::Lsp {
        return lsp::run(workspace, then);
    }
    match then {
        Then::Check => return check(workspace),
        Then::Redo => {
            let outcome = read(workspace, family)?;
            return page::write(workspace, PAGE, &blocks(&outcome)).map(|()| Vec::new());
        }
        _ => {}
    }
    let suite = structural::suite(workspace)?;
    let outcome = Outcome {
        family,
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        load: load(),
        runs,
        cases: measure_all(&suite, runs)?,
        tools: suite.tools,
        corpora: suite.corpora.found,
        missing: suite.corpora.missing,
    };
    match then {
        Then::Json => println!("{}", serde_json::to_string_pretty(&outcome)?),
        Then::Save => {
            let file = json_file(workspace, family);
            fs::create_dir_all(file.parent().context("it is in a folder")?)?;
            let text = serde_json::to_string_pretty(&outcome)? + "\n";
            fs::write(&file, text).with_context(|| file.display().to_string())?;
            page::write(workspace, PAGE, &blocks(&outcome))?;
        }
        _ => blocks(&outcome)
            .iter()
            .for_each(|(_, text)| println!("{text}")),
    }
    Ok(Vec::new())
}

/// What is wrong with the tables in docs: it measures nothing.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let outcome = read(workspace, Family::Structural)?;
    problems.extend(bounds::rows(&outcome).into_iter().filter_map(|row| {
        let missing = row.measured.is_none();
        missing.then(|| format!("{PAGE}: nothing was measured for: {}", row.title()))
    }));
    problems.extend(page::problems(workspace, PAGE, &blocks(&outcome))?);
    problems.extend(lsp::check(workspace)?);
    problems.extend(diff::check(workspace)?);
    Ok(problems)
}

fn json_file(workspace: &Workspace, family: Family) -> PathBuf {
    let value = family.to_possible_value();
    let name = value.map_or_else(String::new, |value| value.get_name().to_owned());
    workspace.root.join(format!("docs/benchmarks/{name}.json"))
}

fn read(workspace: &Workspace, family: Family) -> Result<Outcome> {
    let file = json_file(workspace, family);
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    serde_json::from_str(&text).with_context(|| file.display().to_string())
}

/// The parts of the page that are made, each with the name of its place.
fn blocks(outcome: &Outcome) -> Vec<(&'static str, String)> {
    vec![
        ("structural: wanted", bounds::table(outcome)),
        ("structural: measured", measured_table(outcome)),
    ]
}

/// One round warms the caches and says what the answers are; then as many rounds as are asked for.
fn measure_all(suite: &Suite, runs: u16) -> Result<Vec<Measured>> {
    let mut samples: Vec<Vec<Sample>> = suite.cases.iter().map(|_| Vec::new()).collect();
    let mut answers = Vec::new();
    let mut often = Vec::new();
    for round in 0..=runs {
        eprintln!("round {round} of {runs}");
        for (index, case) in suite.cases.iter().enumerate() {
            if round == 0 {
                let (sample, answer) = measure::once(case.command(suite)?, case.ask)?;
                answers.push(answer);
                often.push(if sample.wall < SHORT { SHORT_RUNS } else { 1 });
                continue;
            }
            for _ in 0..often[index] {
                samples[index].push(measure::once(case.command(suite)?, case.ask)?.0);
            }
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let all = suite.cases.iter().zip(samples).zip(answers);
    all.map(|((case, samples), answer)| {
        Ok(Measured {
            corpus: case.corpus.clone(),
            name: case.name.clone(),
            by: case.by.clone(),
            command: shell::line(&case.command(suite)?),
            answer,
            wall_ms: median(samples.iter().map(|sample| ms(sample.wall))),
            cpu_ms: median(samples.iter().map(|sample| ms(sample.cpu))),
            peak_mib: median(samples.iter().map(|sample| sample.peak as f64 / 1048576.0)),
        })
    })
    .collect()
}

impl Case {
    fn command(&self, suite: &Suite) -> Result<Command> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let (program, args) = words.split_first().context("an empty command")?;
        find(&suite.shell, &suite.path, program, args)
    }
}

/// To two places after the point.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = match values.len() {
        0 => 0.0,
        even if even % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    };
    (median * 100.0).round() / 100.0
}

/// The load of the machine, where the system says it in this way.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.unwrap_or(f64::NAN)
}

fn measured_table(outcome: &Outcome) -> String {
    let Outcome {
        cores, load, runs, ..
    } = outcome;
    let tools = outcome.tools.join(", ");
    let mut text = format!(
        "{cores} cores, load {load} before; medians of {runs} rounds in turn, after one more; {tools}.\n\n"
    );
    text += "| tree | what it is | files | MiB |\n| --- | --- | ---: | ---: |\n";
    for corpus in &outcome.corpora {
        let mib = corpus.bytes as f64 / 1048576.0;
        let Corpus {
            name, about, files, ..
        } = corpus;
        text += &format!("| {name} | {about} | {files} | {mib:.1} |\n");
    }
    for missing in &outcome.missing {
        let first = missing.lines().next().unwrap_or_default();
        text += &format!("\nNot at hand: {first}\n");
    }
    text += "\n| tree | case | command | CPU ms | wall ms | peak MiB | answer |\n";
    text += "| --- | --- | --- | ---: | ---: | ---: | --- |\n";
    for case in &outcome.cases {
        let cell = |text: &str| text.replace('|', "\\|");
        let short: String = case.answer.chars().take(60).collect();
        text += &format!(
            "| {} | {} | `{}` | {} | {} | {:.1} | {} |\n",
            case.corpus,
            case.name,
            cell(&case.command),
            page::number(case.cpu_ms),
            page::number(case.wall_ms),
            case.peak_mib,
            cell(&short),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert_eq!(median([0.006].into_iter()), 0.01);
        assert_eq!(median([].into_iter()), 0.0);
    }

    #[test]
    fn cases_are_measured_in_turn() {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let case = |name: &str| Case {
            corpus: String::new(),
            name: name.to_owned(),
            by: String::new(),
            ask: Ask::LastLine,
            words: vec![
                "sh".to_owned(),
                "-c".to_owned(),
                format!(
                    "echo {name} >> {}; sleep 0.2; echo at {name}",
                    log.path().display()
                ),
            ],
        };
        let suite = Suite {
            corpora: Corpora::default(),
            tools: Vec::new(),
            shell: Shell::new("."),
            path: Vec::new(),
            cases: vec![case("a"), case("b")],
        };
        let measured = measure_all(&suite, 2).expect("both run");
        let order = fs::read_to_string(log.path()).expect("written");
        assert_eq!(order, "a\nb\n".repeat(3));
        let names = measured
            .iter()
            .map(|case| (case.name.as_str(), case.answer.as_str()));
        assert_eq!(names.collect::<Vec<_>>(), [("a", "at a"), ("b", "at b")]);
    }

    #[test]
    fn a_table_has_a_row_a_case() {
        let outcome = Outcome {
            family: Family::Structural,
            cores: 2,
            load: 0.25,
            runs: 5,
            tools: vec!["rg 1".into()],
            corpora: vec![Corpus {
                name: "t".into(),
                language: "rust".into(),
                about: "a tree".into(),
                files: 12,
                bytes: 1048576,
            }],
            missing: vec!["go: why\nmore".into()],
            cases: vec![Measured {
                corpus: "t".into(),
                name: "rare".into(),
                by: "terret".into(),
                command: "terret call 'a|b'".into(),
                answer: "3 of 12 | all".into(),
                wall_ms: 12.5,
                cpu_ms: 2000.4,
                peak_mib: 8.12,
            }],
        };
        expect![[r#"
            2 cores, load 0.25 before; medians of 5 rounds in turn, after one more; rg 1.

            | tree | what it is | files | MiB |
            | --- | --- | ---: | ---: |
            | t | a tree | 12 | 1.0 |

            Not at hand: go: why

            | tree | case | command | CPU ms | wall ms | peak MiB | answer |
            | --- | --- | --- | ---: | ---: | ---: | --- |
            | t | rare | `terret call 'a\|b'` | 2000 | 12.5 | 8.1 | 3 of 12 \| all |
        "#]]
        .assert_eq(&measured_table(&outcome));
    }
}
