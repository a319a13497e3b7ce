//! What a workspace may run.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use terret_testkit::{Bin, Tree};

use crate::{configure, terret};

/// A workspace that brings a program and names it a language server. It tells that it was run.
fn tree() -> Tree {
    let tree = Tree::new(
        "
        //- /terret.toml
        [lsp.servers.mine]
        name = 'Mine'
        programs = ['mine-server']
        local = true
        install = 'look into the drawer'
        languages.mine = ['mine']
        diagnostics.proof = 'pull'
        //- /a.mine
        hello
        //- /node_modules/.bin/mine-server mode=755
        #!/bin/sh
        echo ran > ran
        //- /sub/b.mine
        hello
        ",
    );
    assert!(!tree.path("ran").exists());
    tree
}

fn hover(bin: Bin) -> Bin {
    let arguments = json!({"action": "hover", "file": "a.mine", "line": 1, "symbol": "hello"});
    bin.args(["call", "lsp", &arguments.to_string()])
}

/// In the home of another one, as a user goes on.
fn at_home<'a>(bin: Bin, home: &'a Bin) -> Bin {
    bin.env("XDG_STATE_HOME", home.home().join(".local/state"))
        .env("XDG_CONFIG_HOME", home.home().join(".config"))
}

#[track_caller]
fn shown(tree: &Tree, text: &str, expected: Expect) {
    let root = tree.root().canonicalize().unwrap();
    expected.assert_eq(&text.replace(&root.display().to_string(), "WORKSPACE"));
}

#[test]
fn without_trust_nothing_of_the_workspace_is_named_or_run() {
    let tree = tree();
    let outcome = hover(terret(&tree)).run().exits(13);
    shown(
        &tree,
        &outcome.stderr,
        expect![[r#"
            note: WORKSPACE/terret.toml: `[lsp.servers.mine]` is ignored, because this workspace is not trusted to name programs; to trust it: terret trust
            error[unavailable]: no language server can answer for a.mine: none is known for such a file
        "#]],
    );
    // The user names it: the program is still the workspace's.
    let bin = hover(terret(&tree));
    let mine = fs::read_to_string(tree.path("terret.toml")).unwrap();
    configure(&bin, &mine);
    fs::remove_file(tree.path("terret.toml")).unwrap();
    let outcome = bin.run().exits(13);
    shown(
        &tree,
        &outcome.stderr,
        expect![[r#"
            error[unavailable]: no language server can answer for a.mine
              Mine: `node_modules/.bin/mine-server` is not used, because this workspace is not trusted: run `terret trust`; to get it: look into the drawer
        "#]],
    );
    assert!(!tree.path("ran").exists());
}

#[test]
fn trust_is_given_listed_used_and_taken_back() {
    let tree = tree();
    let home = terret(&tree);
    let trust =
        |arguments: &[&str]| at_home(terret(&tree).arg("trust").args(arguments), &home).run();
    assert_eq!(trust(&["--list"]).success().stdout, "");
    shown(
        &tree,
        &trust(&[]).success().stdout,
        expect![[r#"
            WORKSPACE is trusted, with all below it: its terret.toml may name language servers, its own programs are used, and servers may run its build scripts and macros; to end that: terret trust --revoke
        "#]],
    );
    shown(
        &tree,
        &trust(&["--list"]).success().stdout,
        expect!["WORKSPACE\n"],
    );
    let list = home.home().join(".local/state/terret/trust.json");
    assert_eq!(
        fs::metadata(list).unwrap().permissions().mode() & 0o777,
        0o600
    );

    let outcome = at_home(hover(terret(&tree)), &home).run().exits(13);
    assert!(
        !outcome.stderr.contains("ignored") && outcome.stderr.contains("Mine"),
        "{outcome}"
    );
    assert!(tree.path("ran").exists(), "it was started");

    // A folder below it is trusted by it, and that is where it is taken back.
    let below = at_home(
        terret(&tree).args(["-C", "sub", "trust", "--revoke"]),
        &home,
    );
    let refused = below.run().exits(1).stderr;
    assert!(refused.contains("trust --revoke"), "{refused}");
    shown(
        &tree,
        &trust(&["--revoke"]).success().stdout,
        expect!["WORKSPACE is not trusted any more\n"],
    );
    shown(
        &tree,
        &trust(&["--revoke"]).success().stdout,
        expect!["WORKSPACE was not trusted\n"],
    );
    fs::remove_file(tree.path("ran")).unwrap();
    at_home(hover(terret(&tree)), &home).run().exits(13);
    assert!(!tree.path("ran").exists());
}

#[test]
fn trust_for_one_run() {
    let tree = tree();
    hover(terret(&tree).arg("--trust")).run().exits(13);
    assert!(tree.path("ran").exists(), "it was started");
}

#[test]
fn without_trust_rust_analyzer_is_kept_from_what_would_run_code() {
    let tree = Tree::new(
        "
        //- /Cargo.toml
        [package]
        name = 'a'
        //- /src/main.rs
        fn main() {}
        //- /bin/rust-analyzer mode=755
        #!/bin/sh
        echo rust-analyzer 1.0
        ",
    );
    let bin = || {
        let path = format!("{}:/usr/bin:/bin", tree.path("bin").display());
        terret(&tree).args(["doctor", "--json"]).env("PATH", path)
    };
    let found = |bin: Bin| -> Value {
        let details = bin.run().success().json();
        let servers = details["language_servers"].as_array().unwrap().clone();
        let server = servers
            .into_iter()
            .find(|server| server["id"] == "rust-analyzer");
        server.unwrap()["roots"][0].clone()
    };
    let usable = found(bin());
    assert_eq!(
        (&usable["usable"], &usable["version"]),
        (&json!(true), &json!("rust-analyzer 1.0"))
    );
    // What chooses the compiler would be run by cargo, whatever the server is told.
    tree.write(".cargo/config.toml", "[build]\nrustc-wrapper = './evil'\n");
    let kept = found(bin());
    let problem = kept["problem"].as_str().unwrap();
    assert!(
        problem.contains("any of .cargo, ") && problem.ends_with("not trusted: run `terret trust`"),
        "{problem}"
    );
    assert_eq!(found(bin().arg("--trust"))["usable"], true);
}
