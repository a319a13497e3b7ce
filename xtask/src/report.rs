//! What ran, how it went, and how long it took; ends in the one line that says it all.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail};

/// How many passed, failed and were skipped. Its text form is the closing line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Totals {
    pub(crate) const PASSED: Totals = Totals {
        passed: 1,
        failed: 0,
        skipped: 0,
    };
    pub(crate) const FAILED: Totals = Totals {
        passed: 0,
        failed: 1,
        skipped: 0,
    };
    pub(crate) const SKIPPED: Totals = Totals {
        passed: 0,
        failed: 0,
        skipped: 1,
    };

    pub(crate) fn add(&mut self, other: Totals) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals {
            passed,
            failed,
            skipped,
        } = self;
        write!(out, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl FromStr for Totals {
    type Err = Error;

    fn from_str(line: &str) -> Result<Totals> {
        let mut totals = Totals::default();
        let parts = line.split(", ").map(|part| part.split_once(' '));
        let fields = [
            ("passed", &mut totals.passed),
            ("failed", &mut totals.failed),
            ("skipped", &mut totals.skipped),
        ];
        let mut parts = parts.fuse();
        for (name, field) in fields {
            let Some(Some((number, word))) = parts.next() else {
                bail!("no `{name}` in `{line}`")
            };
            if word != name {
                bail!("`{word}` in place of `{name}` in `{line}`");
            }
            *field = number
                .parse()
                .with_context(|| format!("`{number}` is not a number"))?;
        }
        match parts.next() {
            None => Ok(totals),
            Some(_) => bail!("more than totals in `{line}`"),
        }
    }
}

/// The steps of a task so far.
pub(crate) struct Report {
    begun: Instant,
    steps: Vec<Step>,
}

struct Step {
    name: String,
    totals: Totals,
    took: Duration,
    note: String,
}

impl Report {
    pub(crate) fn new() -> Report {
        Report {
            begun: Instant::now(),
            steps: Vec::new(),
        }
    }

    /// Runs a check, which counts as one. It gives the problems that it found, each a sentence.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce() -> Result<Vec<String>>) {
        self.step(name, || {
            let problems = check()?;
            for problem in &problems {
                println!("{problem}");
            }
            Ok(match problems.len() {
                0 => (Totals::PASSED, String::new()),
                count => (Totals::FAILED, format!("{count} problems")),
            })
        });
    }

    /// Runs a step that counts by itself and may leave a note. An error counts as a failure.
    pub(crate) fn step(&mut self, name: &str, step: impl FnOnce() -> Result<(Totals, String)>) {
        println!("\n==> {name}");
        let begun = Instant::now();
        let (totals, note) = step().unwrap_or_else(|error| {
            println!("{error:#}");
            (
                Totals::FAILED,
                format!("{error:#}")
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            )
        });
        let took = begun.elapsed();
        self.steps.push(Step {
            name: name.to_owned(),
            totals,
            took,
            note,
        });
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.steps.iter().for_each(|step| totals.add(step.totals));
        totals
    }

    /// Prints each step with its time, then the totals as the last line; whether nothing failed.
    pub(crate) fn close(self) -> bool {
        println!();
        for step in &self.steps {
            println!("{step}");
        }
        println!("{:>15.1} s  in all", self.begun.elapsed().as_secs_f64());
        let totals = self.totals();
        println!("\n{totals}");
        totals.failed == 0
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the words of the closing line: whoever counts by it must find it once.
        let verdict = match self.totals {
            Totals { failed: 1.., .. } => "FAILED",
            Totals {
                passed: 0,
                skipped: 1..,
                ..
            } => "skipped",
            _ => "ok",
        };
        let (name, seconds) = (&self.name, self.took.as_secs_f64());
        write!(out, "{verdict:<8}{seconds:>7.1} s  {name}")?;
        match self.note.as_str() {
            "" => Ok(()),
            note => write!(out, ": {note}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_reads_back() {
        let totals = Totals {
            passed: 12,
            failed: 0,
            skipped: 3,
        };
        assert_eq!(totals.to_string(), "12 passed, 0 failed, 3 skipped");
        assert_eq!(
            totals.to_string().parse::<Totals>().expect("its own form"),
            totals
        );
        for other in [
            "",
            "12 passed",
            "0 failed, 12 passed, 3 skipped",
            "1 passed, 0 failed, 0 skipped, 1 x",
        ] {
            assert!(other.parse::<Totals>().is_err(), "{other}");
        }
    }

    #[test]
    fn problems_and_errors_fail() {
        let mut report = Report::new();
        report.check("good", || Ok(Vec::new()));
        report.check("bad", || Ok(vec!["a".to_owned(), "b".to_owned()]));
        report.check("worse", || bail!("not to be done"));
        report.step("none", || Ok((Totals::SKIPPED, "why".to_owned())));
        assert_eq!(
            report.totals(),
            Totals {
                passed: 1,
                failed: 2,
                skipped: 1
            }
        );
        assert!(!report.close());
    }

    #[test]
    fn no_step_reads_as_the_closing_line() {
        let mut report = Report::new();
        report.step("tests", || {
            Ok((
                Totals {
                    passed: 3,
                    failed: 0,
                    skipped: 1,
                },
                String::new(),
            ))
        });
        for step in &report.steps {
            assert!(step.to_string().parse::<Totals>().is_err(), "{step}");
        }
    }
}
