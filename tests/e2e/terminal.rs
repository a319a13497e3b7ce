//! What a terminal shows.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use terret_testkit::Tree;

const CLEAR: &str = "\r\u{1b}[2K";

#[test]
fn progress_is_shown_and_gone_at_the_end() {
    let tree = Tree::new("");
    let search = ["call", "ast_grep", "--arg", "pattern=g($X)"];
    // A search can be over before anything of it was shown, but not however long it is.
    let mut files = 0;
    let written = [500, 5_000, 50_000].into_iter().find_map(|more| {
        for number in files..more {
            tree.write(format!("{number}.rs"), "fn a() { f(1); }\n");
        }
        files = more;
        let written = run(&tree, &search, &[]);
        written.contains(CLEAR).then_some(written)
    });
    let written = written.unwrap();
    let (before, after) = written.rsplit_once(CLEAR).unwrap();
    assert!(before.ends_with("00 files searched"), "{written:?}");
    assert!(after.starts_with("pattern read as"), "{written:?}");
    assert!(!run(&tree, &search, &[("TERM", "dumb")]).contains(CLEAR));
}

/// What the command writes when it runs at a terminal.
#[expect(
    clippy::disallowed_methods,
    reason = "starts the binary under test at a terminal"
)]
pub(crate) fn run(tree: &Tree, arguments: &[&str], variables: &[(&str, &str)]) -> String {
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
        .args(arguments)
        .current_dir(tree.root())
        .env_clear()
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(end.try_clone().unwrap())
        .stderr(end.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody can write to it any more.
    drop((command, end));
    let mut written = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        written.extend_from_slice(&buffer[..count]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(written).unwrap().replace("\r\n", "\n")
}
