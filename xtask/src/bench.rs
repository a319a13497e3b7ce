//! Measures whole commands, the cases of a family in turn, so that what else the machine does
//! falls on all of them alike.

mod measure;
mod structural;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;

use crate::shell;
use crate::workspace::Workspace;
use measure::Sample;

/// What can be measured.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// Searches by `ast_grep` over the sources of cargo's registry
    Structural,
}

/// One command of a family.
struct Case {
    name: String,
    program: OsString,
    args: Vec<String>,
}

/// The cases, and on what they work.
struct Suite {
    corpus: String,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Outcome {
    family: Family,
    corpus: String,
    cores: usize,
    runs: u16,
    cases: Vec<Measured>,
}

/// A case with the medians of its runs.
#[derive(Debug, PartialEq, Serialize)]
struct Measured {
    name: String,
    command: String,
    /// The last line that it wrote: the proof that it did its work.
    answer: String,
    wall_ms: f64,
    cpu_ms: f64,
    peak_mib: f64,
}

pub(crate) fn run(workspace: &Workspace, family: Family, json: bool, runs: u16) -> Result<()> {
    let suite = match family {
        Family::Structural => structural::suite(workspace)?,
    };
    let outcome = Outcome {
        family,
        corpus: suite.corpus,
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        runs,
        cases: measure_all(workspace, &suite.cases, runs)?,
    };
    match json {
        true => println!("{}", serde_json::to_string_pretty(&outcome)?),
        false => print!("{}", markdown(&outcome)),
    }
    Ok(())
}

/// One round warms the caches and says what the answers are; then as many rounds as are asked for.
fn measure_all(workspace: &Workspace, cases: &[Case], runs: u16) -> Result<Vec<Measured>> {
    let mut samples: Vec<Vec<Sample>> = cases.iter().map(|_| Vec::new()).collect();
    let mut answers = Vec::new();
    for round in 0..=runs {
        for (case, samples) in cases.iter().zip(&mut samples) {
            let (sample, answer) = measure::once(case.command(workspace))?;
            if round == 0 {
                answers.push(answer);
                continue;
            }
            samples.push(sample);
        }
    }
    let measured = cases
        .iter()
        .zip(samples)
        .zip(answers)
        .map(|((case, samples), answer)| {
            let ms = |time: Duration| time.as_secs_f64() * 1000.0;
            Measured {
                name: case.name.clone(),
                command: shell::line(&case.command(workspace)),
                answer,
                wall_ms: median(samples.iter().map(|sample| ms(sample.wall))),
                cpu_ms: median(samples.iter().map(|sample| ms(sample.cpu))),
                peak_mib: median(samples.iter().map(|sample| sample.peak as f64 / 1048576.0)),
            }
        });
    Ok(measured.collect())
}

impl Case {
    fn command(&self, workspace: &Workspace) -> std::process::Command {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        workspace.shell.command(&self.program, &args)
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = match values.len() {
        0 => 0.0,
        even if even % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    };
    (median * 10.0).round() / 10.0
}

fn markdown(outcome: &Outcome) -> String {
    let Outcome {
        corpus,
        cores,
        runs,
        cases,
        ..
    } = outcome;
    let mut text =
        format!("{corpus}; {cores} cores; medians of {runs} runs in turn, after one more\n\n");
    text += "| case | wall ms | user+sys ms | peak MiB | answer |\n";
    text += "| --- | ---: | ---: | ---: | --- |\n";
    for case in cases {
        let Measured {
            name,
            answer,
            wall_ms,
            cpu_ms,
            peak_mib,
            ..
        } = case;
        let answer = answer.replace('|', "\\|");
        text += &format!("| {name} | {wall_ms} | {cpu_ms} | {peak_mib} | {answer} |\n");
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
        assert_eq!(median([0.06].into_iter()), 0.1);
        assert_eq!(median([].into_iter()), 0.0);
    }

    #[test]
    fn cases_are_measured_in_turn() {
        let workspace = Workspace::open().expect("this one");
        let log = tempfile::NamedTempFile::new().expect("a file");
        let case = |name: &str| Case {
            name: name.to_owned(),
            program: "sh".into(),
            args: vec![
                "-c".into(),
                format!("echo {name} >> {}; echo at {name}", log.path().display()),
            ],
        };
        let measured = measure_all(&workspace, &[case("a"), case("b")], 2).expect("both run");
        let order = std::fs::read_to_string(log.path()).expect("written");
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
            corpus: "12 files".into(),
            cores: 2,
            runs: 5,
            cases: vec![Measured {
                name: "rare".into(),
                command: "terret call".into(),
                answer: "3 of 12 | all".into(),
                wall_ms: 12.5,
                cpu_ms: 20.0,
                peak_mib: 8.1,
            }],
        };
        expect![[r#"
            12 files; 2 cores; medians of 5 runs in turn, after one more

            | case | wall ms | user+sys ms | peak MiB | answer |
            | --- | ---: | ---: | ---: | --- |
            | rare | 12.5 | 20 | 8.1 | 3 of 12 \| all |
        "#]]
        .assert_eq(&markdown(&outcome));
    }
}
