//! Patterns: fragments of source text with metavariables, compiled for one language.

mod asked;
mod cover;
mod failure;
mod fragment;
mod keywords;
mod ladder;
mod mould;
mod need;
mod shape;
mod tables;

use std::fmt;
use std::sync::Arc;

use memchr::memmem;
use terret_grammars::Grammar;

pub(crate) use fragment::{Fragment, Piece};
use need::Need;
pub(crate) use shape::{Child, Node, Run, children_into, padless, prefix};
pub(crate) use tables::Tables;

/// A fragment of source text, compiled for one language.
///
/// Cheap to clone and to share between threads.
#[derive(Debug, Clone)]
pub struct Pattern {
    inner: Arc<Compiled>,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) grammar: Grammar,
    pub(crate) tables: Tables,
    /// In the order of the ladder, the reading that was chosen first.
    pub(crate) readings: Vec<Reading>,
    /// How many of the readings, from the first on, are matched together.
    pub(crate) active: usize,
    /// The names of the metavariables that bind, in order of first use.
    pub(crate) variables: Vec<String>,
    /// Which of them were written as runs. (The body of a string is matched as a run, too.)
    pub(crate) run_variables: Vec<bool>,
    /// Whether a name stands in the pattern more than once.
    pub(crate) repeats: bool,
    /// How many runs the pattern has.
    pub(crate) runs: usize,
    /// For each active reading, the texts that a file must hold for it to match there.
    pub(crate) literals: Vec<Vec<memmem::Finder<'static>>>,
    /// The same, as the prefilter asks for it.
    pub(crate) needs: Vec<Need>,
    /// Tokens that every match of every reading holds.
    pub(crate) everywhere: Vec<memmem::Finder<'static>>,
}

/// One way to read a fragment.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The contexts of the ladder that read the fragment like this, by name.
    pub(crate) contexts: Vec<String>,
    /// The kind of the root, or of each member of a window.
    pub(crate) kind: String,
    pub(crate) asked_by: String,
    /// The numbers of the contexts in the ladder.
    pub(crate) rungs: Vec<usize>,
    /// What is compared: one root, or a window of siblings.
    pub(crate) roots: Vec<Node>,
    /// A separator that ended the fragment and that a match takes along where it is present.
    pub(crate) terminator: Option<u16>,
    /// The same for a `;` that the grammar makes no node of.
    pub(crate) drops_terminator: bool,
    /// Whether the context's own terminator completed the fragment.
    pub(crate) completed: bool,
    /// Whether the fragment ends in a separator. A match ends before one that the fragment does
    /// not show.
    pub(crate) terminated: bool,
    /// Keywords of the language that this reading takes for names.
    pub(crate) misused_keywords: Vec<String>,
    /// How many of its members are texts between tags, which take in whatever is written there.
    pub(crate) texts: usize,
}

impl Reading {
    /// How much speaks against it.
    pub(crate) fn doubts(&self) -> usize {
        self.misused_keywords.len() + self.texts
    }

    /// The name of the context.
    #[must_use]
    pub fn context(&self) -> &str {
        let named = self
            .contexts
            .iter()
            .find(|context| *context == "expression");
        named.or(self.contexts.first()).map_or("", String::as_str)
    }

    /// What to pass as `context` to ask for this reading: the name of a context that no earlier
    /// reading has, or the kind.
    #[must_use]
    pub fn asked_by(&self) -> &str {
        &self.asked_by
    }

    /// The kind of node that it matches.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.context(), self.kind)
    }
}

impl Pattern {
    /// Compiles a fragment for a language, in the context of that name, as a node of that kind, or
    /// in the first context of the ladder that accepts it.
    ///
    /// # Errors
    ///
    /// [`PatternError`], when no context accepts the fragment, or when it is no pattern at all.
    pub fn compile(
        grammar: &Grammar,
        text: &str,
        context: Option<&str>,
    ) -> Result<Self, PatternError> {
        ladder::compile(grammar, text, context).map(|inner| Self {
            inner: Arc::new(inner),
        })
    }

    /// The text as a pattern that holds no metavariables: what would be one is escaped.
    #[must_use]
    pub fn escape(text: &str) -> String {
        fragment::escape(text)
    }

    /// The language that it is compiled for.
    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.inner.grammar
    }

    /// The readings that are matched together, the chosen one first.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.inner.readings[..self.inner.active]
    }

    /// The readings of later contexts, which are not matched but counted.
    #[must_use]
    pub fn later_readings(&self) -> &[Reading] {
        &self.inner.readings[self.inner.active..]
    }

    /// The names of the metavariables that bind, in order of first use, without their sigil.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.inner.variables
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        &self.inner
    }
}

/// The names that a pattern binds, in order of first use, in whichever language.
pub(crate) fn binds(text: &str) -> Result<Vec<String>, PatternError> {
    Ok(ladder::variables(&Fragment::of_pattern(text)?))
}

/// The texts of two bytes and more that every match holds, the longest first.
pub(crate) fn literals_of(nodes: &[Node]) -> Vec<&[u8]> {
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut open: Vec<&Node> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        match node {
            Node::Leaf { text, .. } | Node::Text { text } if text.len() > 1 => texts.push(text),
            Node::Inner { children, .. } => open.extend(children),
            _ => {}
        }
    }
    texts.sort_unstable_by_key(|text| (std::cmp::Reverse(text.len()), *text));
    texts.dedup();
    texts
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing that could be searched for: empty, a comment, a bare metavariable.
    Nothing(String),
    /// A metavariable that is spelled wrong.
    Metavariable(String),
    /// A metavariable inside a longer token.
    InsideToken {
        /// The language.
        language: String,
        /// The token, with the metavariable as it was written.
        token: String,
        /// Whether `$` begins a variable in the language.
        sigil: bool,
    },
    /// No context accepts the fragment.
    Unparsable(Box<Unparsable>),
    /// The language has no context of that name.
    UnknownContext {
        /// The language.
        language: String,
        /// What was asked for.
        asked: String,
        /// The names that it has.
        known: Vec<String>,
    },
}

/// Where and why a fragment could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unparsable {
    /// The language.
    pub language: String,
    /// The names of the contexts that were tried.
    pub tried: Vec<String>,
    /// The context in which parsing came farthest.
    pub nearest: String,
    /// The line of the fragment, from 1, where it failed there.
    pub line: usize,
    /// The character of that line, from 1.
    pub column: usize,
    /// What stands there; empty at the end of the fragment.
    pub found: String,
    /// What to try instead.
    pub hint: Option<String>,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(message) | Self::Metavariable(message) => f.write_str(message),
            Self::InsideToken {
                language,
                token,
                sigil,
            } => write!(
                f,
                "a metavariable stands for a whole node, here it is part of the token `{token}` \
                 ({language}); write the token out, or put the metavariable in its place{}",
                if *sigil {
                    "; the variable NAME itself is written `\\$NAME`"
                } else {
                    ""
                }
            ),
            Self::Unparsable(details) => details.fmt(f),
            Self::UnknownContext {
                language,
                asked,
                known,
            } => write!(
                f,
                "{language} has no context `{asked}`, and no kind of node; its contexts are: {}",
                known.join(", ")
            ),
        }
    }
}

impl fmt::Display for Unparsable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the pattern is no {} in any context (tried: {}); nearest is {}: parsing failed at \
             line {}, column {}, ",
            self.language,
            self.tried.join(", "),
            self.nearest,
            self.line,
            self.column
        )?;
        if self.found.is_empty() {
            f.write_str("the end of the pattern")?;
        } else {
            write!(f, "`{}`", self.found)?;
        }
        match &self.hint {
            Some(hint) => write!(f, ". {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PatternError {}
