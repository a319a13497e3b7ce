//! One call: where arguments come from, what is printed, how it ends.

use expect_test::{Expect, expect};
use serde_json::json;
use terret_testkit::{Outcome, Tree};

use crate::terret;

fn tree() -> Tree {
    Tree::new("//- /a.py\nf(1)\nf(2)\n")
}

/// A call in a small workspace, that ends with this code.
#[track_caller]
fn call(code: i32, arguments: &[&str]) -> Outcome {
    terret(&tree())
        .arg("call")
        .args(arguments)
        .run()
        .exits(code)
}

#[test]
fn arguments_come_as_json_from_standard_input_and_one_by_one() {
    let tree = tree();
    let grep = |arguments: &[&str]| terret(&tree).args(["call", "ast_grep"]).args(arguments);
    let json = r#"{"pattern": "f($X)", "max_results": 1}"#;
    let given = grep(&[json]).run().success();
    for other in [
        grep(&["-"]).stdin(json),
        grep(&["--arg", "pattern=f($X)", "--arg", "max_results=1"]),
        grep(&["--arg", "pattern=f($X)", "--arg", "max_results:=1"]),
        grep(&[
            r#"{"pattern": "g($X)", "max_results": 1}"#,
            "--arg",
            "pattern=f($X)",
        ]),
    ] {
        assert_eq!(other.run().success().stdout, given.stdout);
    }
}

#[test]
fn json_has_all_fields_always() {
    let tree = tree();
    let bin = terret(&tree).args(["call", "ast_grep", "--json", "--arg", "pattern=f(2)"]);
    let found = bin.run().success().json();
    let keys: Vec<_> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["text", "details", "images", "error"]);
    assert!(
        found["text"].as_str().unwrap().contains("a.py:2\n"),
        "{found}"
    );
    assert_eq!(found["details"]["matches"][0]["line"], 2);
    assert_eq!(
        (&found["images"], &found["error"]),
        (&json!([]), &json!(null))
    );

    let bin = terret(&tree).args(["call", "ast_grep", "--json"]);
    let outcome = bin.run().exits(10);
    assert_eq!(outcome.stderr, "");
    let failed = outcome.json();
    assert_eq!(failed["error"]["kind"], "invalid_arguments");
    assert_eq!(
        (&failed["text"], &failed["details"]),
        (&json!(""), &json!(null))
    );
}

/// How a call ends that has no result.
#[track_caller]
fn fails(code: i32, arguments: &[&str], expected: Expect) {
    let outcome = call(code, arguments);
    assert_eq!(outcome.stdout, "");
    expected.assert_eq(&outcome.stderr);
}

#[test]
fn the_exit_code_tells_the_kind_of_error() {
    fails(
        10,
        &["ast_grep", r#"{"pattern": "f($X)", "col": 3}"#],
        expect![[r#"
            error[invalid_arguments]: unknown argument `col`: the arguments are `pattern`, `path`, `language`, `context`, `max_results`
        "#]],
    );
    fails(
        10,
        &[
            "ast_grep",
            "--arg",
            "pattern=f($X)",
            "--arg",
            "max_results=many",
        ],
        expect![[r#"
            error[invalid_arguments]: `max_results` must be an integer, but the string "many" came
        "#]],
    );
    fails(
        11,
        &[
            "ast_grep",
            "--arg",
            "pattern=f($X)",
            "--arg",
            "path=nowhere",
        ],
        expect![[r#"
            error[not_found]: no file or folder `nowhere` in the workspace; paths are relative to its root, and a glob such as `src/**/*.rs` is accepted
        "#]],
    );
    fails(
        11,
        &["ast_gerp"],
        expect![[r#"
            error[not_found]: there is no tool `ast_gerp`; did you mean `ast_grep`? The tools are `apply_patch`, `ast_edit`, `ast_grep`, `edit`, `lsp`, `lsp_rename`, `read`, `resolve`, `write`
        "#]],
    );
}

#[test]
fn help_and_the_documentation_tell_the_same_exit_codes() {
    let help = call(0, &["--help"]).stdout;
    let docs = include_str!("../../docs/tools/cli.md");
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    for row in codes.lines() {
        let (code, meaning) = row.trim().split_once("  ").unwrap();
        let kind = meaning
            .split_once(": ")
            .map(|(kind, _)| format!("`{kind}` "));
        let row = format!("| {code} | {}|", kind.unwrap_or_default());
        assert!(docs.contains(&row), "no {row:?}");
    }
    assert_eq!(codes.lines().count(), 12, "{codes}");
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    fails(
        2,
        &["ast_grep", "{pattern"],
        expect![[r#"
        error: the arguments are no JSON object: key must be a string at line 1 column 2
    "#]],
    );
    fails(
        2,
        &["ast_grep", "[]"],
        expect![[r#"
        error: the arguments are no JSON object: invalid type: sequence, expected a map at line 1 column 0
    "#]],
    );
    fails(
        2,
        &["ast_grep", "--arg", "pattern"],
        expect![[r#"
        error: invalid value 'pattern' for '--arg <KEY=VALUE>': it is KEY=TEXT or KEY:=JSON

        For more information, try '--help'.
    "#]],
    );
    fails(
        2,
        &["ast_grep", "--arg", "path=a", "--arg", "path=b"],
        expect![[r#"
            error: --arg path is given twice; a list is `--arg 'path:=[…]'`
        "#]],
    );
    fails(
        2,
        &["-C", "nowhere", "ast_grep"],
        expect![[r#"
        error: -C nowhere: No such file or directory (os error 2)
    "#]],
    );
    fails(
        2,
        &["--tier", "root", "ast_grep"],
        expect![[r#"
        error: invalid value 'root' for '--tier <TIER>'
          [possible values: read, write, exec]

        For more information, try '--help'.
    "#]],
    );
    let nothing = terret(&tree()).run().exits(2);
    assert!(nothing.stderr.contains("Usage: terret"), "{nothing}");
}

#[test]
fn above_the_cap_a_tool_is_one_that_never_existed() {
    let unknown = call(11, &["--tier", "read", "ast_edit"]).stderr;
    let absent = call(11, &["--tier", "read", "ast_ed1t"]).stderr;
    assert_eq!(unknown.replace("ast_edit", "ast_ed1t"), absent);
}
