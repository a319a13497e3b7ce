//! Changing code by its shape: staged in one call, written in another.

use std::fs;
use std::path::Path;

use expect_test::expect;
use serde_json::{Value, json};
use terret_testkit::{Bin, Tree};

use crate::{ask, terret};

/// What `dispose($X)` → `$X.dispose()` has to get right: line ends, a byte order mark, no last line
/// end, modes, a definition, a string, a comment.
const BEFORE: &str = "
    //- /lib/a.dart
    // dispose(comment)
    void f() {
      dispose(view);
      print('dispose(text)');
      dispose(a ?? b);
    }
    //- /lib/b.dart crlf bom
    void g() {
      dispose(view);
    }
    //- /lib/c.dart mode=755 no-eol
    void h() => dispose(view);
    //- /lib/d.dart
    dispose(x) {}
    ";

const AFTER: &str = "
    //- /lib/a.dart
    // dispose(comment)
    void f() {
      view.dispose();
      print('dispose(text)');
      (a ?? b).dispose();
    }
    //- /lib/b.dart crlf bom
    void g() {
      view.dispose();
    }
    //- /lib/c.dart mode=755 no-eol
    void h() => view.dispose();
    //- /lib/d.dart
    dispose(x) {}
    ";

fn dispose() -> Value {
    json!({"pattern": "dispose($X)", "rewrite": "$X.dispose()", "language": "dart"})
}

fn resolve(action: &str) -> Value {
    json!({"edit_id": "edit_1", "action": action})
}

fn session(tree: &Tree) -> Bin {
    terret(tree).arg("session")
}

/// That nothing is left of a change but its result.
#[track_caller]
fn nothing_is_left(bin: &Bin) {
    let state = bin.home().join(".local/state");
    let mut left = Vec::new();
    files(&state, &mut left);
    left.retain(|file| !file.ends_with("lock"));
    assert!(left.is_empty(), "{left:?}");
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path.display().to_string()),
        }
    }
}

#[test]
fn a_change_is_proposed_over_several_files_and_lands_to_the_byte() {
    let tree = Tree::new(BEFORE);
    let bin = session(&tree);
    let mut session = bin.start();

    let proposed = ask(&mut session, "ast_edit", dispose());
    expect![[r#"
        (proposed) 4 replacements in 3 files; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
        pattern read as: expression, call_expression
        diff --git a/lib/a.dart b/lib/a.dart
        --- a/lib/a.dart
        +++ b/lib/a.dart
        @@ -1,6 +1,6 @@
         // dispose(comment)
         void f() {
        -  dispose(view);
        +  view.dispose();
           print('dispose(text)');
        -  dispose(a ?? b);
        +  (a ?? b).dispose();
         }
        diff --git a/lib/b.dart b/lib/b.dart
        --- a/lib/b.dart
        +++ b/lib/b.dart
        @@ -1,3 +1,3 @@
         ﻿void g() {
        -  dispose(view);
        +  view.dispose();
         }
        diff --git a/lib/c.dart b/lib/c.dart
        --- a/lib/c.dart
        +++ b/lib/c.dart
        @@ -1 +1 @@
        -void h() => dispose(view);
        \ No newline at end of file
        +void h() => view.dispose();
        \ No newline at end of file
        parentheses were added in 1 place to keep the meaning
        4 files searched"#]].assert_eq(proposed["text"].as_str().unwrap());
    assert_eq!(proposed["details"]["edit_id"], "edit_1");
    assert_eq!(tree.listing(), Tree::new(BEFORE).listing());

    let applied = ask(&mut session, "resolve", resolve("accept"));
    expect![[r#"
        applied edit_1: 4 replacements in 3 files
        lib/a.dart
        lib/b.dart
        lib/c.dart"#]]
    .assert_eq(applied["text"].as_str().unwrap());
    assert_eq!(tree.listing(), Tree::new(AFTER).listing());

    let again = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(again["error"]["kind"], "refused");
    expect!["`edit_1` is already applied"].assert_eq(again["error"]["message"].as_str().unwrap());
    session.end().success();
    nothing_is_left(&bin);
}

#[test]
fn a_file_that_changed_in_between_refuses_the_whole() {
    let tree = Tree::new(BEFORE);
    let bin = session(&tree);
    let mut session = bin.start();
    ask(&mut session, "ast_edit", dispose());

    let old = tree.read("lib/b.dart");
    tree.write("lib/b.dart", "void g() {}\n");
    let between = tree.listing();
    let refused = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(refused["error"]["kind"], "refused");
    expect![[r#"
        nothing was written, because of 1 file:
          lib/b.dart: its content is not what it was when the change was staged (36 bytes then, 12 now)
        `edit_1` stays open; run `ast_edit` again for a fresh change"#]].assert_eq(refused["error"]["message"].as_str().unwrap());
    assert_eq!(
        refused["error"]["details"]["files"][0]["path"],
        "lib/b.dart"
    );
    assert_eq!(tree.listing(), between);

    // The change stays open: with the same bytes as before there is nothing against it.
    tree.write("lib/b.dart", old);
    let applied = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(applied["error"], json!(null));
    assert_eq!(tree.listing(), Tree::new(AFTER).listing());
    session.end().success();
    nothing_is_left(&bin);
}

#[test]
fn a_file_that_is_gone_refuses_the_whole() {
    let tree = Tree::new(BEFORE);
    let bin = session(&tree);
    let mut session = bin.start();
    ask(&mut session, "ast_edit", dispose());
    fs::remove_file(tree.path("lib/c.dart")).unwrap();
    let between = tree.listing();
    let refused = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(refused["error"]["kind"], "refused");
    expect![[r#"
        nothing was written, because of 1 file:
          lib/c.dart: it has been deleted since the change was staged
        `edit_1` stays open; run `ast_edit` again for a fresh change"#]]
    .assert_eq(refused["error"]["message"].as_str().unwrap());
    assert_eq!(tree.listing(), between);
    session.end().success();
}

#[test]
fn discarded_is_as_if_it_had_never_been() {
    let tree = Tree::new(BEFORE);
    let bin = session(&tree);
    let mut session = bin.start();
    ask(&mut session, "ast_edit", dispose());
    let discarded = ask(&mut session, "resolve", resolve("discard"));
    expect!["discarded edit_1: `dispose($X)` → `$X.dispose()`"]
        .assert_eq(discarded["text"].as_str().unwrap());
    let late = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(late["error"]["kind"], "refused");
    expect!["`edit_1` is discarded"].assert_eq(late["error"]["message"].as_str().unwrap());
    session.end().success();
    assert_eq!(tree.listing(), Tree::new(BEFORE).listing());
}

#[test]
fn of_two_changes_to_one_file_the_second_is_stale() {
    let tree = Tree::new("//- /a.py\nf(1)\ng(2)\n");
    let bin = session(&tree);
    let mut session = bin.start();
    for name in ["f", "g"] {
        let rename = json!({
            "pattern": format!("{name}($X)"),
            "rewrite": format!("{name}{name}($X)"),
            "path": "a.py",
        });
        assert_eq!(ask(&mut session, "ast_edit", rename)["error"], json!(null));
    }
    let accept = |id: &str| json!({"edit_id": id, "action": "accept"});
    assert_eq!(
        ask(&mut session, "resolve", accept("edit_1"))["error"],
        json!(null)
    );
    let stale = ask(&mut session, "resolve", accept("edit_2"));
    assert_eq!(stale["error"]["kind"], "refused");
    session.end().success();
    assert_eq!(tree.read("a.py"), b"ff(1)\ng(2)\n");
}

#[test]
fn an_unknown_id_lists_those_that_are_open() {
    let tree = Tree::new(BEFORE);
    let bin = session(&tree);
    let mut session = bin.start();
    ask(&mut session, "ast_edit", dispose());
    let unknown = ask(
        &mut session,
        "resolve",
        json!({"edit_id": "edit_7", "action": "accept"}),
    );
    assert_eq!(unknown["error"]["kind"], "not_found");
    expect!["no change `edit_7` is staged; open are: edit_1 (`dispose($X)` → `$X.dispose()`)"]
        .assert_eq(unknown["error"]["message"].as_str().unwrap());
    session.end().success();
}

#[test]
fn a_rewrite_that_does_not_fit_stages_nothing() {
    let table = [
        (
            json!({"pattern": "f($X)", "rewrite": "g($Y)", "path": "a.py"}),
            "invalid_arguments",
        ),
        (
            json!({"pattern": "f($X)", "rewrite": "g($X", "path": "a.py"}),
            "refused",
        ),
        (
            json!({"pattern": "f($X)", "path": "a.py"}),
            "invalid_arguments",
        ),
        (
            json!({"pattern": "f($X)", "rewrite": "g()"}),
            "invalid_arguments",
        ),
    ];
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let bin = session(&tree);
    let mut session = bin.start();
    for (arguments, kind) in table {
        let answer = ask(&mut session, "ast_edit", arguments.clone());
        assert_eq!(answer["error"]["kind"], kind, "{arguments}: {answer}");
    }
    let none = json!({"pattern": "h($X)", "rewrite": "g($X)", "path": "a.py"});
    let none = ask(&mut session, "ast_edit", none);
    expect![[r#"
        pattern read as: expression, call
        0 matches: nothing is staged
        1 file searched"#]]
    .assert_eq(none["text"].as_str().unwrap());
    let unknown = ask(&mut session, "resolve", resolve("accept"));
    assert_eq!(unknown["error"]["kind"], "not_found");
    session.end().success();
}

#[test]
fn a_script_stages_and_writes_without_waiting_for_answers() {
    let tree = Tree::new(BEFORE);
    let lines = [
        crate::line(1, "ast_edit", dispose()),
        crate::line(2, "resolve", resolve("accept")),
    ];
    let bin = session(&tree).stdin(lines.join("\n"));
    let answers = bin.run().success().json_lines();
    assert!(
        answers.iter().all(|answer| answer["error"].is_null()),
        "{answers:?}"
    );
    assert_eq!(tree.listing(), Tree::new(AFTER).listing());
}

#[test]
fn one_call_says_that_what_it_staged_ends_with_it() {
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let edit = json!({"pattern": "f($X)", "rewrite": "g($X)", "path": "a.py"}).to_string();
    let bin = terret(&tree).args(["call", "ast_edit", &edit]);
    expect![[r#"
        (proposed) 1 replacement in 1 file; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
        pattern read as: expression, call
        diff --git a/a.py b/a.py
        --- a/a.py
        +++ b/a.py
        @@ -1 +1 @@
        -f(1)
        +g(1)
        1 file searched
        note: edit_1 ends with this process. A staged change lives in the process that staged it: make both calls in one `terret session`, where a line is {"id": 1, "tool": "ast_edit", "arguments": {…}} and the next {"id": 2, "tool": "resolve", "arguments": {"edit_id": "edit_1", "action": "accept"}}
    "#]].assert_eq(&bin.run().success().stdout);

    // Beside JSON, which it must not break.
    let outcome = terret(&tree)
        .args(["call", "--json", "ast_edit", &edit])
        .run()
        .success();
    assert_eq!(outcome.json()["details"]["edit_id"], "edit_1");
    assert!(
        outcome
            .stderr
            .starts_with("note: edit_1 ends with this process."),
        "{outcome}"
    );

    let resolve = resolve("accept").to_string();
    let outcome = terret(&tree)
        .args(["call", "resolve", &resolve])
        .run()
        .exits(11);
    expect![[r#"
        error[not_found]: no change `edit_1` is staged, and none is open; `ast_edit` stages one
        A staged change lives in the process that staged it: make both calls in one `terret session`, where a line is {"id": 1, "tool": "ast_edit", "arguments": {…}} and the next {"id": 2, "tool": "resolve", "arguments": {"edit_id": "edit_1", "action": "accept"}}
    "#]].assert_eq(&outcome.stderr);
    assert_eq!(tree.read("a.py"), b"f(1)\n");
}

#[test]
fn a_diff_is_coloured_for_whoever_asks() {
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let edit = json!({"pattern": "f($X)", "rewrite": "g($X)", "path": "a.py"}).to_string();
    let bin = terret(&tree).args(["call", "--color", "always", "ast_edit", &edit]);
    let text = bin.run().success().stdout;
    for line in ["\u{1b}[31m-f(1)\u{1b}[0m\n", "\u{1b}[32m+g(1)\u{1b}[0m\n"] {
        assert!(text.contains(line), "{text:?}");
    }
}
