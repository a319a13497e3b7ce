//! What the tools do, each in a file of its own: resolved arguments in, a report out.

pub(crate) mod resolve;
pub(crate) mod search;
pub(crate) mod stage;

use std::fmt;

use terret_grammars::GrammarSource;

use crate::error::Error;
use crate::languages::Languages;
use crate::pattern::{Pattern, PatternError};
use crate::search::Request;
use crate::walk::Target;

/// Where patterns are looked for, and how: what a search and a rewrite have in common.
pub(crate) struct Scope<'a> {
    pub(crate) grammars: &'a dyn GrammarSource,
    pub(crate) target: Target,
    pub(crate) language: Option<String>,
    pub(crate) context: Option<String>,
    /// How many threads work; 0 for as many as there are cores.
    pub(crate) threads: usize,
    /// Is told now and then how many files are behind.
    pub(crate) progress: &'a (dyn Fn(usize) + Sync),
}

impl Scope<'_> {
    fn languages<'l>(&'l self, patterns: &'l [String]) -> Result<Languages<'l>, Error> {
        let (language, context) = (self.language.as_deref(), self.context.as_deref());
        Languages::new(self.grammars, language, patterns, context)
    }

    fn request<'r>(&'r self, interrupted: &'r (dyn Fn() -> bool + Sync)) -> Request<'r> {
        Request {
            target: &self.target,
            threads: self.threads,
            interrupted,
            near: false,
            progress: self.progress,
        }
    }
}

/// How a language read a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadAs {
    pub(crate) language: String,
    /// The readings that are matched together.
    pub(crate) readings: Vec<String>,
    /// Keywords that the first of them takes for names.
    pub(crate) misused_keywords: Vec<String>,
}

/// A reading that was not matched, with what it would find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Later {
    pub(crate) language: String,
    pub(crate) context: String,
    pub(crate) kind: String,
    pub(crate) count: usize,
}

/// The languages that were met: how each reads the pattern, and those that do not accept it.
pub(crate) fn readings(
    languages: &Languages<'_>,
    pattern: usize,
) -> (Vec<ReadAs>, Vec<(String, PatternError)>) {
    let mut read = Vec::new();
    let mut rejected = Vec::new();
    for (id, compiled) in languages.met() {
        match compiled {
            Ok(patterns) => read.push(ReadAs {
                language: id.to_owned(),
                readings: patterns[pattern]
                    .readings()
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                misused_keywords: patterns[pattern].readings()[0].misused_keywords.clone(),
            }),
            Err(error) => rejected.push((id.to_owned(), error.clone())),
        }
    }
    (read, rejected)
}

/// Adds up how often later readings would have matched.
pub(crate) fn count_later(later: &mut Vec<Later>, pattern: &Pattern, counts: &[usize]) {
    for (reading, &count) in pattern.later_readings().iter().zip(counts) {
        if count == 0 {
            continue;
        }
        let language = pattern.grammar().id();
        let known = later.iter_mut().find(|later| {
            later.language == language
                && later.context == reading.asked_by()
                && later.kind == reading.kind()
        });
        match known {
            Some(later) => later.count += count,
            None => later.push(Later {
                language: language.to_owned(),
                context: reading.asked_by().to_owned(),
                kind: reading.kind().to_owned(),
                count,
            }),
        }
    }
}

impl fmt::Display for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} as {}: pass `context: {}`",
            self.count,
            self.kind.replace('_', " "),
            self.context
        )
    }
}
