//! What programs write where nobody reads, and what is kept of it.

use std::time::Duration;

use terret_launch::{ErrorKind, Input, Limits, Output};
use terret_testkit::Mark;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::{SOON, misbehaving};

#[tokio::test]
async fn a_flood_of_errors_does_not_keep_a_program_from_answering() {
    let mark = Mark::new();
    let command = misbehaving(&mark, "complain 4000000 | mourn last | echo");
    let mut child = command.spawn().await.unwrap();
    let (mut stdin, mut stdout) = (child.take_stdin().unwrap(), child.take_stdout().unwrap());
    stdin.write_all(b"question").await.unwrap();
    let mut answer = [0; 8];
    timeout(SOON, stdout.read_exact(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&answer, b"question");
    drop(stdin);
    timeout(SOON, child.gone()).await.unwrap();
    let tail = child.stderr_tail().unwrap();
    assert_eq!(
        (tail.total(), tail.bytes().len(), tail.lines(1).as_str()),
        (4_000_005, 64 * 1024, "last")
    );
}

#[test]
fn streams_are_drained_while_the_runtime_does_something_else() {
    let mark = Mark::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let command = misbehaving(&mark, "complain 1000000 | say done")
        .stdin(Input::Null)
        .stdout(Output::Drained(100));
    let child = runtime.block_on(command.spawn()).unwrap();
    crate::wait_for("it has ended", || child.exit().is_some());
    assert_eq!(child.stdout_tail().unwrap().lines(3), "done");
    assert_eq!(child.stderr_tail().unwrap().total(), 1_000_000);
}

#[tokio::test]
async fn whoever_hears_of_the_end_finds_the_last_words() {
    let mark = Mark::new();
    for round in 0..30 {
        let command = misbehaving(&mark, &format!("mourn boom | mourn {round} | exit 3"));
        let child = command.spawn().await.unwrap();
        timeout(SOON, child.exited()).await.unwrap();
        let program = terret_testkit::misbehave::program();
        let expected = format!(
            "`{}` exited with 3; its last words:\nboom\n{round}",
            program.display()
        );
        assert_eq!(child.last_words(5).unwrap(), expected);
    }
}

#[tokio::test]
async fn each_stream_is_handed_out_once() {
    let mark = Mark::new();
    let command = misbehaving(&mark, "echo").stderr(Output::Piped);
    let mut child = command.spawn().await.unwrap();
    assert!(child.take_stdin().is_some() && child.take_stdin().is_none());
    assert!(child.take_stdout().is_some() && child.take_stdout().is_none());
    assert!(child.take_stderr().is_some() && child.take_stderr().is_none());
    assert!(child.stdout_tail().is_none() && child.stderr_tail().is_none());
    let command = misbehaving(&mark, "echo")
        .stdin(Input::Null)
        .stdout(Output::Null);
    let mut child = command.spawn().await.unwrap();
    assert!(child.take_stdin().is_none() && child.take_stdout().is_none());
    assert!(timeout(SOON, child.gone()).await.unwrap().success());
}

#[tokio::test]
async fn a_run_keeps_the_first_of_what_is_printed() {
    let mark = Mark::new();
    let run = |steps: &str, bytes| {
        let command = misbehaving(&mark, steps).stdin(Input::Null);
        async move {
            command
                .run(&Limits::default().time(SOON).bytes(bytes))
                .await
                .unwrap()
        }
    };
    let printed = run("say hello | mourn why | exit 4", 3).await;
    assert_eq!(
        (printed.stdout(), printed.left_out(), printed.stderr()),
        (&b"hel"[..], 3, "why")
    );
    assert_eq!(printed.exit().code(), Some(4));
    let printed = run("daemon [ hang ] | say x", 1000).await;
    assert_eq!((printed.stdout(), printed.left_out()), (&b"x\n"[..], 0));
}

#[tokio::test]
async fn a_run_that_is_late_is_killed_with_all_it_started() {
    let mark = Mark::new();
    let command = misbehaving(
        &mark,
        "mourn waiting for a lock | ignore term | daemon [ hang ] | hang",
    );
    let error = command
        .run(&Limits::default().time(Duration::from_secs(1)))
        .await
        .unwrap_err();
    let ErrorKind::TimedOut { stderr, .. } = error.kind() else {
        panic!("{error}")
    };
    // It may not have come as far as saying so.
    assert!(["", "waiting for a lock"].contains(&stderr.as_str()));
    assert!(
        error
            .to_string()
            .contains("was not done after 1.0s and was killed"),
        "{error}"
    );
    mark.await_count(0, SOON);

    let command = misbehaving(&mark, "hang");
    assert!(
        timeout(Duration::from_millis(50), command.run(&Limits::default()))
            .await
            .is_err()
    );
    mark.await_count(0, SOON);
}
