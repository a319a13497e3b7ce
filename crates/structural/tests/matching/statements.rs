//! Statements in a row, and what ends one.

use crate::check;

/// Several statements in a row are a window of siblings.
#[test]
fn windows_of_statements() {
    check(&[
        (
            "typescript",
            "a();\nb();",
            "{ a(); /*c*/ b(); } a(); c(); b();",
            &["a(); /*c*/ b();"],
        ),
        (
            "python",
            "$A()\n$A()",
            "a()\na()\na()\nb()\n",
            &["a()\na()"],
        ),
        (
            "dart",
            "$A();\n$B();",
            "void f() { a(); b(); c(); }",
            &["a(); b();"],
        ),
        (
            "rust",
            "#[test]\nfn $F() { $$$B }",
            "#[test]\nfn a() {}\nfn b() {}",
            &["#[test]\nfn a() {}"],
        ),
        (
            "go",
            "$A()\n$B()",
            "package p\nfunc f() {\n\ta()\n\tb()\n}\n",
            &["a()\n\tb()"],
        ),
    ]);
}

/// A `;` that the grammar makes no node of is neither compared nor lost.
#[test]
fn hidden_terminators() {
    check(&[
        (
            "kotlin",
            "fun f() { $$$B }",
            "fun f() { g(); h() ; i() }",
            &["fun f() { g(); h() ; i() }"],
        ),
        (
            "kotlin",
            "$F();",
            "fun f() { g(); h()\n i() ; }",
            &["g();", "h()", "i() ;"],
        ),
        (
            "swift",
            "g();\nh();",
            "func f() { g(); h(); g()\n h()\n }",
            &["g(); h();", "g()\n h()"],
        ),
    ]);
}

/// A terminator that stands beside the statement is part of the match, of a window too.
#[test]
fn terminators_beside_statements() {
    check(&[
        ("perl", "f($X);", "{ f($a); }", &["f($a);"]),
        (
            "sql",
            "DROP TABLE $A;\nDROP TABLE $B;",
            "DROP TABLE a; DROP TABLE b; SELECT 1;",
            &["DROP TABLE a; DROP TABLE b;"],
        ),
    ]);
}
