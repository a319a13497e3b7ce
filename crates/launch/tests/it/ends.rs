//! Nothing is left of a child, however it ends.

use terret_launch::Child;
use terret_testkit::{Mark, state_of};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

use crate::{SOON, children_of, misbehaving, parent_of, wait_for};

/// Starts it, and waits for its first line.
pub(crate) async fn up(mark: &Mark, steps: &str) -> Child {
    let mut child = misbehaving(mark, steps).spawn().await.unwrap();
    let mut output = BufReader::new(child.take_stdout().unwrap());
    let mut line = String::new();
    timeout(SOON, output.read_line(&mut line))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(line, "up\n", "{:?}", child.last_words(5));
    child
}

#[tokio::test]
async fn what_a_program_leaves_goes_with_it() {
    for (steps, ending) in [
        ("exit 0", "exited with 0"),
        ("exit 3", "exited with 3"),
        ("die segv", "was killed by SIGSEGV"),
        ("die kill", "was killed by SIGKILL"),
        ("start [ hang ] | exit 0", "exited with 0"),
        (
            "start [ ignore term | hang ] | start [ start [ hang ] | hang ] | exit 1",
            "exited with 1",
        ),
        (
            "start [ leave-session | hang ] | die kill",
            "was killed by SIGKILL",
        ),
        (
            "daemon [ ignore hup | ignore term | spin ] | await-line | exit 0",
            "exited with 0",
        ),
        ("multiply 4 | await-line | exit 0", "exited with 0"),
    ] {
        let mark = Mark::new();
        let mut child = misbehaving(&mark, steps).spawn().await.unwrap();
        drop(child.take_stdin());
        let exit = timeout(SOON, child.gone()).await.unwrap();
        assert_eq!(exit.to_string(), ending, "{steps}");
        assert_eq!(child.exit(), Some(exit));
        let alone = !["start", "daemon", "multiply"]
            .iter()
            .any(|step| steps.contains(step));
        assert!(!alone || exit.swept() == 0, "{steps}: {exit:?}");
        assert_eq!(mark.processes(), [] as [u32; 0], "{steps}");
    }
}

#[tokio::test]
async fn the_ones_that_had_to_be_killed_are_counted() {
    let mark = Mark::new();
    let mut child = up(&mark, "start [ leave-session | hang ] | start [ ignore term | hang ] | start [ hang ] | say up | hang").await;
    mark.await_count(4, SOON);
    let exit = timeout(SOON, child.kill()).await.unwrap().unwrap();
    assert_eq!(
        (exit.to_string().as_str(), exit.swept()),
        ("was killed by SIGKILL", 3)
    );
}

#[tokio::test]
async fn dropped_it_is_killed_with_all_descendants() {
    for steps in [
        "say up | hang",
        "ignore term | ignore hup | ignore int | say up | spin",
        "daemon [ start [ hang ] | hang ] | start [ leave-session | hang ] | say up | hang",
        "multiply 5 | say up | await-end | hang",
    ] {
        let mark = Mark::new();
        let child = up(&mark, steps).await;
        let (id, gone) = (child.id(), child.gone());
        let guard = parent_of(id);
        drop(child);
        timeout(SOON, gone).await.unwrap();
        assert_eq!(mark.processes(), [] as [u32; 0], "{steps}");
        assert_eq!(
            (state_of(id), state_of(guard)),
            (None, None),
            "collected: {steps}"
        );
    }
}

#[test]
fn dropped_without_a_runtime_it_is_killed_too() {
    let mark = Mark::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let child = runtime.block_on(up(&mark, "ignore term | daemon [ hang ] | say up | hang"));
    drop(runtime);
    drop(child);
    mark.await_count(0, SOON);
}

#[tokio::test]
async fn one_that_nobody_waits_for_any_more_is_killed() {
    for polls in [0, 1, 2] {
        let mark = Mark::new();
        let command = misbehaving(&mark, "ignore term | hang");
        let mut spawning = Box::pin(command.spawn());
        for _ in 0..polls {
            tokio::select! {
                biased;
                // It was quick, and is dropped all the same.
                _ = &mut spawning => break,
                () = tokio::task::yield_now() => {}
            }
        }
        drop(spawning);
        mark.await_count(0, SOON);
    }
}

#[tokio::test]
async fn it_outlives_the_thread_that_started_it() {
    let mark = Mark::new();
    let handle = tokio::runtime::Handle::current();
    let command = misbehaving(&mark, "say up | hang");
    let mut child = std::thread::spawn(move || handle.block_on(command.spawn()).unwrap())
        .join()
        .unwrap();
    let mut output = BufReader::new(child.take_stdout().unwrap());
    let mut line = String::new();
    timeout(SOON, output.read_line(&mut line))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((line.as_str(), child.exit()), ("up\n", None));
    timeout(SOON, child.kill()).await.unwrap().unwrap();
}

#[tokio::test]
async fn orphans_are_collected_while_it_lives() {
    let mark = Mark::new();
    let child = up(
        &mark,
        "daemon [ exit 0 ] | daemon [ exit 0 ] | say up | hang",
    )
    .await;
    let guard = parent_of(child.id());
    // Both daemons and their parents have ended, and nobody but the guard can collect them.
    mark.await_count(1, SOON);
    wait_for("only the program is left", || {
        children_of(guard) == [child.id()]
    });
}

#[tokio::test]
async fn a_guard_that_is_killed_takes_the_program_along() {
    let mark = Mark::new();
    let child = up(&mark, "say up | hang").await;
    let guard = i32::try_from(parent_of(child.id())).unwrap();
    let guard = rustix::process::Pid::from_raw(guard).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    let exit = timeout(SOON, child.gone()).await.unwrap();
    assert_eq!(exit.status(), None);
    assert_eq!(exit.to_string(), "was killed together with its guard");
    mark.await_count(0, SOON);
}
