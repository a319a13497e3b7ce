//! What cannot be started says why, and what to do.

use terret_launch::{Command, Environment};
use terret_testkit::Tree;

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let tree = Tree::new("//- /plain.txt\nnot a program\n");
    let root = tree.root();
    let root = root.to_str().unwrap();
    let plain = format!("{root}/plain.txt");
    for (program, cwd, message) in [
        (
            "no-such-program",
            "/",
            "`no-such-program` was not found: install it, or add its folder to PATH",
        ),
        (
            "/no/such/program",
            "/",
            "`program` was not found: install it, or add its folder to PATH",
        ),
        (
            "ls",
            "/no/such/folder",
            "`ls` could not be started in /no/such/folder: no such folder",
        ),
        (
            "ls",
            &plain,
            "`ls` could not be started in ROOT/plain.txt: no such folder",
        ),
        (
            &plain,
            "/",
            "`plain.txt` could not be started: Permission denied (os error 13); is it executable?",
        ),
    ] {
        let error = Command::new(program, cwd, &Environment::inherited())
            .spawn()
            .await
            .unwrap_err();
        assert_eq!(error.to_string().replace(root, "ROOT"), message);
    }
}

#[tokio::test]
async fn a_path_of_nothing_finds_nothing() {
    let error = Command::new("ls", "/", &Environment::empty().set("PATH", ""))
        .spawn()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("was not found"), "{error}");
}

#[tokio::test]
async fn a_program_that_is_still_being_written_is_waited_for() {
    let tree = Tree::new("//- /bin/tool mode=755\n#!/bin/sh\nexit 5\n");
    let path = tree.root().join("bin/tool");
    let open = std::fs::File::options().append(true).open(&path).unwrap();
    let start = || {
        let command = Command::new(&path, "/", &Environment::empty());
        tokio::spawn(async move { command.spawn().await })
    };
    let error = start().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("busy"), "{error}");
    let started = start();
    tokio::task::yield_now().await;
    drop(open);
    let child = started.await.unwrap().unwrap();
    assert_eq!(child.gone().await.code(), Some(5));
}
