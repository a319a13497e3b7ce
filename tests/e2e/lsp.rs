//! Language servers through the binary: questions, what a write has broken, settings, trust.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terret_testkit::{Bin, Tree, require_tool, state_of};

use crate::{ask, terret};

/// A project of Python for one server.
const SHOP: &str = "\
//- /terret.toml
[lsp]
write_wait = 60
disable = [\"basedpyright\", \"pyright\", \"pylsp\", \"ruff\"]
//- /pyproject.toml
[project]
name = \"shop\"
version = \"1\"
//- /cart.py
def total(prices: list[int]) -> int:
    return sum(prices)
//- /main.py
from cart import total

print(total([1]))
";

/// The binary over the project, if its server is installed.
fn shop() -> Option<(Tree, Bin)> {
    require_tool("ty")?;
    let tree = Tree::new(SHOP);
    let binary = terret(&tree).deadline(Duration::from_secs(120));
    Some((tree, binary))
}

fn told(answer: &Value) -> &str {
    answer["text"].as_str().unwrap()
}

#[test]
fn a_call_starts_a_server_and_leaves_nothing() {
    let Some((_tree, binary)) = shop() else {
        return;
    };
    let place = r#"{"action": "references", "file": "main.py", "line": 3, "symbol": "total"}"#;
    let outcome = binary.args(["call", "lsp", place]).run().success();
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "cart.py:1: def total(prices: list[int]) -> int:",
            "main.py:1: from cart import total",
            "main.py:3: print(total([1]))",
        ]
    );
}

#[test]
fn every_write_tells_what_it_has_broken() {
    let Some((tree, binary)) = shop() else { return };
    let mut session = binary.arg("session").start();
    for file in ["cart.py", "main.py"] {
        let read = ask(&mut session, "read", json!({ "path": file }));
        assert!(told(&read).starts_with("1\t"), "{read}");
    }
    let signature = json!({
        "path": "cart.py",
        "old": "prices: list[int])",
        "new": "prices: list[int], more: int)",
    });
    let broken = ask(&mut session, "edit", signature);
    assert!(
        told(&broken).contains("new problems:\nmain.py:3 error"),
        "{broken}"
    );
    let patch = "*** Begin Patch\n*** Update File: cart.py\n@@\n-def total(prices: list[int], more: int) -> int:\n\
        +def total(prices: list[int]) -> int:\n*** End Patch";
    let mended = ask(&mut session, "apply_patch", json!({ "patch": patch }));
    assert_eq!(
        told(&mended),
        "1 file changed\nedited cart.py\nfixed: 1 earlier problem"
    );
    let new = json!({ "path": "new.py", "content": "value = missing\n" });
    let new = ask(&mut session, "write", new);
    assert!(
        told(&new).contains("new problems:\nnew.py:1 error"),
        "{new}"
    );
    // A structural rewrite is a write like any other.
    let edit =
        json!({ "pattern": "missing", "rewrite": "1", "language": "python", "path": "new.py" });
    ask(&mut session, "ast_edit", edit);
    let accept = json!({ "edit_id": "edit_1", "action": "accept" });
    let resolved = ask(&mut session, "resolve", accept);
    assert!(
        told(&resolved).ends_with("new.py\nfixed: 1 earlier problem"),
        "{resolved}"
    );
    let rename = json!({ "file": "cart.py", "line": 1, "symbol": "total", "new_name": "costs" });
    let renamed = ask(&mut session, "lsp_rename", rename);
    assert!(
        told(&renamed).starts_with("renamed `total` to `costs`: 3 edits in 2 files"),
        "{renamed}"
    );
    assert!(!told(&renamed).contains("problem"), "{renamed}");
    assert_eq!(
        tree.read("main.py"),
        b"from cart import costs\n\nprint(costs([1]))\n"
    );
    session.end().success();
}

#[test]
fn nothing_is_left_when_the_session_is_killed() {
    let Some((_tree, binary)) = shop() else {
        return;
    };
    let mut session = binary.arg("session").start();
    let question = json!({ "action": "diagnostics", "file": "main.py" });
    ask(&mut session, "lsp", question);
    let status = ask(&mut session, "lsp", json!({ "action": "status" }));
    let (_, rest) = told(&status).split_once("process ").unwrap();
    let server: u32 = rest.split(',').next().unwrap().parse().unwrap();
    assert!(state_of(server).is_some(), "{status}");
    let process = Pid::from_raw(i32::try_from(session.id()).unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    let end = Instant::now() + Duration::from_secs(1);
    while state_of(server).is_some_and(|state| state != 'Z') {
        assert!(Instant::now() < end, "the server is there a second later");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn settings_that_are_wrong_are_named() {
    let rows = [
        (
            "[lsp]\nwrite_weit = 1\n",
            "unknown key `write_weit` in [lsp]; did you mean `write_wait`?",
        ),
        (
            "[lsp]\ndisable = ['rust_analyzer']\n",
            "names no server `rust_analyzer`; did you mean `rust-analyzer`?",
        ),
        ("[lsp\n", "terret.toml: "),
    ];
    for (text, expected) in rows {
        let tree = Tree::new("");
        tree.write("terret.toml", text);
        let outcome = terret(&tree).arg("tools").run().exits(2);
        assert!(outcome.stderr.contains(expected), "{outcome}");
    }
    let tree = Tree::new("//- /terret.toml\n[lsp]\nenabled = false\n");
    let outcome = terret(&tree).arg("tools").run().success();
    assert!(!outcome.stdout.contains("lsp"), "{outcome}");
}

#[test]
fn a_workspace_names_programs_only_where_it_is_trusted() {
    let tree = Tree::new(
        "//- /terret.toml\n[lsp.servers.mine]\nname = \"Mine\"\nprograms = [\"mine-lsp\"]\ninstall = \"ask me\"\n\
         languages.mine = [\"mine\"]\ndiagnostics.proof = \"push\"\n//- /a.mine\nx\n",
    );
    let state = Tree::new("");
    let run = |args: &[&str]| {
        let binary = terret(&tree).env("XDG_STATE_HOME", state.root());
        binary.args(args).run()
    };
    let question = [
        "call",
        "lsp",
        r#"{"action": "diagnostics", "file": "a.mine"}"#,
    ];
    let refused = run(&question).exits(13);
    assert!(refused.stderr.contains("run `terret trust`"), "{refused}");
    assert!(
        refused.stderr.contains("none is known for such a file"),
        "{refused}"
    );
    run(&["trust"]).success();
    let trusted = run(&question).exits(13);
    assert!(
        trusted.stderr.contains("Mine: ") && trusted.stderr.contains("ask me"),
        "{trusted}"
    );
    run(&["trust", "--revoke"]).success();
    run(&question).exits(13);
    let list = run(&["trust", "--list"]).success();
    assert_eq!(list.stdout, "no folder is trusted\n");
}
