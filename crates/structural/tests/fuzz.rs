//! Whatever comes in, nothing panics, and what comes out is sound. The pieces are real code, cut and
//! joined at random; proptest prints the seed of what fails.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use terret_grammars::{Grammar, GrammarSource, Shipped};
use terret_structural::matcher::{find, near_misses};
use terret_structural::pattern::Pattern;
use terret_structural::rewrite::{Fault, RewriteError, Site, Template, rewrite};
use tree_sitter::Tree;

/// The languages that are compiled in, each with the patterns and sources of its examples.
fn languages() -> Vec<(Grammar, Vec<String>, Vec<String>)> {
    let with_examples = |id: &str| {
        let examples = Shipped::examples(id).all;
        let sources: Vec<String> = examples
            .iter()
            .filter_map(|example| example.source.clone())
            .collect();
        let patterns: Vec<String> = examples
            .into_iter()
            .map(|example| example.pattern)
            .collect();
        (Shipped.grammar(id).unwrap(), patterns, sources)
    };
    let all = Shipped.ids().into_iter().map(with_examples);
    all.filter(|(_, patterns, sources)| !patterns.is_empty() && !sources.is_empty())
        .collect()
}

/// What code is made of, and what should not be in it.
const CRUMBS: &[&str] = &[
    "(", ")", "{", "}", "[", "]", "<", ">", ",", ";", ":", ".", "=", "=>", "->", "\"", "'", "`",
    "\\", "#", "//", "/*", "*/", "\n", "\r\n", "\t", " ", "$", "$X", "$$$X", "$$$", "$_", "$$X",
    "\\$X", "x", "if", "else", "fn", "class", "return", "0", "é", "🙂", "\u{feff}", "\u{0}",
    "zq7x", "@", "!", "?", "|", "&", "-",
];

#[derive(Debug, Clone)]
struct Cut {
    at: Index,
    length: usize,
    crumb: &'static str,
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let cut = (any::<Index>(), 0_usize..6, select(CRUMBS));
    let cut = cut.prop_map(|(at, length, crumb)| Cut { at, length, crumb });
    prop::collection::vec(cut, 0..6)
}

/// The text with some of its characters replaced.
fn mutated(text: &str, cuts: &[Cut]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for cut in cuts {
        let at = cut.at.index(letters.len() + 1);
        let end = (at + cut.length).min(letters.len());
        letters.splice(at..end, cut.crumb.chars());
    }
    letters.into_iter().collect()
}

fn parse(grammar: &Grammar, source: &str) -> Tree {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    parser.parse(source, None).unwrap()
}

fn error_bytes(tree: &Tree) -> usize {
    let mut open = vec![tree.root_node()];
    let mut bytes = 0;
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            bytes += node.byte_range().len().max(1);
        } else if node.has_error() {
            open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400,
        ..ProptestConfig::default() })]

    #[test]
    fn searches_and_rewrites_are_sound(
        language in any::<Index>(),
        pattern in any::<Index>(),
        source in any::<Index>(),
        template in any::<Index>(),
        pattern_cuts in prop_oneof![Just(Vec::new()), cuts()],
        source_cuts in cuts(),
        template_cuts in cuts(),
    ) {
        let languages = languages();
        let (grammar, patterns, sources) = &languages[language.index(languages.len())];
        let pattern = mutated(&patterns[pattern.index(patterns.len())], &pattern_cuts);
        let source = mutated(&sources[source.index(sources.len())], &source_cuts);
        let template = mutated(&patterns[template.index(patterns.len())], &template_cuts);

        let Ok(pattern) = Pattern::compile(grammar, &pattern, None) else { return Ok(()) };
        let tree = parse(grammar, &source);
        let found = find(&pattern, &tree, source.as_bytes(), &|| false);
        let _ = near_misses(&pattern, &tree, source.as_bytes(), &|| false);
        let mut last = 0;
        for found in &found.matches {
            prop_assert!(found.range.start >= last, "matches are ordered");
            last = found.range.start;
            prop_assert!(source.get(found.range.clone()).is_some(), "a match is a piece of text");
            for capture in found.captures.iter().flatten() {
                prop_assert!(source.get(capture.range.clone()).is_some());
                prop_assert!(found.range.start <= capture.range.start);
            }
        }

        let Ok(template) = Template::compile(&template, &pattern) else { return Ok(()) };
        let sites: Vec<Site> =
            found.matches.into_iter().map(|found| Site { edit: 0, found }).collect();
        let rewritten =
            match rewrite(grammar, &tree, source.as_bytes(), &sites, &[template], &|| false) {
                Err(RewriteError::NotUtf8) => return Ok(()),
                other => other.unwrap(),
            };
        let text = String::from_utf8(rewritten.text).unwrap();
        prop_assert_eq!(
            rewritten.replacements + rewritten.dropped + rewritten.unchanged,
            sites.len(),
            "each match is accounted for"
        );
        if sites.is_empty() {
            prop_assert_eq!(&text, &source);
        }
        let is_wrong = error_bytes(&parse(grammar, &text)) > 0;
        let broken = rewritten.broken.is_some_and(|broken| broken.fault == Fault::Syntax);
        if error_bytes(&tree) == 0 {
            prop_assert_eq!(broken, is_wrong, "a broken syntax is told");
        } else {
            // What was wrong before, and what a replacement makes longer of it, is not the rewrite's fault.
            prop_assert!(is_wrong || !broken, "a sound text is not called broken");
        }
    }
}
