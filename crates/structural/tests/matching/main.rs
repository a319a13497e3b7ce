//! What patterns match, by theme. A row is: language, pattern, source, the text of each match.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod lists;
mod reading;
mod sameness;
mod statements;
mod strings;

use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::{Found, find};
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
