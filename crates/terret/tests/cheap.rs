//! Hundreds of runs live in one process: a run takes nothing from the system until a tool works.
//!
//! A test binary of its own, since it counts what the whole process has.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use terret::Run;
use terret::tiers::Tier;

/// Threads, open files, and resident memory in KiB.
fn taken() -> (usize, usize, u64) {
    let count = |folder: &str| fs::read_dir(folder).unwrap().count();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let memory = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let memory = memory.trim().trim_end_matches(" kB").parse().unwrap();
    (count("/proc/self/task"), count("/proc/self/fd"), memory)
}

#[test]
fn a_thousand_runs_take_no_thread_and_no_file() {
    let run = |number: usize| {
        let workspace = format!("no/such/folder/{number}");
        let servers = terret::lsp::Options::default();
        Run::builder(workspace).lsp(servers).build().unwrap()
    };
    // What the first run sets up once for all is not counted.
    drop(run(0));
    let before = taken();
    let runs: Vec<Run> = (0..1000).map(run).collect();
    let surfaces: Vec<_> = runs.iter().map(|run| run.surface(Tier::Exec)).collect();
    let after = taken();
    assert!(surfaces.iter().all(|surface| !surface.is_empty()));
    assert_eq!(
        (after.0, after.1),
        (before.0, before.1),
        "threads, open files"
    );
    let each = after.2.saturating_sub(before.2) / 1000;
    assert!(each < 64, "{each} KiB for each run");
}
