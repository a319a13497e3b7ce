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
fn a_surface_capped_at_read_holds_what_only_reads() {
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
        apply_patch  write  Host tool: applies a patch to files of the workspace, all of it or nothing.
        ast_edit     write  Rewrites code by its shape and stages the change; nothing is written until `resolve` accepts it.
        ast_grep     read   Finds code by its shape, parsed, whatever its layout; never inside strings or comments.
        edit         write  Host tool: replaces a text in a file of the workspace.
        lsp          read   Asks the language server of a file about code, with types and across files: where a symbol is declared or used, what its type is, what implements it, its documentation, what is wrong with a file, the symbols of a file or of the workspace.
        lsp_rename   write  Renames a symbol everywhere by the language server of its file: uses in other files, imports and modules included, and nothing that is only spelled alike.
        read         read   Host tool: reads a text file of the workspace, its lines numbered.
        resolve      write  Writes a change that `ast_edit` staged, or drops it.
        write        write  Host tool: writes a whole file of the workspace, and makes its folders.
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
            "description": "Host tool: applies a patch to files of the workspace, all of it or nothing. The patch begins with `*** Begin Patch` and ends with `*** End Patch`; between them are sections: `*** Add File: PATH` (each line with `+`), `*** Delete File: PATH`, `*** Update File: PATH`, which `*** Move to: PATH` may follow. An update has hunks: `@@`, optionally with a line that stands above it (`@@ def total`), then lines with a blank (as they are), `-` (removed) or `+` (added). Three lines around a change make its place known. Example: {\"patch\": \"*** Begin Patch\\n*** Update File: a.py\\n@@ def total\\n-    return a\\n+    return a + 1\\n*** End Patch\"}",
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
            "description": "Host tool: replaces a text in a file of the workspace. `old` has to be there exactly once, letter by letter, blanks included (line ends are taken care of); `replace_all` replaces it wherever it is. Example: {\"path\": \"src/a.py\", \"old\": \"return a\\n\", \"new\": \"return a + 1\\n\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the workspace."
                },
                "old": {
                  "type": "string",
                  "description": "The text to replace, with as much around it as makes it the only one."
                },
                "new": {
                  "type": "string",
                  "description": "What to put in its place; empty deletes."
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
            "description": "Asks the language server of a file about code, with types and across files: where a symbol is declared or used, what its type is, what implements it, its documentation, what is wrong with a file, the symbols of a file or of the workspace. Use it where names mislead a text search. A symbol is named by `file`, `line` and `symbol`, the identifier as that line spells it. Returns `path:line: text` for each place. Example: {\"action\": \"references\", \"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "action": {
                  "type": "string",
                  "description": "What to find out. `diagnostics`: What is wrong with `file`; `definition`: Where the symbol is declared; `type_definition`: Where the type of the symbol is declared; `implementation`: What implements the symbol; `references`: Where the symbol is used; `hover`: The signature and the documentation of the symbol; `symbols`: The symbols of `file`, or with `query` those of the workspace; `status`: Which servers run, and which cannot and why; `reload`: Restarts the servers of `file`, or all.",
                  "enum": [
                    "diagnostics",
                    "definition",
                    "type_definition",
                    "implementation",
                    "references",
                    "hover",
                    "symbols",
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
            "description": "Renames a symbol everywhere by the language server of its file: uses in other files, imports and modules included, and nothing that is only spelled alike. All of it is written, or nothing. The symbol is named by `file`, `line` and `symbol`, the identifier as that line spells it. Example: {\"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\", \"new_name\": \"sum\"}",
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
            "description": "Host tool: reads a text file of the workspace, its lines numbered. Long files come in parts: the last line says how to go on. Example: {\"path\": \"src/main.rs\", \"offset\": 120, \"limit\": 80}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the workspace."
                },
                "offset": {
                  "type": "integer",
                  "description": "The first line to show, from 1; 1 when absent."
                },
                "limit": {
                  "type": "integer",
                  "description": "How many lines to show; at most 2,000, and 2,000 when absent."
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
            "description": "Host tool: writes a whole file of the workspace, and makes its folders. To change a part of a file use `edit`. Example: {\"path\": \"src/greeting.py\", \"content\": \"HELLO = 'hello'\\n\"}",
            "parameters": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "The file, relative to the workspace; made if it is not there."
                },
                "content": {
                  "type": "string",
                  "description": "All that is to be in it."
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
