//! That the child misbehaves as it is told.

use std::time::Duration;

use terret_testkit::{Bin, Mark, misbehave, state_of};

const SOON: Duration = Duration::from_secs(30);

fn child(mark: &Mark, steps: &str) -> Bin {
    let bin = Bin::new(misbehave::program()).env(misbehave::VARIABLE, "1");
    bin.env(mark.name(), mark.value())
        .args(misbehave::script(steps))
}

#[test]
fn it_speaks_and_ends_as_told() {
    let mark = Mark::new();
    for (steps, code, stdout, stderr) in [
        ("", 0, "", ""),
        ("say two words | exit 3", 3, "two words\n", ""),
        (
            "write a\\r\\nb | mourn it | complain 3",
            0,
            "a\r\nb",
            "it\n..\n",
        ),
        ("close-output | say unheard", 0, "", ""),
        ("await-line | say got", 0, "got\n", ""),
        ("echo", 0, "in\nput", ""),
        ("await-end | exit 4", 4, "", ""),
    ] {
        let outcome = child(&mark, steps).stdin("in\nput").run().exits(code);
        assert_eq!(
            (outcome.stdout.as_str(), outcome.stderr.as_str()),
            (stdout, stderr),
            "{steps}"
        );
    }
}

#[test]
fn what_it_starts_has_its_mark() {
    let mark = Mark::new();
    let steps = "ignore term | start [ hang ] | daemon [ start [ hang ] | hang ] | multiply 3 | say up | hang";
    let bin = child(&mark, steps);
    let mut live = bin.start();
    assert_eq!(live.line(), "up");
    mark.await_count(5, SOON);
    let one = mark.processes()[0];
    assert_ne!(state_of(one), None);
    drop(live);
    let left = mark.processes();
    assert!(
        (1..=5).contains(&left.len()),
        "daemons are out of a group's reach: {left:?}"
    );
}
