//! The tasks of this repository: `cargo xtask TASK`.
//!
//! Each check is a function over text or over a made-up workspace, so that its own tests can show
//! that it fails when it should.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a task prints is what it is run for"
)]

mod bench;
mod boundaries;
mod catalogue;
mod diff;
mod libtest;
mod lint;
mod package;
mod readme;
mod registry;
mod report;
mod servers;
mod shell;
mod soak;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::report::Report;
use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The tasks of this repository.")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs everything that continuous integration runs
    Test {
        /// Fail where a tool is missing, and want a clean tree, as with CI=true
        #[arg(long)]
        ci: bool,
    },
    /// Runs rustfmt, clippy, rustdoc and the checks of manifests, sources and links
    Lint,
    /// Checks which crate may depend on which
    Boundaries,
    /// Runs the two commands of README.md in a fresh clone of the committed state
    Readme,
    /// Measures a family of tools: CPU, wall time and memory of whole commands
    Bench {
        /// Which family
        family: bench::Family,
        /// How often each command runs, after once for warming up
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
        runs: u16,
        #[command(flatten)]
        then: Then,
    },
    /// Runs patterns by Terret and by `ast-grep`; fails on a difference that has no known reason
    DiffStructural {
        /// The languages to compare; all of them if none is named
        languages: Vec<String>,
        /// Take about so many MiB of each tree in place of all of it
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        mib: Option<u64>,
        /// Run only the patterns that had differences without a reason when the figures were saved
        #[arg(long)]
        open: bool,
        /// Write the figures to docs/benchmarks.md
        #[arg(long)]
        save: bool,
    },
    /// Runs proofs that take long, of which `test` runs a part or nothing
    Soak {
        /// Which; all of them if none is named
        proofs: Vec<soak::Proof>,
        /// Write the figures of those that have some to docs
        #[arg(long)]
        save: bool,
    },
    /// Installs the language servers that tests talk with, and sees that they work
    Servers {
        /// Which programs; all of them if none is named
        names: Vec<String>,
        /// Fail where one can't be had, as with CI=true
        #[arg(long)]
        require: bool,
        /// Check those anew, too, that are known to work
        #[arg(long)]
        check: bool,
    },
    /// Checks that the tests named in docs/catalogue exist
    Catalogue,
}

/// What `bench` does in place of printing the tables of what it measured.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Then {
    /// Print JSON in place of tables
    #[arg(long)]
    json: bool,
    /// Write the JSON to docs/benchmarks/ and the tables to docs/benchmarks.md
    #[arg(long)]
    save: bool,
    /// Measure nothing: make the tables of docs/benchmarks.md anew from the JSON
    #[arg(long)]
    redo: bool,
    /// Measure nothing: fail if the tables are not what the JSON gives, or lack a row
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(Args::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went well; an error is what kept the task from being done.
fn run(task: Task) -> Result<bool> {
    let workspace = Workspace::open()?;
    let mut report = Report::new();
    match task {
        Task::Test { ci } => {
            test::run(workspace, ci || in_ci(), &mut report)?;
        }
        Task::Lint => lint::run(&workspace, &mut report),
        Task::Boundaries => report.check("boundaries", || boundaries::run(&workspace)),
        Task::Catalogue => catalogue::run(&workspace, &mut report)?,
        Task::Readme => {
            readme::run(&workspace)?;
            return Ok(true);
        }
        Task::DiffStructural {
            languages,
            mib,
            open,
            save,
        } => {
            let options = diff::Options {
                mib,
                languages,
                open,
                save,
            };
            let unexplained = diff::run(&workspace, &options)?;
            diff::show(&unexplained);
            return Ok(unexplained.is_empty());
        }
        Task::Servers {
            names,
            require,
            check,
        } => {
            let options = servers::Options {
                names,
                require: require || in_ci(),
                check,
            };
            report.step("servers", || servers::run(&workspace, &options));
        }
        Task::Soak { proofs, save } => soak::run(&workspace, &proofs, save, &mut report),
        Task::Bench { family, runs, then } => {
            let problems = bench::run(&workspace, family, runs, then.chosen())?;
            problems.iter().for_each(|problem| println!("{problem}"));
            return Ok(problems.is_empty());
        }
    }
    Ok(report.close())
}

/// Whether nobody is there to read what is missing.
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

impl Then {
    fn chosen(&self) -> bench::Then {
        match self {
            Then { json: true, .. } => bench::Then::Json,
            Then { save: true, .. } => bench::Then::Save,
            Then { redo: true, .. } => bench::Then::Redo,
            Then { check: true, .. } => bench::Then::Check,
            _ => bench::Then::Table,
        }
    }
}
