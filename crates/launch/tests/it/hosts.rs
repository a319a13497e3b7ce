//! Nothing is left of a host's children, whatever ends the host.
//!
//! The host is this test binary, started again to run the one test that is a host.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use terret_testkit::{Bin, Mark};

use crate::{SOON, misbehaving, wait_for};

const SCENARIO: &str = "TERRET_TEST_HOST";

/// The host; where the variable is not set, nothing.
#[test]
#[expect(unsafe_code, reason = "forks without an exec, as some libraries do")]
fn as_a_host() {
    let Ok(scenario) = std::env::var(SCENARIO) else {
        return;
    };
    // What is left is for the test to see.
    let mark = std::mem::ManuallyDrop::new(Mark::inherited());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (ending, steps) = scenario.split_once(": ").unwrap();
    if ending == "repeat" {
        return repeat(&runtime, &mark, steps);
    }
    let children: Vec<_> = (0..2)
        .map(|_| runtime.block_on(misbehaving(&mark, steps).spawn()).unwrap())
        .collect();
    if ending == "forked" {
        // SAFETY: the new process only waits.
        if unsafe { libc::fork() } == 0 {
            loop {
                std::thread::park();
            }
        }
    }
    match ending {
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        "forget" => std::mem::forget(children),
        "panic" => panic!("as it was told"),
        _ => loop {
            std::thread::park();
        },
    }
}

/// Many children one after the other: what the first one has taken is all that is ever taken.
fn repeat(runtime: &tokio::runtime::Runtime, mark: &Mark, steps: &str) {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let once = || {
        let child = runtime.block_on(misbehaving(mark, steps).spawn()).unwrap();
        let gone = child.gone();
        drop(child);
        runtime.block_on(gone);
    };
    once();
    wait_for("its thread has ended", || threads() <= 3 + 2);
    let (first_open, first_threads) = (open(), threads());
    for _ in 0..30 {
        once();
    }
    wait_for("all descriptors are closed", || open() <= first_open);
    wait_for("all threads have ended", || threads() <= first_threads);
    assert!(crate::children_of(std::process::id()).is_empty());
}

#[test]
fn a_host_of_many_children_uses_nothing_up() {
    for steps in ["exit 0", "hang", "complain 100000 | daemon [ hang ] | hang"] {
        let mark = Mark::new();
        let _ = host(&mark, &format!("repeat: {steps}")).run().success();
    }
}

fn host(mark: &Mark, scenario: &str) -> Bin {
    Bin::new(std::env::current_exe().unwrap())
        .args(["--exact", "hosts::as_a_host", "--nocapture"])
        .env(SCENARIO, scenario)
        .env(mark.name(), mark.value())
        .deadline(SOON)
}

const ENDS_WITH_ITS_INPUT: &str = "await-end";
const STUBBORN: &str = "ignore term | ignore hup | hang";
const WITH_DAEMONS: &str =
    "daemon [ ignore term | hang ] | start [ leave-session | spin ] | multiply 3 | hang";

#[test]
fn killed_it_leaves_nothing() {
    // The host, its two guards, and twice the program with what it has started.
    for (steps, processes) in [
        (ENDS_WITH_ITS_INPUT, 5),
        (STUBBORN, 5),
        ("spin", 5),
        (WITH_DAEMONS, 11),
    ] {
        let mark = Mark::new();
        let bin = host(&mark, &format!("hang: {steps}"));
        let live = bin.start();
        mark.await_count(processes, SOON);
        kill(live.id());
        mark.await_count(0, SOON);
    }
}

#[test]
fn a_fork_of_the_host_that_lives_on_does_not_keep_them() {
    let mark = Mark::new();
    let bin = host(&mark, &format!("forked: {STUBBORN}"));
    let live = bin.start();
    mark.await_count(6, SOON);
    kill(live.id());
    mark.await_count(1, SOON);
}

#[test]
fn ended_by_itself_it_leaves_nothing() {
    for ending in ["exit", "abort", "panic", "forget"] {
        let mark = Mark::new();
        let outcome = host(&mark, &format!("{ending}: {WITH_DAEMONS}")).run();
        assert_eq!(
            outcome.status.success(),
            ["exit", "forget"].contains(&ending),
            "{outcome}"
        );
        mark.await_count(0, SOON);
    }
}

#[test]
fn killed_at_any_moment_it_leaves_nothing() {
    for moment in 0..20 {
        let mark = Mark::new();
        let bin = host(&mark, &format!("hang: {WITH_DAEMONS}"));
        let live = bin.start();
        std::thread::sleep(Duration::from_millis(moment * 3));
        kill(live.id());
        mark.await_count(0, SOON);
    }
}

fn kill(process: u32) {
    let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}
