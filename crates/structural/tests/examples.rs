//! The examples of the language files: each is read, found and rewritten as it says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::{Example, Grammar, GrammarSource, Shipped};
use terret_structural::matcher::find;
use terret_structural::pattern::Pattern;
use terret_structural::rewrite::{Site, Template, rewrite};

/// What of the example does not hold.
fn failures(grammar: &Grammar, example: &Example) -> Vec<String> {
    let pattern = match Pattern::compile(grammar, &example.pattern, None) {
        Ok(pattern) => pattern,
        Err(error) => return vec![error.to_string()],
    };
    let mut failures = Vec::new();
    let mut compare = |what: &str, is: String, expected: String| {
        if is != expected {
            failures.push(format!("{what}\n      is {is}\n  should {expected}"));
        }
    };
    if let Some(reads) = &example.reads {
        compare("reading", pattern.readings()[0].to_string(), reads.clone());
    }
    let Some(source) = &example.source else {
        return failures;
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let tree = parser.parse(source, None).unwrap();
    if tree.root_node().has_error() {
        compare("source", "broken".to_owned(), "sound".to_owned());
    }
    let found = find(&pattern, &tree, source.as_bytes(), &|| false);
    if let Some(matches) = &example.matches {
        let texts = found
            .matches
            .iter()
            .map(|found| &source[found.range.clone()]);
        let texts: Vec<&str> = texts.collect();
        compare("matches", format!("{texts:?}"), format!("{matches:?}"));
    }
    let (Some(template), Some(becomes)) = (&example.rewrite, &example.becomes) else {
        return failures;
    };
    let template = match Template::compile(template, &pattern) {
        Ok(template) => template,
        Err(error) => {
            failures.push(error.to_string());
            return failures;
        }
    };
    let sites: Vec<Site> = found
        .matches
        .into_iter()
        .map(|found| Site { edit: 0, found })
        .collect();
    let rewritten = rewrite(
        grammar,
        &tree,
        source.as_bytes(),
        &sites,
        &[template],
        &|| false,
    )
    .unwrap();
    let text = String::from_utf8(rewritten.text).unwrap();
    compare("rewrite", format!("{text:?}"), format!("{becomes:?}"));
    compare(
        "syntax",
        format!("{:?}", rewritten.broken),
        "None".to_owned(),
    );
    failures
}

#[test]
fn examples_hold() {
    let mut wrong = Vec::new();
    for id in Shipped.ids() {
        let grammar = Shipped.grammar(id).unwrap();
        let examples = Shipped::examples(id);
        for example in &examples.all {
            for failure in failures(&grammar, example) {
                wrong.push(format!("{id} `{}`: {failure}", example.pattern));
            }
        }
        let count = |shows: fn(&Example) -> bool| {
            examples.all.iter().filter(|example| shows(example)).count()
        };
        let least = examples.least;
        for (what, is, least) in [
            (
                "reads",
                count(|example| example.reads.is_some()),
                least.reads,
            ),
            (
                "matches",
                count(|example| example.matches.is_some()),
                least.matches,
            ),
            (
                "becomes",
                count(|example| example.becomes.is_some()),
                least.rewrites,
            ),
        ] {
            if is < least {
                wrong.push(format!(
                    "{id}: {is} examples with `{what}` where {least} are due"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} failures\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}
