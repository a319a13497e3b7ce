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
fn a_surface_capped_at_read_holds_what_changes_nothing() {
    assert_eq!(names(&["--tier", "read"]), ["ast_grep", "lsp", "read"]);
    let table = terret(&Tree::new(""))
        .args(["tools", "--tier", "read"])
        .run()
        .success();
    assert_eq!(table.stdout.lines().count(), 3, "{table}");
}

#[test]
fn the_table() {
    let outcome = terret(&Tree::new("")).arg("tools").run().success();
    expect![[r#"
        apply_patch  write  Changes several files by one patch, all of them or none (a tool of this host's own).
        ast_edit     write  Rewrites code by its shape and stages the change; nothing is written until `resolve` accepts it.
        ast_grep     read   Finds code by its shape, parsed, whatever its layout; never inside strings or comments.
        edit         write  Replaces a piece of a file (a tool of this host's own).
        lsp          read   Asks the language server of a file about code, with types and across files.
        lsp_rename   write  Renames a symbol everywhere by the language server of its file.
        read         read   Reads a text file (a tool of this host's own).
        resolve      write  Writes a change that `ast_edit` staged, or drops it.
        write        write  Writes a whole file, new or in place of what it held (a tool of this host's own).
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
            "name": "apply_patch",
            "tier": "write",
            "description": "Changes several files by one patch, all of them or none (a tool of this host's own). The patch is `*** Begin Patch`, then for each file `*** Add File: PATH` with lines that begin with `+`, `*** Delete File: PATH`, or `*** Update File: PATH` (with `*** Move to: PATH` behind it to rename it) and its hunks, each begun by `@@`, whose lines begin with a blank (context), `-` (goes) or `+` (comes); then `*** End Patch`. Returns what was changed, and what it has broken.",
            "parameters": {
              "type": "object",
              "properties": {
                "patch": {
                  "type": "string",
                  "description": "The patch, from `*** Begin Patch` to `*** End Patch`."
                }
              },
              "required": [
                "patch"
              ],
              "additionalProperties": false
            }
          },
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
            "name": "edit",
            "tier": "write",
            "description": "Replaces a piece of a file (a tool of this host's own). `old` has to be there exactly once, or name `replace_all`. Returns what was replaced, and what it has broken. Example: {\"path\": \"src/cart.rs\", \"old\": \"fn total(\", \"new\": \"fn sum(\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the working directory."
                },
                "old": {
                  "type": "string",
                  "description": "The piece as the file holds it, with its indentation."
                },
                "new": {
                  "type": "string",
                  "description": "What stands in its place."
                },
                "replace_all": {
                  "type": "boolean",
                  "description": "Replace it wherever it is."
                }
              },
              "required": [
                "path",
                "old",
                "new"
              ],
              "additionalProperties": false
            }
          },
          {
            "name": "lsp",
            "tier": "read",
            "description": "Asks the language server of a file about code, with types and across files. Where a symbol is declared or used, what its type is, what implements it, its documentation, which fixes are offered for it, what is wrong with a file, the symbols of a file or of the workspace. Use it where names mislead a text search. A symbol is named by `file`, `line` and `symbol`, the identifier as that line spells it. Returns `path:line: text` for each place. Example: {\"action\": \"references\", \"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "action": {
                  "type": "string",
                  "description": "What to find out. `diagnostics`: What is wrong with `file`; `definition`: Where the symbol is declared; `type_definition`: Where the type of the symbol is declared; `implementation`: What implements the symbol; `references`: Where the symbol is used; `hover`: The signature and the documentation of the symbol; `symbols`: The symbols of `file`, or with `query` those of the workspace; `code_actions`: The quick fixes and refactorings that the server offers for the symbol; none is applied; `status`: Which servers run, and which cannot and why; `reload`: Restarts the servers of `file`, or all.",
                  "enum": [
                    "diagnostics",
                    "definition",
                    "type_definition",
                    "implementation",
                    "references",
                    "hover",
                    "symbols",
                    "code_actions",
                    "status",
                    "reload"
                  ]
                },
                "file": {
                  "type": "string",
                  "description": "The file, relative to the working directory."
                },
                "line": {
                  "type": "integer",
                  "description": "The line of the symbol in the file, from 1."
                },
                "symbol": {
                  "type": "string",
                  "description": "The symbol as that line spells it; `name#2` for the second of that name on the line."
                },
                "query": {
                  "type": "string",
                  "description": "For `symbols`: a part of the name of what is looked for in the whole workspace."
                }
              },
              "required": [
                "action"
              ],
              "additionalProperties": false
            }
          },
          {
            "name": "lsp_rename",
            "tier": "write",
            "description": "Renames a symbol everywhere by the language server of its file. Uses in other files, imports and modules are included, and nothing that is only spelled alike is. All of it is written, or nothing. The symbol is named by `file`, `line` and `symbol`, the identifier as that line spells it. Example: {\"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\", \"new_name\": \"sum\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "file": {
                  "type": "string",
                  "description": "The file, relative to the working directory."
                },
                "line": {
                  "type": "integer",
                  "description": "The line of the symbol in the file, from 1."
                },
                "symbol": {
                  "type": "string",
                  "description": "The symbol as that line spells it; `name#2` for the second of that name on the line."
                },
                "new_name": {
                  "type": "string",
                  "description": "What to call it."
                }
              },
              "required": [
                "file",
                "line",
                "symbol",
                "new_name"
              ],
              "additionalProperties": false
            }
          },
          {
            "name": "read",
            "tier": "read",
            "description": "Reads a text file (a tool of this host's own). Returns its lines, each behind its number and a tab. Example: {\"path\": \"src/cart.rs\", \"offset\": 100, \"limit\": 50}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the working directory."
                },
                "offset": {
                  "type": "integer",
                  "description": "The line to begin with, from 1; the first if it is left out."
                },
                "limit": {
                  "type": "integer",
                  "description": "How many lines; 2,000 if it is left out."
                }
              },
              "required": [
                "path"
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
          },
          {
            "name": "write",
            "tier": "write",
            "description": "Writes a whole file, new or in place of what it held (a tool of this host's own). Folders that are missing are made. Returns what was written, and what it has broken. Example: {\"path\": \"src/cart.rs\", \"content\": \"pub fn total() {}\\n\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the working directory."
                },
                "content": {
                  "type": "string",
                  "description": "What it holds then."
                }
              },
              "required": [
                "path",
                "content"
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
