//! Why two searches differ at a place: a closed list, decided by what the pattern is and what the
//! syntax tree says of the place, never by where it is.

use std::collections::BTreeSet;

use serde::Deserialize;

/// What `measure facts` tells of a place.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Facts {
    pub(super) path: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The code, cut.
    pub(super) text: String,
    /// The kinds of the nodes that cover just these bytes, or of the smallest around them.
    kinds: Vec<String>,
    /// Whether there is such a node.
    exact: bool,
    /// The kinds of code that Terret reads the pattern as.
    read_as: Vec<String>,
    error_inside: bool,
    /// A comment stands inside, and in nothing that is captured.
    comment: bool,
    /// A metavariable for one node stands for a token without a name.
    token_captured: bool,
    /// For each run that is the body of a string literal of how many nodes it consists.
    string_parts: Vec<usize>,
    /// A run stands for nothing.
    empty_run: bool,
    /// The most members of a list that one of the metavariables for one node stands in.
    members: Option<usize>,
    /// The most members of a list without brackets, outside of the body.
    open_members: usize,
    /// The names of the runs that stand behind no parenthesis.
    bare_runs: Option<Vec<String>>,
    /// The kinds of the children, and the names of the fields that they are in; of their children
    /// the same.
    children: Vec<String>,
    inner_children: Vec<String>,
    /// What a metavariable stands for stands there again, as another kind of code.
    kinds_differ: bool,
    utf8: bool,
    /// What it has more than the pattern shows, where that alone keeps it from matching.
    pub(super) near: Option<String>,
    /// Of a place that the other side found with another end, whether nothing but comments, layout
    /// and a separator stand between the two ends.
    trivial_tail: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Terret,
    AstGrep,
}

/// A place that only one of the two found.
pub(super) struct Difference<'a> {
    pub(super) side: Side,
    pub(super) pattern: &'a str,
    pub(super) facts: &'a Facts,
    /// What `ast-grep` reads the pattern as: the kinds of the nodes that are all of it.
    pub(super) other_reading: &'a BTreeSet<String>,
    /// How many matches the two have in common.
    pub(super) same: usize,
    /// Terret says that it did not come to the end of the file.
    pub(super) unfinished: bool,
}

/// A reason.
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// Sentences that say why the two differ, and why Terret does what it does.
    pub(super) why: &'static str,
    pub(super) example: &'static str,
    fits: fn(&Difference<'_>) -> bool,
}

/// What a language lets one leave out and a candidate may have more than a pattern shows, by the name
/// of the field, else the kind. What is not listed here was never looked at.
const OPTIONAL: &[&str] = &[
    "?",
    "abstract",
    "alternative",
    "annotated_lambda",
    "annotation",
    "arguments",
    "async",
    "await",
    "block",
    "body",
    "catch_clause",
    "cause",
    "class_body",
    "else",
    "ensure",
    "final",
    "finalizer",
    "finally_clause",
    "function_modifier",
    "function_type",
    "if_statement",
    "implements_clause",
    "import_alias",
    "lambda_literal",
    "marker_annotation",
    "noexcept",
    "nullable_type",
    "parameters",
    "private",
    "property_modifier",
    "public",
    "raw",
    "rescue",
    "static",
    "synchronized",
    "trailing_return_type",
    "type_arguments",
    "type_qualifier",
    "unsafe",
    "user_type",
    "value",
    "visibility_modifier",
    "volatile",
];

/// The reasons. The first that fits counts.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unfinished file",
        why: "Terret gives a file two seconds, and says so when they are over.",
        example: "a generated table of many megabytes",
        fits: |it| it.side == Side::AstGrep && it.unfinished,
    },
    Rule {
        name: "not UTF-8",
        why: "`ast-grep` passes over such files without a word; Terret searches their bytes.",
        example: "a Latin-1 source of Python's tests",
        fits: |it| it.side == Side::Terret && !it.facts.utf8,
    },
    Rule {
        name: "end of a match",
        why: "The same match: to `ast-grep` it takes in the separator, the comment or the line end \
              that the grammar counts in, and not one that the pattern shows; to Terret it is what \
              the pattern shows, as a rewrite would lose the rest.",
        example: "`return $X` over `return a // why`",
        fits: |it| it.facts.trivial_tail == Some(true),
    },
    Rule {
        name: "pattern misread",
        why: "Alone, the pattern is another kind of code than inside a function or a class, and \
              `ast-grep` looks for that, or for nothing.",
        example: "two statements in a row, which are no pattern to it",
        fits: misread,
    },
    Rule {
        name: "error inside",
        why: "The match of `ast-grep` holds a syntax error; a rewrite could lose what the parser did \
              not understand.",
        example: "`f($A)` over `f(a b)`",
        fits: |it| it.side == Side::AstGrep && it.facts.error_inside,
    },
    Rule {
        name: "more than the pattern shows",
        why: "`ast-grep` passes over it, and a rewrite drops it; Terret counts it as a near miss and \
              names what it has more.",
        example: "`if ($C) { $$$B }` over an `if` with an `else`",
        fits: more,
    },
    Rule {
        name: "longer list",
        why: "`ast-grep` passes over the members at the end of a list without brackets.",
        example: "`import $M` over `import a, b`",
        fits: |it| it.side == Side::AstGrep && it.facts.open_members > outer_members(it.pattern),
    },
    Rule {
        name: "run before another part",
        why: "A run of `ast-grep` ends at the first fit, and does not go on when the rest does not \
              match.",
        example: "`f($$$A, $X)` over `f(1, 2)`",
        fits: |it| {
            it.side == Side::Terret
                && run_before(it.pattern)
                && it.facts.members.is_some_and(|members| members > 1)
        },
    },
    Rule {
        name: "body of a string",
        why: "A metavariable that is all of a string's body stands for any body: none, one with \
              escapes, one with parts to fill in. To `ast-grep` it is one node.",
        example: "`f(\"$S\")` over `f(\"\")` and over `f(\"a\\n\")`",
        fits: |it| {
            it.side == Side::Terret
                && string_body(it.pattern)
                && it.facts.string_parts.iter().any(|parts| *parts != 1)
        },
    },
    Rule {
        name: "token for a metavariable",
        why: "Terret lets `$A` stand for what is code to a person and a token to the grammar.",
        example: "`let $A = $B;` over `let _ = f();`",
        fits: |it| it.side == Side::Terret && it.facts.token_captured,
    },
    Rule {
        name: "repeated name",
        why: "A metavariable that is repeated stands for the same tokens, whatever the grammar takes \
              them for where they stand; `ast-grep` wants the same tree.",
        example: "`$A = append($A, $$$B)` over Go's `f.x = append(f.x, 1)`, where the second `f.x` \
                  could be a type",
        fits: |it| it.side == Side::Terret && it.facts.kinds_differ && repeats_a_name(it.pattern),
    },
    Rule {
        name: "parentheses left out",
        why: "Where the language lets one leave out the parentheses of a list, the list is the same \
              without them, and none is an empty one.",
        example: "`$A.$B($$$C)` over Ruby's `a.b` and `a.b 1`, `raise $E, $M` over `raise(E, m)`",
        fits: |it| {
            let written = |name: &String| it.pattern.contains(&format!("($$${name})"));
            let bare = it.facts.bare_runs.iter().flatten();
            let open = bare.into_iter().any(written);
            it.side == Side::Terret && (open || bare_call(it.pattern, &it.facts.text))
        },
    },
    Rule {
        name: "blank behind `#`",
        why: "A directive is the same with a blank behind its `#`; `ast-grep` compares the letters.",
        example: "`#include $H` over `# include <a.h>`",
        fits: |it| {
            let blank = it.facts.text.strip_prefix('#');
            it.side == Side::Terret && blank.is_some_and(|rest| rest.starts_with([' ', '\t']))
        },
    },
    Rule {
        name: "several names for one",
        why: "To the grammar several names in parentheses are another kind of declaration than one \
              name, which is what the pattern shows.",
        example: "`val $A = $B` over Kotlin's `val (a, b) = c`",
        fits: |it| {
            let mut inside = it.facts.children.iter().chain(&it.facts.inner_children);
            it.side == Side::AstGrep && inside.any(|kind| kind == "multi_variable_declaration")
        },
    },
    Rule {
        name: "member left out",
        why: "A run of Terret begins with a member, and in some lists the first may be left out.",
        example: "`[$$$A]` over `[, 1]`",
        fits: |it| it.side == Side::AstGrep && it.facts.text.starts_with("[,"),
    },
    Rule {
        name: "separator left out",
        why: "The pattern ends in a separator that the language lets one leave out.",
        example: "`const $A = $B;` over a line that ends without `;`",
        fits: |it| {
            it.side == Side::Terret && it.pattern.ends_with(';') && !it.facts.text.ends_with(';')
        },
    },
    Rule {
        name: "comment between parts",
        why: "A comment may stand anywhere in what Terret finds; `ast-grep` does not pass over one \
              before some kinds of code.",
        example: "`if ($C) { $$$B }` over `if (a) /* why */ { b(); }`",
        fits: |it| it.side == Side::Terret && it.facts.comment,
    },
    Rule {
        name: "declaration in a head",
        why: "The declaration in the head of a loop ends with the separator itself, so that to `ast-grep` the head has one \
              part less.",
        example: "`for ($A; $B; $C) { $$$D }` over `for (int i = 0; i < n; i++) { f(); }`",
        fits: |it| {
            let declares = |kind: &String| kind == "declaration" || kind.ends_with("_declaration");
            it.side == Side::Terret
                && it.pattern.starts_with("for (")
                && it.facts.children.iter().any(declares)
        },
    },
    Rule {
        name: "kinds that are one",
        why: "The grammar has several kinds where the language has one thing; Terret takes them for one.",
        example: "`$A[$B]` over the left of Kotlin's `a[b] = c`, `$T $N = $V;` over a constant of a Java interface",
        fits: |it| {
            it.side == Side::Terret
                && it.facts.exact
                && !it
                    .facts
                    .kinds
                    .iter()
                    .any(|kind| it.other_reading.contains(kind))
        },
    },
    Rule {
        name: "empty body",
        why: "A run may stand for nothing where the grammar then leaves out the node around it, too.",
        example: "`if $C` … `end` over Ruby's `if a` … `end` with nothing in it",
        fits: |it| it.side == Side::Terret && it.facts.empty_run,
    },
    Rule {
        name: "arguments for a name",
        why: "To `ast-grep` a metavariable for one node stands for a list of arguments, too.",
        example: "`$A.$B` over Ruby's `f.()`",
        fits: |it| {
            let has = |wanted: &str| it.facts.children.iter().any(|kind| kind == wanted);
            it.side == Side::AstGrep
                && !it.pattern.contains('(')
                && has("arguments")
                && !has("method")
        },
    },
    Rule {
        name: "token passed over",
        why: "`ast-grep` passes over a token that has no name in the grammar, though it is a member of its list.",
        example: "`|$A| $B` over Rust's `|a, _| b`",
        fits: |it| {
            it.side == Side::AstGrep
                && !it.pattern.contains('_')
                && it.facts.inner_children.iter().any(|kind| kind == "_")
        },
    },
];

/// The first rule that fits, by its place in the list.
pub(super) fn classify(difference: &Difference<'_>) -> Option<usize> {
    RULES.iter().position(|rule| (rule.fits)(difference))
}

fn misread(it: &Difference<'_>) -> bool {
    let ours = |kind: &String| it.facts.read_as.contains(kind);
    match it.side {
        // Windows of several nodes are no pattern to it at all.
        Side::Terret => it.same == 0 && !it.other_reading.iter().any(ours),
        Side::AstGrep => it.same == 0 && it.facts.exact && !it.facts.kinds.iter().any(ours),
    }
}

/// A chain of `else` may be longer than what a near miss may have more, and `.*` is tokens alone.
fn more(it: &Difference<'_>) -> bool {
    let is_else = |child: &String| matches!(child.as_str(), "else" | "alternative" | "else_clause");
    let is_all = |child: &String| child == "wildcard_import";
    let children = &it.facts.children;
    let otherwise = !it.pattern.contains("else") && children.iter().any(is_else)
        || !it.pattern.contains('*') && children.iter().any(is_all);
    let optional = |part: &str| OPTIONAL.contains(&part);
    let near = it.facts.near.as_ref();
    let near = near.is_some_and(|extras| extras.split(" + ").all(optional));
    it.side == Side::AstGrep && (near || otherwise)
}

/// How many members the list outside of all brackets has.
fn outer_members(pattern: &str) -> usize {
    let mut depth = 0_usize;
    let mut members = 1;
    for char in pattern.chars() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | ';' if depth == 0 => members += 1,
            _ => {}
        }
    }
    members
}

/// Whether the pattern is a word with arguments and no parentheses, and the code has some behind that
/// word.
fn bare_call(pattern: &str, text: &str) -> bool {
    let word = pattern.split_once(" $").map(|(word, _)| word);
    word.is_some_and(|word| {
        let is_word = word
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_');
        let rest = text.strip_prefix(word);
        is_word && !pattern.contains('(') && rest.is_some_and(|rest| rest.starts_with('('))
    })
}

fn repeats_a_name(pattern: &str) -> bool {
    let names = pattern.split('$').skip(1).filter_map(|rest| {
        let end = rest.find(|char: char| !char.is_ascii_uppercase());
        let name = &rest[..end.unwrap_or(rest.len())];
        (!name.is_empty()).then_some(name)
    });
    let mut seen = BTreeSet::new();
    names.into_iter().any(|name| !seen.insert(name))
}

/// Whether one member of a list, and only one, stands behind a run.
fn run_before(pattern: &str) -> bool {
    pattern.match_indices("$$$").any(|(at, _)| {
        let rest = pattern[at + 3..]
            .trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
        rest.starts_with(',') && rest.matches(',').count() == 1
    })
}

/// Whether a metavariable stands between the quotes of a string.
fn string_body(pattern: &str) -> bool {
    ['"', '\'', '`'].iter().any(|quote| {
        let inner = |part: &str| {
            part.strip_prefix('$').is_some_and(|name| {
                !name.is_empty() && name.chars().all(|char| char.is_ascii_uppercase())
            })
        };
        pattern.split(*quote).skip(1).step_by(2).any(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference whose facts are those of nothing special but for what `change` does.
    fn class(side: Side, pattern: &str, change: fn(&mut Facts)) -> Option<&'static str> {
        let mut facts = Facts {
            utf8: true,
            exact: true,
            kinds: vec!["call".to_owned()],
            read_as: vec!["call".to_owned()],
            ..Facts::default()
        };
        change(&mut facts);
        let found = classify(&Difference {
            side,
            pattern,
            facts: &facts,
            other_reading: &["call".to_owned()].into(),
            same: 0,
            unfinished: false,
        });
        found.map(|index| RULES[index].name)
    }

    #[test]
    fn each_rule_decides_by_what_is_there() {
        use Side::{AstGrep, Terret};
        let none: fn(&mut Facts) = |_| {};
        type Row<'r> = (Side, &'r str, fn(&mut Facts), Option<&'r str>);
        let end = Some("end of a match");
        let misread = Some("pattern misread");
        let more = Some("more than the pattern shows");
        let longer = Some("longer list");
        let run = Some("run before another part");
        let body = Some("body of a string");
        let token = Some("token for a metavariable");
        let left_out = Some("separator left out");
        let comment = Some("comment between parts");
        let repeated = Some("repeated name");
        let bare = Some("parentheses left out");
        let blank = Some("blank behind `#`");
        let names = Some("several names for one");
        let member = Some("member left out");
        let head = Some("declaration in a head");
        let empty = Some("empty body");
        let arguments = Some("arguments for a name");
        let passed = Some("token passed over");
        let rows: &[Row<'_>] = &[
            (
                Terret,
                "for ($A; $B; $C) {}",
                |it| it.children = vec!["declaration".to_owned()],
                head,
            ),
            (
                AstGrep,
                "for ($A; $B; $C) {}",
                |it| it.children = vec!["declaration".to_owned()],
                None,
            ),
            (
                Terret,
                "$A[$B]",
                |it| it.kinds = vec!["assignable".to_owned()],
                Some("kinds that are one"),
            ),
            (Terret, "if $C", |it| it.empty_run = true, empty),
            (AstGrep, "if $C", |it| it.empty_run = true, None),
            (
                AstGrep,
                "$A.$B",
                |it| it.children = vec!["arguments".to_owned()],
                arguments,
            ),
            (
                AstGrep,
                "|$A| $B",
                |it| it.inner_children = vec!["_".to_owned()],
                passed,
            ),
            (Terret, "f($A)", none, None),
            (AstGrep, "f($A)", none, None),
            (Terret, "f($A)", |it| it.utf8 = false, Some("not UTF-8")),
            (AstGrep, "f($A)", |it| it.utf8 = false, None),
            (AstGrep, "let $A", |it| it.trivial_tail = Some(true), end),
            (AstGrep, "let $A", |it| it.trivial_tail = Some(false), None),
            (
                Terret,
                "f($A)",
                |it| it.read_as = vec!["macro".to_owned()],
                misread,
            ),
            (
                AstGrep,
                "f($A)",
                |it| it.kinds = vec!["macro".to_owned()],
                misread,
            ),
            (
                AstGrep,
                "f($A)",
                |it| it.error_inside = true,
                Some("error inside"),
            ),
            (Terret, "f($A)", |it| it.error_inside = true, None),
            (
                AstGrep,
                "if $C:",
                |it| it.near = Some("else".to_owned()),
                more,
            ),
            (
                AstGrep,
                "if $C:",
                |it| it.near = Some("else + (".to_owned()),
                None,
            ),
            (
                Terret,
                "if $C:",
                |it| it.near = Some("else".to_owned()),
                None,
            ),
            (
                AstGrep,
                "if $C:",
                |it| it.children = vec!["alternative".to_owned()],
                more,
            ),
            (
                AstGrep,
                "$C else",
                |it| it.children = vec!["alternative".to_owned()],
                None,
            ),
            (AstGrep, "import $M", |it| it.open_members = 2, longer),
            (AstGrep, "import $M, $N", |it| it.open_members = 2, None),
            (Terret, "f($$$A, $X)", |it| it.members = Some(3), run),
            (Terret, "f($$$A, $X)", |it| it.members = Some(1), None),
            (Terret, "f($X, $$$A)", |it| it.members = Some(3), None),
            (Terret, "g(\"$S\")", |it| it.string_parts = vec![0], body),
            (Terret, "g(\"$S\")", |it| it.string_parts = vec![1], None),
            (Terret, "g(\"a\", $S)", |it| it.string_parts = vec![2], None),
            (Terret, "let $A", |it| it.token_captured = true, token),
            (AstGrep, "let $A", |it| it.token_captured = true, None),
            (Terret, "$A = f($A)", |it| it.kinds_differ = true, repeated),
            (Terret, "$A = f($B)", |it| it.kinds_differ = true, None),
            (
                Terret,
                "f($$$A)",
                |it| it.bare_runs = Some(vec!["A".to_owned()]),
                bare,
            ),
            (
                Terret,
                "f($$$A)",
                |it| it.bare_runs = Some(vec!["B".to_owned()]),
                None,
            ),
            (Terret, "f $A", |it| it.text = "f(1)".to_owned(), bare),
            (Terret, "f $A", |it| it.text = "g(1)".to_owned(), None),
            (Terret, "#if $A", |it| it.text = "# if 1".to_owned(), blank),
            (Terret, "#if $A", |it| it.text = "#if 1".to_owned(), None),
            (
                AstGrep,
                "val $A",
                |it| it.children = vec!["multi_variable_declaration".to_owned()],
                names,
            ),
            (AstGrep, "[$$$A]", |it| it.text = "[, 1]".to_owned(), member),
            (Terret, "f($A);", none, left_out),
            (Terret, "f($A);", |it| it.text = "f(1);".to_owned(), None),
            (Terret, "f($A)", |it| it.comment = true, comment),
            (AstGrep, "f($A)", |it| it.comment = true, None),
        ];
        for (side, pattern, change, expected) in rows {
            assert_eq!(
                class(*side, pattern, *change),
                *expected,
                "{side:?} {pattern}"
            );
        }
    }

    #[test]
    fn a_pattern_of_which_something_is_found_is_not_misread() {
        let facts = Facts {
            utf8: true,
            ..Facts::default()
        };
        let mut difference = Difference {
            side: Side::Terret,
            pattern: "f($A)",
            facts: &facts,
            other_reading: &BTreeSet::new(),
            same: 0,
            unfinished: false,
        };
        let name = classify(&difference).map(|index| RULES[index].name);
        assert_eq!(name, Some("pattern misread"));
        difference.same = 1;
        assert_eq!(classify(&difference), None);
        let exact = Facts {
            exact: true,
            kinds: vec!["assignable".to_owned()],
            ..facts.clone()
        };
        difference.facts = &exact;
        let name = classify(&difference).map(|index| RULES[index].name);
        assert_eq!(name, Some("kinds that are one"));
    }
}
