//! Tells by its bytes alone that a file holds no match.

use crate::pattern::Pattern;

/// What the bytes of a file say about a search in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A word of each pattern is missing.
    Foreign,
    /// The words are there, but not next to each other: it may hold near misses.
    Near,
    /// It may hold a match.
    Possible,
}

/// Whether a pattern can match in the file. Readings that are only counted do not open a file.
pub(super) fn judge(patterns: &[Pattern], source: &[u8]) -> Verdict {
    let mut verdict = Verdict::Foreign;
    for pattern in patterns {
        let compiled = pattern.compiled();
        for (words, need) in compiled.literals.iter().zip(&compiled.needs) {
            if !words.iter().all(|word| word.find(source).is_some()) {
                continue;
            }
            if need.is_met(source) {
                return Verdict::Possible;
            }
            verdict = Verdict::Near;
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use terret_grammars::{GrammarSource, Shipped};

    use super::*;

    fn admitted(language: &str, pattern: &str, source: &str) -> bool {
        let grammar = Shipped.grammar(language).unwrap();
        let pattern = Pattern::compile(&grammar, pattern, None).unwrap();
        judge(&[pattern], source.as_bytes()) == Verdict::Possible
    }

    #[test]
    fn files_are_passed_over_by_their_bytes() {
        let rows = [
            ("typescript", "JSON.parse($A)", "JSON.parse(x)", true),
            (
                "typescript",
                "JSON.parse($A)",
                "JSON\n  . /* c */ parse (x)",
                true,
            ),
            (
                "typescript",
                "JSON.parse($A)",
                "JSON. // c\n parse(x)",
                true,
            ),
            (
                "typescript",
                "JSON.parse($A)",
                "JSON.stringify(parse(x))",
                false,
            ),
            ("typescript", "JSON.parse($A)", "JSON.parse", false),
            ("typescript", "JSON.parse($A)", "JSON.parser(x)", false),
            ("typescript", "foo(a)", "foo(a,)", true),
            ("typescript", "foo(a)", "foo(b)", false),
            ("typescript", "f($$$A, last)", "f(last)", true),
            ("typescript", "alpha();\nbeta();", "alpha()\nbeta()", true),
            ("python", "os.path.join($A)", "os.path.join(a)", true),
            ("python", "os.path.join($A)", "os.path.\\\n  join(a)", true),
            ("python", "os.path.join($A)", "path.join(os)", false),
            ("rust", "println!(\"{}\", $X)", "println!(\"{}\", x)", true),
            ("go", "$A.$B($$$C)", "anything", true),
            ("ruby", "emit :done", "emit(:done)", true),
            ("ruby", "emit(:done)", "emit :done", true),
            (
                "ruby",
                "if ready\n  emit\nend",
                "if ready then emit end",
                true,
            ),
            ("ruby", "File.read($F)", "File.write(read)", false),
            (
                "php",
                "if ($C) { emit(); }",
                "<?php if ($a) { ?>\n<?php emit(); }",
                true,
            ),
            ("typescript", "`hi ${name}`", "`hi ${name}`", true),
            ("python", "f\"hi {name}\"", "f\"hi {name}\"", true),
            (
                "tsx",
                "<p>hi there {name} ok</p>",
                "<p>hi there {name} ok</p>",
                true,
            ),
        ];
        for (language, pattern, source, expected) in rows {
            assert_eq!(
                admitted(language, pattern, source),
                expected,
                "{pattern} in {source}"
            );
        }
    }

    /// Where something is found, the bytes must say that it may be.
    #[test]
    fn what_matches_is_never_passed_over() {
        for id in Shipped.ids() {
            let grammar = Shipped.grammar(id).unwrap();
            let examples = Shipped::examples(id).all;
            let sources: Vec<_> = examples
                .iter()
                .filter_map(|row| row.source.clone())
                .collect();
            for example in &examples {
                let Ok(pattern) = Pattern::compile(&grammar, &example.pattern, None) else {
                    continue;
                };
                let own = example.pattern.replace('$', "");
                for source in sources.iter().chain([&example.pattern, &own]) {
                    let mut parser = crate::parse::parser(&grammar);
                    let tree = parser.parse(source, None).unwrap();
                    let found = crate::matcher::find(&pattern, &tree, source.as_bytes(), &|| false);
                    let verdict = judge(std::slice::from_ref(&pattern), source.as_bytes());
                    assert!(
                        found.matches.is_empty() || verdict == Verdict::Possible,
                        "{id}: `{}` in `{source}`",
                        example.pattern
                    );
                }
            }
        }
    }
}
