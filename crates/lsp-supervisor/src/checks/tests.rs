//! The checkers that are known, and how they are found and run, with stand-ins for the programs.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use terret_launch::{Environment, Trust};
use terret_testkit::Tree;
use terret_tiers::{AllowUpTo, Output, Request, Tier, ToolError, Toolset};

use super::*;
use crate::{Options, Supervisor};

#[test]
fn each_file_of_data_is_shipped_and_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/checkers");
    let files = std::fs::read_dir(folder).expect("the data");
    let stems = files.map(|file| file.expect("a file").path().with_extension(""));
    let names = stems.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let names: BTreeSet<String> = names.collect();
    let ids: BTreeSet<String> = SHIPPED.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(ids, names);
    for checker in shipped() {
        assert!(!checker.programs.is_empty(), "{}", checker.name);
        assert!(!checker.markers.is_empty(), "{}", checker.name);
        assert!(!checker.found.is_empty(), "{}", checker.name);
    }
}

/// A program of the workspace that is a script.
fn script(tree: &Tree, path: &str, text: &str) {
    tree.write(path, format!("#!/bin/sh\n{text}"));
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(tree.path(path), all).expect("it is there");
}

/// Checks a workspace where nothing is installed but what it brings, and `sh`.
async fn check(tree: &Tree, trust: Trust) -> Result<Output, ToolError> {
    let nowhere = Environment::empty().set("PATH", "/bin/nowhere");
    let options = Options::default().environment(nowhere).trust(trust);
    let supervisor = Supervisor::new(tree.root(), options);
    let toolset = Toolset::builder().tools(supervisor.tools()).build();
    let surface = toolset.expect("tools").surface(Tier::Read);
    let surface = surface.with_gate(Arc::new(AllowUpTo(Tier::Read)));
    let arguments = json!({ "action": "diagnostics", "file": "*" });
    surface.call("lsp", arguments, Request::new("call")).await
}

async fn told(tree: &Tree) -> String {
    match check(tree, Trust::default()).await {
        Ok(output) => output.to_text(),
        Err(error) => format!("{}: {}", error.kind, error.message),
    }
}

const ESLINT: &str = "node_modules/.bin/eslint";

#[tokio::test]
async fn how_a_checker_ends_is_told() {
    let long = format!(
        "yes '{}' | /usr/bin/head -c 9000000 2>/dev/null",
        "a".repeat(100)
    );
    let rows = [
        ("echo '[]'", "eslint: no errors and no warnings"),
        (
            "echo '[{\"filePath\":\"a.js\",\"messages\":[{\"severity\":2,\"message\":\"bad\",\"line\":3}]}]'; exit 1",
            "a.js:3 error bad [eslint]\neslint: 1 problem",
        ),
        (
            "echo '[]'; exit 1",
            "failed: the project was not checked\neslint: failed: it exited with 1",
        ),
        (
            "echo fine",
            "failed: the project was not checked\neslint: failed: its output is not what is known of it; its last \
             words:\nfine",
        ),
        (
            "echo 'no configuration' >&2; exit 2",
            "failed: the project was not checked\neslint: failed: it exited with 2; its last words:\nno configuration",
        ),
        (
            "kill -9 $$",
            "failed: the project was not checked\neslint: failed: it was killed by SIGKILL",
        ),
    ];
    for (text, expected) in rows {
        let tree = Tree::new("//- /eslint.config.js\n");
        script(&tree, ESLINT, text);
        assert_eq!(told(&tree).await, expected, "{text}");
    }
    let tree = Tree::new("//- /eslint.config.js\n");
    script(&tree, ESLINT, &format!("PATH=/usr/bin:/bin\n{long}"));
    let told = told(&tree).await;
    assert!(told.contains("it printed more than 8 MiB"), "{told}");
}

/// With the clock standing still the time is over as soon as there is nothing to do but wait.
#[tokio::test(start_paused = true)]
async fn a_checker_that_takes_too_long_is_told_of() {
    let tree = Tree::new("//- /eslint.config.js\n");
    script(&tree, ESLINT, "exec /bin/sleep 600");
    let told = told(&tree).await;
    assert!(told.contains("it was not done after 120 s"), "{told}");
}

#[tokio::test]
async fn without_trust_nothing_is_started() {
    let tree = Tree::new("//- /eslint.config.js\n");
    script(&tree, ESLINT, "echo > started");
    let error = check(&tree, Trust::untrusted("trust it")).await;
    let error = error.expect_err("it is refused");
    assert!(
        error.message.ends_with("not trusted: trust it"),
        "{error:?}"
    );
    assert!(!tree.path("started").exists());
}

#[tokio::test]
async fn what_is_not_installed_is_told_with_how_to_get_it() {
    let tree = Tree::new("//- /pubspec.yaml\n//- /eslint.config.js\n");
    assert_eq!(
        told(&tree).await,
        "unavailable: dart analyze: not run: `pubspec.yaml` found in ./, `dart` is not on PATH; to get it: \
         https://dart.dev/get-dart\n\
         eslint: not run: `eslint.config.js` found in ./, `eslint` is not on PATH; to get it: npm install, with eslint \
         among the project's own dependencies"
    );
    script(&tree, ESLINT, "echo '[]'");
    let told = told(&tree).await;
    assert!(told.starts_with("dart analyze: not run:"), "{told}");
    assert!(
        told.ends_with("eslint: no errors and no warnings"),
        "{told}"
    );
}

#[tokio::test]
async fn the_nearest_folders_with_a_project_are_checked() {
    let tree = Tree::new(
        "//- /web/eslint.config.js\n//- /web/inner/eslint.config.js\n//- /a/b/c/eslint.config.js\n\
         //- /a/b/c/d/eslint.config.js\n//- /node_modules/x/eslint.config.js\n//- /.x/eslint.config.js\n",
    );
    script(&tree, ESLINT, "echo '[]'");
    assert_eq!(
        told(&tree).await,
        "eslint in web: no errors and no warnings\neslint in a/b/c: no errors and no warnings"
    );
    tree.write("eslint.config.js", "");
    assert_eq!(told(&tree).await, "eslint: no errors and no warnings");
}

#[tokio::test]
async fn of_a_group_the_chosen_one_runs() {
    let clean = "echo '{ \"generalDiagnostics\": [], \"summary\": { \"filesAnalyzed\": 1 } }'";
    let tree = Tree::new("//- /pyproject.toml\n[project]\n");
    for program in ["mypy", "ty"] {
        script(
            &tree,
            &format!(".venv/bin/{program}"),
            "echo 'All checks passed!'; echo Success",
        );
    }
    assert_eq!(told(&tree).await, "ty: no errors and no warnings");
    script(&tree, ".venv/bin/pyright", clean);
    assert_eq!(told(&tree).await, "pyright: no errors and no warnings");
    tree.write("pyproject.toml", "[project]\n\n[tool.mypy]\n");
    assert_eq!(told(&tree).await, "mypy: no errors and no warnings");
    script(&tree, ".venv/bin/basedpyright", clean);
    tree.write("pyproject.toml", "# tool.mypy\n[[tool.basedpyright.x]]\n");
    assert_eq!(told(&tree).await, "basedpyright: no errors and no warnings");
}

#[test]
fn what_is_shown_is_bounded_and_in_order() {
    let found = |line: usize, severity: u8| {
        let place = json!({ "line": line, "character": 0 });
        let diagnostic = Diagnostic::read(&json!({
            "range": { "start": place, "end": place }, "severity": severity, "message": "m",
        }));
        (PathBuf::from("/w/a.rs"), diagnostic.expect("a diagnostic"))
    };
    let mut report = Report {
        found: (0..60).rev().map(|line| found(line, 2)).collect(),
        checked: vec![Checked {
            name: "cargo check",
            root: PathBuf::from("/w"),
            outcome: Outcome::Done(61),
            errors_only: false,
            of: None,
        }],
        passed_over: 0,
        cut: false,
    };
    report
        .found
        .extend([found(99, 1), found(99, 1), found(5, 3)]);
    report.finish().expect("something to tell");
    let text = crate::render::checks(Path::new("/w"), &report).to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["a.rs:100 error m", "a.rs:1 warning m"]);
    let note = "50 shown of 1 error and 60 warnings; mend these first";
    assert_eq!(lines[50..], [note, "cargo check: 61 problems"]);
}

/// Checkers follow links, and a workspace may be one.
#[tokio::test]
async fn a_file_is_shown_as_the_workspace_has_it() {
    let tree = Tree::new("//- /real/eslint.config.js\n//- /real/a.js\n");
    let at = "\"severity\":2,\"message\":\"bad\",\"line\":3";
    let text =
        format!("echo '[{{\"filePath\":\"'$(pwd -P)/a.js'\",\"messages\":[{{{at}}}]}}]'; exit 1");
    script(&tree, "real/node_modules/.bin/eslint", &text);
    std::os::unix::fs::symlink("real", tree.path("link")).expect("a link");
    let options = Options::default().environment(Environment::empty());
    let supervisor = Supervisor::new(tree.path("link"), options);
    let context = Context {
        supervisor: &supervisor,
        progress: &|_| {},
    };
    let report = context.checks().await.expect("it runs");
    assert_eq!(report.found[0].0, tree.path("link/a.js"));
}
