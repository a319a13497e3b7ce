//! Language servers through the binary: a real one, on a small project.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terret_testkit::{Bin, Tree, require_tool};

use crate::{ask, configure, line, terret};

const SERVER: &str = "pyright-langserver";

/// Pyright alone, and so patient that a loaded machine makes no difference.
const CONFIG: &str = "[lsp]\nwrite_wait = 60\ndisable = ['basedpyright', 'ty', 'pylsp', 'ruff']\n";

fn project() -> Tree {
    Tree::new(
        "
        //- /pyproject.toml
        [project]
        name = 'shop'
        version = '1'
        //- /cart.py
        def total(a: int, b: int) -> int:
            return a + b
        //- /shop.py
        from cart import total

        print(total(1, 2))
        ",
    )
}

fn patient(tree: &Tree) -> Bin {
    let bin = terret(tree).deadline(Duration::from_secs(180));
    configure(&bin, CONFIG);
    bin
}

fn text(answer: &Value) -> &str {
    assert_eq!(answer["error"], json!(null));
    answer["text"].as_str().unwrap()
}

/// The processes that work in a folder.
fn working_in(tree: &Tree) -> Vec<String> {
    let root = tree.root().canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let inside = processes.filter(|process| {
        let cwd = fs::read_link(process.path().join("cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(&root))
    });
    inside
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

#[track_caller]
fn nobody_is_left(tree: &Tree) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let left = working_in(tree);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "left: {left:?}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_single_call_waits_for_a_cold_server_and_leaves_nothing() {
    if require_tool(SERVER).is_none() {
        return;
    }
    let tree = project();
    let arguments =
        json!({"action": "definition", "file": "shop.py", "line": 3, "symbol": "total"});
    let bin = patient(&tree).args(["call", "lsp", &arguments.to_string()]);
    let outcome = bin.run().success();
    assert_eq!(
        outcome.stdout,
        "cart.py:1: def total(a: int, b: int) -> int:\n"
    );
    let notes = outcome.stderr.lines();
    for note in notes {
        assert!(note.contains(" was ready after "), "{outcome}");
    }
    nobody_is_left(&tree);
}

#[test]
fn a_single_write_tells_what_it_has_broken() {
    if require_tool(SERVER).is_none() {
        return;
    }
    let tree = project();
    let edit = json!({"path": "cart.py", "old": "a + b", "new": "a + c"});
    let bin = patient(&tree).args(["call", "edit", &edit.to_string()]);
    let said = bin.run().success().stdout;
    assert!(
        said.contains("cart.py:2 error \"c\" is not defined"),
        "{said}"
    );
    nobody_is_left(&tree);
}

#[test]
fn in_a_session_writes_tell_what_they_break_and_what_they_fix() {
    if require_tool(SERVER).is_none() {
        return;
    }
    let tree = project();
    let bin = patient(&tree).arg("session");
    let mut session = bin.start();

    let read = ask(&mut session, "read", json!({"path": "cart.py"}));
    assert!(text(&read).contains("2\t    return a + b\n"), "{read}");

    let edit = |old: &str, new: &str| json!({"path": "cart.py", "old": old, "new": new});
    let broken = ask(&mut session, "edit", edit("a + b", "a + c"));
    assert!(
        text(&broken).contains("cart.py:2 error \"c\" is not defined"),
        "{broken}"
    );
    assert_eq!(broken["details"]["diagnostics"]["new"][0]["line"], 2);

    // What was told once is not told again, wherever it moves.
    let moved = ask(
        &mut session,
        "edit",
        edit("def total", "# a comment\ndef total"),
    );
    assert!(!text(&moved).contains("not defined"), "{moved}");

    let fixed = ask(&mut session, "edit", edit("a + c", "a + b"));
    assert!(text(&fixed).contains("fixed: 1 earlier problem"), "{fixed}");

    // `resolve` is a writer like the others.
    let rewrite =
        json!({"pattern": "total(1, 2)", "rewrite": "total(1, '2')", "language": "python"});
    let proposed = ask(&mut session, "ast_edit", rewrite);
    assert!(text(&proposed).starts_with("(proposed)"), "{proposed}");
    let resolved = ask(
        &mut session,
        "resolve",
        json!({"edit_id": "edit_1", "action": "accept"}),
    );
    assert!(text(&resolved).contains("shop.py:3 error"), "{resolved}");

    let patch = "*** Begin Patch\n*** Update File: shop.py\n@@\n-print(total(1, '2'))\n\
                 +print(total(1, 2))\n*** Add File: sale.py\n+import cart\n+cart.nothing()\n*** End Patch\n";
    let patched = ask(&mut session, "apply_patch", json!({ "patch": patch }));
    assert!(text(&patched).contains("sale.py:2 error"), "{patched}");
    assert!(
        text(&patched).contains("fixed: 1 earlier problem"),
        "{patched}"
    );

    assert!(!working_in(&tree).is_empty(), "the server runs");
    session.end().success();
    nobody_is_left(&tree);
}

#[test]
fn a_process_that_is_killed_leaves_no_server() {
    if require_tool(SERVER).is_none() {
        return;
    }
    let question = json!({"action": "hover", "file": "cart.py", "line": 1, "symbol": "total"});
    // While a server starts, and while it works.
    for is_running in [false, true] {
        let tree = project();
        let bin = patient(&tree).arg("session");
        let mut session = bin.start();
        if is_running {
            let hover = ask(&mut session, "lsp", question.clone());
            assert!(text(&hover).contains("total"), "{hover}");
        } else {
            session.send(line(1, "lsp", question.clone()));
            let end = Instant::now() + Duration::from_secs(60);
            while working_in(&tree).len() < 2 && Instant::now() < end {
                sleep(Duration::from_millis(1));
            }
        }
        let process = i32::try_from(session.id()).ok().and_then(Pid::from_raw);
        kill_process(process.unwrap(), Signal::KILL).unwrap();
        nobody_is_left(&tree);
    }
}

#[test]
fn without_servers_the_host_writes_all_the_same() {
    let tree = project();
    let bin = terret(&tree).args(["tools", "--json"]);
    configure(&bin, "lsp.enabled = false");
    let tools = bin.run().success().json();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "apply_patch",
            "ast_edit",
            "ast_grep",
            "edit",
            "read",
            "resolve",
            "write"
        ]
    );
    let edit = json!({"path": "cart.py", "old": "a + b", "new": "a + c"});
    let bin = terret(&tree).args(["call", "edit", &edit.to_string()]);
    configure(&bin, "lsp.enabled = false");
    assert_eq!(
        bin.run().success().stdout,
        "edited cart.py: 1 replacement, at line 2\n"
    );
}
