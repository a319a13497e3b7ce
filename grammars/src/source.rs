//! Where grammars come from.

use std::fmt;
use std::sync::Arc;

use crate::LanguageData;

/// A compiled grammar with the data of its language.
#[derive(Clone)]
pub struct Grammar {
    id: Arc<str>,
    data: Arc<LanguageData>,
    language: tree_sitter::Language,
}

impl Grammar {
    /// Joins a compiled grammar with its data.
    #[must_use]
    pub fn new(
        id: impl Into<Arc<str>>,
        data: Arc<LanguageData>,
        language: tree_sitter::Language,
    ) -> Self {
        Self {
            id: id.into(),
            data,
            language,
        }
    }

    /// The id of the language: `dart`, `python` …
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is known of the language beyond the grammar.
    #[must_use]
    pub fn data(&self) -> &LanguageData {
        &self.data
    }

    /// The compiled grammar.
    #[must_use]
    pub fn language(&self) -> &tree_sitter::Language {
        &self.language
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Why there is no grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarError {
    /// No language has this id or alias.
    Unknown {
        /// What was asked for.
        asked: String,
        /// The id that is spelled most like it.
        nearest: Option<String>,
        /// The ids that there are.
        known: Vec<String>,
    },
    /// The language is known, its grammar was left out of this build.
    NotCompiledIn {
        /// The id of the language.
        id: String,
        /// The cargo feature that brings it.
        feature: String,
    },
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown {
                asked,
                nearest: None,
                known,
            } if known.is_empty() => write!(f, "unknown language `{asked}`"),
            Self::Unknown {
                asked,
                nearest: None,
                known,
            } => write!(
                f,
                "unknown language `{asked}`; known are {}",
                known.join(", ")
            ),
            Self::Unknown {
                asked,
                nearest: Some(nearest),
                ..
            } => {
                write!(f, "unknown language `{asked}`; did you mean `{nearest}`?")
            }
            Self::NotCompiledIn { id, feature } => write!(
                f,
                "the grammar of `{id}` is not compiled in; build with the feature `{feature}`"
            ),
        }
    }
}

impl std::error::Error for GrammarError {}

/// Something that hands out grammars. [`Shipped`](crate::Shipped) is the one that is compiled in.
pub trait GrammarSource: Send + Sync {
    /// The ids of the languages it can hand out, in a stable order.
    fn ids(&self) -> Vec<&str>;

    /// The grammar with this id or alias; letter case does not matter.
    ///
    /// # Errors
    ///
    /// [`GrammarError`], when there is none.
    fn grammar(&self, id_or_alias: &str) -> Result<Grammar, GrammarError>;

    /// The ids of the languages that a file of this name is written in, by its name alone: whole
    /// names go before endings.
    fn ids_of_file(&self, file_name: &str) -> Vec<&str>;
}

/// A source without a grammar: for a host that brings grammars of its own, and for one that wants no
/// structural tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoGrammars;

impl GrammarSource for NoGrammars {
    fn ids(&self) -> Vec<&str> {
        Vec::new()
    }

    fn grammar(&self, id_or_alias: &str) -> Result<Grammar, GrammarError> {
        Err(GrammarError::Unknown {
            asked: id_or_alias.to_owned(),
            nearest: None,
            known: Vec::new(),
        })
    }

    fn ids_of_file(&self, _: &str) -> Vec<&str> {
        Vec::new()
    }
}
