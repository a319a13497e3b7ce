//! The text that replaces a match.

use std::ops::Range;

use super::RewriteError;
use crate::pattern::{Fragment, Pattern, Piece};

/// A replacement text with metavariables, checked against the pattern that binds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub(super) pieces: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Literal(String),
    /// The number of a variable of the pattern.
    Hole(usize),
    /// Bytes of the file that stay behind a run. Only a template laid out for a site has some.
    Kept(Range<usize>),
}

impl Template {
    /// Reads a template for a pattern.
    ///
    /// # Errors
    ///
    /// [`RewriteError`], when it uses a metavariable that the pattern does not bind.
    pub fn compile(text: &str, pattern: &Pattern) -> Result<Self, RewriteError> {
        Self::with_variables(text, pattern.variables())
    }

    pub(crate) fn with_variables(text: &str, variables: &[String]) -> Result<Self, RewriteError> {
        let text = text.replace("\r\n", "\n");
        let fragment = Fragment::of_template(&text).map_err(RewriteError::Template)?;
        let part = |piece: Piece| match piece {
            Piece::Literal(text) => Ok(Part::Literal(text)),
            Piece::Hole(hole) => {
                let name = hole.name.ok_or(RewriteError::Nameless)?;
                match variables.iter().position(|variable| *variable == name) {
                    Some(index) => Ok(Part::Hole(index)),
                    None => Err(RewriteError::Unbound {
                        name,
                        bound: variables.to_vec(),
                    }),
                }
            }
        };
        let pieces = fragment
            .pieces
            .into_iter()
            .map(part)
            .collect::<Result<_, _>>()?;
        Ok(Self { pieces })
    }

    /// Whether it deletes what it replaces.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces
            .iter()
            .all(|part| matches!(part, Part::Literal(text) if text.trim().is_empty()))
    }
}
