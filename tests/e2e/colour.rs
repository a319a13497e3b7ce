//! Colours: for a terminal, and for whoever asks.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use terret_testkit::{Bin, Tree};

use crate::terret;

const HEADING: &str = "\u{1b}[35ma.py:1\u{1b}[0m\n";

fn tree() -> Tree {
    Tree::new("//- /a.py\nf(1)\n")
}

fn search(tree: &Tree) -> Bin {
    terret(tree).args(["call", "ast_grep", r#"{"pattern": "f($X)"}"#])
}

#[test]
fn a_pipe_gets_none_unless_it_is_asked_for() {
    let tree = tree();
    let plain = search(&tree)
        .env("NO_COLOR", "")
        .env("TERM", "xterm")
        .run()
        .success()
        .stdout;
    assert!(plain.contains("\na.py:1\n"), "{plain}");
    let coloured = search(&tree)
        .args(["--color", "always"])
        .run()
        .success()
        .stdout;
    assert!(coloured.contains(HEADING), "{coloured:?}");
    // JSON is for programs, whatever was asked for.
    let json = search(&tree)
        .args(["--json", "--color", "always"])
        .run()
        .success()
        .stdout;
    assert!(
        !json.contains("\\u001b") && !json.contains('\u{1b}'),
        "{json}"
    );
}

#[test]
fn a_terminal_gets_them_unless_they_are_unwanted() {
    let tree = tree();
    assert!(at_a_terminal(&tree, &[], None).contains(HEADING));
    assert!(!at_a_terminal(&tree, &["--color", "never"], None).contains('\u{1b}'));
    assert!(!at_a_terminal(&tree, &[], Some("1")).contains('\u{1b}'));
}

/// What a search writes to a terminal.
#[expect(
    clippy::disallowed_methods,
    reason = "starts the binary under test at a terminal"
)]
fn at_a_terminal(tree: &Tree, arguments: &[&str], no_color: Option<&str>) -> String {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(terminal.as_fd()).unwrap();
    unlockpt(terminal.as_fd()).unwrap();
    let name = ptsname(terminal.as_fd(), Vec::new())
        .unwrap()
        .into_string()
        .unwrap();
    let end = File::options().read(true).write(true).open(name).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_terret"));
    command
        .args(["call", "ast_grep", r#"{"pattern": "f($X)"}"#])
        .args(arguments)
        .current_dir(tree.root())
        .env_clear()
        .env("TERM", "xterm")
        .envs(no_color.map(|value| ("NO_COLOR", value)))
        .stdin(Stdio::null())
        .stdout(end.try_clone().unwrap());
    assert!(command.status().unwrap().success());
    // What was written stays in the terminal until it is read, and ends when nobody can write.
    drop((command, end));
    let mut written = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        written.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8(written).unwrap().replace("\r\n", "\n")
}
