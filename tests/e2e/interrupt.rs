//! Interrupts: the first stops the call, the second the process.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use terret_testkit::{Live, Tree};

use crate::{ask, line, terret};

/// A workspace that takes long to search, and a search of all of it.
fn long() -> (Tree, Value) {
    let tree = Tree::new("//- /small/a.py\nf(1)\n");
    let text = "x = [a + b * (c - d) for a in f(1, 2, 3) if a < 4]\n".repeat(4_000);
    for number in 0..200 {
        tree.write(format!("large/{number}.py"), &text);
    }
    (
        tree,
        json!({"pattern": "$A + $B - $A", "language": "python", "path": "large"}),
    )
}

/// A session in which the long call is running.
fn running(tree: &Tree, search: Value) -> Live {
    let mut session = terret(tree).arg("session").start();
    // Once it has answered, it listens.
    ask(
        &mut session,
        "ast_grep",
        json!({"pattern": "f(1)", "path": "small"}),
    );
    session.send(line("long", "ast_grep", search));
    sleep(Duration::from_millis(500));
    session
}

#[test]
fn the_first_stops_the_call_and_the_session_goes_on() {
    let (tree, search) = long();
    let mut session = running(&tree, search);
    session.interrupt();
    let note = session.note();
    assert!(note.starts_with("stopping the call"), "{note}");
    let answer: Value = serde_json::from_str(&session.line()).unwrap();
    assert_eq!(answer["error"]["kind"], "cancelled", "{answer}");
    let next = ask(
        &mut session,
        "ast_grep",
        json!({"pattern": "f(1)", "path": "small"}),
    );
    assert_eq!(next["error"], json!(null));
    session.end().success();
}

#[test]
fn the_second_ends_the_process() {
    let tree = Tree::new("//- /small/a.py\nf(1)\n");
    let mut session = terret(&tree).arg("session").start();
    ask(
        &mut session,
        "ast_grep",
        json!({"pattern": "f(1)", "path": "small"}),
    );
    session.interrupt();
    let note = session.note();
    assert!(note.starts_with("no call is running"), "{note}");
    session.interrupt();
    session.wait().exits(130);
}

#[test]
fn an_interrupted_call_ends_with_its_code() {
    let (tree, search) = long();
    let call = terret(&tree)
        .args(["call", "ast_grep", &search.to_string()])
        .start();
    sleep(Duration::from_millis(500));
    call.interrupt();
    let outcome = call.wait().exits(16);
    assert!(outcome.stderr.contains("error[cancelled]"), "{outcome}");
}
