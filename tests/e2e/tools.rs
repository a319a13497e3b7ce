//! What tools there are, and who sees them.

use expect_test::expect;
use serde_json::Value;
use terret_testkit::Tree;

use crate::terret;

#[track_caller]
fn names(arguments: &[&str]) -> Vec<String> {
    let outcome = terret(&Tree::new(""))
        .args(["tools", "--json"])
        .args(arguments)
        .run()
        .success();
    let tools = outcome.json();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_surface_capped_at_read_holds_ast_grep_only() {
    assert_eq!(names(&["--tier", "read"]), ["ast_grep"]);
    let table = terret(&Tree::new(""))
        .args(["tools", "--tier", "read"])
        .run()
        .success();
    assert_eq!(table.stdout.lines().count(), 1, "{table}");
}

#[test]
fn the_table() {
    let outcome = terret(&Tree::new("")).arg("tools").run().success();
    expect![[r#"
        ast_edit  write  Rewrites code by its shape and stages the change; nothing is written until `resolve` accepts it.
        ast_grep  read   Finds code by its shape, parsed, whatever its layout; never inside strings or comments.
        resolve   write  Writes a change that `ast_edit` staged, or drops it.
    "#]].assert_eq(&outcome.stdout);
}

#[test]
fn the_json() {
    let outcome = terret(&Tree::new(""))
        .args(["tools", "--json"])
        .run()
        .success();
    assert!(outcome.json().is_array());
    expect![[r#"
        [
          {
            "name": "ast_edit",
            "tier": "write",
            "description": "Rewrites code by its shape and stages the change; nothing is written until `resolve` accepts it. The pattern is as in `ast_grep`; `rewrite` is the text to put in its place, with the pattern's `$NAME` and `$$$NAME`. Layout, indentation, separators and precedence are taken care of, and a rewrite that breaks the syntax is refused. Returns an edit_id and a diff. Look with `ast_grep` first when in doubt about the pattern. Example: {\"pattern\": \"dispose($X)\", \"rewrite\": \"$X.dispose()\", \"language\": \"dart\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "pattern": {
                  "type": "string",
                  "description": "The code to replace, as in `ast_grep`."
                },
                "rewrite": {
                  "type": "string",
                  "description": "What to put in its place, with the pattern's `$NAME` and `$$$NAME`; empty deletes."
                },
                "edits": {
                  "type": "array",
                  "description": "Several replacements in one change, instead of `pattern` and `rewrite`; all match the text as it is now.",
                  "items": {
                    "type": "object",
                    "description": "One replacement of a combined change.",
                    "properties": {
                      "pattern": {
                        "type": "string",
                        "description": "The code to replace."
                      },
                      "rewrite": {
                        "type": "string",
                        "description": "What to put in its place."
                      }
                    },
                    "required": [
                      "pattern",
                      "rewrite"
                    ],
                    "additionalProperties": false
                  }
                },
                "path": {
                  "type": "string",
                  "description": "A file, a folder or a glob such as `src/**/*.ts`; the whole workspace when absent."
                },
                "language": {
                  "type": "string",
                  "description": "The language, such as `python` or `ts`; needed unless `path` is one file."
                },
                "context": {
                  "type": "string",
                  "description": "Where the patterns stand, as in `ast_grep`."
                },
                "allow_syntax_errors": {
                  "type": "boolean",
                  "description": "Stage the change although it breaks the syntax of files."
                }
              },
              "required": [],
              "additionalProperties": false
            }
          },
          {
            "name": "ast_grep",
            "tier": "read",
            "description": "Finds code by its shape, parsed, whatever its layout; never inside strings or comments. Use it for calls, declarations and statements; use a text search for words, comments and regular expressions. The pattern is a piece of code: `$X` stands for one node, `$$$ARGS` for any number of siblings, and a repeated name for the same code. Strict: a match has what the pattern shows and nothing more, so write out modifiers such as `async` or `pub`. Returns path:line, the lines and what each name captured, ordered by path; the first line says how the pattern was read. Example: {\"pattern\": \"if ($X != null) $X.dispose()\", \"language\": \"dart\", \"path\": \"lib\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "pattern": {
                  "type": "string",
                  "description": "A piece of code in which `$NAME` stands for one node, `$$$NAME` for a run of siblings, `$_` and `$$$` for either without binding; a repeated name must stand for the same code."
                },
                "path": {
                  "type": "string",
                  "description": "A file, a folder or a glob such as `src/**/*.ts`; the whole workspace when absent."
                },
                "language": {
                  "type": "string",
                  "description": "The language, such as `python` or `ts`; inferred from the files when absent."
                },
                "context": {
                  "type": "string",
                  "description": "Where the pattern stands, such as `expression`, `member` or `argument`: asks for another reading than the one an answer states."
                },
                "max_results": {
                  "type": "integer",
                  "description": "How many matches to show, at most 1,000; 50 when absent."
                }
              },
              "required": [
                "pattern"
              ],
              "additionalProperties": false
            }
          },
          {
            "name": "resolve",
            "tier": "write",
            "description": "Writes a change that `ast_edit` staged, or drops it. All files or none: if any of them is no longer as it was when the change was staged, nothing is written and the answer names the files; run `ast_edit` again then. Returns what was written. Example: {\"edit_id\": \"edit_1\", \"action\": \"accept\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "edit_id": {
                  "type": "string",
                  "description": "The id that a `(proposed)` result of `ast_edit` names."
                },
                "action": {
                  "type": "string",
                  "description": "Whether to write the change or to drop it. `accept`: Write it; `discard`: Drop it.",
                  "enum": [
                    "accept",
                    "discard"
                  ]
                }
              },
              "required": [
                "edit_id",
                "action"
              ],
              "additionalProperties": false
            }
          }
        ]
    "#]].assert_eq(&outcome.stdout);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let tree = Tree::new("");
    let terret = env!("CARGO_BIN_EXE_terret");
    // The shell waits until nobody reads any more.
    let script = format!("(sleep 0.2; {terret} tools --json; echo $? >&2) | true");
    let outcome = terret_testkit::Bin::new("sh")
        .args(["-c", &script])
        .cwd(tree.root())
        .run();
    assert_eq!(outcome.success().stderr, "0\n");
}
