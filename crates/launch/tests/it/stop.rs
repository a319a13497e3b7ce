//! The steps by which a child is stopped.

use std::time::Duration;

use rustix::process::{Pid, kill_process};
use terret_launch::{ErrorKind, Ladder, Rung, Signal};
use terret_testkit::Mark;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::ends::up;
use crate::{SOON, parent_of};

/// Short where a step is there to fail.
const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn each_program_ends_at_its_rung() {
    let patient = Ladder::default()
        .ask(SOON)
        .close(SOON)
        .terminate(SOON)
        .kill(SOON);
    for (steps, ladder, rung, ending) in [
        (
            "say up | await-line | exit 7",
            patient,
            Rung::Asked,
            "exited with 7",
        ),
        (
            "say up | await-end | exit 7",
            patient.ask(SHORT),
            Rung::Closed,
            "exited with 7",
        ),
        (
            "say up | hang",
            patient.ask(SHORT).close(SHORT),
            Rung::Terminated,
            "was killed by SIGTERM",
        ),
        (
            "start [ leave-session | ignore term | hang ] | say up | hang",
            patient.ask(SHORT).close(SHORT),
            Rung::Terminated,
            "was killed by SIGTERM",
        ),
        (
            "ignore term | daemon [ hang ] | say up | spin",
            patient.ask(SHORT).close(SHORT).terminate(SHORT),
            Rung::Killed,
            "was killed by SIGKILL",
        ),
    ] {
        let mark = Mark::new();
        let mut child = up(&mark, steps).await;
        let mut stdin = child.take_stdin().unwrap();
        let ask = async move {
            stdin.write_all(b"bye\n").await.unwrap();
            // The asking itself hangs: only its bound ends it.
            std::future::pending::<()>().await;
        };
        let stopped = timeout(SOON, child.stop(ask, &ladder))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (stopped.rung(), stopped.exit().to_string().as_str()),
            (rung, ending),
            "{steps}"
        );
        assert_eq!(mark.processes(), [] as [u32; 0], "{steps}");
        // Again is no error, and no signal to whoever has the number now.
        let again = child.stop(async {}, &ladder).await.unwrap();
        assert_eq!((again.rung(), again.exit()), (Rung::Ended, stopped.exit()));
        assert_eq!(child.kill().await.unwrap(), stopped.exit());
    }
}

#[tokio::test]
async fn asking_that_is_over_does_not_use_up_its_time() {
    let mark = Mark::new();
    let mut child = up(&mark, "say up | await-end").await;
    let ladder = Ladder::default().ask(Duration::MAX);
    let stopped = timeout(SOON, child.stop(async {}, &ladder))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.rung(), Rung::Closed);
}

#[tokio::test]
async fn input_is_closed_under_a_writer_that_is_stuck() {
    let mark = Mark::new();
    let mut child = up(&mark, "say up | hang").await;
    let mut stdin = child.take_stdin().unwrap();
    let writer = tokio::spawn(async move { stdin.write_all(&vec![b'x'; 10_000_000]).await });
    let ladder = Ladder::default().close(SHORT);
    let stopped = timeout(SOON, child.stop(async {}, &ladder))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.rung(), Rung::Terminated);
    let error = timeout(SOON, writer).await.unwrap().unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_stop_that_is_cancelled_lets_go_of_nothing() {
    let mark = Mark::new();
    let mut child = up(&mark, "ignore term | say up | hang").await;
    let ladder = Ladder::default()
        .ask(SHORT)
        .close(SHORT)
        .terminate(Duration::MAX);
    let cut = timeout(SHORT * 5, child.stop(std::future::pending(), &ladder)).await;
    assert!(cut.is_err());
    assert_eq!(child.exit(), None);
    assert_eq!(mark.processes(), [child.id()]);
    drop(child);
    mark.await_count(0, SOON);
}

#[tokio::test]
async fn signals_reach_the_group() {
    let mark = Mark::new();
    let mut child = up(&mark, "start [ hang ] | ignore int | say up | hang").await;
    mark.await_count(2, SOON);
    child.signal(Signal::Interrupt);
    mark.await_count(1, SOON);
    assert_eq!(child.exit(), None);
    child.signal(Signal::Kill);
    assert_eq!(
        timeout(SOON, child.exited()).await.unwrap().to_string(),
        "was killed by SIGKILL"
    );
    timeout(SOON, child.kill()).await.unwrap().unwrap();
    child.signal(Signal::Terminate);
}

#[tokio::test]
async fn one_that_is_not_gone_in_time_is_told() {
    let mark = Mark::new();
    let mut child = up(&mark, "say up | hang").await;
    let guard = i32::try_from(parent_of(child.id())).unwrap();
    let guard = Pid::from_raw(guard).unwrap();
    // A guard that is stopped stands for a process that the kernel holds.
    kill_process(guard, rustix::process::Signal::STOP).unwrap();
    let ladder = Ladder::default()
        .ask(SHORT)
        .close(SHORT)
        .terminate(SHORT)
        .kill(SHORT);
    let error = child.stop(async {}, &ladder).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NotKilled { id } if *id == child.id()),
        "{error}"
    );
    kill_process(guard, rustix::process::Signal::CONT).unwrap();
    timeout(SOON, child.gone()).await.unwrap();
}
