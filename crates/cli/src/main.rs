//! The command `terret`: one process is one run.
//!
//! What it promises to scripts (commands, exit codes, line formats) is in `docs/tools/cli.md`.

mod args;
mod call;
mod config;
mod doctor;
mod exit;
mod folders;
mod host;
mod images;
mod out;
mod paint;
mod progress;
mod reply;
mod session;
mod signals;
mod tools;
mod trust;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Cli, Command};
use host::Place;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.write_global();
    exit::of(run(cli))
}

fn run(cli: Cli) -> Result<ExitCode> {
    let place = Place::new(cli.directory, cli.trust)?;
    match cli.command {
        Command::Tools(args) => tools::run(&place, &args),
        Command::Call(args) => call::run(&place, args),
        Command::Session(args) => session::run(&place, &args),
        Command::Doctor(args) => doctor::run(&place, &args),
        Command::Trust(args) => trust::run(place.workspace(), &args),
    }
}
