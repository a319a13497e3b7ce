//! What checks a whole project: the commands of its languages, each a file of data in `checkers/`.

mod find;
mod parse;
mod run;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::diagnostic::{Diagnostic, Severity};
use crate::ops::{Context, OpError};
use find::Applicable;
use parse::Format;

/// The data of the checkers, in the order in which they run: of a group the better one goes first.
macro_rules! shipped {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../checkers/", $id, ".toml")))),*]
    };
}

const SHIPPED: &[(&str, &str)] = shipped![
    "cargo",
    "go-build",
    "go-vet",
    "tsc",
    "pyright",
    "basedpyright",
    "ty",
    "mypy",
    "dart",
    "clangd",
    "eslint",
    "ruff",
];

/// A command that checks a project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checker {
    /// Its name for people.
    name: String,
    /// The names of its program; the first that is found is taken.
    programs: Vec<String>,
    /// Whether the project's own goes first.
    #[serde(default)]
    local: bool,
    /// Whether only the project's own will do.
    #[serde(default)]
    own: bool,
    /// Whether the program may have a version behind its name.
    #[serde(default)]
    versioned: bool,
    /// Where else to look for it.
    #[serde(default)]
    folders: Vec<String>,
    /// What it is started with.
    args: Vec<String>,
    /// What it is started with in some projects.
    #[serde(default)]
    instead: Option<Instead>,
    /// How its output is read.
    format: Format,
    /// Who says what it finds, where its output does not tell.
    #[serde(default)]
    source: String,
    /// The exit codes that mean that it has found problems; any other but 0 means that it has failed.
    found: Vec<i32>,
    /// It tells of errors, and not of warnings.
    #[serde(default)]
    errors_only: bool,
    /// It looks at a file at a time: those that the first of these compilation databases lists.
    #[serde(default)]
    commands: Vec<String>,
    /// Of a group one runs.
    #[serde(default)]
    group: Option<String>,
    /// That one of these is there tells that the project has chosen it of its group.
    #[serde(default)]
    chosen: Vec<Sign>,
    /// It is for a folder where one of these is.
    markers: Vec<Sign>,
    /// What a person does to get it.
    install: String,
}

/// Other arguments where a file of the project holds a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Instead {
    file: String,
    holds: String,
    args: Vec<String>,
}

/// A file, or with `#` a table in a file of TOML.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
struct Sign {
    file: String,
    table: Option<String>,
}

impl From<String> for Sign {
    fn from(text: String) -> Self {
        match text.split_once('#') {
            Some((file, table)) => Self {
                file: file.to_owned(),
                table: Some(table.to_owned()),
            },
            None => Self {
                file: text,
                table: None,
            },
        }
    }
}

fn shipped() -> &'static [Checker] {
    static CHECKERS: LazyLock<Vec<Checker>> = LazyLock::new(|| {
        let read = |(_, text): &(_, &str)| toml::from_str(text).expect("a test reads all of them");
        SHIPPED.iter().map(read).collect()
    });
    &CHECKERS
}

/// What the checkers of a project say.
#[derive(Debug)]
pub(crate) struct Report {
    /// The worst first, then by file and place.
    pub(crate) found: Vec<(PathBuf, Diagnostic)>,
    pub(crate) checked: Vec<Checked>,
    /// Folders with projects of their own that were not looked at, for there are too many.
    pub(crate) passed_over: usize,
    /// There are too many folders to know whether there are more projects.
    pub(crate) cut: bool,
}

/// How a checker fared.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) name: &'static str,
    pub(crate) root: PathBuf,
    pub(crate) outcome: Outcome,
    /// It tells of errors, and not of warnings.
    pub(crate) errors_only: bool,
    /// What it was about, if that is not the whole project.
    pub(crate) of: Option<String>,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done, and has found so many problems.
    Done(usize),
    /// It cannot tell all; so many problems it has found.
    Failed { why: String, found: usize },
    /// There is none, and why.
    Missing(String),
}

/// Why a project was not checked.
#[derive(Clone, Debug)]
pub(crate) enum Unchecked {
    /// It may not run what the project brings.
    Untrusted(String),
    /// It is no project that a checker is known for; what was looked for.
    NoProject { markers: Vec<String> },
    /// None of the checkers can be started.
    Missing(Vec<Checked>),
    /// None has anything to tell, and not all are missing.
    Failed(Vec<Checked>),
}

impl Context<'_> {
    /// What the project's own checkers say about it. Safe to cancel: the one that runs is killed.
    pub(crate) async fn checks(&self) -> Result<Report, OpError> {
        let shared = Arc::clone(&self.supervisor.shared);
        let what = "the project's checkers, which run code of the project, are not started";
        let trusted = shared.trust().check(what);
        trusted.map_err(|untrusted| Unchecked::Untrusted(untrusted.to_string()))?;
        let found = {
            let shared = Arc::clone(&shared);
            let find = move || find::applicable(shipped(), shared.workspace(), shared.detector());
            tokio::task::spawn_blocking(find)
        };
        let found = match found.await {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        let mut report = Report {
            found: Vec::new(),
            checked: Vec::new(),
            passed_over: found.passed_over,
            cut: found.cut,
        };
        for applicable in found.applicable {
            report.add(self.check(&applicable).await);
        }
        report.finish()?;
        Ok(report)
    }

    async fn check(&self, applicable: &Applicable) -> (Checked, Vec<(PathBuf, Diagnostic)>) {
        let checker = applicable.checker;
        let mut checked = Checked {
            name: &checker.name,
            root: applicable.root.clone(),
            outcome: Outcome::Done(0),
            errors_only: checker.errors_only,
            of: None,
        };
        let program = match &applicable.program {
            Ok(program) => program,
            Err(why) => {
                checked.outcome = Outcome::Missing(why.clone());
                return (checked, Vec::new());
            }
        };
        (self.progress)(&format!("running {}", checker.name));
        let ran = run::run(&self.supervisor.shared, applicable, program).await;
        checked.of = ran.of;
        let found = in_order(ran.found);
        let count = found.iter().filter(|(_, found)| matters(found)).count();
        checked.outcome = match ran.failed {
            None => Outcome::Done(count),
            Some(why) => Outcome::Failed { why, found: count },
        };
        (checked, found)
    }
}

/// Errors and warnings are what is told.
pub(crate) fn matters(found: &Diagnostic) -> bool {
    found.severity <= Severity::Warning
}

/// The worst first, then by file and place, and each once: a file may be in several targets, and two checkers know some of
/// the same.
fn in_order(mut found: Vec<(PathBuf, Diagnostic)>) -> Vec<(PathBuf, Diagnostic)> {
    found.sort_by(|(a_path, a), (b_path, b)| {
        let a_key = (a.severity, a_path, a.range.start, &a.message);
        a_key.cmp(&(b.severity, b_path, b.range.start, &b.message))
    });
    let mut known = std::collections::HashSet::new();
    found.retain(|(path, found)| {
        known.insert((path.clone(), found.range.start, found.message.clone()))
    });
    found
}

impl Report {
    fn add(&mut self, (checked, found): (Checked, Vec<(PathBuf, Diagnostic)>)) {
        self.checked.push(checked);
        self.found.extend(found);
    }

    /// Puts it in order; an error where there is nothing to tell.
    fn finish(&mut self) -> Result<(), Unchecked> {
        self.found = in_order(std::mem::take(&mut self.found));
        let says_something = |checked: &Checked| match checked.outcome {
            Outcome::Done(_) => true,
            Outcome::Failed { found, .. } => found > 0,
            Outcome::Missing(_) => false,
        };
        if self.checked.iter().any(says_something) {
            return Ok(());
        }
        let checked = std::mem::take(&mut self.checked);
        let is_missing = |checked: &Checked| matches!(checked.outcome, Outcome::Missing(_));
        Err(match checked.iter().all(is_missing) {
            _ if checked.is_empty() => Unchecked::NoProject {
                markers: markers(shipped()),
            },
            true => Unchecked::Missing(checked),
            false => Unchecked::Failed(checked),
        })
    }
}

/// All that tells a project, each once.
fn markers(checkers: &[Checker]) -> Vec<String> {
    let mut markers = Vec::new();
    for sign in checkers.iter().flat_map(|checker| &checker.markers) {
        if !markers.contains(&sign.file) {
            markers.push(sign.file.clone());
        }
    }
    markers
}

#[cfg(test)]
mod tests;
