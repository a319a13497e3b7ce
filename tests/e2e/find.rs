//! Finding code by its shape.

use expect_test::{Expect, expect};
use terret_testkit::Tree;

use crate::terret;

/// Searches for a pattern in Dart.
#[track_caller]
fn dart(fixture: &str, pattern: &str, expected: Expect) {
    let arguments = [
        "--arg",
        "language=dart",
        "--arg",
        &format!("pattern={pattern}"),
    ];
    let tree = Tree::new(fixture);
    let bin = terret(&tree).args(["call", "ast_grep"]).args(arguments);
    expected.assert_eq(&bin.run().success().stdout);
}

#[test]
fn a_call_is_a_call_whatever_its_layout_and_not_a_signature() {
    dart(
        "
        //- /lib/a.dart
        dispose(x) {}

        class View {
          void dispose(int x) {}
        }

        void f() {
          dispose(view);
          dispose(
            // the last one
            other,
          );
        }
        ",
        "dispose($X)",
        expect![[r#"
            pattern read as: expression, call_expression
            lib/a.dart:8
              8:   dispose(view);
              $X = view
            lib/a.dart:9
              9:   dispose(
              10:     // the last one
              11:     other,
              … 1 more line
              $X = other
            2 matches; 1 file searched
        "#]],
    );
}

#[test]
fn strings_and_comments_are_not_code() {
    dart(
        "
        //- /lib/a.dart
        // dispose(a);
        /* dispose(b); */
        /// dispose(c)
        void f() {
          print('dispose(d)');
          print('''
            dispose(e)
          ''');
          print('${dispose(interpolated)}');
        }
        ",
        "dispose($X)",
        expect![[r#"
            pattern read as: expression, call_expression
            lib/a.dart:9
              9:   print('${dispose(interpolated)}');
              $X = interpolated
            1 match; 1 file searched
        "#]],
    );
}

#[test]
fn a_repeated_name_is_the_same_code() {
    dart(
        "
        //- /lib/a.dart
        void f() {
          if (view != null) view.dispose();
          if (view != null) other.dispose();
          if (this . view != null) this.view.dispose();
        }
        ",
        "if ($X != null) $X.dispose()",
        expect![[r#"
            pattern read as: statement, if_statement
            lib/a.dart:2
              2:   if (view != null) view.dispose();
              $X = view
            lib/a.dart:4
              4:   if (this . view != null) this.view.dispose();
              $X = this . view
            2 matches; 1 file searched
        "#]],
    );
}

#[test]
fn what_stands_in_nobodys_code_is_told_with_what_is_near() {
    dart(
        "
        //- /lib/a.dart
        Future<void> f() async {}
        ",
        "Future<void> f() {}",
        expect![[r#"
            pattern read as: statement, local_function_declaration; member, method_declaration; declaration, function_declaration
            0 matches; 1 differs only by `async`: write them into the pattern; 1 file searched
        "#]],
    );
}

#[test]
fn a_pattern_that_no_context_accepts_is_an_error_that_names_them() {
    let tree = Tree::new("//- /a.dart\nvoid f() {}\n");
    let bin = terret(&tree);
    let arguments = ["--arg", "language=dart", "--arg", "pattern=dispose(("];
    let outcome = bin
        .args(["call", "ast_grep"])
        .args(arguments)
        .run()
        .exits(10);
    assert_eq!(outcome.stdout, "");
    expect![[r#"
        error[invalid_arguments]: the pattern is no Dart in any context (tried: statement, expression, member, declaration, type, pattern, argument, parameter, annotation, case, arm, enum_value, element, clause, cascade, initializer, declarator); nearest is statement: parsing failed at line 1, column 10, the end of the pattern. `(` is never closed
    "#]].assert_eq(&outcome.stderr);
}

#[test]
fn languages_that_are_met_compete() {
    let tree = Tree::new(
        "
        //- /a.py
        print(x)
        //- /b.ts
        print(y);
        //- /c.txt
        print(z)
        ",
    );
    let bin = terret(&tree).args(["call", "ast_grep", r#"{"pattern": "print($X)"}"#]);
    expect![[r#"
        pattern read as: python: expression, call | typescript: expression, call_expression
        a.py:1
          1: print(x)
          $X = x
        b.ts:1
          1: print(y);
          $X = y
        2 matches; 2 files searched
    "#]]
    .assert_eq(&bin.run().success().stdout);
}

#[test]
fn a_path_narrows_and_a_cap_says_that_there_is_more() {
    let tree = Tree::new(
        "
        //- /src/a.py
        f(1)
        f(2)
        f(3)
        //- /other/b.py
        f(4)
        ",
    );
    let arguments = r#"{"pattern": "f($X)", "path": "src", "max_results": 2}"#;
    let bin = terret(&tree).args(["call", "ast_grep", arguments]);
    expect![[r#"
        pattern read as: expression, call
        src/a.py:1
          1: f(1)
          $X = 1
        src/a.py:2
          2: f(2)
          $X = 2
        2 matches shown, there are more: narrow `path` or raise `max_results`; stopped after 1 file
    "#]]
    .assert_eq(&bin.run().success().stdout);
}

#[test]
fn the_workspace_is_where_the_command_is_told_to_work() {
    let tree = Tree::new(
        "
        //- /inner/a.py
        f(1)
        //- /b.py
        f(2)
        ",
    );
    let bin = terret(&tree).args(["call", "-C", "inner", "ast_grep", r#"{"pattern": "f($X)"}"#]);
    expect![[r#"
        pattern read as: expression, call
        a.py:1
          1: f(1)
          $X = 1
        1 match; 1 file searched
    "#]]
    .assert_eq(&bin.run().success().stdout);
}
