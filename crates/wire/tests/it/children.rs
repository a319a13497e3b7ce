//! Over the pipes of a real process that dies in the middle of what it says.

use std::process::Stdio;

use terret_testkit::misbehave;
use terret_wire::{Framing, JsonRpc, Options, Peer};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::{SOON, text};

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the process is the test's, and ends with its input"
)]
async fn one_that_dies_in_the_middle_of_a_frame() {
    for (steps, outcome) in [
        (
            "await-line | write Content-Length: 10\\r\\n\\r\\n{\"id | die kill",
            "the stream ended in the middle of a message",
        ),
        (
            "write banner\\nContent-Length: 24\\r\\n\\r\\n{\"id\":1,\"result\":\"done\"} | await-end",
            "done",
        ),
        (
            "complain 3000000 | write Content-Length: 24\\r\\n\\r\\n{\"id\":1,\"result\":\"done\"} | await-end",
            "done",
        ),
    ] {
        let mut child = std::process::Command::new(misbehave::program())
            .args(misbehave::script(steps))
            .env(misbehave::VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let reader = pipe::Receiver::from_owned_fd(child.stdout.take().unwrap().into()).unwrap();
        let writer = pipe::Sender::from_owned_fd(child.stdin.take().unwrap().into()).unwrap();
        let peer = Peer::start(
            reader,
            writer,
            JsonRpc::new(),
            (),
            Options::new(Framing::ContentLength),
        );
        let answer = text(timeout(SOON, peer.request("m", &(), SOON)).await.unwrap());
        assert!(answer.contains(outcome), "{steps}: {answer}");
        drop(peer);
        // The tasks that hold its pipes have to run for it to end.
        let waiting = tokio::task::spawn_blocking(move || child.wait());
        timeout(SOON, waiting).await.unwrap().unwrap().unwrap();
    }
}
