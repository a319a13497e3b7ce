//! terret.toml, of the user and of the workspace.

use expect_test::{Expect, expect};
use serde_json::Value;
use terret_testkit::{Bin, Tree};

use crate::{configure, terret};

/// What is said about a wrong file, without where it is.
#[track_caller]
fn refused(bin: &Bin, tree: &Tree, expected: Expect) {
    let outcome = bin.run().exits(2);
    assert_eq!(outcome.stdout, "");
    let root = tree.root().canonicalize().unwrap();
    let said = outcome
        .stderr
        .replace(&root.display().to_string(), "WORKSPACE");
    expected.assert_eq(&said.replace(&bin.home().display().to_string(), "HOME"));
}

#[test]
fn an_unknown_key_is_named_with_its_file_and_the_nearest() {
    let tree = Tree::new("//- /terret.toml\n[lsp]\nwirte_wait = 3\n");
    let bin = terret(&tree).arg("tools");
    refused(
        &bin,
        &tree,
        expect![[r#"
            error: WORKSPACE/terret.toml: line 2: unknown key `wirte_wait`; did you mean `write_wait`?
        "#]],
    );
    let tree = Tree::new("");
    let bin = terret(&tree).args(["call", "read", "--arg", "path=a"]);
    configure(&bin, "[lsp]\ndisable = ['eslnt']");
    refused(
        &bin,
        &tree,
        expect![[r#"
            error: HOME/.config/terret/terret.toml: `lsp.disable` names no known server with `eslnt`; did you mean `eslint`?
        "#]],
    );
    configure(&bin, "lsp.servers.mine.nmae = 'Mine'");
    refused(
        &bin,
        &tree,
        expect![[r#"
            error: HOME/.config/terret/terret.toml: the language server `mine`: unknown key `nmae`; did you mean `name`?
        "#]],
    );
}

#[test]
fn the_workspace_goes_over_the_user() {
    let tree = Tree::new("//- /terret.toml\nlsp.enabled = true\nlsp.disable = ['ruff']\n");
    let bin = terret(&tree).args(["doctor", "--json"]);
    configure(&bin, "lsp.disable = ['eslint']");
    let details = bin.run().success().json();
    let servers = details["language_servers"].as_array().unwrap();
    let knows = |id: &str| servers.iter().any(|server: &Value| server["id"] == id);
    assert!(
        knows("gopls") && !knows("ruff") && !knows("eslint"),
        "{details}"
    );
    // Of one that is not trusted, not in what the user has turned off.
    configure(&bin, "lsp.enabled = false");
    assert_eq!(
        bin.run().success().json()["language_servers"],
        serde_json::json!([])
    );
}
