//! Running a program: what it gets, what comes back, and that nothing stays behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use terret_testkit::{Bin, Outcome, Tree};

fn sh(script: &str) -> Bin {
    Bin::new("sh").args(["-c", script])
}

fn panics(run: impl FnOnce() -> Outcome) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it should have failed");
    panic.downcast_ref::<String>().cloned().expect("a message")
}

#[test]
fn text_goes_in_and_comes_out() {
    let outcome = sh("cat; echo said >&2; exit 3")
        .stdin("given")
        .run()
        .exits(3);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("given", "said\n")
    );
}

#[test]
fn the_environment_is_the_known_one() {
    let bin = sh("env | cut -d= -f1 | sort").env("EXTRA", "1");
    let names = bin.run().success().stdout;
    for name in [
        "EXTRA",
        "HOME",
        "NO_COLOR",
        "PATH",
        "TMPDIR",
        "XDG_STATE_HOME",
    ] {
        assert!(names.lines().any(|line| line == name), "{name} in {names}");
    }
    assert!(!names.contains("CARGO"), "{names}");
    let home = bin.home().to_str().expect("plain text").to_owned();
    let state = sh("echo $HOME $XDG_STATE_HOME")
        .env("HOME", &home)
        .run()
        .success()
        .stdout;
    assert!(state.starts_with(&format!("{home} ")), "{state}");
}

#[test]
fn it_runs_where_it_is_told() {
    let tree = Tree::new("//- /here.txt\n");
    assert_eq!(
        sh("ls").cwd(tree.root()).run().success().stdout,
        "here.txt\n"
    );
}

#[test]
fn much_text_both_ways_does_not_block() {
    let much = "0123456789abcdef".repeat(64 * 1024);
    let outcome = sh("cat; head -c 1000000 /dev/zero >&2")
        .stdin(&much)
        .run()
        .success();
    assert_eq!(
        (outcome.stdout.len(), outcome.stderr.len()),
        (much.len(), 1_000_000)
    );
}

#[test]
fn unread_input_is_no_failure() {
    sh("exit 0").stdin("x".repeat(1_000_000)).run().success();
}

#[test]
fn json_is_read_whole_or_by_line() {
    let lines = sh(r#"echo '{"a":1}'; echo '[2]'"#)
        .run()
        .success()
        .json_lines();
    assert_eq!(lines, [serde_json::json!({"a": 1}), serde_json::json!([2])]);
    assert_eq!(sh("echo 4").run().success().json(), 4);
}

#[test]
fn a_wrong_end_says_what_was_written() {
    let message = panics(|| sh("echo out; echo err >&2; exit 1").run().success());
    assert!(
        message.contains("out\n") && message.contains("err\n"),
        "{message}"
    );
}

#[test]
fn past_the_deadline_the_whole_group_dies() {
    let script = "(sleep 1; echo > late) & echo begun; wait";
    let bin = sh(script).deadline(Duration::from_millis(300));
    let message = panics(|| bin.run());
    assert!(
        message.contains("was killed") && message.contains("begun"),
        "{message}"
    );
    std::thread::sleep(Duration::from_secs(1));
    assert!(
        !bin.home().join("late").exists(),
        "the child of the child is alive"
    );
}

#[test]
fn a_pipe_that_outlives_the_program_does_not_outlive_the_deadline() {
    let begun = Instant::now();
    let message = panics(|| {
        sh("sleep 60 & echo done")
            .deadline(Duration::from_millis(500))
            .run()
    });
    assert!(
        message.contains("was killed") && message.contains("done"),
        "{message}"
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
}
