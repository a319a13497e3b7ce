//! Tests with real processes, one theme a file. They wait for what happens; a deadline is there for the case that it does
//! not.
#![allow(clippy::unwrap_used, reason = "what helps tests fails as tests do")]

mod children;
mod detect;
mod ends;
mod errors;
mod hosts;
mod probes;
mod stop;
mod streams;

use std::time::Duration;

use terret_launch::{Command, Environment};
use terret_testkit::{Mark, misbehave};

/// The upper bound of every wait.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// The child that misbehaves.
pub(crate) fn misbehaving(mark: &Mark, steps: &str) -> Command {
    let environment = Environment::empty()
        .set(misbehave::VARIABLE, "1")
        .set(mark.name(), mark.value());
    Command::new(misbehave::program(), "/", &environment).args(misbehave::script(steps))
}

/// What another process is the child of.
pub(crate) fn parent_of(process: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1;
    fields.split(' ').nth(1).unwrap().parse().unwrap()
}

pub(crate) fn children_of(process: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let list = list.unwrap_or_default();
    list.split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

/// Until `done` is true, or the test has failed.
#[track_caller]
pub(crate) fn wait_for(what: &str, done: impl Fn() -> bool) {
    let end = std::time::Instant::now() + SOON;
    while !done() {
        assert!(std::time::Instant::now() < end, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
