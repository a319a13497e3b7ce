//! A server is killed at any moment, and so is its host.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terret_testkit::{Bin, Mark};

use super::{KNOWN, ONE, SOON, Session, check};

/// How many kills are tried; `cargo xtask soak kills` sets it.
const COUNT: &str = "TERRET_TEST_KILLS";
/// The first of their seeds.
const SEED: &str = "TERRET_TEST_SEED";
/// Where it is set, the test is the host of a server.
pub(super) const HOST: &str = "TERRET_TEST_HOST";

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// When a server dies, by the seed: at some message that it hears, or at some byte that it says.
fn death(seed: u64) -> Value {
    // SplitMix64.
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^= state >> 31;
    match state % 3 {
        0 => json!({ "die_at_message": 1 + (state >> 8) % 14 }),
        _ => json!({ "die_at_byte": 1 + (state >> 8) % 2000 }),
    }
}

#[tokio::test]
async fn a_server_may_be_killed_at_any_moment() {
    let (count, first) = (number(COUNT, 40), number(SEED, 1));
    println!("{SEED}={first} {COUNT}={count}");
    let mut killed = 0;
    for seed in first..first + count {
        let what = format!("{SEED}={seed}: {}", death(seed));
        let session = Session::new(ONE, &json!([death(seed), {}]));
        let begun = Instant::now();
        let mut failed = 0;
        let mut note = |answer: super::Answer, expected: &str| match answer {
            Ok(text) => assert!(text.contains(expected), "{what}: {text}"),
            // Only a start is not tried again.
            Err(text) => {
                assert!(text.contains("scripted did not start"), "{what}: {text}");
                failed += 1;
            }
        };
        note(session.hover().await, KNOWN);
        note(session.diagnostics().await, "no errors");
        session.write("a.words", "def one\n\nwrong one\n");
        note(
            session.ask("references", 1, "one").await,
            "a.words:3: wrong one",
        );
        note(session.diagnostics().await, "a.words:3 error this is wrong");
        note(session.rename(1, "one", "two").await, "a.words");
        note(session.ask("hover", 3, "wrong").await, "the word wrong");
        assert!(failed <= 1, "{what}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        killed += u64::from(session.log().starts().len() == 2);
        session.end().await;
    }
    assert!(killed * 2 > count, "only {killed} of {count} were killed");
}

/// The host; where the variable is not set, nothing.
#[tokio::test]
async fn as_a_host() {
    if std::env::var_os(HOST).is_none() {
        return;
    }
    let session = Session::new(ONE, &json!({ "stubborn": true }));
    check("it runs", &session.hover().await, Ok(KNOWN));
    println!("\nup");
    std::future::pending::<()>().await;
}

#[test]
fn a_server_does_not_outlive_its_host() {
    let mark = Mark::new();
    let host = Bin::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::as_a_host", "--nocapture"])
        .env(mark.name(), mark.value())
        .env(HOST, "1");
    let mut live = host.start();
    while live.line() != "up" {}
    assert!(mark.processes().len() > 1);
    let process = Pid::from_raw(i32::try_from(live.id()).unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    mark.await_count(0, SOON);
}
