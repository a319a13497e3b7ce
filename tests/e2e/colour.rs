//! Colours: for a terminal, and for whoever asks.

use terret_testkit::{Bin, Tree};

use crate::{terminal, terret};

const HEADING: &str = "\u{1b}[35ma.py:1\u{1b}[0m\n";

fn tree() -> Tree {
    Tree::new("//- /a.py\nf(1)\n")
}

fn search(tree: &Tree) -> Bin {
    terret(tree).args(["call", "ast_grep", r#"{"pattern": "f($X)"}"#])
}

#[test]
fn a_pipe_gets_none_unless_it_is_asked_for() {
    let tree = tree();
    let plain = search(&tree)
        .env("NO_COLOR", "")
        .env("TERM", "xterm")
        .run()
        .success()
        .stdout;
    assert!(plain.contains("\na.py:1\n"), "{plain}");
    let coloured = search(&tree)
        .args(["--color", "always"])
        .run()
        .success()
        .stdout;
    assert!(coloured.contains(HEADING), "{coloured:?}");
    // JSON is for programs, whatever was asked for.
    let json = search(&tree)
        .args(["--json", "--color", "always"])
        .run()
        .success()
        .stdout;
    assert!(
        !json.contains("\\u001b") && !json.contains('\u{1b}'),
        "{json}"
    );
}

#[test]
fn a_terminal_gets_them_unless_they_are_unwanted() {
    let tree = tree();
    assert!(search_at(&tree, &[], &[]).contains(HEADING));
    assert!(!search_at(&tree, &["--color", "never"], &[]).contains('\u{1b}'));
    assert!(!search_at(&tree, &[], &[("NO_COLOR", "1")]).contains('\u{1b}'));
}

fn search_at(tree: &Tree, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let call = ["call", "ast_grep", r#"{"pattern": "f($X)"}"#];
    terminal::run(tree, &[&call, arguments].concat(), variables)
}
