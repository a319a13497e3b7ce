//! Marker ∩ binary, from files in a folder.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use terret_launch::{Candidate, Detector, Environment, Marker, Program, Trust, WorkspaceRoot};
use terret_testkit::Tree;

fn marker(text: &str) -> Marker {
    Marker::new(text).unwrap()
}

fn detector(tree: &Tree) -> Detector {
    let root = tree.root();
    let path = format!(
        "{}:{}",
        root.join("bin").display(),
        root.join("more").display()
    );
    let environment = Environment::empty()
        .set("PATH", path)
        .set("HOME", root.join("user"));
    Detector::new(root.join("w"), environment)
}

/// What is detected at each place, a line each.
#[track_caller]
fn check(tree: &Tree, detector: &Detector, candidate: &Candidate, at: &[&str], expected: Expect) {
    let root = tree.root();
    let prefix = format!("{}/", root.display());
    let short = |path: &std::path::Path| {
        let path = path.strip_prefix(&root).unwrap_or(path);
        path.display().to_string()
    };
    let mut text = String::new();
    for at in at {
        let found = detector.detect(candidate, at);
        text += &match found.usable() {
            Some(usable) => format!(
                "{at}: {} by {}\n",
                short(usable.root()),
                short(usable.program())
            ),
            None => format!("{at}: {}\n", found.to_string().replace(&prefix, "")),
        };
    }
    expected.assert_eq(&text);
}

#[test]
fn both_have_to_be_there() {
    let tree = Tree::new(
        "
        //- /w/app/pubspec.yaml
        //- /w/app/lib/a.dart
        //- /w/cmd/main.go
        //- /w/cs/x.csproj
        //- /w/cs/b.csproj
        //- /w/c/build/compile_commands.json
        //- /go.mod
        //- /bin/gopls mode=755
        //- /bin/dart
        //- /bin/csharp mode=755
        //- /bin/clangd mode=755
        ",
    );
    let detector = detector(&tree);
    let check =
        |candidate, at: &[&str], expected| check(&tree, &detector, &candidate, at, expected);

    let dart = Candidate::new("dart")
        .marker(marker("pubspec.yaml"))
        .program(Program::new("dart"));
    check(
        dart,
        &[
            "app/lib/a.dart",
            "app/lib/not-yet/b.dart",
            "app",
            "cmd/main.go",
            ".",
        ],
        expect![[r#"
            app/lib/a.dart: `pubspec.yaml` found in app/, `dart` is not on PATH
            app/lib/not-yet/b.dart: `pubspec.yaml` found in app/, `dart` is not on PATH
            app: `pubspec.yaml` found in app/, `dart` is not on PATH
            cmd/main.go: no pubspec.yaml at or above cmd/, and `dart` is not on PATH
            .: no pubspec.yaml at or above ./, and `dart` is not on PATH
        "#]],
    );
    let gopls = Candidate::new("gopls")
        .marker(marker("go.work"))
        .marker(marker("go.mod"))
        .program(Program::new("gopls"));
    check(
        gopls,
        &["cmd/main.go", "../x.go", "cmd/../../x.go", "/etc/x.go"],
        expect![[r#"
            cmd/main.go: `gopls` found, no go.work or go.mod at or above cmd/
            ../x.go: `gopls` found, ../ is outside of the workspace
            cmd/../../x.go: `gopls` found, cmd/../../ is outside of the workspace
            /etc/x.go: `gopls` found, /etc/ is outside of the workspace
        "#]],
    );
    let csharp = Candidate::new("csharp")
        .marker(marker("*.{csproj,sln}"))
        .program(Program::new("csharp"));
    check(
        csharp.clone(),
        &["cs/deep/a.cs"],
        expect![[r#"
        cs/deep/a.cs: w/cs by bin/csharp
    "#]],
    );
    assert!(
        detector
            .detect(&csharp, "cs")
            .to_string()
            .starts_with("`b.csproj` found in cs/, /")
    );
    let clangd = Candidate::new("clangd")
        .marker(marker("build/compile_commands.json"))
        .program(Program::new("clangd"));
    check(
        clangd,
        &["c/src/a.c", "c/build/b.c"],
        expect![[r#"
        c/src/a.c: w/c by bin/clangd
        c/build/b.c: w/c by bin/clangd
    "#]],
    );
    let anywhere = Candidate::new("bash")
        .program(Program::new("bash-x"))
        .program(Program::new("gopls"));
    check(
        anywhere,
        &["cmd/x.sh", "x.sh"],
        expect![[r#"
        cmd/x.sh: w by bin/gopls
        x.sh: w by bin/gopls
    "#]],
    );
    let nothing = Candidate::new("none")
        .program(Program::new("a"))
        .program(Program::new("b"));
    check(
        nothing,
        &["x"],
        expect![[r#"
        x: `a` or `b` are not on PATH
    "#]],
    );
    check(
        Candidate::new("empty"),
        &["x"],
        expect![[r#"
        x: it names no program
    "#]],
    );
    let absolute = Candidate::new("abs").program(Program::new("/no/such"));
    check(
        absolute,
        &["x"],
        expect![[r#"
        x: `/no/such` is not there
    "#]],
    );
}

#[test]
fn the_nearest_root_unless_a_whole_workspace_says_so() {
    let tree = Tree::new(
        "
        //- /Cargo.toml
        [workspace]
        //- /w/Cargo.toml
        [workspace]
        members = ['a', 'a/b']
        //- /w/a/Cargo.toml
        [package]
        name = 'a'
        //- /w/a/b/Cargo.toml
        [package]
        name = 'b'
        //- /w/a/fuzz/Cargo.toml
        [package]
        name = 'fuzz'
        [workspace]
        //- /w/go/go.work
        //- /w/go/m/go.mod
        //- /w/go/m/deep/go.mod
        //- /w/lone/go.mod
        //- /w/js/package.json
        //- /w/js/p/package.json
        //- /bin/x mode=755
        ",
    );
    let detector = detector(&tree);
    let check = |candidate: Candidate, at: &[&str], expected| {
        check(
            &tree,
            &detector,
            &candidate.program(Program::new("x")),
            at,
            expected,
        );
    };
    let cargo = Candidate::new("rust").marker(marker("Cargo.toml"));
    check(
        cargo.clone(),
        &["a/b/src/lib.rs", "a/x.rs", "x.rs"],
        expect![[r#"
            a/b/src/lib.rs: w/a/b by bin/x
            a/x.rs: w/a by bin/x
            x.rs: w by bin/x
        "#]],
    );
    check(
        cargo.workspace_root(WorkspaceRoot::Cargo),
        &["a/b/src/lib.rs", "a/x.rs", "a/fuzz/f.rs", "x.rs"],
        expect![[r#"
            a/b/src/lib.rs: w by bin/x
            a/x.rs: w by bin/x
            a/fuzz/f.rs: w/a/fuzz by bin/x
            x.rs: w by bin/x
        "#]],
    );
    let go = Candidate::new("go").marker(marker("go.mod"));
    check(
        go.workspace_root(WorkspaceRoot::Marker(marker("go.work"))),
        &["go/m/deep/a.go", "go/m/a.go", "lone/a.go", "go/a.go"],
        expect![[r#"
            go/m/deep/a.go: w/go by bin/x
            go/m/a.go: w/go by bin/x
            lone/a.go: w/lone by bin/x
            go/a.go: `x` found, no go.mod at or above go/
        "#]],
    );
    let js = Candidate::new("js")
        .marker(marker("package.json"))
        .outermost();
    check(
        js,
        &["js/p/src/a.js", "js/a.js"],
        expect![[r#"
        js/p/src/a.js: w/js by bin/x
        js/a.js: w/js by bin/x
    "#]],
    );
}

#[test]
fn programs_of_the_project_come_first_where_it_is_trusted() {
    let tree = Tree::new(
        "
        //- /w/.venv/bin/python mode=755
        //- /w/sub/venv/bin/python mode=755
        //- /w/sub/web/node_modules/.bin/tsc mode=755
        //- /w/node_modules/.bin/tsc mode=755
        //- /w/node_modules/.bin/only-here mode=755
        //- /bin/python mode=755
        //- /bin/tsc mode=755
        //- /more/lldb-dap-9 mode=755
        //- /more/lldb-dap-19.1 mode=755
        //- /more/lldb-dap-19 mode=755
        //- /more/lldb-dap-beta mode=755
        //- /more/lldb-dap-20
        //- /user/go/bin/gopls mode=755
        ",
    );
    let trusted = detector(&tree);
    let untrusted = detector(&tree).trust(Trust::untrusted("run `terret trust`"));
    let python = Candidate::new("py").program(Program::new("python").local());
    let tsc = Candidate::new("ts")
        .marker(marker("web"))
        .program(Program::new("tsc").local());
    check(
        &tree,
        &trusted,
        &python,
        &["sub/a.py"],
        expect![[r#"
        sub/a.py: w by w/.venv/bin/python
    "#]],
    );
    check(
        &tree,
        &trusted,
        &tsc,
        &["sub/a.ts"],
        expect![[r#"
        sub/a.ts: w/sub by w/node_modules/.bin/tsc
    "#]],
    );
    check(
        &tree,
        &untrusted,
        &python,
        &["sub/a.py"],
        expect![[r#"
        sub/a.py: w by bin/python
    "#]],
    );
    let only = Candidate::new("x").program(Program::new("only-here").local());
    check(
        &tree,
        &untrusted,
        &only,
        &["a"],
        expect![[r#"
        a: `node_modules/.bin/only-here` is not used, because this workspace is not trusted: run `terret trust`
    "#]],
    );
    let not_local = Candidate::new("x").program(Program::new("only-here"));
    check(
        &tree,
        &trusted,
        &not_local,
        &["a"],
        expect![[r#"
        a: `only-here` is not on PATH
    "#]],
    );
    let lldb = Candidate::new("lldb").program(Program::new("lldb-dap").versioned());
    check(
        &tree,
        &trusted,
        &lldb,
        &["a"],
        expect![[r#"
        a: w by more/lldb-dap-19.1
    "#]],
    );
    let gopls = Candidate::new("gopls")
        .program(Program::new("gopls").folder("/no/such").folder("~/go/bin"));
    check(
        &tree,
        &trusted,
        &gopls,
        &["a"],
        expect![[r#"
        a: w by user/go/bin/gopls
    "#]],
    );
}

#[test]
fn a_link_to_the_workspace_is_the_workspace() {
    let tree = Tree::new(
        "
        //- /w/sub/go.mod
        //- /link symlink=w
        //- /bin/gopls mode=755
        ",
    );
    let gopls = Candidate::new("gopls")
        .marker(marker("go.mod"))
        .program(Program::new("gopls"));
    let detector = detector(&tree);
    let at = |at: &str| {
        detector
            .detect(&gopls, tree.root().join(at))
            .root()
            .map(PathBuf::from)
    };
    let real = tree.root().canonicalize().unwrap().join("w/sub");
    assert_eq!(at("w/sub/new/a.go"), Some(tree.root().join("w/sub")));
    assert_eq!(at("link/sub/new/a.go"), Some(real));
}

#[test]
fn what_was_installed_meanwhile_is_found() {
    let tree = Tree::new(
        "
        //- /w/a.go
        //- /bin/other mode=755
        ",
    );
    let gopls = Candidate::new("gopls")
        .marker(marker("go.mod"))
        .program(Program::new("gopls"));
    let detector = detector(&tree);
    let usable = || detector.detect(&gopls, "a.go").usable().is_some();
    assert!(!usable());
    std::fs::write(tree.root().join("w/go.mod"), "").unwrap();
    assert!(!usable());
    std::fs::copy(tree.root().join("bin/other"), tree.root().join("bin/gopls")).unwrap();
    assert!(usable());
    std::fs::remove_file(tree.root().join("w/go.mod")).unwrap();
    assert!(!usable());
    let all = detector.detect_all([&gopls, &gopls], "a.go");
    assert_eq!(all.len(), 2);
}
