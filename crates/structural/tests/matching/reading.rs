//! Which code of the language a fragment is read as.

use terret_grammars::{GrammarSource, Shipped};
use terret_structural::pattern::Pattern;

use crate::{Row, check, run, texts};

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
