//! What a workspace may run.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use terret_testkit::{Bin, Tree, require_tool};

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
fn at_home(bin: Bin, home: &Bin) -> Bin {
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

#[test]
fn without_trust_no_typescript_of_the_checkout_is_run() {
    let tree = Tree::new(
        "
        //- /tsconfig.json
        {}
        //- /a.ts
        export const a = 1
        //- /bin/typescript-language-server mode=755
        #!/bin/sh
        echo 5.0
        ",
    );
    let usable = |bin: Bin| {
        let path = format!("{}:/usr/bin:/bin", tree.path("bin").display());
        let details = bin
            .args(["doctor", "--json"])
            .env("PATH", path)
            .run()
            .success()
            .json();
        let servers = details["language_servers"].as_array().unwrap().clone();
        let server = servers
            .into_iter()
            .find(|server| server["id"] == "typescript-language-server");
        server.unwrap()["usable"].clone()
    };
    assert_eq!(usable(terret(&tree)), true);
    // It would take this one in place of its own.
    tree.write("node_modules/typescript/lib/tsserver.js", "evil()\n");
    assert_eq!(usable(terret(&tree)), false);
    assert_eq!(usable(terret(&tree).arg("--trust")), true);
    // A folder of a checkout is no way around it.
    tree.write("sub/tsconfig.json", "{}\n");
    tree.write("sub/b.ts", "export const b = 1\n");
    assert_eq!(usable(terret(&tree).args(["-C", "sub"])), false);
}

/// With the tool chain of whoever runs the test.
fn with_rust(bin: Bin) -> Bin {
    let home = env::home_dir().unwrap();
    let folder = |variable: &str, below: &str| {
        env::var_os(variable).map_or_else(|| home.join(below), PathBuf::from)
    };
    bin.env("RUSTUP_HOME", folder("RUSTUP_HOME", ".rustup"))
        .env("CARGO_HOME", folder("CARGO_HOME", ".cargo"))
        .deadline(Duration::from_secs(180))
}

#[test]
fn without_trust_rust_analyzer_answers_and_runs_no_build_script() {
    if require_tool("rust-analyzer").is_none() || require_tool("cargo").is_none() {
        return;
    }
    let tree = Tree::new(
        "
        //- /Cargo.toml
        [package]
        name = 'shop'
        version = '0.1.0'
        edition = '2024'
        //- /build.rs
        fn main() {
            std::fs::write(\"ran\", \"x\").unwrap();
        }
        //- /src/cart.rs
        pub fn total(a: i32, b: i32) -> i32 {
            a + b
        }
        //- /src/main.rs
        mod cart;

        fn main() {
            println!(\"{}\", cart::total(1, 2));
        }
        ",
    );
    let arguments =
        json!({"action": "definition", "file": "src/main.rs", "line": 4, "symbol": "total"});
    let call = || with_rust(terret(&tree).args(["call", "lsp", &arguments.to_string()]));
    let found = "src/cart.rs:1: pub fn total(a: i32, b: i32) -> i32 {\n";
    assert_eq!(call().run().success().stdout, found);
    assert!(!tree.path("ran").exists() && !tree.path("target").exists());
    assert_eq!(call().arg("--trust").run().success().stdout, found);
    assert!(tree.path("ran").exists(), "with trust it is run");
}
