//! Calls that share one run.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use terret_testkit::Tree;

use crate::{line, terret};

/// The result of a line, without its text's search.
#[track_caller]
fn answers(input: &str, expected: Expect) {
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let outcome = terret(&tree).arg("session").stdin(input).run().success();
    assert_eq!(outcome.stderr, "");
    expected.assert_eq(&outcome.stdout);
}

#[test]
fn a_line_in_is_a_line_out() {
    answers(
        r#"{"id": 1, "tool": "ast_grep", "arguments": {"pattern": "f($X)"}}"#,
        expect![[r#"
            {"id":1,"text":"pattern read as: expression, call\na.py:1\n  1: f(1)\n  $X = 1\n1 match; 1 file searched","details":{"matches":[{"path":"a.py","language":"python","line":1,"end_line":1,"column":1,"bytes":[0,4],"text":"f(1)","captures":{"X":{"text":"1","run":false}}}],"more":false,"readings":[{"language":"python","readings":["expression, call"]}],"later_readings":[],"near_misses":[],"files_with_macros":0,"files_searched":1,"files_skipped":[],"files_with_errors":[],"languages_rejected":[]},"images":[],"error":null}
        "#]],
    );
}

#[test]
fn a_line_that_is_no_call_gets_an_error_and_the_session_goes_on() {
    answers(
        "no json\n[1]\n\n{\"id\": {\"a\": 1}, \"tool\": \"ast_grep\", \"args\": {}}\n\
         {\"id\": 4}\n{\"id\": 5, \"tool\": \"ast_gerp\"}\r\n{\"tool\": \"ast_grep\"}",
        expect![[r#"
            {"id":null,"text":"","details":null,"images":[],"error":{"kind":"invalid_arguments","message":"line 1 is no call, which is {\"id\": …, \"tool\": \"…\", \"arguments\": {…}}: it is no JSON: expected ident at line 1 column 2"}}
            {"id":null,"text":"","details":null,"images":[],"error":{"kind":"invalid_arguments","message":"line 2 is no call, which is {\"id\": …, \"tool\": \"…\", \"arguments\": {…}}: it is no JSON object"}}
            {"id":{"a":1},"text":"","details":null,"images":[],"error":{"kind":"invalid_arguments","message":"line 4 is no call, which is {\"id\": …, \"tool\": \"…\", \"arguments\": {…}}: unknown field `args`, expected `tool` or `arguments`"}}
            {"id":4,"text":"","details":null,"images":[],"error":{"kind":"invalid_arguments","message":"line 5 is no call, which is {\"id\": …, \"tool\": \"…\", \"arguments\": {…}}: missing field `tool`"}}
            {"id":5,"text":"","details":null,"images":[],"error":{"kind":"not_found","message":"there is no tool `ast_gerp`; did you mean `ast_grep`? The tools are `apply_patch`, `ast_edit`, `ast_grep`, `edit`, `lsp`, `lsp_rename`, `read`, `resolve`, `write`"}}
            {"id":null,"text":"","details":null,"images":[],"error":{"kind":"invalid_arguments","message":"`pattern` is missing (a string): A piece of code in which `$NAME` stands for one node, `$$$NAME` for a run of siblings, `$_` and `$$$` for either without binding; a repeated name must stand for… (175 bytes in all)","details":{"problems":[{"argument":"pattern","message":"`pattern` is missing (a string): A piece of code in which `$NAME` stands for one node, `$$$NAME` for a run of siblings, `$_` and `$$$` for either without binding; a repeated name must stand for… (175 bytes in all)"}]}}}
        "#]],
    );
}

#[test]
fn calls_are_answered_in_their_order() {
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let ids = 0..40;
    let input: Vec<String> = ids
        .clone()
        .map(|id| {
            // Every other one has nothing to do.
            let tool = if id % 2 == 0 { "ast_grep" } else { "nothing" };
            line(id, tool, json!({"pattern": "f($X)"}))
        })
        .collect();
    let outcome = terret(&tree)
        .arg("session")
        .stdin(input.join("\n"))
        .run()
        .success();
    let answered: Vec<Value> = outcome
        .json_lines()
        .into_iter()
        .map(|answer| answer["id"].clone())
        .collect();
    assert_eq!(answered, ids.map(Value::from).collect::<Vec<_>>());
}

#[test]
fn bytes_that_are_no_text_are_a_line_too() {
    let tree = Tree::new("");
    let input = b"\xff\xfe\n{\"id\": 2, \"tool\": \"x\"}\n";
    let answers = terret(&tree)
        .arg("session")
        .stdin(input)
        .run()
        .success()
        .json_lines();
    let kinds: Vec<_> = answers
        .iter()
        .map(|answer| &answer["error"]["kind"])
        .collect();
    assert_eq!(kinds, ["invalid_arguments", "not_found"]);
}

#[test]
fn a_cap_holds_in_a_session() {
    let tree = Tree::new("//- /a.py\nf(1)\n");
    let input = line(1, "ast_edit", json!({"pattern": "f(1)", "rewrite": "g(1)"}));
    let bin = terret(&tree)
        .args(["session", "--tier", "read"])
        .stdin(input);
    let answers = bin.run().success().json_lines();
    assert_eq!(answers[0]["error"]["kind"], "not_found");
}

#[test]
fn a_terminal_is_told_how_to_do_it() {
    let tree = Tree::new("");
    let terret = env!("CARGO_BIN_EXE_terret");
    // The other side of a terminal counts as one.
    let script = format!("{terret} session < /dev/ptmx");
    let bin = terret_testkit::Bin::new("sh")
        .args(["-c", &script])
        .cwd(tree.root());
    expect![[r#"
        error: a session reads its calls from standard input, one JSON object a line, and standard input is a terminal; pipe them in: echo '{"id": 1, "tool": "ast_grep", "arguments": {"pattern": "f($X)"}}' | terret session, or terret session < calls.jsonl
    "#]].assert_eq(&bin.run().exits(2).stderr);
}
