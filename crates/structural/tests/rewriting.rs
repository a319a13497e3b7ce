//! What rewrites make of a file, by theme. A row is: language, pattern, rewrite, source, result.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::find;
use terret_structural::pattern::Pattern;
use terret_structural::rewrite::{Fault, RewriteError, Rewritten, Site, Template, rewrite};

type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

fn run(language: &str, pattern: &str, template: &str, source: &str) -> Rewritten {
    rewritten(language, pattern, template, source).unwrap()
}

fn rewritten(
    language: &str,
    pattern: &str,
    template: &str,
    source: &str,
) -> Result<Rewritten, RewriteError> {
    let grammar = Shipped.grammar(language).unwrap();
    let pattern = Pattern::compile(&grammar, pattern, None)
        .unwrap_or_else(|error| panic!("{language}: {pattern}: {error}"));
    let template = Template::compile(template, &pattern).unwrap();
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let tree = parser.parse(source, None).unwrap();
    let found = find(&pattern, &tree, source.as_bytes(), &|| false);
    let sites: Vec<Site> = found
        .matches
        .into_iter()
        .map(|found| Site { edit: 0, found })
        .collect();
    rewrite(
        &grammar,
        &tree,
        source.as_bytes(),
        &sites,
        &[template],
        &|| false,
    )
}

fn check(rows: &[Row<'_>]) {
    let mut wrong = Vec::new();
    for (language, pattern, template, source, expected) in rows {
        let rewritten = run(language, pattern, template, source);
        let text = String::from_utf8(rewritten.text).unwrap();
        if text != *expected || rewritten.broken.is_some() {
            wrong.push(format!(
                "{language} `{pattern}` to `{template}`: {:?}\n   wrote {text:?}\nexpected {expected:?}",
                rewritten.broken
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn templates_are_filled_in() {
    check(&[
        (
            "c",
            "#include <$H>",
            "#include \"$H\"",
            "#include <a.h>\n#include <b.h>\nint c;\n",
            "#include \"a.h\"\n#include \"b.h\"\nint c;\n",
        ),
        (
            "tsx",
            "<Foo $$$A />",
            "<Bar x $$$A />",
            "v = <p><Foo /><Foo a /></p>;",
            "v = <p><Bar x /><Bar x a /></p>;",
        ),
        (
            "dart",
            "dispose($X)",
            "$X.dispose()",
            "void m() { dispose(a); dispose(b.c); }",
            "void m() { a.dispose(); b.c.dispose(); }",
        ),
        (
            "python",
            "print($$$A)",
            "log($$$A)",
            "print(1, 2)\nprint()\n",
            "log(1, 2)\nlog()\n",
        ),
        (
            "dart",
            "if ($X != null) $X.f()",
            "$X?.f()",
            "void m() { if (a != null) a.f(); }",
            "void m() { a?.f(); }",
        ),
        ("typescript", "f($A)", r"g(\$A)", "f(1)", "g($A)"),
        (
            "typescript",
            "$A + $B",
            "add($A, $B)",
            "function f() { return a + b; }",
            "function f() { return add(a, b); }",
        ),
        (
            "typescript",
            "const $A = $B",
            "let $A = $B",
            "const a = 1;\nconst b = 2\n",
            "let a = 1;\nlet b = 2\n",
        ),
        (
            "dart",
            "if ($C) $S",
            "if (!$C) $S",
            "void f() { if (a) b(); }",
            "void f() { if (!a) b(); }",
        ),
        ("typescript", "f('$S')", "g(`$S`)", "f('a b')", "g(`a b`)"),
        (
            "rust",
            "Some($A) => $B",
            "Ok($A) => $B",
            "fn f() { match x { Some(a) => b, None => c } }",
            "fn f() { match x { Ok(a) => b, None => c } }",
        ),
    ]);
}

/// A list that is one member a line stays so, with what stands behind its last member.
#[test]
fn lists_keep_their_lines() {
    check(&[
        (
            "rust",
            "f($$$A)",
            "g($$$A)",
            "fn m() {\n    f(\n        a,\n        b, // why\n    );\n    f(a, b,);\n    f(a,\n      b);\n}\n",
            "fn m() {\n    g(\n        a,\n        b, // why\n    );\n    g(a, b,);\n    g(a,\n      b);\n}\n",
        ),
        (
            "rust",
            "f($$$A)",
            "g(x, $$$A)",
            "fn m() {\n    f(\n        a,\n        b,\n    );\n    f();\n}\n",
            "fn m() {\n    g(\n        x,\n        a,\n        b,\n    );\n    g(x);\n}\n",
        ),
        (
            "rust",
            "f($$$A)",
            "g($$$A, x)",
            "fn m() {\n    f(\n        a, // why\n        b // last\n    );\n    f(a,);\n}\n",
            "fn m() {\n    g(\n        a, // why\n        b, // last\n        x\n    );\n    g(a, x);\n}\n",
        ),
        (
            "rust",
            "f($X, $$$A)",
            "g($$$A, $X)",
            "fn m() {\n\tf(\n\t\ta,\n\t\tb,\n\t);\n\tf(a);\n}\n",
            "fn m() {\n\tg(\n\t\tb,\n\t\ta,\n\t);\n\tg(a);\n}\n",
        ),
        (
            "rust",
            "struct $S { $$$F }",
            "pub struct $S { $$$F }",
            "struct A {\n    a: u8,\n\n    // why\n    b: u8, // x\n    // last\n}\nstruct B { a: u8, }\n",
            "pub struct A {\n    a: u8,\n\n    // why\n    b: u8, // x\n    // last\n}\npub struct B { a: u8, }\n",
        ),
        (
            "typescript",
            "interface $S { $$$F }",
            "export interface $S { $$$F }",
            "interface A {\r\n  a: u;\r\n  b: u;\r\n}\r\ninterface B { a: u; }\r\n",
            "export interface A {\r\n  a: u;\r\n  b: u;\r\n}\r\nexport interface B { a: u; }\r\n",
        ),
        (
            "typescript",
            "if ($C) { $$$B }",
            "while ($C) { $$$B }",
            "  if (a) {\n    b();\n\n    c();\n  }\n  if (a) { b(); }\n",
            "  while (a) {\n    b();\n\n    c();\n  }\n  while (a) { b(); }\n",
        ),
        (
            "typescript",
            "foo($A, $B)",
            "foo({ a: $A, b: $B })",
            "foo(\n  x,\n  y,\n);\nfoo(1, 2);\n",
            "foo({ a: x, b: y });\nfoo({ a: 1, b: 2 });\n",
        ),
        (
            "python",
            "f($$$A)",
            "g($$$A, k=\"(\")",
            "x = f(\n    a,\n    b=1,\n)\nf(a,)\n",
            "x = g(\n    a,\n    b=1,\n    k=\"(\",\n)\ng(a, k=\"(\")\n",
        ),
        (
            "go",
            "f($$$A)",
            "g($$$A)",
            "package a\n\nfunc m() {\n\tf(\n\t\ta,\n\t)\n}\n",
            "package a\n\nfunc m() {\n\tg(\n\t\ta,\n\t)\n}\n",
        ),
    ]);
}

/// So does a body in the statement itself, one behind a head that is wrapped, and one that has no
/// brackets.
#[test]
fn bodies_keep_their_lines() {
    check(&[
        (
            "swift",
            "guard let $N = $V else { $$$B }",
            "guard let $N else { $$$B }",
            "func f() {\n    guard let a = a else {\n        b()\n        return\n    }\n    guard let c = c else { return }\n}\n",
            "func f() {\n    guard let a else {\n        b()\n        return\n    }\n    guard let c else { return }\n}\n",
        ),
        (
            "java",
            "void f($$$A) { $$$B }",
            "void g($$$A) { $$$B }",
            "class A {\n  void f(\n      int a,\n      int b) {\n    x();\n    y();\n  }\n}\n",
            "class A {\n  void g(\n      int a,\n      int b) {\n    x();\n    y();\n  }\n}\n",
        ),
        (
            "go",
            "if $C { $$$B }",
            "if !($C) { $$$B }",
            "package p\n\nfunc f() {\n\tif a &&\n\t\tb {\n\t\tx()\n\t}\n}\n",
            "package p\n\nfunc f() {\n\tif !(a &&\n\t\tb) {\n\t\tx()\n\t}\n}\n",
        ),
        (
            "tsx",
            "<Foo $$$A>$$$C</Foo>",
            "<Bar $$$A>$$$C</Bar>",
            "v = (\n  <Foo\n    a=\"1\"\n    b={2}\n  >\n    <p />\n    text\n  </Foo>\n);\nw = <Foo a>b</Foo>;\n",
            "v = (\n  <Bar\n    a=\"1\"\n    b={2}\n  >\n    <p />\n    text\n  </Bar>\n);\nw = <Bar a>b</Bar>;\n",
        ),
        (
            "python",
            "while $C: $$$B",
            "while not ($C): $$$B",
            "def f():\n    while a:\n        b()\n\n        c()\n    while a: b()\n",
            "def f():\n    while not (a):\n        b()\n\n        c()\n    while not (a): b()\n",
        ),
        (
            "go",
            "if $C { $$$B }",
            "if !($C) { $$$B }",
            "package p\n\nfunc f() {\n\tif a && // b\n\t\tb { // c\n\t\tx()\n\t}\n\tif a(`\nb`) {\n\t\tx()\n\t}\n}\n",
            "package p\n\nfunc f() {\n\tif !(a && // b\n\t\tb) { // c\n\t\tx()\n\t}\n\tif !(a(`\nb`)) {\n\t\tx()\n\t}\n}\n",
        ),
        // The bracket stands on the last line of a chain.
        (
            "kotlin",
            "$F($$$A)",
            "$F($$$A)",
            "fun m() {\n  a\n      .b()\n      ?.c(\n          d = 1,\n          e = f(\n              2\n          )\n      )\n}\n",
            "fun m() {\n  a\n      .b()\n      ?.c(\n          d = 1,\n          e = f(\n              2\n          )\n      )\n}\n",
        ),
        (
            "php",
            "if ($C) { $$$B }",
            "while ($C) { $$$B }",
            "<?php\nif ($a\n    && $b\n) {\n    c();\n\n    d();\n}\n",
            "<?php\nwhile ($a\n    && $b\n) {\n    c();\n\n    d();\n}\n",
        ),
        (
            "javascript",
            "f($$$A)",
            "g($$$A)",
            "x = f((a) =>\n  b(\n    a\n  )\n)\n",
            "x = g((a) =>\n  b(\n    a\n  )\n)\n",
        ),
    ]);
}

/// A replacement that becomes part of the statement before it, where a line end ended that.
#[test]
fn statements_stay_apart() {
    let rows = [
        ("[$A].x()", "foo\nf(a)\nbar\n", true),
        ("(function () { $A })()", "foo\nf(a)\nbar\n", true),
        ("[$A].x()", "foo;\nf(a)\nbar\n", false),
        ("[$A].x()", "f(a)\nx = f(b)\n", false),
        ("$A.x()", "foo\nf(a)\nbar\n", false),
    ];
    for (template, source, torn) in rows {
        let rewritten = run("javascript", "f($A)", template, source);
        let broken = rewritten
            .broken
            .is_some_and(|broken| broken.fault == Fault::Torn);
        assert_eq!(broken, torn, "{template} in {source:?}");
    }
}

/// No token of a replacement becomes one with a token beside it.
#[test]
fn tokens_stay_apart() {
    check(&[
        (
            "python",
            "($A)",
            "$A",
            "def g():\n    x = not(a)or(b)\n    return(a)\n",
            "def g():\n    x = not a or b\n    return a\n",
        ),
        ("python", "f($A)", "$A", "x = a-f(-b)\n", "x = a- -b\n"),
        (
            "python",
            "f($A)",
            "f\"{$A}\"",
            "f({1: 2})\nf(a)\n",
            "f\"{ {1: 2}}\"\nf\"{a}\"\n",
        ),
        (
            "go",
            "f($A)",
            "$A",
            "package a\n\nvar x = a/f(*b) - -f(-c)\n",
            "package a\n\nvar x = a/ *b - - -c\n",
        ),
        (
            "c",
            "f($A)",
            "&$A",
            "int m() { g(f(&x)); a&f(x); }",
            "int m() { g(& &x); a& &x; }",
        ),
        // What a template joins was meant to be joined.
        (
            "rust",
            "f($A)",
            "get_$A()",
            "fn m() { f(a) }",
            "fn m() { get_a() }",
        ),
    ]);
}

/// Where a grammar binds an operator otherwise than its language, the data say so.
#[test]
fn operands_are_grouped_beside_some_tokens() {
    check(&[
        (
            "typescript",
            "f($A)",
            "$A!",
            "x = f(a + b); y = f(a.b); z = f(a as T);",
            "x = (a + b)!; y = a.b!; z = (a as T)!;",
        ),
        (
            "typescript",
            "f($A)",
            "$A as T",
            "x = f(a || b); y = f(a).b; class A extends f(a) {}",
            "x = (a || b) as T; y = (a as T).b; class A extends (a as T) {}",
        ),
        (
            "typescript",
            "$A ?? $B",
            "$A || $B",
            "x = a ?? b ?? c;",
            "x = (a || b) || c;",
        ),
        (
            "javascript",
            "f($A)",
            "$A",
            "f({ a: 1 }).b(); f(function () {})(); f(1).c(); f(-1) ** 2;",
            "({ a: 1 }).b(); (function () {})(); (1).c(); (-1) ** 2;",
        ),
        (
            "rust",
            "f($A)",
            "$A as u8",
            "fn m() { f(x).y() + f(x) < y }",
            "fn m() { (x as u8).y() + (x as u8) < y }",
        ),
        (
            "python",
            "f($A)",
            "x if $A else y",
            "z = f(a if b else c)\nz = f(a or b)\n",
            "z = x if (a if b else c) else y\nz = x if a or b else y\n",
        ),
        (
            "dart",
            "f($A)",
            "$A",
            "void m() { f({1: 2}).g(); }",
            "void m() { ({1: 2}).g(); }",
        ),
    ]);
}

/// Where a grammar takes any expression for an operand, the data say which are none.
#[test]
fn operands_are_grouped_where_they_are_none_bare() {
    check(&[
        (
            "csharp",
            "f($A)",
            "$A ?? c",
            "class A { void m() { x = f(a)?.b; x = f(a)!; f(a)?[1].x(); g(f(a)()); } }",
            "class A { void m() { x = (a ?? c)?.b; x = (a ?? c)!; (a ?? c)?[1].x(); g((a ?? c)()); } }",
        ),
        (
            "csharp",
            "f($A)",
            "$A as T",
            "class A { void m() { x = f(a)!; x = f(a)++; x = f(a) < b; x = f(a) ? 1 : 2; } }",
            "class A { void m() { x = (a as T)!; x = (a as T)++; x = (a as T) < b; x = (a as T) ? 1 : 2; } }",
        ),
        (
            "swift",
            "f($A)",
            "$A + c",
            "let y = f(a)()\nlet z = f(a)[1]\nlet w = f(a)?.b\n",
            "let y = (a + c)()\nlet z = (a + c)[1]\nlet w = (a + c)?.b\n",
        ),
        (
            "swift",
            "f($A) { $$$B }",
            "($A ?? c) { $$$B }",
            "let y = f(a) { 1 }\n",
            "let y = (a ?? c) { 1 }\n",
        ),
        (
            "swift",
            "f($A)",
            "$A as! T",
            "let y = f(a)()\nlet z = f(a)[1]\nlet w = f(a).b\n",
            "let y = (a as! T)()\nlet z = (a as! T)[1]\nlet w = (a as! T).b\n",
        ),
        (
            "kotlin",
            "f($A)",
            "$A as T",
            "fun m() = f(a).b\nval x = f(a)!!\nval y = f(a)()\nval z = f(a)[1]\nval w = f(a) < b\n",
            "fun m() = (a as T).b\nval x = (a as T)!!\nval y = (a as T)()\nval z = (a as T)[1]\nval w = (a as T) < b\n",
        ),
        (
            "javascript",
            "$C ? $A : $B",
            "$A || $B",
            "x = c ? a : () => 1; x = c ? a : b = 1; x = c ? a : b += 1; x = c ? a : b.d;",
            "x = a || (() => 1); x = a || (b = 1); x = a || (b += 1); x = a || b.d;",
        ),
        (
            "javascript",
            "$C ? $A : $B",
            "$A || $B",
            "function* g() { x = c ? a : yield 1; }",
            "function* g() { x = a || (yield 1); }",
        ),
        (
            "javascript",
            "f($A)",
            "!$A",
            "f(a = 1); f(() => 1); f(a.b);",
            "!(a = 1); !(() => 1); !a.b;",
        ),
        (
            "typescript",
            "f($A)",
            "$A as T",
            "x = f(a)(); x = f(a)++; x = f(a)?.b; x = await f(a); x = f(a) < b;",
            "x = (a as T)(); x = (a as T)++; x = (a as T)?.b; x = await (a as T); x = (a as T) < b;",
        ),
        (
            "typescript",
            "f($A)",
            "() => $A",
            "x = <T>f(a); x = b || f(a); x = f(a) as T;",
            "x = <T>(() => a); x = b || (() => a); x = (() => a) as T;",
        ),
        (
            "php",
            "f($A)",
            "$A instanceof T",
            "<?php $x = -f($a); $x = f($a)->b; $x = f($a)[1]; $x = f($a) + 1;",
            "<?php $x = -($a instanceof T); $x = ($a instanceof T)->b; $x = ($a instanceof T)[1]; $x = $a instanceof T + 1;",
        ),
        (
            "php",
            "f($A)",
            "$A->b",
            "<?php f(fn() => 1); f(new A); f(yield 1); f($c);",
            "<?php (fn() => 1)->b; (new A)->b; (yield 1)->b; $c->b;",
        ),
        (
            "python",
            "f($A)",
            "c or $A",
            "x = f(lambda: 1)\nx = f(y := 1)\nx = f(not y)\n",
            "x = c or (lambda: 1)\nx = c or (y := 1)\nx = c or not y\n",
        ),
        (
            "java",
            "f($A, $B)",
            "$A || $B",
            "class A { Object x = f(a, b -> c); Object y = f(a, b = 1); }",
            "class A { Object x = a || (b -> c); Object y = a || (b = 1); }",
        ),
    ]);
}

/// What a grammar reads otherwise than its language does is rewritten as the language has it.
#[test]
fn what_the_grammar_misreads() {
    check(&[
        (
            "swift",
            "old($A)",
            "new($A)",
            "func f() { if !old(x) || d + old(y) < -old(z) { try old(w).c() } }",
            "func f() { if !new(x) || d + new(y) < -new(z) { try new(w).c() } }",
        ),
        (
            "swift",
            "old($A)",
            "$A + 1",
            "let y = !old(x)\nlet z = d * old(x)\n",
            "let y = !(x + 1)\nlet z = d * (x + 1)\n",
        ),
        (
            "swift",
            "!$A",
            "not($A)",
            "guard !xs.contains(1) else { f() }\nlet z = !a.b(x).c && !d\n",
            "guard not(xs.contains(1)) else { f() }\nlet z = not(a.b(x).c) && not(d)\n",
        ),
        (
            "swift",
            "$A + $B",
            "add($A, $B)",
            "let y = -x + f(a)\nlet z = a * b + c\n",
            "let y = add(-x, f(a))\nlet z = add(a * b, c)\n",
        ),
        (
            "swift",
            "-$A",
            "neg($A)",
            "let y = -x.z * 2 + 1\nlet w = -(x + 1)\n",
            "let y = neg(x.z) * 2 + 1\nlet w = -(x + 1)\n",
        ),
        (
            "swift",
            "$A.count",
            "n($A)",
            "let y = !a.b(x).count\nlet z = try a.b().count\n",
            "let y = !n(a.b(x))\nlet z = try n(a.b())\n",
        ),
        (
            "csharp",
            "$A ?? $B",
            "g($A, $B)",
            "class A { object x = a ?? b?.c; object y = a ?? b; }",
            "class A { object x = g(a, b?.c); object y = g(a, b); }",
        ),
        (
            "csharp",
            "$A?.c",
            "g($A)",
            "class A { object x = a ?? b?.c; object y = q ? r : b?.c; }",
            "class A { object x = a ?? g(b); object y = q ? r : g(b); }",
        ),
        (
            "typescript",
            "await $A",
            "run($A)",
            "x = await y.z() as T; w = (await y) as T;",
            "x = run(y.z()) as T; w = (run(y)) as T;",
        ),
        (
            "typescript",
            "$A as $T",
            "cast<$T>($A)",
            "x = await y.z() as T; w = -y as T;",
            "x = cast<T>(await y.z()); w = cast<T>(-y);",
        ),
        (
            "kotlin",
            "$A.run()",
            "g($A)",
            "fun m() {\n  val a = b\n  (c as D).run()\n  d\n    .run()\n}\n",
            "fun m() {\n  val a = b\n  (c as D).run()\n  g(d)\n}\n",
        ),
        (
            "kotlin",
            "val $N = $V",
            "var $N = $V",
            "fun m() {\n  val a = b\n  (c as D).run()\n  val d = e\n}\n",
            "fun m() {\n  val a = b\n  (c as D).run()\n  var d = e\n}\n",
        ),
        (
            "kotlin",
            "fun m() { $$$B }",
            "fun n() { $$$B }",
            "fun m() {\n  val a = b\n  (c as D).run()\n}\n",
            "fun n() {\n  val a = b\n  (c as D).run()\n}\n",
        ),
    ]);
}

/// What means something only where it stands is not put elsewhere.
#[test]
fn what_means_nothing_there_is_refused() {
    let rows = [
        ("python", "f($A)", "$A", "x = f(a=1)\n", true),
        ("python", "f($A)", "$A", "f(*a)\n", true),
        ("python", "f($A)", "$A + 1", "x = f(a=1)\n", true),
        ("python", "f($A)", "g($A, 1)", "x = f(a=1) + f(*a)\n", false),
        ("python", "f($A)", "[$A]", "x = f(*a)\n", false),
        (
            "python",
            "except $E: $$$B",
            "except ($E, F): $$$B",
            "try:\n  pass\nexcept X as e:\n  pass\n",
            true,
        ),
        (
            "python",
            "except $E: $$$B",
            "except* $E: $$$B",
            "try:\n  pass\nexcept X as e:\n  pass\n",
            false,
        ),
        (
            "csharp",
            "Same($A, $B)",
            "$A.b($B)",
            "class A { void m() { Same(expected: 1, x); } }",
            true,
        ),
        (
            "csharp",
            "Same($A, $B)",
            "Equal($A, $B)",
            "class A { void m() { Same(expected: 1, x); } }",
            false,
        ),
        ("kotlin", "f($A)", "$A", "fun m() { f(a = 1) }", true),
        ("swift", "f($A)", "[$A]", "func m() { f(a: 1) }", true),
        ("dart", "f($A)", "[$A]", "var x = f(a: 1);", true),
        (
            "java",
            "check($A)",
            "$A",
            "class A { void m() { check(a); } }",
            true,
        ),
        (
            "java",
            "check($A)",
            "$A",
            "class A { void m() { check(a()); x = check(a); } }",
            false,
        ),
    ];
    for (language, pattern, template, source, refused) in rows {
        let broken = run(language, pattern, template, source).broken;
        let misplaced =
            matches!(&broken, Some(broken) if matches!(broken.fault, Fault::Misplaced { .. }));
        assert!(
            if refused { misplaced } else { broken.is_none() },
            "{language} {template} in {source:?}: {broken:?}"
        );
    }
}

/// Nested matches inside captures are rewritten in the same pass.
#[test]
fn nested_matches() {
    check(&[
        (
            "rust",
            "pow2($A)",
            "$A * $A",
            "fn f() { pow2(pow2(c)).d(); }",
            "fn f() { ((c * c) * (c * c)).d(); }",
        ),
        (
            "typescript",
            "wrap($A)",
            "w($A)",
            "wrap(wrap(1))",
            "w(w(1))",
        ),
        (
            "typescript",
            "wrap($A)",
            "w($A, $A)",
            "wrap(wrap(1))",
            "w(w(1, 1), w(1, 1))",
        ),
        (
            "python",
            "f($$$A)",
            "g($$$A)",
            "f(f(1), f(f()))\n",
            "g(g(1), g(g()))\n",
        ),
    ]);
    let rewritten = run("typescript", "wrap($A)", "w($A)", "wrap(wrap(1))");
    assert_eq!((rewritten.replacements, rewritten.dropped), (2, 0));
    let rewritten = run("typescript", "f($$$A)", "g()", "f(f(1))");
    assert_eq!(
        (rewritten.replacements, rewritten.dropped),
        (1, 1),
        "the inner one went with it"
    );
}

/// An empty run takes its separator along.
#[test]
fn separators_stay_sound() {
    check(&[
        (
            "typescript",
            "f($$$A, $X)",
            "f($X, $$$A)",
            "f(1); f(1, 2); f(1, 2, 3)",
            "f(1); f(2, 1); f(3, 1, 2)",
        ),
        (
            "typescript",
            "f($$$A)",
            "f($$$A, x)",
            "f(); f(1); f(1,)",
            "f(x); f(1, x); f(1, x)",
        ),
        (
            "typescript",
            "f($$$A)",
            "f(x, $$$A)",
            "f(); f(1)",
            "f(x); f(x, 1)",
        ),
        (
            "typescript",
            "f($$$A)",
            "f(x, $$$A, y)",
            "f(); f(1)",
            "f(x, y); f(x, 1, y)",
        ),
        (
            "typescript",
            "y = { $$$P }",
            "y = { $$$P, x: 1 }",
            "y = {a:1,}; y = {}",
            "y = { a:1, x: 1 }; y = { x: 1 }",
        ),
        (
            "rust",
            "f($$$A)",
            "g!($$$A, end)",
            "fn h() { f(); f(1, 2,) }",
            "fn h() { g!(end); g!(1, 2, end) }",
        ),
    ]);
}

/// What would lose its precedence is put in parentheses.
#[test]
fn precedence_is_kept() {
    check(&[
        (
            "typescript",
            "sq($A)",
            "$A * $A",
            "x = sq(a + b) / 2",
            "x = ((a + b) * (a + b)) / 2",
        ),
        (
            "typescript",
            "sq($A)",
            "$A * $A",
            "x = sq(a) + 2; y = sq(f(b))",
            "x = a * a + 2; y = f(b) * f(b)",
        ),
        (
            "javascript",
            "function () { return $E; }",
            "() => $E",
            "f(function () { return { a: 1 }; }, function () { return b; })",
            "f(() => ({ a: 1 }), () => b)",
        ),
        (
            "javascript",
            "f($A)",
            "g((x) => $A, $A)",
            "f({ a }); f({ ...b })",
            "g((x) => ({ a }), { a }); g((x) => ({ ...b }), { ...b })",
        ),
        (
            "python",
            "neg($A)",
            "-$A",
            "x = neg(a + b)\n",
            "x = -(a + b)\n",
        ),
        (
            "rust",
            "add($A, $B)",
            "$A + $B",
            "fn f() { let x = 2 * add(1, 2); }",
            "fn f() { let x = 2 * (1 + 2); }",
        ),
        (
            "dart",
            "not($A)",
            "!$A",
            "var x = not(a && b);",
            "var x = !(a && b);",
        ),
        (
            "c",
            "DEREF($P)",
            "*$P",
            "void f() { DEREF(p + 1) = 2; }",
            "void f() { *(p + 1) = 2; }",
        ),
        (
            "go",
            "neg($A)",
            "-$A",
            "package p\n\nvar x = neg(a + b)\n",
            "package p\n\nvar x = -(a + b)\n",
        ),
        (
            "typescript",
            "f($A)",
            "g(\"$A\", pre$A)",
            "f(b)",
            "g(\"b\", preb)",
        ),
    ]);
    assert_eq!(
        run("typescript", "sq($A)", "$A * $A", "x = sq(a + b) / 2").parenthesised,
        3
    );
}

/// Lines move to where they land, in the file's own kind of indentation.
#[test]
fn indentation() {
    check(&[
        (
            "typescript",
            "run(() => { $$$B })",
            "try {\n  $$$B\n} catch (e) {\n  log(e)\n}",
            "function f() {\n\trun(() => {\n\t\ta();\n\t\tif (b) {\n\t\t\tc();\n\t\t}\n\t})\n}\n",
            "function f() {\n\ttry {\n\t\ta();\n\t\tif (b) {\n\t\t\tc();\n\t\t}\n\t} catch (e) {\n\t\tlog(e)\n\t}\n}\n",
        ),
        (
            "python",
            "if $C:\n    $$$B",
            "while $C:\n    $$$B\n    break",
            "def f():\n  if a:\n    b()\n    c()\n",
            "def f():\n  while a:\n    b()\n    c()\n    break\n",
        ),
        (
            "typescript",
            "wrap($A)",
            "w(\n  $A,\n)",
            "if (x) {\n    wrap({\n        a: 1,\n    });\n}\n",
            "if (x) {\n    w(\n        {\n            a: 1,\n        },\n    );\n}\n",
        ),
        (
            "python",
            "f($S)",
            "g(\n    1,\n    $S)",
            "if x:\n    f(\"\"\"a\n  b\n\"\"\")\n",
            "if x:\n    g(\n        1,\n        \"\"\"a\n  b\n\"\"\")\n",
        ),
        (
            "typescript",
            "f($A)",
            "g(\n  $A\n)",
            "  f(`a\n  b\n    c`)\n",
            "  g(\n    `a\n  b\n    c`\n  )\n",
        ),
        (
            "rust",
            "{ $$$B }",
            "{\n    $$$B\n}",
            "fn f() {}\n",
            "fn f() {\n}\n",
        ),
    ]);
}

/// Line ends, the byte order mark and the end of the file stay as they are.
#[test]
fn line_ends_stay() {
    check(&[
        (
            "typescript",
            "f($A)",
            "g(\n  $A\n)",
            "\u{feff}f(1);\r\nh();\r\n",
            "\u{feff}g(\r\n  1\r\n);\r\nh();\r\n",
        ),
        (
            "python",
            "f($$$A)",
            "g($$$A)",
            "f(1,\r\n  2)\r\nx = 1",
            "g(1,\r\n  2)\r\nx = 1",
        ),
        (
            "python",
            "f($A)",
            "g($A)",
            "f('''a\r\nb''')\r\n",
            "g('''a\r\nb''')\r\n",
        ),
    ]);
}

/// An empty template deletes, with the line or the separator that would be left over.
#[test]
fn deletions() {
    check(&[
        (
            "typescript",
            "console.log($$$)",
            "",
            "a();\n  console.log(1);\nb();\n",
            "a();\nb();\n",
        ),
        (
            "typescript",
            "console.log($$$);",
            "",
            "a(); console.log(1); b();\n",
            "a();  b();\n",
        ),
        (
            "typescript",
            "import { $$$A } from 'x'",
            "",
            "import { a } from 'x';\nb();\n",
            "b();\n",
        ),
        (
            "python",
            "x",
            "",
            "f(a, x)\nf(x, b)\nf(x)\n",
            "f(a)\nf(b)\nf()\n",
        ),
        (
            "dart",
            "print($X);",
            "",
            "void f() {\n  print(1);\n  g();\n}\n",
            "void f() {\n  g();\n}\n",
        ),
        (
            "rust",
            "dbg!($$$A);",
            "",
            "fn f() {\n    dbg!(x);\n    g();\n}\n",
            "fn f() {\n    g();\n}\n",
        ),
        (
            "go",
            "fmt.Println($$$A)",
            "",
            "package p\n\nfunc f() {\n\tfmt.Println(1)\n\tg()\n}\n",
            "package p\n\nfunc f() {\n\tg()\n}\n",
        ),
    ]);
}

/// A deletion leaves no blank line that doubles another, or that nothing stands before or behind.
#[test]
fn blank_lines_around_a_deletion() {
    let rows = [
        ("a();\n\nlog(1);\n\nb();\n", "a();\n\nb();\n"),
        ("a();\n\nlog(1);\nb();\n", "a();\n\nb();\n"),
        ("a();\n\n\nlog(1);\n\nb();\n", "a();\n\n\nb();\n"),
        ("log(1);\n\nlog(2);\n\nb();\n", "b();\n"),
        ("a();\r\n\r\nlog(1);\r\n", "a();\r\n"),
        (
            "function f() {\n  log(1);\n\n  b();\n\n  log(2);\n}\n",
            "function f() {\n  b();\n}\n",
        ),
    ];
    for (source, expected) in rows {
        check(&[("javascript", "log($A)", "", source, expected)]);
    }
}

/// A deletion neither joins what was apart nor leaves half of something.
#[test]
fn what_a_deletion_would_spoil() {
    check(&[
        (
            "javascript",
            "log($A)",
            "",
            "a()\nlog(1)\n;[1, 2].forEach(f)\nlog(2);\nb()\n",
            "a()\n;[1, 2].forEach(f)\nb()\n",
        ),
        (
            "ruby",
            "log($A)",
            "",
            "log(1)\nf(<<~X)\n  log\nX\n",
            "f(<<~X)\n  log\nX\n",
        ),
        (
            "ruby",
            "attr_reader $$$A",
            "",
            "class A < B\n  attr_reader :a\n\n  # why\n  def b\n  end\nend\n",
            "class A < B\n\n  # why\n  def b\n  end\nend\n",
        ),
        (
            "ruby",
            "log($A)",
            "warn($A)",
            "log(<<~X)\n  a\nX\nb\n",
            "warn(<<~X)\n  a\nX\nb\n",
        ),
        (
            "ruby",
            "q($A)",
            "quote($A)",
            "f(q(a), <<~X, q(b))\n  #{q(c)} d\nX\n",
            "f(quote(a), <<~X, quote(b))\n  #{quote(c)} d\nX\n",
        ),
        (
            "ruby",
            "def f\n  $$$B\nend",
            "",
            "a\ndef f\n  log(<<~X)\n    a\n  X\nend\nb\n",
            "a\nb\n",
        ),
        (
            "bash",
            "log $A",
            "cat <<EOF\n$A\nEOF",
            "log 1\nb\n",
            "cat <<EOF\n1\nEOF\nb\n",
        ),
    ]);
    let refused = [
        (
            "javascript",
            "log($A);",
            "",
            "a()\nlog(1);\n[1, 2].forEach(f)\n",
        ),
        ("javascript", "log($A)", "", "a()\nlog(1)\n(b)\n"),
        ("javascript", "log($A);", "x()", "log(1);\n(b || c)()\n"),
        ("ruby", "log($A)", "", "log(<<~X)\n  a\nX\nb\n"),
        (
            "ruby",
            "log($A, $B)",
            "warn($B)",
            "log(<<~X, 1)\n  a\nX\nb\n",
        ),
        ("perl", "log($A)", "", "log(<<X);\na\nX\nb();\n"),
        // An end of a heredoc that is indented ends none.
        (
            "bash",
            "log $A",
            "cat <<EOF\n$A\nEOF",
            "f() {\n  log 1\n}\n",
        ),
    ];
    for (language, pattern, template, source) in refused {
        let rewritten = run(language, pattern, template, source);
        assert!(rewritten.broken.is_some(), "{language} {source:?}");
    }
    let error = rewritten("php", "f($A)", "", "<p><?= f(1) ?></p>").unwrap_err();
    assert!(matches!(error, RewriteError::SoleBody { .. }), "{error:?}");
}

/// Comments that a rewrite drops are counted, and a line comment swallows nothing.
#[test]
fn comments() {
    let rewritten = run(
        "typescript",
        "foo($A, $B)",
        "bar($B, $A)",
        "foo(a /*k*/, b)",
    );
    assert_eq!(rewritten.comments_dropped, 1);
    let rewritten = run("typescript", "f($$$A)", "g($$$A)", "f(a, // one\n  b)");
    assert_eq!(rewritten.comments_dropped, 0);
    check(&[(
        "typescript",
        "f(() => { $$$B })",
        "g(() => { $$$B })",
        "f(() => {\n  a() // end\n})",
        "g(() => {\n  a() // end\n})",
    )]);
}

/// A rewrite that breaks the syntax is told with its place.
#[test]
fn broken_syntax() {
    let rewritten = run("typescript", "f($A)", "g($A", "a();\nf(1);\n");
    let broken = rewritten.broken.unwrap();
    assert_eq!(broken.line, 2, "{broken:?}");
    let rewritten = run("rust", "f()", "", "fn g() {\n    let x = f();\n}\n");
    assert_eq!(rewritten.broken.unwrap().line, 2);
    let rewritten = run("typescript", "f($A)", "g($A)", "let = = ;\nf(1);\n");
    assert_eq!(
        rewritten.broken, None,
        "errors that were there before do not count"
    );
    // Not where they have moved, nor where a replacement in them has made them longer.
    let sound = [
        (
            "c",
            "g($A, 22, 333)",
            "void a() { f(1); @ f(3); }\nint b() { = f(2) ) }\n",
        ),
        (
            "javascript",
            "g($A, 22, 333)",
            "x(f(1) f(2));\nf(3);\nlet let let = f(4) 5;\n",
        ),
    ];
    for (language, template, source) in sound {
        assert_eq!(
            run(language, "f($A)", template, source).broken,
            None,
            "{source}"
        );
        let half = template.trim_end_matches(')');
        let broken = run(language, "f($A)", half, source).broken;
        assert!(broken.is_some(), "{half} in {source}");
    }
}

/// The terminator of the last statement goes with a run that is moved, and no space stays behind
/// one that is not there.
#[test]
fn runs_that_are_moved() {
    check(&[
        (
            "perl",
            "unless ($C) { $$$B }",
            "if (!($C)) { $$$B g(); }",
            "unless ($a) { f(); }\n",
            "if (!($a)) { f(); g(); }\n",
        ),
        (
            "html",
            "<img src=\"$S\" $$$A>",
            "<img src=\"/$S\" $$$A>",
            "<p><img src=\"a\"></p>",
            "<p><img src=\"/a\"></p>",
        ),
    ]);
}

/// What would grow beyond all bounds is an error.
#[test]
fn nesting_is_bounded() {
    let run = |template: &str, depth: usize| {
        let source = format!("x = {}1{};", "f(".repeat(depth), ")".repeat(depth));
        let grammar = Shipped.grammar("typescript").unwrap();
        let pattern = Pattern::compile(&grammar, "f($X)", None).unwrap();
        let template = Template::compile(template, &pattern).unwrap();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(grammar.language()).unwrap();
        let tree = parser.parse(&source, None).unwrap();
        let found = find(&pattern, &tree, source.as_bytes(), &|| false);
        let sites: Vec<Site> = found
            .matches
            .into_iter()
            .map(|found| Site { edit: 0, found })
            .collect();
        rewrite(
            &grammar,
            &tree,
            source.as_bytes(),
            &sites,
            &[template],
            &|| false,
        )
    };
    assert_eq!(run("g($X)", 400).unwrap().replacements, 400);
    assert_eq!(
        run("g($X)", 20_000),
        Err(RewriteError::TooNested { line: 1 })
    );
    assert_eq!(run("g($X, $X)", 60), Err(RewriteError::TooLarge));
}

/// What changes its meaning where it lands is told, whatever the parser says.
#[test]
fn what_falls_apart_is_told() {
    let torn = [
        (
            "c",
            "foo();",
            "x(); y();",
            "void f() {\n  if (a) foo();\n}\n",
        ),
        ("typescript", "foo();", "a(); b();", "for (;;) foo();\n"),
    ];
    for (language, pattern, template, source) in torn {
        let broken = run(language, pattern, template, source).broken.unwrap();
        assert_eq!(broken.fault, Fault::Torn, "{source}: {broken:?}");
    }
    check(&[(
        "c",
        "sq($X)",
        "$X * $X",
        "int f() { if (a) g(); return sq(a + b); }",
        "int f() { if (a) g(); return (a + b) * (a + b); }",
    )]);
    check(&[(
        "rust",
        "if $C { $A; $$$R }",
        "if !$C { $A; $$$R }",
        "fn f() { if a { foo(); } }",
        "fn f() { if !a { foo(); } }",
    )]);
    let sole = [
        (
            "c",
            "log($X);",
            "void f() {\n  if (a)\n    log(a);\n  next();\n}\n",
        ),
        ("typescript", "log($X)", "if (a)\n  log(a);\nnext();\n"),
        ("python", "log($X)", "if a:\n    log(a)\nnext()\n"),
    ];
    for (language, pattern, source) in sole {
        let error = rewritten(language, pattern, "", source).unwrap_err();
        assert!(
            matches!(error, RewriteError::SoleBody { .. }),
            "{source}: {error:?}"
        );
    }
}
