//! Text inside code: string literals and the arguments of macros.

use crate::{check, check_captures};

/// A metavariable that is the whole body of a string literal matches any body of that kind.
#[test]
fn string_bodies() {
    check_captures(&[
        (
            "python",
            r#"f("$S")"#,
            "f(\"a\\n{b}\")\nf('c')\nf(\"\")\nf(f\"{x}\")\n",
            &["S=a\\n{b}", "S="],
        ),
        (
            "dart",
            "import '$U';",
            "import 'package:a/b.dart';\nimport \"c\";",
            &["U=package:a/b.dart"],
        ),
        (
            "dart",
            "f('$S')",
            "var a = f('x $y ${z}');",
            &["S=x $y ${z}"],
        ),
        (
            "rust",
            r#"f("$S")"#,
            "fn g() { f(\"a\\n\"); f(\" b \") }",
            &["S=a\\n", "S= b "],
        ),
        (
            "c",
            "#include <$H>",
            "#include <stdio.h>\n#include \"a.h\"\n",
            &["H=stdio.h"],
        ),
        ("typescript", "f('$S')", "f('a'); f(\"b\")", &["S=a"]),
        (
            "cpp",
            "f('$C')",
            "void g() { f('a'); f('\\n'); f(\"a\"); }",
            &["C=a", "C=\\n"],
        ),
        (
            "go",
            "f(\"$S\")",
            "package p\nfunc g() { f(\"a\\n\") }\n",
            &["S=a\\n"],
        ),
        (
            "go",
            "f(`$S`)",
            "package p\nfunc g() { f(`a`) }\n",
            &["S=a"],
        ),
    ]);
}

/// What stands behind the closing quote is no part of the body.
#[test]
fn string_suffixes() {
    check_captures(&[
        ("swift", "#\"$S\"#", "let a = #\"x\"y\"#", &["S=x\"y"]),
        (
            "csharp",
            "@\"$S\"",
            "class C { string a = @\"x\"; }",
            &["S=x"],
        ),
    ]);
}

/// Quotes of a string literal that are no tokens of the grammar.
#[test]
fn quotes_without_tokens() {
    check(&[
        (
            "scala",
            "f(\"$S\")",
            "val a = f(\"x \\n\"); val b = f(\"\"); val c = f(s\"x\")",
            &["f(\"x \\n\")", "f(\"\")"],
        ),
        (
            "scala",
            "s\"$S\"",
            "val a = s\"x ${y} z\"; val b = s\"\"",
            &["s\"x ${y} z\"", "s\"\""],
        ),
    ]);
}

/// The letters before a quote tell kinds of literals apart, whatever the grammar's token is.
#[test]
fn kinds_of_string_literals() {
    check(&[
        (
            "rust",
            "\"$S\"",
            "fn m() { f(\"a\", b\"b\", c\"c\", r\"r\"); }",
            &["\"a\""],
        ),
        (
            "rust",
            "f(\"z\")",
            "fn m() { f(\"z\"); f(b\"z\"); }",
            &["f(\"z\")"],
        ),
        (
            "rust",
            "b\"$S\"",
            "fn m() { f(\"a\", b\"b\", c\"c\"); }",
            &["b\"b\""],
        ),
    ]);
}

/// Inside a macro a metavariable stands for the tokens up to the next comma.
#[test]
fn macro_arguments_are_tokens() {
    check_captures(&[
        (
            "rust",
            r#"println!("{}", $X)"#,
            "fn f() { println!(\"{}\", a.b); println!(\"{}\", a, b) }",
            &["X=a.b"],
        ),
        (
            "rust",
            "vec![$$$A]",
            "fn f() { vec![1, a.b()] }",
            &["A=1, a.b()"],
        ),
        (
            "rust",
            "$X.to_string()",
            "fn f() { vec![x.to_string()]; y.to_string() }",
            &["X=y"],
        ),
    ]);
}
