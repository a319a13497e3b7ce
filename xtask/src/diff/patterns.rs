//! The patterns that are run: `xtask/data/diff-structural.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

const TABLE: &str = include_str!("../../data/diff-structural.toml");

/// What is run for one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    /// The trees, by their names among the corpora.
    pub(super) trees: Vec<String>,
    /// The extensions of its files.
    pub(super) files: Vec<String>,
    pub(super) patterns: Vec<Pattern>,
}

/// A pattern as Terret gets it, alone or with what `ast-grep` needs to read it as the same code.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Pattern {
    Alone(String),
    In(InContext),
}

/// Each context is what `ast-grep` gets, and of it the first node of the kind is the pattern. It reads
/// a pattern as one kind of code, and Terret a declaration as several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InContext {
    pattern: String,
    contexts: Vec<(String, String)>,
}

impl Pattern {
    pub(super) fn text(&self) -> &str {
        match self {
            Pattern::Alone(pattern) | Pattern::In(InContext { pattern, .. }) => pattern,
        }
    }

    /// Whether `ast-grep` gets the pattern and nothing else.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Pattern::Alone(_))
    }

    /// What names it for `ast-grep run`, once for each kind of code that it is.
    pub(super) fn arguments(&self) -> Vec<Vec<&str>> {
        match self {
            Pattern::Alone(pattern) => vec![vec!["-p", pattern]],
            Pattern::In(InContext { contexts, .. }) => contexts
                .iter()
                .map(|(context, kind)| vec!["-p", context, "--selector", kind])
                .collect(),
        }
    }
}

/// By the name of the language.
pub(super) fn read() -> Result<BTreeMap<String, Language>> {
    toml::from_str(TABLE).context("xtask/data/diff-structural.toml")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_pattern_is_there_once_and_part_of_its_context() {
        let languages = read().expect("a table");
        let count: usize = languages.values().map(|it| it.patterns.len()).sum();
        assert!(count >= 100, "{count}");
        for (name, language) in languages {
            let mut seen = BTreeSet::new();
            for pattern in &language.patterns {
                assert!(seen.insert(pattern.text()), "{name}: {pattern:?} twice");
                if let Pattern::In(InContext { pattern, contexts }) = pattern {
                    let holds = |(context, _): &(String, String)| context.contains(pattern);
                    assert!(contexts.iter().all(holds), "{name}: {pattern}");
                }
            }
        }
    }
}
