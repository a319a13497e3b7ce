//! The examples in the data file of each language: how a pattern is read, what it matches, what a
//! rewrite makes of that.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::{Example, Grammar, GrammarSource, Shipped};
use terret_structural::matcher::find;
use terret_structural::pattern::Pattern;
use terret_structural::rewrite::{Site, Template, rewrite};

#[test]
fn every_language_keeps_its_word() {
    let mut wrong = Vec::new();
    for id in Shipped.ids() {
        let grammar = Shipped.grammar(id).unwrap();
        for example in &grammar.data().examples {
            for problem in check(&grammar, example) {
                wrong.push(format!("{id}: `{}`: {problem}", example.pattern));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What an example promises and does not come true.
fn check(grammar: &Grammar, example: &Example) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, is: &str, promised: &str| {
        if is != promised {
            wrong.push(format!("{what} {is:?}, and not {promised:?}"));
        }
    };
    let pattern = match Pattern::compile(grammar, &example.pattern, None) {
        Ok(pattern) => pattern,
        Err(error) => return vec![error.to_string()],
    };
    if let Some(reads) = &example.reads {
        compare("reads", &pattern.readings()[0].to_string(), reads);
    }
    let Some(source) = &example.source else {
        return wrong;
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let tree = parser.parse(source, None).unwrap();
    let found = find(&pattern, &tree, source.as_bytes(), &|| false).matches;
    if let Some(matches) = &example.matches {
        let texts: Vec<&str> = found.iter().map(|m| &source[m.range.clone()]).collect();
        compare("matches", &texts.join(" | "), &matches.join(" | "));
    }
    if let (Some(template), Some(becomes)) = (&example.rewrite, &example.becomes) {
        let template = Template::compile(template, &pattern).unwrap();
        let sites: Vec<Site> = found
            .into_iter()
            .map(|found| Site { edit: 0, found })
            .collect();
        let rewritten = rewrite(grammar, &tree, source.as_bytes(), &sites, &[template]).unwrap();
        compare(
            "becomes",
            &String::from_utf8(rewritten.text).unwrap(),
            becomes,
        );
    }
    wrong
}

/// An example that is wrong in every respect is told so in every respect.
#[test]
fn a_wrong_example_is_found() {
    let rust = Shipped.grammar("rust").unwrap();
    let example = |text: &str| -> Vec<String> {
        let mut data = rust.data().clone();
        data.examples = vec![toml::from_str(text).unwrap()];
        let grammar = Grammar::new("rust", data.into(), rust.language().clone());
        check(&grammar, &grammar.data().examples[0])
    };
    let right = "pattern = 'f($X)'\nreads = 'expression, call_expression'\n\
                 source = 'fn g() { f(1) }'\nmatches = ['f(1)']\n\
                 rewrite = '$X'\nbecomes = 'fn g() { 1 }'";
    assert_eq!(example(right), [""; 0]);
    let wrong = right
        .replace("expression, call", "statement, call")
        .replace("['f(1)']", "['f(2)']")
        .replace("{ 1 }", "{ 2 }");
    let problems = example(&wrong);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert_eq!(example("pattern = '((('").len(), 1);
}
