//! Files that are broken or monstrous.

use crate::{check, run};

/// What stands in a broken stretch is not matched; the sound parts of the file are.
#[test]
fn broken_files_are_searched_in_their_sound_parts() {
    check(&[(
        "typescript",
        "f($X)",
        "f(a);\nlet = = ;\nf(b);\n",
        &["f(a)", "f(b)"],
    )]);
    // What the parser skipped is code that the pattern lacks.
    check(&[
        (
            "python",
            "print($A)",
            "print(a b)\nprint(c)\n",
            &["print(c)"],
        ),
        (
            "rust",
            "h($$$A)",
            "fn f() { h(a b); h(a, b) }",
            &["h(a, b)"],
        ),
        (
            "c",
            "g($A, $B)",
            "void f() { g(a, const char*); g(a, b); }",
            &["g(a, b)"],
        ),
        ("typescript", "f($A)", "f(a b);\nf(c);", &["f(c)"]),
    ]);
}

/// The work is bounded, whatever the number of runs.
#[test]
fn many_runs_over_many_siblings() {
    let arguments = (0..2_000)
        .map(|at| at.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let source = format!("f({arguments})");
    let (_, found) = run(
        "typescript",
        "f($$$A, x, $$$B, y, $$$C, z, $$$D, w, $$$E)",
        &source,
    );
    assert_eq!((found.matches.len(), found.given_up.len()), (0, 0));
    let source = format!("f({}, [b])", vec!["a"; 400].join(", "));
    let (_, found) = run(
        "typescript",
        "f($$$A, $X, $$$B, $Y, $$$C, $X, $Y, b)",
        &source,
    );
    assert_eq!(
        (found.matches.len(), found.given_up.len()),
        (0, 1),
        "given up, and said so"
    );
}

/// A tree of any depth is walked without recursion over its depth.
#[test]
fn deep_trees() {
    let source = format!("x = {}a{};", "(".repeat(20_000), ")".repeat(20_000));
    let (_, found) = run("typescript", "($X)", &source);
    assert_eq!(found.matches.len(), 20_000);
}
