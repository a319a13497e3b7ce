//! What a child finds: arguments, folder, environment, descriptors, signals, and no terminal.

use std::sync::Arc;

use terret_launch::{Command, Environment, Flag, Input, Limits, Prefix};
use terret_testkit::{Mark, Tree};

use crate::ends::up;
use crate::misbehaving;

async fn printed(command: Command) -> String {
    let printed = command
        .stdin(Input::Null)
        .run(&Limits::default())
        .await
        .unwrap();
    assert!(printed.exit().success(), "{}", printed.stderr());
    String::from_utf8(printed.stdout().to_vec()).unwrap()
}

#[tokio::test]
async fn arguments_are_nobody_elses_to_read() {
    let odd = ["a b", "", "$HOME", "'\"", "*", "line\nbreak", "-n"];
    let command = Command::new("printf", "/", &Environment::inherited())
        .arg("<%s>")
        .args(odd);
    let expected: String = odd.map(|word| format!("<{word}>")).concat();
    assert_eq!(printed(command).await, expected);
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    let path = Environment::inherited().get("PATH").unwrap().to_owned();
    let environment = Environment::empty()
        .set("PATH", &path)
        .set("A", "1")
        .set("B", "2");
    let command = Command::new("env", "/", &environment)
        .env("B", "3")
        .env("C", "4");
    let mut lines: Vec<String> = printed(command).await.lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(
        lines,
        ["A=1", "B=3", "C=4", &format!("PATH={}", path.display())]
    );
}

#[tokio::test]
async fn it_runs_in_its_folder() {
    let tree = Tree::new("//- /folder/here.txt\n");
    let command = Command::new("ls", tree.root().join("folder"), &Environment::inherited());
    assert_eq!(printed(command).await, "here.txt\n");
}

#[tokio::test]
async fn it_inherits_no_descriptor() {
    let (open, _) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    let command = Command::new("ls", "/", &Environment::inherited()).arg("/proc/self/fd");
    // The last one is the folder that it lists.
    assert_eq!(printed(command).await, "0\n1\n2\n3\n");
}

#[tokio::test]
async fn signals_are_as_a_program_expects_them() {
    let status =
        printed(Command::new("cat", "/", &Environment::inherited()).arg("/proc/self/status")).await;
    for field in ["SigBlk", "SigIgn", "SigCgt"] {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        let mask = u64::from_str_radix(line.split_once('\t').unwrap().1, 16).unwrap();
        // Those above are real-time signals, which the C library keeps to itself in part.
        assert_eq!(mask & 0x7fff_ffff, 0, "{line}");
    }
}

#[tokio::test]
async fn it_leads_a_session_without_a_terminal() {
    let mark = Mark::new();
    let child = up(&mark, "say up | hang").await;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let id = child.id().to_string();
    // Group, session, terminal.
    assert_eq!(fields[2..5], [&id, &id, "0"]);
}

#[tokio::test]
async fn an_enclosure_is_entered_by_its_prefix() {
    let tree = Tree::new("//- /project/a.txt\nhello\n");
    let host = tree.root().join("project");
    // `env` enters nothing, and shows what it was given.
    let prefix = Prefix::new(["env", "-i"])
        .cwd(Flag::Joined("--chdir=".into()))
        .then(["sh", "-c", "\"$@\"; pwd", "-"]);
    let path = Environment::inherited().get("PATH").unwrap().to_owned();
    let command = Command::new("cat", &host, &Environment::inherited())
        .arg("a.txt")
        .env("PATH", path)
        .enclosed_in(Arc::new(prefix));
    let expected = format!("hello\n{}\n", host.canonicalize().unwrap().display());
    assert_eq!(printed(command).await, expected);
}

#[tokio::test]
async fn a_guard_gives_back_the_memory_of_its_host() {
    const HELD: usize = 200 << 20;
    let held = std::hint::black_box(vec![1_u8; HELD]);
    let mark = Mark::new();
    let child = up(&mark, "say up | hang").await;
    let guard = crate::parent_of(child.id());
    let anonymous = || -> usize {
        let rollup = std::fs::read_to_string(format!("/proc/{guard}/smaps_rollup")).unwrap();
        let line = rollup.lines().find(|line| line.starts_with("Anonymous:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1);
        kilobytes.unwrap().parse().unwrap()
    };
    // It does so once the program runs. What counts is what would stay when the host lets go.
    crate::wait_for("less than 4 MB is left", || anonymous() < 4 * 1024);
    assert_eq!(held.len(), HELD);
}

#[tokio::test]
async fn many_at_once_do_not_hold_each_other() {
    let mark = Mark::new();
    let mut children = Vec::new();
    for _ in 0..12 {
        children.push(misbehaving(&mark, "await-end").spawn().await.unwrap());
    }
    // Were its end of the first one's input in a later guard, or child, the first would never see it close.
    for mut child in children {
        drop(child.take_stdin());
        assert!(child.gone().await.success());
    }
}
