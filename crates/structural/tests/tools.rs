//! The tools over real folders, called as a harness calls them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use terret_structural::{Options, Structural};
use terret_tiers::{CallContext, ErrorKind, Output, Tool, ToolError};

struct Folder {
    root: tempfile::TempDir,
    state: tempfile::TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(root.path(), path, text.as_bytes());
        }
        let options = Options::default().state_dir(state.path());
        let tools = Structural::with_options(root.path(), options).tools();
        Self { root, state, tools }
    }

    fn call(&self, name: &str, arguments: Value) -> Result<Output, ToolError> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.spec().name == name)
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let arguments = tool.validate(arguments)?;
        runtime.block_on(tool.call(arguments, &CallContext::detached()))
    }

    fn text(&self, name: &str, arguments: Value) -> String {
        match self.call(name, arguments) {
            Ok(output) => output.to_text(),
            Err(error) => format!("{}: {}", error.kind, error.message),
        }
    }

    fn check(&self, name: &str, arguments: Value, expected: Expect) {
        expected.assert_eq(&self.text(name, arguments));
    }

    fn paths(&self, arguments: Value) -> Vec<String> {
        let output = self.call("ast_grep", arguments).unwrap();
        let matches = output.details["matches"].as_array().unwrap();
        matches
            .iter()
            .map(|found| format!("{}:{}", found["path"].as_str().unwrap(), found["line"]))
            .collect()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.path().join(path)).unwrap()
    }
}

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_search_shows_lines_and_captures() {
    let folder = Folder::new(&[
        (
            "lib/a.dart",
            "void m() {\n  dispose(user.name);\n  var s = 'dispose(x)';\n}\nvoid dispose(int x) {}\n",
        ),
        (
            "lib/b.dart",
            "// dispose(y)\nvoid n() {\n  dispose(\n    z,\n  );\n}\n",
        ),
    ]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "dispose($X)", "language": "dart" }),
        expect![[r#"
        pattern read as: expression, call_expression
        lib/a.dart:2
          2:   dispose(user.name);
          $X = user.name
        lib/b.dart:3
          3:   dispose(
          4:     z,
          5:   );
          $X = z
        2 matches; 2 files searched"#]],
    );
    folder.check(
        "ast_grep",
        json!({ "pattern": "var s = '$S';", "language": "dart" }),
        expect![[r#"
            pattern read as: statement, local_variable_declaration; member, member_declaration; declaration, top_level_variable_declaration
            lib/a.dart:3
              3:   var s = 'dispose(x)';
              $S = dispose(x)
            1 match; 2 files searched"#]],
    );
    folder.check(
        "ast_grep",
        json!({ "pattern": "class $C", "language": "dart" }),
        expect![[r#"
        pattern read as: declaration, class_declaration
        0 matches; 2 files searched"#]],
    );
    folder.check(
        "ast_grep",
        json!({ "pattern": "name: $X", "language": "dart" }),
        expect![[r#"
        pattern read as: statement, labeled_statement
        0 matches; 2 files searched"#]],
    );
}

#[test]
fn results_are_ordered_and_stop_early() {
    let files: Vec<(String, String)> = (0..40)
        .map(|number| (format!("f{number:02}/x.py"), "f(1)\nf(2)\n".repeat(3)))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let folder = Folder::new(&files);
    let all = folder.paths(json!({ "pattern": "f($X)", "max_results": 1000 }));
    assert_eq!(all.len(), 240);
    let mut sorted = all.clone();
    sorted.sort_by_key(|place| {
        let (path, line) = place.split_once(':').unwrap();
        (path.to_owned(), line.parse::<usize>().unwrap())
    });
    assert_eq!(all, sorted);
    for _ in 0..5 {
        let output = folder
            .call("ast_grep", json!({ "pattern": "f($X)", "max_results": 7 }))
            .unwrap();
        assert_eq!(output.details["matches"].as_array().unwrap().len(), 7);
        assert_eq!(output.details["more"], true);
        assert!(output.truncated);
        let shown = folder.paths(json!({ "pattern": "f($X)", "max_results": 7 }));
        assert_eq!(shown, all[..7], "the same whatever the threads do");
    }
    // Workers that ran ahead met other languages: no answer speaks of them.
    write(folder.root.path(), "f02/y.go", b"package p\n");
    write(folder.root.path(), "f03/y.rs", b"fn g() {}\n");
    for _ in 0..20 {
        let text = folder.text("ast_grep", json!({ "pattern": "f($X)", "max_results": 7 }));
        assert!(
            text.starts_with("pattern read as: expression, call\n"),
            "{text}"
        );
        assert!(text.ends_with("stopped after 2 files"), "{text}");
    }
}

#[test]
fn what_is_walked() {
    let folder = Folder::new(&[
        (".gitignore", "target\n"),
        ("a.py", "f(1)\n"),
        ("target/b.py", "f(1)\n"),
        (".hidden/c.py", "f(1)\n"),
        ("src/d.py", "f(1)\n"),
        ("src/e.pyi", "f(1)\n"),
        ("src/deep/g.py", "f(1)\n"),
        ("src/[id].py", "f(1)\n"),
        ("notes.txt", "f(1)\n"),
        ("bin.py", "f(1)\n\0\n"),
    ]);
    let grep = |path: Option<&str>| folder.paths(json!({ "pattern": "f($X)", "path": path }));
    assert_eq!(
        grep(None),
        [
            "a.py:1",
            "src/[id].py:1",
            "src/d.py:1",
            "src/deep/g.py:1",
            "src/e.pyi:1"
        ]
    );
    assert_eq!(grep(Some("src/*.py")), ["src/[id].py:1", "src/d.py:1"]);
    assert_eq!(grep(Some("**/g.py")), ["src/deep/g.py:1"]);
    assert_eq!(grep(Some("src/{d,e}.*")), ["src/d.py:1", "src/e.pyi:1"]);
    assert_eq!(
        grep(Some("src/[id].py")),
        ["src/[id].py:1"],
        "a file of that name, no glob"
    );
    assert_eq!(
        grep(Some("target/b.py")),
        ["target/b.py:1"],
        "named explicitly"
    );
    assert_eq!(grep(Some("bin.py")), ["bin.py:1"], "named explicitly");
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "x.py", b"f(1)\n");
    std::os::unix::fs::symlink(outside.path(), folder.root.path().join("src/link")).unwrap();
    folder.check("ast_grep", json!({ "pattern": "f($X)", "path": "src/**/x.py" }), expect!["not_found: no file there is in a language that is searched; ignored and hidden files are left out: name one to search it, or pass `language`"]);
    folder.check("ast_grep", json!({ "pattern": "f($X)", "path": "nope" }), expect!["not_found: no file or folder `nope` in the workspace; paths are relative to its root, and a glob such as `src/**/*.rs` is accepted"]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "f($X)", "path": "notes.txt" }),
        expect![
            "not_found: the language of `notes.txt` is not known from its name; pass `language`"
        ],
    );
    let named = folder.paths(json!({ "pattern": "f($X)", "path": "notes.txt", "language": "py" }));
    assert_eq!(named, ["notes.txt:1"]);
}

#[test]
fn languages_of_a_mixed_folder_compete() {
    let folder = Folder::new(&[
        ("a.ts", "const f = (x) => x;\n"),
        ("b.rs", "fn f() { let y = |x| x; }\n"),
        ("c.tsx", "const g = (x) => x;\n"),
        ("d.go", "package p\n\nfunc f() { g(1) }\n"),
    ]);
    folder.check("ast_grep", json!({ "pattern": "($X) => $X" }), expect![[r#"
        pattern read as: rust: arm, match_arm | tsx: expression, arrow_function | typescript: expression, arrow_function
        a.ts:1
          1: const f = (x) => x;
          $X = x
        c.tsx:1
          1: const g = (x) => x;
          $X = x
        2 matches; 3 files searched; not searched, since the pattern does not parse there: go"#]]);
    assert_eq!(
        folder.paths(json!({ "pattern": "($X) => $X", "language": "ts" })),
        ["a.ts:1", "c.tsx:1"]
    );
    assert_eq!(
        folder.paths(json!({ "pattern": "($X) => $X", "language": "tsx" })),
        ["c.tsx:1"]
    );
    let error = folder
        .call("ast_grep", json!({ "pattern": "(((" }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    for language in ["Go", "Rust", "TypeScript", "TSX"] {
        assert!(error.message.contains(language), "{}", error.message);
    }
    let text = folder.text(
        "ast_grep",
        json!({ "pattern": "f()", "language": "klingon" }),
    );
    let known = "invalid_arguments: unknown language `klingon`; known are ";
    assert!(text.starts_with(known), "{text}");
    folder.check("ast_grep", json!({ "pattern": "f()", "language": "rust", "context": "verb" }), expect!["invalid_arguments: Rust has no context `verb`, and no kind of node; its contexts are: statement, expression, member, declaration, type, pattern, arm, field, parameter, initializer, visibility, attribute, generic, bound, where, variant, use_tree, type_argument, condition, clause, arguments, parameters, fields, type_arguments, type_parameters, body, initializers, name, field_pattern"]);
}

/// A later reading that several languages share is one clause.
#[test]
fn later_readings_are_joined() {
    let folder = Folder::new(&[
        ("a.ts", "let f = (x: T) => x;\n"),
        ("b.tsx", "let f = (x: T) => x;\n"),
    ]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "$K: $V", "language": "ts" }),
        expect![[r#"
            pattern read as: statement, labeled_statement
            0 matches; 2 as required parameter: pass `context: parameter`; 2 files searched"#]],
    );
}

#[test]
fn zero_matches_say_what_is_near() {
    let folder = Folder::new(&[
        ("a.rs", "pub fn a() {}\npub fn b() {}\nasync fn c() {}\n"),
        ("b.dart", "var a = f(name: 1);\nvar b = f(name: 2);\n"),
    ]);
    folder.check("ast_grep", json!({ "pattern": "fn $F() { $$$B }", "language": "rust" }), expect![[r#"
        pattern read as: statement, function_item
        0 matches; 2 differ only by `visibility_modifier`, 1 differs only by `function_modifiers`: write them into the pattern; 1 file searched"#]]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "name: $X", "language": "dart" }),
        expect![[r#"
        pattern read as: statement, labeled_statement
        0 matches; 2 as named argument: pass `context: argument`; 1 file searched"#]],
    );
    folder.check(
        "ast_grep",
        json!({ "pattern": "name: $X", "language": "dart", "context": "argument" }),
        expect![[r#"
        pattern read as: argument, named_argument
        b.dart:1
          1: var a = f(name: 1);
          $X = 1
        b.dart:2
          2: var b = f(name: 2);
          $X = 2
        2 matches; 1 file searched"#]],
    );
}

/// The arguments of a macro are tokens: a search that finds nothing says where to look on.
#[test]
fn what_stands_in_macros_is_told() {
    let folder = Folder::new(&[
        ("a.rs", "fn f() { vec![x.to_string()]; }\n"),
        ("b.rs", "fn f() { other!(x); }\n// to_string\n"),
    ]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "$X.to_string()", "language": "rust" }),
        expect![[r#"
            pattern read as: expression, call_expression
            0 matches; 1 file has its words in the arguments of a macro, which are not parsed: use a text search there; 2 files searched"#]],
    );
}

#[test]
fn a_keyword_taken_for_a_name_is_told() {
    let folder = Folder::new(&[("a.ts", "if (x) { f(); }\n")]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "if ($C)", "language": "ts" }),
        expect![[r#"
            pattern read as: expression, call_expression
            0 matches; `if` is read as a name here: write the whole construct if the keyword is meant; 1 file searched"#]],
    );
}

#[test]
fn odd_files_are_ordinary() {
    let folder = Folder::new(&[
        ("broken.ts", "f(1);\nlet = = ;\nf(2);\n"),
        ("crlf.ts", "\u{feff}f(1);\r\n\tf(2);\r\n"),
    ]);
    write(folder.root.path(), "latin.py", b"x = 'caf\xe9'; f(x)\n");
    folder.check("ast_grep", json!({ "pattern": "f($X)" }), expect![[r#"
        pattern read as: python: expression, call | typescript: expression, call_expression
        broken.ts:1
          1: f(1);
          $X = 1
        broken.ts:3
          3: f(2);
          $X = 2
        crlf.ts:1
          1: f(1);
          $X = 1
        crlf.ts:2
          2: 	f(2);
          $X = 2
        latin.py:1
          1: x = 'caf�'; f(x)
          $X = x
        5 matches; 3 files searched; 1 file with syntax errors, searched in the sound parts (broken.ts)"#]]);
    let output = folder
        .call(
            "ast_grep",
            json!({ "pattern": "f($X)", "path": "latin.py" }),
        )
        .unwrap();
    assert_eq!(
        output.details["matches"][0]["column"], 13,
        "characters, not bytes"
    );
    folder.check(
        "ast_edit",
        json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" }),
        expect![[r#"
            refused: nothing is staged, since not every file can be edited:
            - latin.py: the file is not UTF-8: it is searched, but not edited
            leave them out: `path`: "!latin.py""#]],
    );
}

/// One file that cannot be edited keeps all from being staged, and the error says how to leave it out.
#[test]
fn files_are_left_out_by_their_path() {
    let folder = Folder::new(&[
        ("src/a.py", "x = f(1)\n"),
        ("src/b/c.py", "x = f(k=1)\n"),
        ("src/b/d.py", "x = f(2)\n"),
        ("src/e.py", "x = f(*y)\n"),
    ]);
    let edit = |path: &str| json!({ "pattern": "f($X)", "rewrite": "$X", "language": "python", "path": path });
    folder.check("ast_edit", edit("src"), expect![[r#"
        refused: the rewrite breaks the syntax, nothing is staged:
        - src/b/c.py:1:5: x = k=1 (`keyword_argument` means nothing there)
        - src/e.py:1:5: x = *y (`list_splat` means nothing there)
        mend the rewrite, pass `allow_syntax_errors`, or leave the files out: `path`: "src/!{b/c.py,e.py}""#]]);
    folder.check("ast_edit", edit("src/!{b/c.py,e.py}"), expect![[r#"
        (proposed) 2 replacements in 2 files; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
        pattern read as: expression, call
        diff --git a/src/a.py b/src/a.py
        --- a/src/a.py
        +++ b/src/a.py
        @@ -1 +1 @@
        -x = f(1)
        +x = 1
        diff --git a/src/b/d.py b/src/b/d.py
        --- a/src/b/d.py
        +++ b/src/b/d.py
        @@ -1 +1 @@
        -x = f(2)
        +x = 2
        2 files searched"#]]);
    folder.check("ast_edit", edit("src/!{b,e.py}"), expect![[r#"
        (proposed) 1 replacement in 1 file; nothing is written yet: call resolve with edit_id "edit_2" and action "accept" or "discard"
        pattern read as: expression, call
        diff --git a/src/a.py b/src/a.py
        --- a/src/a.py
        +++ b/src/a.py
        @@ -1 +1 @@
        -x = f(1)
        +x = 1
        1 file searched"#]]);
    folder.check(
        "ast_edit",
        edit("!src"),
        expect![[r#"
        pattern read as: expression, call
        0 matches: nothing is staged
        0 files searched"#]],
    );
}

/// Lines end at a line feed, whatever the file thinks: a carriage return alone ends none.
#[test]
fn a_file_with_carriage_returns_alone_is_one_line() {
    let folder = Folder::new(&[("cr.py", "f(1)\rf(2)\r")]);
    folder.check("ast_grep", json!({ "pattern": "f($X)" }), expect![[r#"
        pattern read as: expression, call
        cr.py:1
          1: f(1)␊f(2)
          $X = 1
        1 match; 1 file searched; 1 file with syntax errors, searched in the sound parts (cr.py)"#]]);
}

#[test]
fn columns_count_characters_and_bytes_count_bytes() {
    let folder = Folder::new(&[("a.ts", "\u{feff}\"é🙂\"; foo(1)\n")]);
    let output = folder
        .call("ast_grep", json!({ "pattern": "foo($A)" }))
        .unwrap();
    let found = &output.details["matches"][0];
    assert_eq!((&found["line"], &found["column"]), (&json!(1), &json!(7)));
    assert_eq!(found["bytes"], json!([13, 19]));
}

/// A match of many lines does not flood the answer; where it ends is in the details.
#[test]
fn a_long_match_is_cut() {
    let body = "  step();\n".repeat(399);
    let folder = Folder::new(&[("a.ts", &format!("run(() => {{\n{body}}})\n"))]);
    folder.check(
        "ast_grep",
        json!({ "pattern": "run(() => { $$$B })" }),
        expect![[r#"
            pattern read as: expression, call_expression
            a.ts:1
              1: run(() => {
              2:   step();
              3:   step();
              … 398 more lines
              $$$B = step();␊  step();␊  step();␊  step();␊  step();␊  step();␊  step();␊  step();␊  … (4.0 KB in all)
            1 match; 1 file searched"#]],
    );
    let output = folder
        .call("ast_grep", json!({ "pattern": "run(() => { $$$B })" }))
        .unwrap();
    assert_eq!(output.details["matches"][0]["end_line"], 401);
}

/// Files and folders that are not searched, or not to their end, are named with the reason.
#[test]
fn what_is_not_searched_is_named() {
    let folder = Folder::new(&[("a.py", "f(1)\n")]);
    // A path that is too long to be opened: nobody may read it, not even the superuser.
    let name = "n".repeat(200);
    let long = [name.as_str(); 12].join("/");
    let root = folder.root.path();
    std::fs::create_dir_all(root.join("deep").join(&long)).unwrap();
    std::fs::create_dir_all(root.join("to_move").join(&long)).unwrap();
    let inside = root.join("deep").join(&long).join("end");
    std::fs::rename(root.join("to_move"), inside).unwrap();
    let large = std::fs::File::create(root.join("large.py")).unwrap();
    large.set_len(64 * 1024 * 1024 + 1).unwrap();
    // More than a grammar gets through in its two seconds.
    let slow = format!("f(2)\nx = [{}]\n", "[1, ], ".repeat(6 * 1024 * 1024));
    write(root, "slow.py", slow.as_bytes());
    let output = folder
        .call("ast_grep", json!({ "pattern": "f($X)" }))
        .unwrap();
    let skipped = output.details["files_skipped"].as_array().unwrap();
    let mut skipped: Vec<(String, &str)> = skipped
        .iter()
        .map(|skipped| {
            let path = skipped["path"].as_str().unwrap();
            let first = path.split('/').next().unwrap().to_owned();
            (first, skipped["reason"].as_str().unwrap())
        })
        .collect();
    skipped.sort();
    assert_eq!(skipped[0].0, "deep");
    assert!(skipped[0].1.contains("too long"), "{}", skipped[0].1);
    assert_eq!(
        skipped[1..],
        [
            ("large.py".to_owned(), "too large (64 MiB)"),
            ("slow.py".to_owned(), "parsing took over 2 s"),
        ]
    );
    assert_eq!(output.details["matches"].as_array().unwrap().len(), 1);
    assert!(output.to_text().contains("3 files skipped ("));
}

#[test]
fn an_edit_is_proposed_and_accepted() {
    let folder = Folder::new(&[
        ("a.dart", "void m() {\r\n  dispose(a);\r\n}\r\n"),
        ("b.dart", "void n() { dispose(b); dispose(c /* why */); }"),
    ]);
    folder.check("ast_edit", json!({ "pattern": "dispose($X)", "rewrite": "$X.dispose()", "language": "dart" }), expect![[r#"
        (proposed) 3 replacements in 2 files; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
        pattern read as: expression, call_expression
        diff --git a/a.dart b/a.dart
        --- a/a.dart
        +++ b/a.dart
        @@ -1,3 +1,3 @@
         void m() {
        -  dispose(a);
        +  a.dispose();
         }
        diff --git a/b.dart b/b.dart
        --- a/b.dart
        +++ b/b.dart
        @@ -1 +1 @@
        -void n() { dispose(b); dispose(c /* why */); }
        \ No newline at end of file
        +void n() { b.dispose(); c.dispose(); }
        \ No newline at end of file
        1 comment inside replaced code would be lost
        2 files searched"#]]);
    assert_eq!(
        folder.read("b.dart"),
        "void n() { dispose(b); dispose(c /* why */); }",
        "not written yet"
    );
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_1", "action": "accept" }),
        expect![[r#"
        applied edit_1: 3 replacements in 2 files
        a.dart
        b.dart"#]],
    );
    assert_eq!(
        folder.read("a.dart"),
        "void m() {\r\n  a.dispose();\r\n}\r\n"
    );
    assert_eq!(
        folder.read("b.dart"),
        "void n() { b.dispose(); c.dispose(); }"
    );
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_1", "action": "accept" }),
        expect!["refused: `edit_1` is already applied"],
    );
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_2", "action": "accept" }),
        expect!["not_found: no change `edit_2` is staged, and none is open; `ast_edit` stages one"],
    );
    let left: Vec<_> = std::fs::read_dir(folder.root.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporary file: {left:?}");
    assert!(folder.state.path().exists());
}

#[test]
fn a_changed_file_refuses_the_whole() {
    let folder = Folder::new(&[("a.py", "f(1)\n"), ("b.py", "f(2)\n")]);
    folder
        .call(
            "ast_edit",
            json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" }),
        )
        .unwrap();
    write(folder.root.path(), "b.py", b"f(3)\n");
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_1", "action": "accept" }),
        expect![[r#"
        refused: nothing was written, because of 1 file:
          b.py: its content is not what it was when the change was staged (5 bytes then and now)
        `edit_1` stays open; run `ast_edit` again for a fresh change"#]],
    );
    assert_eq!(
        (folder.read("a.py"), folder.read("b.py")),
        ("f(1)\n".into(), "f(3)\n".into())
    );
    write(folder.root.path(), "b.py", b"f(2)\n");
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_1", "action": "accept" }),
        expect![[r#"
        applied edit_1: 2 replacements in 2 files
        a.py
        b.py"#]],
    );
    assert_eq!(
        folder.read("b.py"),
        "g(2)\n",
        "the file is as it was when it was staged"
    );
}

/// Mode, links and the bytes around a replacement stay; a file of several names is refused.
#[test]
fn what_a_file_is_stays() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let folder = Folder::new(&[
        ("a.py", "f(1)\r\nx = 1"),
        ("linked.py", "f(2)\n"),
        ("sub/real.py", "f(3)\n"),
    ]);
    let root = folder.root.path();
    std::fs::set_permissions(root.join("a.py"), PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("sub/real.py", root.join("link.py")).unwrap();
    std::fs::hard_link(root.join("linked.py"), root.join("twin.py")).unwrap();
    let edit = |path: &str| {
        folder.text(
            "ast_edit",
            json!({ "pattern": "f($X)", "rewrite": "g($X)", "path": path, "language": "py" }),
        )
    };
    expect![[r#"
        (proposed) 3 replacements in 3 files; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
        pattern read as: expression, call
        diff --git a/a.py b/a.py
        --- a/a.py
        +++ b/a.py
        @@ -1,2 +1,2 @@
        -f(1)
        +g(1)
         x = 1
        \ No newline at end of file
        diff --git a/linked.py b/linked.py
        --- a/linked.py
        +++ b/linked.py
        @@ -1 +1 @@
        -f(2)
        +g(2)
        diff --git a/twin.py b/twin.py
        --- a/twin.py
        +++ b/twin.py
        @@ -1 +1 @@
        -f(2)
        +g(2)
        3 files searched"#]].assert_eq(&edit("*.py"));
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_1", "action": "accept" }),
        expect![[r#"
            refused: nothing was written, because of 2 files:
              linked.py: it is one file with 2 names (hard links), which a change would separate
              twin.py: it is one file with 2 names (hard links), which a change would separate
            `edit_1` stays open; run `ast_edit` again for a fresh change"#]],
    );
    for (number, path) in (2..).zip(["a.py", "link.py"]) {
        edit(path);
        folder
            .call(
                "resolve",
                json!({ "edit_id": format!("edit_{number}"), "action": "accept" }),
            )
            .unwrap();
    }
    assert_eq!(folder.read("a.py"), "g(1)\r\nx = 1");
    let mode = std::fs::metadata(root.join("a.py")).unwrap().mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert!(root.join("link.py").is_symlink());
    assert_eq!(folder.read("sub/real.py"), "g(3)\n");
    assert_eq!(folder.read("linked.py"), "f(2)\n");
}

#[test]
fn two_changes_of_one_file() {
    let folder = Folder::new(&[("a.py", "f(1)\nh(1)\n")]);
    folder
        .call(
            "ast_edit",
            json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" }),
        )
        .unwrap();
    folder
        .call(
            "ast_edit",
            json!({ "pattern": "h($X)", "rewrite": "i($X)", "language": "python" }),
        )
        .unwrap();
    folder.check("resolve", json!({ "edit_id": "edit_9", "action": "discard" }), expect!["not_found: no change `edit_9` is staged; open are: edit_1 (`f($X)` → `g($X)`), edit_2 (`h($X)` → `i($X)`)"]);
    folder
        .call(
            "resolve",
            json!({ "edit_id": "edit_1", "action": "accept" }),
        )
        .unwrap();
    let error = folder
        .call(
            "resolve",
            json!({ "edit_id": "edit_2", "action": "accept" }),
        )
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    folder.check(
        "resolve",
        json!({ "edit_id": "edit_2", "action": "discard" }),
        expect!["discarded edit_2: `h($X)` → `i($X)`"],
    );
    assert_eq!(folder.read("a.py"), "g(1)\nh(1)\n");
}

#[test]
fn edits_are_checked_before_anything_is_staged() {
    let folder = Folder::new(&[("a.ts", "f(g(1));\nh(2);\n")]);
    let rows = [
        (
            json!({ "pattern": "f($A)", "rewrite": "x($B)" }),
            expect![
                "invalid_arguments: the rewrite uses `$B`, which the pattern does not bind; it binds: $A"
            ],
        ),
        (
            json!({ "pattern": "f($A)" }),
            expect![
                "invalid_arguments: `rewrite` is missing: the text to put in place of the pattern, empty to delete it"
            ],
        ),
        (
            json!({ "pattern": "f($A)", "rewrite": "x", "edits": [] }),
            expect![
                "invalid_arguments: give either `pattern` and `rewrite`, or `edits`, a list of {pattern, rewrite}"
            ],
        ),
        (
            json!({ "edits": [] }),
            expect!["invalid_arguments: `edits` is empty: give at least one {pattern, rewrite}"],
        ),
        (
            json!({ "pattern": "f($A)", "rewrite": "x($A" }),
            expect![[r#"
            refused: the rewrite breaks the syntax, nothing is staged:
            - a.ts:1:7: x(g(1);
            mend the rewrite, or pass `allow_syntax_errors`"#]],
        ),
        (
            json!({ "pattern": "q($A)", "rewrite": "r($A)" }),
            expect![[r#"
            pattern read as: expression, call_expression
            0 matches: nothing is staged
            1 file searched"#]],
        ),
        (
            json!({ "pattern": "f($A)", "rewrite": "f($A)" }),
            expect![[r#"
            pattern read as: expression, call_expression
            1 match, and the rewrite is what stands there already: nothing is staged
            1 file searched"#]],
        ),
        (
            json!({ "edits": [
            { "pattern": "f($A)", "rewrite": "F($A)" },
            { "pattern": "g($A)", "rewrite": "G($A)" },
            { "pattern": "h($A)", "rewrite": "" },
        ] }),
            expect![[r#"
                (proposed) 3 replacements in 1 file; nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"
                pattern 1 read as: expression, call_expression
                pattern 2 read as: expression, call_expression
                pattern 3 read as: expression, call_expression
                diff --git a/a.ts b/a.ts
                --- a/a.ts
                +++ b/a.ts
                @@ -1,2 +1 @@
                -f(g(1));
                -h(2);
                +F(G(1));
                1 file searched"#]],
        ),
        (
            json!({ "edits": [
            { "pattern": "f($A)", "rewrite": "F($A)" },
            { "pattern": "f(g($A))", "rewrite": "G($A)" },
        ] }),
            expect![[r#"
                refused: nothing is staged, since not every file can be edited:
                - a.ts: edits 1 and 2 both want the code at line 1; do them one after the other"#]],
        ),
    ];
    for (mut arguments, expected) in rows {
        arguments["path"] = json!("a.ts");
        folder.check("ast_edit", arguments, expected);
    }
    folder.check("ast_edit", json!({ "pattern": "f($A)", "rewrite": "x" }), expect!["invalid_arguments: pass `language`: an edit over a folder is for one language, since the same pattern can mean something else in another"]);
}

#[test]
fn a_cancelled_call_ends() {
    let folder = Folder::new(&[("a.py", "f(1)\n")]);
    let token = terret_tiers::CancellationToken::new();
    token.cancel();
    let context = CallContext::builder().cancel(token).build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let error = runtime
        .block_on(folder.tools[0].call(json!({ "pattern": "f($X)" }), &context))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    let context = CallContext::builder()
        .deadline(std::time::Instant::now())
        .build();
    let error = runtime
        .block_on(folder.tools[0].call(json!({ "pattern": "f($X)" }), &context))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut);
}

#[test]
fn the_schemas_are_portable() {
    for tool in Folder::new(&[]).tools {
        let spec = tool.spec();
        assert_eq!(
            terret_tiers::schema::lint(&spec.parameters),
            Ok(()),
            "{}",
            spec.name
        );
    }
}

/// Whoever made the call hears how far it is.
#[test]
fn progress_is_told() {
    let folder = Folder::new(&[]);
    for number in 0..450 {
        write(folder.root.path(), &format!("{number}.rs"), b"fn a() {}\n");
    }
    let (sink, mut messages) = terret_tiers::progress::channel(8);
    let context = CallContext::builder().progress(sink).build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let told = runtime.block_on(async {
        let call = folder.tools[0].call(json!({"pattern": "f($X)"}), &context);
        call.await.unwrap();
        [
            messages.next().await.unwrap(),
            messages.next().await.unwrap(),
        ]
    });
    let told = told.map(|progress| progress.message);
    assert_eq!(told, ["200 files searched", "400 files searched"]);
}

/// A search in a language that no file is written in says what was looked for.
#[test]
fn a_language_without_files_is_told() {
    let folder = Folder::new(&[("a.rs", "fn a() {}\n")]);
    folder.check(
        "ast_grep",
        json!({"pattern": "f($X)", "language": "go"}),
        expect![[r#"
            pattern read as: expression, call_expression
            0 matches; 0 files searched: none there is Go (*.go)"#]],
    );
}

/// A header is C, or C++ where C++ sources stand beside it; who asks for a language decides.
#[test]
fn headers_belong_to_the_sources_beside_them() {
    let text = "int f(int a);\n";
    let folder = Folder::new(&[
        ("c/a.c", ""),
        ("c/a.h", text),
        ("cpp/a.cpp", ""),
        ("cpp/a.h", text),
        ("alone/a.h", text),
    ]);
    let languages = |arguments: Value| {
        let output = folder.call("ast_grep", arguments).unwrap();
        let matches = output.details["matches"].as_array().unwrap().clone();
        let one =
            |found: &Value| format!("{} {}", found["path"], found["language"]).replace('"', "");
        matches.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(
        languages(json!({"pattern": "int $F(int $A);"})),
        ["alone/a.h c", "c/a.h c", "cpp/a.h cpp"]
    );
    assert_eq!(
        languages(json!({"pattern": "int $F(int $A);", "language": "c", "path": "cpp"})),
        ["cpp/a.h c"]
    );
}
