//! The command `terret`: one process is one run.
//!
//! What it promises to scripts (commands, exit codes, line formats) is in `docs/tools/cli.md`.

mod args;
mod call;
mod config;
mod doctor;
mod exit;
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

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.write_global();
    let done = match cli.command {
        Command::Tools(args) => host::workspace(cli.directory).and_then(|at| tools::run(at, &args)),
        Command::Call(args) => host::workspace(cli.directory).and_then(|at| call::run(at, args)),
        Command::Session(args) => {
            host::workspace(cli.directory).and_then(|at| session::run(at, &args))
        }
        Command::Doctor(args) => {
            host::workspace(cli.directory).and_then(|at| doctor::run(&at, &args))
        }
        Command::Trust(args) => {
            host::workspace(cli.directory).and_then(|at| trust::run(&at, &args))
        }
    };
    exit::of(done)
}
