//! The gate for real tools, seen from outside: this test runs itself in other environments.

use std::fs;

use terret_testkit::{Bin, Outcome, REQUIRE_TOOLS, SKIP_LOG, require_tool};

/// Set by the tests below, so that the probe does nothing when the suite runs it by itself.
const PROBE: &str = "TERRET_TEST_PROBE";

#[test]
fn probe() {
    let Ok(tool) = std::env::var(PROBE) else {
        return;
    };
    let Some(path) = require_tool(&tool) else {
        return;
    };
    assert!(path.ends_with(tool));
}

fn run_probe(bin: impl FnOnce(Bin) -> Bin) -> Outcome {
    let this = std::env::current_exe().expect("a running test has a file");
    bin(Bin::new(this).args(["--exact", "probe", "--test-threads=2"])).run()
}

#[test]
fn a_missing_tool_is_skipped_aloud() {
    let log = tempfile::NamedTempFile::new().expect("a temporary file");
    let outcome = run_probe(|bin| {
        bin.env(PROBE, "no-such-tool")
            .env(SKIP_LOG, log.path())
            .env("CARGO_PKG_NAME", "pack")
    });
    assert!(
        outcome
            .success()
            .stderr
            .contains("skipped: pack probe needs no-such-tool")
    );
    let logged = fs::read_to_string(log.path()).expect("it is there");
    assert_eq!(logged, "pack\tprobe\tno-such-tool\n");
}

#[test]
fn a_missing_tool_fails_where_tools_are_required() {
    let outcome =
        run_probe(|bin| bin.env(PROBE, "no-such-tool").env(REQUIRE_TOOLS, "1")).exits(101);
    assert!(outcome.stdout.contains("needs no-such-tool"), "{outcome}");
}

#[test]
fn a_tool_that_is_there_is_used() {
    let outcome = run_probe(|bin| bin.env(PROBE, "sh").env(REQUIRE_TOOLS, "1")).success();
    assert!(!outcome.stderr.contains("skipped"), "{outcome}");
}
