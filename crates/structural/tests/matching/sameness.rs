//! What counts as the same code, and what does not.

use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::near_misses;
use terret_structural::pattern::Pattern;

use crate::{Row, check, check_captures};

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
