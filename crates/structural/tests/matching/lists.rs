//! Runs, and the lists and separators that they stand in.

use crate::{captures, check, check_captures, run};

/// Runs are shortest first, backtrack, and absorb the separators beside an empty one.
#[test]
fn runs_take_the_shortest_stretch() {
    check_captures(&[
        (
            "typescript",
            "f($$$A, $X)",
            "f(1); f(1, 2)",
            &["A= | X=1", "A=1 | X=2"],
        ),
        (
            "typescript",
            "f($$$A, $X, $$$B)",
            "f(1); f(1, 2, 3)",
            &["A= | X=1 | B=", "A= | X=1 | B=2, 3"],
        ),
        (
            "typescript",
            "f($X, $$$A)",
            "f(1); f(1, 2)",
            &["X=1 | A=", "X=1 | A=2"],
        ),
        ("typescript", "f($$$A, $$$B)", "f(1, 2)", &["A= | B=1, 2"]),
        (
            "typescript",
            "f($$$A)",
            "f(); f(1,); f(1, /* two */ 2)",
            &["A=", "A=1", "A=1, /* two */ 2"],
        ),
        (
            "rust",
            "f($$$A, x, $$$B)",
            "fn g() { f(a, x, b, x, c) }",
            &["A=a | B=b, x, c"],
        ),
        ("rust", "{ $$$A; $X }", "fn g() { a; b; c }", &[]),
        (
            "go",
            "func f() { $$$B }",
            "package p\nfunc f() {\n\t// why\n\ta()\n\t// end\n}\n",
            &["B=// why\n\ta()\n\t// end"],
        ),
        (
            "c",
            "void f() { $$$B }",
            "void f() { /* only */ }",
            &["B=/* only */"],
        ),
    ]);
}

/// A clause that stands among the statements before it is none of them.
#[test]
fn runs_stop_before_clauses() {
    check(&[
        (
            "bash",
            "if $C; then $$$B; fi",
            "if a; then b; else c; fi\nif d; then e; elif f; then g; fi\n",
            &[],
        ),
        (
            "ruby",
            "begin\n  $$$B\nend",
            "begin\n  a\nrescue\n  b\nend\n",
            &[],
        ),
    ]);
}

/// What ends a list of statements but belongs to the statement around it is none of them.
#[test]
fn runs_leave_clauses_out() {
    check(&[
        (
            "elixir",
            "if $C do\n  $$$B\nend",
            "if a do\n  b\nend\nif a do\n  b\nelse\n  c\nend\n",
            &["if a do\n  b\nend"],
        ),
        (
            "julia",
            "if $C\n  $$$B\nend",
            "if a\n  b\nelseif c\n  d\nend\nif a\n  b\nend\n",
            &["if a\n  b\nend"],
        ),
        (
            "nix",
            "{ $$$F }: $E",
            "[ ({ a, b }: a) ({ a, ... }: a) ]",
            &["{ a, b }: a"],
        ),
    ]);
}

/// Between keywords a run is a body, on one line as on several.
#[test]
fn keywords_are_brackets_of_runs() {
    check(&[
        (
            "lua",
            "if $C then $$$B end",
            "if a then b() c() end if a then b() else c() end",
            &["if a then b() c() end"],
        ),
        (
            "erlang",
            "try $$$A catch $$$C end",
            "f() -> try a(), b() catch _:E -> c end.\n",
            &["try a(), b() catch _:E -> c end"],
        ),
    ]);
}

/// Marks and defaults stand beside the parameters in some grammars.
#[test]
fn runs_of_parameters() {
    check(&[
        (
            "dart",
            "factory $C.a({$$$P}) => $B;",
            "class A { factory A.a({required int x, int y = 1}) => A(); }",
            &["factory A.a({required int x, int y = 1}) => A();"],
        ),
        (
            "dart",
            "void $F($$$P) { $$$B }",
            "void f(int a, [int b = 1]) {}\nvoid g({required int a, int b = 1}) {}",
            &[
                "void f(int a, [int b = 1]) {}",
                "void g({required int a, int b = 1}) {}",
            ],
        ),
    ]);
}

/// A run without members is empty, whatever separator stands in its place.
#[test]
fn a_run_is_no_separator() {
    let source = "int x; int y, z;";
    let (pattern, found) = run("c", "int $X, $$$Y;", source);
    assert_eq!(
        captures(&pattern, source, &found),
        ["X=x | Y=", "X=y | Y=z"]
    );
}

/// A separator before the first member, or behind the last one.
#[test]
fn separators_at_the_ends_of_lists() {
    check(&[
        (
            "ocaml",
            "match $X with $$$A",
            "let f x = match x with | A -> 1 | B -> 2\nlet g x = match x with A -> 1\n",
            &["match x with | A -> 1 | B -> 2", "match x with A -> 1"],
        ),
        ("r", "$X[$I]", "a[1]\na[1, ]\n", &["a[1]"]),
        (
            "r",
            "f($$$A, $X)",
            "f(a)\nf(a, b = 1)\n",
            &["f(a)", "f(a, b = 1)"],
        ),
        ("hcl", "[$$$A, $X]", "a = [1, 2,]\n", &["[1, 2,]"]),
    ]);
}

/// The head of a loop holds a declaration that ends with the separator itself.
#[test]
fn a_member_may_end_with_its_separator() {
    for language in ["typescript", "javascript", "c", "java", "csharp"] {
        let (before, after) = match language {
            "c" => ("void m() { ", " }"),
            "java" | "csharp" => ("class C { void m() { ", " } }"),
            _ => ("", ""),
        };
        let declared = if before.is_empty() { "let" } else { "int" };
        let source = format!("{before}for ({declared} i = 0; i < 3; i++) {{ f(); }}{after}");
        for pattern in [
            "for ($A; $B; $C) { $$$D }",
            "for ($$$A; $$$B; $$$C) { $$$D }",
        ] {
            let (pattern, found) = run(language, pattern, &source);
            assert_eq!(
                captures(&pattern, &source, &found),
                [format!("A={declared} i = 0 | B=i < 3 | C=i++ | D=f();")],
                "{language}"
            );
        }
    }
}

/// A list that is a node only where it has several members.
#[test]
fn lists_of_one_member() {
    check(&[
        (
            "perl",
            "f($$$A, $X)",
            "f($a); f($a, 1); f();",
            &["f($a)", "f($a, 1)"],
        ),
        ("perl", "f($X)", "f($a); f($a, 1);", &["f($a)"]),
        ("perl", "a => $V", "f(a => 1, b => 2);", &["a => 1"]),
    ]);
}

/// A comma behind a single member makes a tuple of it.
#[test]
fn a_tuple_is_not_its_member() {
    check(&[
        ("python", "$X = $X", "a, = a\nb = b\n", &["b = b"]),
        (
            "python",
            "return $X",
            "def f():\n  return a,\n",
            &["return a,"],
        ),
        ("python", "return a", "def f():\n  return a,\n", &[]),
    ]);
}
