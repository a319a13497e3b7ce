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
    /// A comment stands before another part of the code.
    comment: bool,
    /// A `_` that is a token of its own stands inside.
    wildcard: bool,
    commas: usize,
    fields: Vec<String>,
    utf8: bool,
    /// What it has more than the pattern shows, where that alone keeps it from matching.
    near: Option<String>,
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
    /// How far the other side's match that begins at the same place goes on, or ends before.
    pub(super) tail: Option<&'a str>,
    /// Terret says that it did not come to the end of the file.
    pub(super) unfinished: bool,
}

/// Whether it is the reason of a difference.
type Fits = fn(&Difference<'_>) -> bool;

/// The reasons, with what each means. The first that fits counts.
pub(super) const RULES: &[(&str, &str, Fits)] = &[
    (
        "unfinished file",
        "Terret gives a file two seconds, and says so when they are over",
        |it| it.side == Side::AstGrep && it.unfinished,
    ),
    (
        "not UTF-8",
        "`ast-grep` passes over such files without a word; Terret searches their bytes",
        |it| it.side == Side::Terret && !it.facts.utf8,
    ),
    (
        "end of a match",
        "the same place: to `ast-grep` a final separator or line end that the pattern does not show \
         belongs to the match, and one that the pattern does show may not",
        |it| it.tail.is_some_and(is_separator),
    ),
    (
        "pattern misread",
        "bare, the pattern is another kind of code than inside a function or a class, and `ast-grep` \
         looks for that, or for nothing",
        misread,
    ),
    (
        "error inside",
        "the match holds a syntax error; a rewrite could lose what the parser did not understand",
        |it| it.side == Side::AstGrep && it.facts.error_inside,
    ),
    (
        "more than the pattern shows",
        "`else`, `async`, a type, a clause: `ast-grep` passes over it, and a rewrite drops it; Terret \
         names it as a near miss",
        more,
    ),
    (
        "longer list",
        "`import a, b` for `import $M`: `ast-grep` passes over the members at the end",
        |it| it.side == Side::AstGrep && it.facts.commas > it.pattern.matches(',').count(),
    ),
    (
        "run before another part",
        "`f($$$A, $X)` of more than two arguments: a run of `ast-grep` ends at the first fit and does \
         not go on when the rest does not match",
        |it| it.side == Side::Terret && run_before(it.pattern),
    ),
    (
        "body of a string",
        "a metavariable that is all of a string's body stands for any body: empty, with escapes, with \
         parts to fill in",
        |it| it.side == Side::Terret && string_body(it.pattern),
    ),
    (
        "`_` for a metavariable",
        "Terret lets `$A` stand for the pattern `_`, which is a token to the grammar",
        |it| it.side == Side::Terret && it.facts.wildcard,
    ),
    (
        "separator left out",
        "the pattern ends in a separator that the language lets one leave out",
        |it| it.side == Side::Terret && it.pattern.ends_with(';') && !it.facts.text.ends_with(';'),
    ),
    (
        "comment before a part",
        "`ast-grep` does not pass over a comment there",
        |it| it.side == Side::Terret && it.facts.comment,
    ),
];

/// The first rule that fits, by its place in the list.
pub(super) fn classify(difference: &Difference<'_>) -> Option<usize> {
    RULES.iter().position(|(_, _, fits)| fits(difference))
}

fn is_separator(tail: &str) -> bool {
    let rest = tail.trim();
    !tail.is_empty() && (rest.is_empty() || matches!(rest, ";" | ","))
}

fn misread(it: &Difference<'_>) -> bool {
    let ours = |kind: &String| it.facts.read_as.contains(kind);
    match it.side {
        // Windows of several nodes are no pattern to it at all.
        Side::Terret => !it.other_reading.iter().any(ours),
        Side::AstGrep => it.facts.exact && !it.facts.kinds.iter().any(ours),
    }
}

/// A list of clauses may be longer than what a near miss may have more.
fn more(it: &Difference<'_>) -> bool {
    let alternative = it.facts.fields.iter().any(|field| field == "alternative");
    let near = it
        .facts
        .near
        .as_ref()
        .is_some_and(|extras| !extras.is_empty());
    it.side == Side::AstGrep && (near || alternative && !it.pattern.contains("else"))
}

/// Whether anything but a closing bracket stands behind a run.
fn run_before(pattern: &str) -> bool {
    pattern.match_indices("$$$").any(|(at, _)| {
        let rest = pattern[at + 3..]
            .trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
        rest.starts_with(',')
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

    fn class(
        side: Side,
        pattern: &str,
        change: fn(&mut Facts),
        tail: Option<&str>,
    ) -> Option<&'static str> {
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
            tail,
            unfinished: false,
        });
        found.map(|index| RULES[index].0)
    }

    #[test]
    fn each_rule_decides_by_what_is_there() {
        use Side::{AstGrep, Terret};
        let none: fn(&mut Facts) = |_| {};
        type Row<'r> = (
            Side,
            &'r str,
            fn(&mut Facts),
            Option<&'r str>,
            Option<&'r str>,
        );
        let rows: &[Row<'_>] = &[
            (Terret, "f($A)", none, None, None),
            (AstGrep, "f($A)", none, None, None),
            (
                Terret,
                "f($A)",
                |it| it.utf8 = false,
                None,
                Some("not UTF-8"),
            ),
            (AstGrep, "let $A", none, Some(";"), Some("end of a match")),
            (AstGrep, "let $A", none, Some("x"), None),
            (
                Terret,
                "f($A)",
                |it| it.read_as = vec!["macro".to_owned()],
                None,
                Some("pattern misread"),
            ),
            (
                AstGrep,
                "f($A)",
                |it| it.kinds = vec!["macro".to_owned()],
                None,
                Some("pattern misread"),
            ),
            (
                AstGrep,
                "f($A)",
                |it| it.error_inside = true,
                None,
                Some("error inside"),
            ),
            (Terret, "f($A)", |it| it.error_inside = true, None, None),
            (
                AstGrep,
                "if $C:",
                |it| it.near = Some("alternative".to_owned()),
                None,
                Some("more than the pattern shows"),
            ),
            (
                AstGrep,
                "import $M",
                |it| it.commas = 1,
                None,
                Some("longer list"),
            ),
            (AstGrep, "import $M, $N", |it| it.commas = 1, None, None),
            (
                Terret,
                "f($$$A, $X)",
                none,
                None,
                Some("run before another part"),
            ),
            (Terret, "f($X, $$$A)", none, None, None),
            (Terret, "g(\"$S\")", none, None, Some("body of a string")),
            (Terret, "g(\"a\", $S)", none, None, None),
            (
                Terret,
                "let $A = $B",
                |it| it.wildcard = true,
                None,
                Some("`_` for a metavariable"),
            ),
            (Terret, "f($A);", none, None, Some("separator left out")),
            (
                Terret,
                "f($A)",
                |it| it.comment = true,
                None,
                Some("comment before a part"),
            ),
        ];
        for (side, pattern, change, tail, expected) in rows {
            assert_eq!(
                class(*side, pattern, *change, *tail),
                *expected,
                "{side:?} {pattern}"
            );
        }
    }
}
