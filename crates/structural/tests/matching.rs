//! What patterns match, by theme. A row is: language, pattern, source, the text of each match.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::{Found, find, near_misses};
use terret_structural::pattern::Pattern;

type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

fn run(language: &str, pattern: &str, source: &str) -> (Pattern, Found) {
    let grammar = Shipped.grammar(language).unwrap();
    let pattern = Pattern::compile(&grammar, pattern, None)
        .unwrap_or_else(|error| panic!("{language}: {pattern}: {error}"));
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let tree = parser.parse(source, None).unwrap();
    let found = find(&pattern, &tree, source.as_bytes(), &|| false);
    (pattern, found)
}

/// Each match as its text, and its captures as `NAME=text`.
fn texts<'s>(source: &'s str, found: &Found) -> Vec<&'s str> {
    found
        .matches
        .iter()
        .map(|found| &source[found.range.clone()])
        .collect()
}

fn captures(pattern: &Pattern, source: &str, found: &Found) -> Vec<String> {
    let one = |index: usize| {
        let captures = &found.matches[index].captures;
        let names = pattern.variables().iter().zip(captures);
        let bound = names.filter_map(|(name, capture)| {
            capture
                .as_ref()
                .map(|capture| format!("{name}={}", &source[capture.range.clone()]))
        });
        bound.collect::<Vec<_>>().join(" | ")
    };
    (0..found.matches.len()).map(one).collect()
}

fn check(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (language, pattern, source, expected) in rows {
        let (compiled, found) = run(language, pattern, source);
        let texts = texts(source, &found);
        if texts != *expected {
            let reading = &compiled.readings()[0];
            wrong.push(format!(
                "{language} `{pattern}` ({reading}) in `{source}`\n   found {texts:?}\nexpected {expected:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn check_captures(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (language, pattern, source, expected) in rows {
        let (compiled, found) = run(language, pattern, source);
        let captures = captures(&compiled, source, &found);
        if captures != *expected {
            wrong.push(format!(
                "{language} `{pattern}` in `{source}`\n   found {captures:?}\nexpected {expected:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A bare fragment would be read as something else at the top level of a file.
#[test]
fn fragments_are_read_in_a_scaffold() {
    check(&[
        (
            "dart",
            "dispose($X)",
            "void m() { dispose(x); }\nvoid dispose(int x) {}",
            &["dispose(x)"],
        ),
        ("dart", "if ($C) $E", "var l = [if (a) b];", &[]),
        (
            "dart",
            "typedef $N = $T;",
            "typedef F = int;",
            &["typedef F = int;"],
        ),
        (
            "go",
            "fmt.Println($$$A)",
            "package p\nfunc m() { fmt.Println() }\n",
            &["fmt.Println()"],
        ),
        (
            "go",
            "Map[$T]($X)",
            "package p\nfunc m() { x := Map[int](y) }\n",
            &["Map[int](y)"],
        ),
        ("c", "foo($A)", "void f() { foo(1); }", &["foo(1)"]),
        (
            "c",
            "$A * $B",
            "void f() { int z = a * b; T *p; }",
            &["a * b"],
        ),
        (
            "typescript",
            "catch ($E) { $$$B }",
            "try {} catch (e) { f() }",
            &["catch (e) { f() }"],
        ),
        (
            "python",
            "except $E as $N: $$$B",
            "try:\n  a()\nexcept E as e:\n  b()\n",
            &["except E as e:\n  b()"],
        ),
        (
            "rust",
            "Some($A) => $B",
            "fn f() { match x { Some(a) => b, None => c } }",
            &["Some(a) => b"],
        ),
        (
            "typescript",
            "async $M($$$P): $R { $$$B }",
            "class A { async m(a: T): P { b() } }",
            &["async m(a: T): P { b() }"],
        ),
        (
            "rust",
            "$X: String",
            "struct S { a: String, b: u8 }",
            &["a: String"],
        ),
        (
            "rust",
            "#[derive($$$D)]",
            "#[derive(Debug, Clone)]\nstruct S;",
            &["#[derive(Debug, Clone)]"],
        ),
        (
            "python",
            "case $P: $$$B",
            "match x:\n  case 1:\n    b()\n",
            &["case 1:\n    b()"],
        ),
        (
            "python",
            "@$D($$$A)",
            "@cached(1)\ndef f(): pass\n",
            &["@cached(1)"],
        ),
    ]);
}

/// Members and statements want a mould.
#[test]
fn bodies_hold_runs() {
    check(&[
        (
            "rust",
            "match $X { $$$A, _ => $D }",
            "fn f() { match a { B => 1, C => { 2 } _ => 3 } match a { _ => 1 } match a { B => 1 } }",
            &[
                "match a { B => 1, C => { 2 } _ => 3 }",
                "match a { _ => 1 }",
            ],
        ),
        (
            "rust",
            "match $X { $$$A _ => $D }",
            "fn f() { match a { B => 1, C => 2, _ => 3, } }",
            &["match a { B => 1, C => 2, _ => 3, }"],
        ),
        (
            "cpp",
            "$C::$C($$$P) : $$$I { $$$B }",
            "A::A(int x) : a(x), b{1} { f(); } A::A() : a(0) {} A::A() {}",
            &["A::A(int x) : a(x), b{1} { f(); }", "A::A() : a(0) {}"],
        ),
        (
            "cpp",
            "class $C : $$$B, public $D { $$$M };",
            "class X : A, private B, public D { int a; }; class Y : public D {};",
            &[
                "class X : A, private B, public D { int a; };",
                "class Y : public D {};",
            ],
        ),
        (
            "c",
            "case $X: $$$B break;",
            "void f() { switch (a) { case 1: b(); c(); break; case 2: d(); } }",
            &["case 1: b(); c(); break;"],
        ),
        (
            "typescript",
            "switch ($X) { $$$A default: $$$D }",
            "switch (a) { case 1: b(); default: c(); d() }",
            &["switch (a) { case 1: b(); default: c(); d() }"],
        ),
        (
            "dart",
            "try { $$$A } on $T catch ($E, $S) { $$$B } finally { $$$C }",
            "void f() { try { a(); } on T catch (e, s) {} finally { b(); c(); } }",
            &["try { a(); } on T catch (e, s) {} finally { b(); c(); }"],
        ),
        (
            "dart",
            "if ($C) { $$$B }",
            "void m() { if (a) { b(); } if (a) {} }",
            &["if (a) { b(); }", "if (a) {}"],
        ),
        (
            "c",
            "if ($C) { $$$B }",
            "void m() { if (a) { b(); } if (a) {} }",
            &["if (a) { b(); }", "if (a) {}"],
        ),
        (
            "dart",
            "class $C { $$$M }",
            "class A { int x = 1; }",
            &["class A { int x = 1; }"],
        ),
        (
            "typescript",
            "switch ($X) { $$$C }",
            "switch (a) { case 1: b() }\nclass A { switch(x) {} }",
            &["switch (a) { case 1: b() }"],
        ),
        (
            "rust",
            "impl $T { $$$B }",
            "impl A { fn f() {} }",
            &["impl A { fn f() {} }"],
        ),
        (
            "rust",
            "match $X { $$$A }",
            "fn f() { match x { A => 1, B => 2 } }",
            &["match x { A => 1, B => 2 }"],
        ),
        (
            "rust",
            "struct $S { $$$F }",
            "struct A { b: C, d: E }",
            &["struct A { b: C, d: E }"],
        ),
        (
            "go",
            "func $F($$$P) { $$$B }",
            "package p\nfunc f() {}\nfunc g(a int) { h() }\n",
            &["func f() {}", "func g(a int) { h() }"],
        ),
        (
            "go",
            "if $C { $$$B }",
            "package p\nfunc f() {\n\tif a {\n\t\tb()\n\t\tc()\n\t}\n}\n",
            &["if a {\n\t\tb()\n\t\tc()\n\t}"],
        ),
        (
            "c",
            "struct $S { $$$F };",
            "struct a { int b; };",
            &["struct a { int b; };"],
        ),
        (
            "c",
            "#ifdef $N\n$$$B\n#endif",
            "#ifdef A\nint b;\n#endif\n",
            &["#ifdef A\nint b;\n#endif"],
        ),
        (
            "python",
            "if $C: $$$B",
            "if a:\n  b()\n  c()\n",
            &["if a:\n  b()\n  c()"],
        ),
        (
            "python",
            "class $C($$$B): $$$M",
            "class A(B):\n  pass\n",
            &["class A(B):\n  pass"],
        ),
    ]);
}

/// Some contexts are for fragments that begin with a certain word; some moulds want a line of their
/// own.
#[test]
fn every_reading_can_be_asked_for() {
    // Two contexts of a name, and two readings of a kind: a name asks for one of them, a kind for all.
    let rows = [
        ("go", "A B = 9", "spec, const_spec", "const_spec"),
        ("c", "*a[N]", "declarator, pointer_declarator", "declarator"),
        ("python", "(a, b)", "clause, argument_list", "arguments"),
    ];
    for (language, fragment, shown, asked) in rows {
        let grammar = Shipped.grammar(language).unwrap();
        let pattern = Pattern::compile(&grammar, fragment, None).unwrap();
        let later = pattern.later_readings();
        let reading = later.iter().find(|reading| reading.to_string() == shown);
        let reading = reading.unwrap_or_else(|| panic!("{language}: {later:?}"));
        assert_eq!(reading.asked_by(), asked, "{language} {fragment}");
        let pattern = Pattern::compile(&grammar, fragment, Some(asked)).unwrap();
        assert_eq!(
            pattern.readings()[0].kind(),
            reading.kind(),
            "{language} {fragment}"
        );
    }
    let go = Shipped.grammar("go").unwrap();
    let error = Pattern::compile(&go, "f(x)", Some("const_spec")).unwrap_err();
    assert!(
        error.to_string().contains("no Go in any context"),
        "{error}"
    );
    let error = Pattern::compile(&go, "f(x)", Some("nonsense")).unwrap_err();
    assert!(error.to_string().contains("no kind of node"), "{error}");
}

#[test]
fn contexts_and_moulds_of_some_fragments() {
    check(&[
        (
            "kotlin",
            "object : $I { $$$M }",
            "val a = object : I {\n  fun f() = 1\n}",
            &["object : I {\n  fun f() = 1\n}"],
        ),
        (
            "kotlin",
            "class $C { $$$M }",
            "class A {\n  fun f() = 1\n}",
            &["class A {\n  fun f() = 1\n}"],
        ),
        (
            "csharp",
            "throw $X",
            "class C { int f() { throw a; } }",
            &["throw a"],
        ),
    ]);
}

/// A candidate has what the pattern shows and nothing more.
#[test]
fn matching_is_strict() {
    check(&[
        (
            "go",
            "return $X",
            "package p\nfunc f() {\n\treturn a, b\n\treturn c\n}\n",
            &["return c"],
        ),
        (
            "python",
            "if $C: $S",
            "if a:\n  b()\n  c()\nif d: e()\n",
            &["if d: e()"],
        ),
        (
            "typescript",
            "if ($C) { $$$B }",
            "if (a) { b } else { c }",
            &[],
        ),
        ("python", "if $C: $$$B", "if a:\n  b()\nelse:\n  c()\n", &[]),
        (
            "python",
            "def $F($$$P): $$$B",
            "async def f():\n  pass\n",
            &[],
        ),
        ("rust", "fn $F() { $$$B }", "pub fn a() {}", &[]),
        (
            "python",
            "yield",
            "def f():\n  yield 2\n  yield\n",
            &["yield"],
        ),
        (
            "python",
            "if $C:\n  $A\nelse:\n  yield",
            "def f():\n  if a:\n    b\n  else:\n    yield 2\n    c\n",
            &[],
        ),
        ("dart", "$N() { $$$B }", "class A { get b { } }", &[]),
        (
            "rust",
            "let $A = $B;",
            "fn f() { let a: T = b; let c = d; }",
            &["let c = d;"],
        ),
        (
            "go",
            "$A.$B($$$C)",
            "package p\nfunc f() { go a.b(c) }\n",
            &["a.b(c)"],
        ),
    ]);
}

/// What declares a name is the name alone where the pattern shows no more.
#[test]
fn declared_names_are_strict() {
    check(&[
        (
            "kotlin",
            "val $N = $V",
            "val a = 1\nval b: Int = 2",
            &["val a = 1"],
        ),
        (
            "kotlin",
            "{ $$$P -> f() }",
            "val a = b { x, y: Int -> f() }",
            &["{ x, y: Int -> f() }"],
        ),
        (
            "csharp",
            "int $N;",
            "class C { int a; int b = 1; int c, d; }",
            &["int a;"],
        ),
    ]);
}

/// Comments, layout and a trailing separator do not count; strings are not code.
#[test]
fn layout_and_comments_do_not_count() {
    check(&[
        (
            "typescript",
            "return",
            "function f() { return; return 1 }",
            &["return"],
        ),
        (
            "c",
            "#define $N $V",
            "#define A 1\n#define B\n",
            &["#define A 1"],
        ),
        (
            "typescript",
            "foo($A)",
            "foo(/*c*/ a); foo(a // x\n); foo(/*c*/ { a: 1 }); foo(a,); foo  (\n a\n)",
            &[
                "foo(/*c*/ a)",
                "foo(a // x\n)",
                "foo(/*c*/ { a: 1 })",
                "foo(a,)",
                "foo  (\n a\n)",
            ],
        ),
        ("typescript", "foo($A,)", "foo(a)", &["foo(a)"]),
        (
            "typescript",
            "if ($C) { $$$B }",
            "if (a) /*c*/ { b }",
            &["if (a) /*c*/ { b }"],
        ),
        (
            "dart",
            "dispose($X)",
            "void f() { var s = 'dispose(x)'; /* dispose(y) */ dispose(z); }",
            &["dispose(z)"],
        ),
        (
            "python",
            "f($X)",
            "s = 'f(x)'  # f(y)\nf(\n    z,\n)\n",
            &["f(\n    z,\n)"],
        ),
        (
            "rust",
            "f($A, $B)",
            "fn g() { f(a, /* b */ b,) }",
            &["f(a, /* b */ b,)"],
        ),
        ("c", "f($A)", "void g() { f(a \\\n ); }", &["f(a \\\n )"]),
    ]);
}

/// A directive ends with its line; the comment behind it is not part of the match.
#[test]
fn directives_end_before_their_comment() {
    check(&[(
        "c",
        "#include <$H>",
        "#include <a.h> // why\n#include <b.h>   /* so */\n",
        &["#include <a.h>", "#include <b.h>"],
    )]);
}

/// Kinds that the grammar tells apart where the language does not are one kind.
#[test]
fn some_kinds_are_alike() {
    check(&[
        (
            "java",
            "($$$P) -> $E",
            "class C { F f = () -> 1, g = (a, b) -> 2, h = (int a) -> 3, i = a -> 4; }",
            &["() -> 1", "(a, b) -> 2", "(int a) -> 3"],
        ),
        (
            "java",
            "($A) -> $E",
            "class C { F g = (a, b) -> 2, h = (int a) -> 3, i = (a) -> 4; }",
            &["(int a) -> 3", "(a) -> 4"],
        ),
    ]);
}

/// A repeated metavariable stands for the same tokens.
#[test]
fn repeated_metavariables_are_the_same_tokens() {
    check(&[
        (
            "dart",
            "if ($X != null) $X.dispose()",
            "void f() { if (a != null) a.dispose(); if (a != null) b.dispose(); }",
            &["if (a != null) a.dispose()"],
        ),
        (
            "python",
            "$A == $A",
            "x == x\na.b == a . b\n{f : None} == {f: None}\n'a' == \"a\"\n(x) == x\n",
            &["x == x", "a.b == a . b", "{f : None} == {f: None}"],
        ),
        (
            "typescript",
            "$A && $A()",
            "f && f(); f && g(); a.b && a /* c */ .b()",
            &["f && f()", "a.b && a /* c */ .b()"],
        ),
        (
            "rust",
            "f($$$A, g($$$A))",
            "fn h() { f(1, 2, g(1, 2)); f(1, g(2)) }",
            &["f(1, 2, g(1, 2))"],
        ),
        (
            "rust",
            "f($$$A, $X, $$$B, $X)",
            "fn h() { f(1, 2, 3, 2); f(1, 2); }",
            &["f(1, 2, 3, 2)"],
        ),
    ]);
}

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

/// What is parsed in one way as a statement and in another elsewhere is one thing all the same.
#[test]
fn expressions_are_one_family() {
    check(&[(
        "swift",
        "g($$$A) { $$$B }",
        "func f() {\n  g(1) { a() }\n  let x = g(2) { b() }\n}",
        &["g(1) { a() }", "g(2) { b() }"],
    )]);
}

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

/// Declarations that differ only in where they stand are matched together.
#[test]
fn declarations_are_one_family() {
    check(&[
        (
            "dart",
            "final $N = $V;",
            "final a = 1;\nclass C { final b = 2; }\nvoid f() { final c = 3; }",
            &["final a = 1;", "final b = 2;", "final c = 3;"],
        ),
        (
            "c",
            "$T $N;",
            "int a;\nstruct s { int b; };\nvoid f() { int c; }",
            &["int a;", "int b;", "int c;"],
        ),
        (
            "dart",
            "final $N = $V",
            "final a = 1;\nclass C { final b = 2; }\nvoid f() { final c = 3; }",
            &["final a = 1", "final b = 2", "final c = 3"],
        ),
        (
            "c",
            "$T $N",
            "int a;\nstruct s { int b; };\nvoid f(int c) { int d; }",
            &["int a", "int b", "int c", "int d"],
        ),
        (
            "typescript",
            "$K?: string;",
            "interface I { a?: string; }\nclass C { b?: string; }",
            &["a?: string;", "b?: string;"],
        ),
        (
            "csharp",
            "int $F($$$P) { $$$B }",
            "class C { int a() { int b(int x) { return x; } } }",
            &[
                "int a() { int b(int x) { return x; } }",
                "int b(int x) { return x; }",
            ],
        ),
        (
            "csharp",
            "const int $N = $V;",
            "class C { const int A = 1; void f() { const int b = 2; } }",
            &["const int A = 1;", "const int b = 2;"],
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

/// A word that is never a name is none, and a header is no statement with an empty body.
#[test]
fn fragments_that_only_look_like_code() {
    let rows = [
        (
            "csharp",
            "else { $$$B }",
            "`else` is a keyword: write all of what it belongs to",
        ),
        ("swift", "else { $$$B }", "`else` is a keyword"),
        ("dart", "while ($C)", "It may stop short there"),
    ];
    for (language, pattern, expected) in rows {
        let grammar = Shipped.grammar(language).unwrap();
        let error = Pattern::compile(&grammar, pattern, None)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{language} `{pattern}`: {error}");
    }
}

/// One word is the name wherever it stands, but not in strings and comments.
#[test]
fn a_word_is_a_name() {
    check(&[(
        "rust",
        "Foo",
        "struct Foo; fn f(a: Foo) -> Foo { Foo } // Foo\nconst S: &str = \"Foo\";",
        &["Foo", "Foo", "Foo", "Foo"],
    )]);
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

/// Later readings are counted, never matched.
#[test]
fn later_readings_are_counted() {
    let rows: &[Row<'_>] = &[
        (
            "dart",
            "name: $X",
            "var a = f(name: 1);",
            &["1 argument, named_argument"],
        ),
        (
            "dart",
            "if ($C) $E",
            "var l = [if (a) b];",
            &["1 element, if_element"],
        ),
        ("dart", "List<$T>", "List<int> x;", &["1 type, type"]),
        (
            "typescript",
            "{ $$$P }",
            "y = {a: 1}",
            &["1 expression, object"],
        ),
    ];
    for (language, pattern, source, expected) in rows {
        let (pattern, found) = run(language, pattern, source);
        assert_eq!(texts(source, &found), [""; 0], "{source}");
        let counted: Vec<_> = pattern
            .later_readings()
            .iter()
            .zip(&found.later)
            .filter(|(_, count)| **count > 0)
            .map(|(reading, count)| format!("{count} {reading}"))
            .collect();
        assert_eq!(counted, *expected, "{source}");
    }
}

/// What cannot find anything is an error that says what to write instead.
#[test]
fn what_is_no_pattern() {
    let rows = [
        ("typescript", "", "the pattern is empty"),
        (
            "typescript",
            "$A",
            "a metavariable alone matches everything",
        ),
        ("typescript", "$$$A", "a run alone matches everything"),
        ("typescript", "// why", "the pattern is a comment"),
        (
            "typescript",
            "f($$A)",
            "use `$A` for one node, `$$$A` for a run",
        ),
        ("python", "get$NAME()", "part of the token `get$NAME`"),
        ("typescript", "f(\"a$X\")", "part of the token `a$X`"),
        ("python", "foo($x)", "Metavariables are upper case"),
        ("typescript", "foo.*", "It looks like a regular expression"),
        ("rust", "foo(.*)", "It looks like a regular expression"),
        (
            "typescript",
            "get[A-Z]\\w+",
            "It looks like a regular expression",
        ),
        ("typescript", "class $C", "It may stop short there"),
    ];
    for (language, pattern, expected) in rows {
        let grammar = Shipped.grammar(language).unwrap();
        let error = Pattern::compile(&grammar, pattern, None).unwrap_err();
        assert!(error.to_string().contains(expected), "{pattern}: {error}");
    }
}

/// Near misses name what candidates have that the pattern does not show.
#[test]
fn near_misses_are_named() {
    let rows: &[Row<'_>] = &[
        (
            "rust",
            "fn $F() { $$$B }",
            "pub fn a() {} fn b() -> T {} pub async fn c() {} fn d(x: T) {}",
            &[
                "visibility_modifier",
                "return_type",
                "visibility_modifier + function_modifiers",
                "parameter",
            ],
        ),
        (
            "typescript",
            "if ($C) { $$$B }",
            "if (a) { b } else { c }",
            &["alternative"],
        ),
        (
            "python",
            "def $F($$$P): $$$B",
            "async def f(a):\n  pass\n",
            &["async"],
        ),
        (
            "rust",
            "let $A = $B;",
            "fn f() { let a: T = b; }",
            &["type"],
        ),
        ("typescript", "f($A)", "f(a, b)", &[]),
        (
            "dart",
            "class $C { $$$B }",
            "abstract class A extends B {}",
            &["superclass"],
        ),
    ];
    for (language, pattern, source, expected) in rows {
        let grammar = Shipped.grammar(language).unwrap();
        let pattern = Pattern::compile(&grammar, pattern, None).unwrap();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(grammar.language()).unwrap();
        let tree = parser.parse(source, None).unwrap();
        let misses = near_misses(&pattern, &tree, source.as_bytes(), &|| false);
        let extras: Vec<&str> = misses.iter().map(|miss| &*miss.extras).collect();
        assert_eq!(extras, *expected, "{source}");
    }
}

/// What says no more than a line end does, and the parentheses of some lists, are layout.
#[test]
fn some_tokens_are_layout() {
    check(&[
        (
            "bash",
            "if $C; then $$$B; fi",
            "if a\nthen\n  b\n  c\nfi",
            &["if a\nthen\n  b\n  c\nfi"],
        ),
        (
            "ruby",
            "if $C\n  $$$B\nend",
            "if a then b end",
            &["if a then b end"],
        ),
        (
            "ruby",
            "puts $X",
            "puts a\nputs(b)\nputs c, d\n",
            &["puts a", "puts(b)"],
        ),
        (
            "ruby",
            "def $F($$$P)\n  $$$B\nend",
            "def a; end\ndef b c\n  d\nend\n",
            &["def a; end", "def b c\n  d\nend"],
        ),
        ("bash", "echo $X;", "echo a; echo b", &["echo a;", "echo b"]),
    ]);
    check_captures(&[
        (
            "ruby",
            "if $C\n  $$$B\nend",
            "if a then b; c end",
            &["C=a | B=b; c"],
        ),
        (
            "ruby",
            "def $F($$$P)\n  $$$B\nend",
            "def a(b); c; end\ndef d; end\n",
            &["F=a | P=b | B=c", "F=d | P= | B="],
        ),
        ("bash", "$F() { $$$B }", "a() { b; c; }", &["F=a | B=b; c"]),
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

/// Where a variable and a name are spelled differently, a metavariable stands for either.
#[test]
fn variables_and_names() {
    check(&[
        ("php", "$A = $B;", "<?php $a = b($c);", &["$a = b($c);"]),
        (
            "php",
            "try { $$$A } catch ($E $V) { $$$B }",
            "<?php try { a(); } catch (E $e) {}",
            &["try { a(); } catch (E $e) {}"],
        ),
        (
            "php",
            "\"Hello $X\"",
            "<?php f(\"Hello $a\", \"Hello {$a}\", \"Hello a\");",
            &["\"Hello $a\""],
        ),
        (
            "ruby",
            "class $C < $B\n  $$$M\nend",
            "class A < B; end",
            &["class A < B; end"],
        ),
        (
            "ruby",
            "$L.each { |$X| $$$B }",
            "a.each { |b| c }",
            &["a.each { |b| c }"],
        ),
    ]);
}

/// A list without brackets is no single node.
#[test]
fn one_is_no_list() {
    check(&[
        (
            "php",
            "foreach ($L as $V) { $$$B }",
            "<?php foreach ($a as $k => $v) {}",
            &[],
        ),
        (
            "ruby",
            "return $X",
            "return a\nreturn b, c\n",
            &["return a"],
        ),
    ]);
}

/// A fragment that stops short is no pattern, though the grammar could make something of it.
#[test]
fn halves_are_no_patterns() {
    for (language, fragment) in [
        ("php", "if ($C)"),
        ("php", "class $C"),
        ("bash", "fi"),
        ("ruby", "x = <<~EOS\n  text\nEOS"),
    ] {
        let grammar = Shipped.grammar(language).unwrap();
        let compiled = Pattern::compile(&grammar, fragment, None);
        assert!(compiled.is_err(), "{language}: {fragment}");
    }
}

/// A lexer that tells the kinds of names by their first letter wants the right one.
#[test]
fn metavariables_are_spelled_as_the_place_wants() {
    check(&[
        (
            "perl",
            "my $V = $E;",
            "my $x = 1;\nour $y = 2;\n",
            &["my $x = 1;"],
        ),
        (
            "haskell",
            "import $M",
            "import Data.Map\n",
            &["import Data.Map"],
        ),
        ("ocaml", "open $M", "open Core\n", &["open Core"]),
        (
            "toml",
            "version = $V",
            "version = \"1\"\n",
            &["version = \"1\""],
        ),
        (
            "json",
            r#"{"a": $X, $$$R}"#,
            r#"[{"a": 1}, {"a": 2, "b": 3}]"#,
            &[r#"{"a": 1}"#, r#"{"a": 2, "b": 3}"#],
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

/// Letter case and white space where the language gives them no meaning.
#[test]
fn words_are_compared_as_the_language_does() {
    check(&[
        (
            "sql",
            "SELECT $$$C FROM $T",
            "select a, b from t;\nSELECT c FROM u;",
            &["select a, b from t", "SELECT c FROM u"],
        ),
        (
            "cmake",
            "add_library($N)",
            "ADD_LIBRARY(a)\nadd_library(B)\n",
            &["ADD_LIBRARY(a)", "add_library(B)"],
        ),
        ("elixir", "f(a: $X)", "f(a:\n  1)\n", &["f(a:\n  1)"]),
        (
            "xml",
            "<a>\n  <b>$X</b>\n</a>",
            "<r><a><b> x </b></a></r>",
            &["<a><b> x </b></a>"],
        ),
    ]);
    check_captures(&[("xml", "<b>$X</b>", "<b> x </b>", &["X=x"])]);
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

/// Text takes in whatever is written next to an element.
#[test]
fn an_attribute_is_no_text() {
    check(&[(
        "svelte",
        "on:click={$F}",
        "<b on:click={f}/>",
        &["on:click={f}"],
    )]);
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
