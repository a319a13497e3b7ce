//! Rewrites the matches of one file.
//!
//! All edits match the original text; the new text is composed in one pass, parsed again and
//! checked before anybody sees it.

mod check;
mod compose;
mod delete;
mod layout;
mod template;

use std::fmt;
use std::ops::Range;

use terret_grammars::Grammar;
use tree_sitter::Tree;

use crate::matcher::Match;
use crate::parse;
use crate::pattern::{PatternError, Tables};
pub use check::SyntaxBreak;
pub use template::Template;

/// What a rewrite makes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// The new text.
    pub text: Vec<u8>,
    /// Matches that were replaced, nested ones included.
    pub replacements: usize,
    /// Matches that stood where an outer replacement kept nothing of them.
    pub dropped: usize,
    /// Matches whose replacement is what stands there already.
    pub unchanged: usize,
    /// Comments inside replaced code that are in no capture that the template uses.
    pub comments_dropped: usize,
    /// Places that were put in parentheses so as to keep their meaning.
    pub parenthesised: usize,
    /// Set when the new text has more syntax errors than the old.
    pub broken: Option<SyntaxBreak>,
}

/// Why a file cannot be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteError {
    /// The template is spelled wrong.
    Template(PatternError),
    /// The template uses a metavariable that the pattern does not bind.
    Unbound {
        /// Its name.
        name: String,
        /// The names that the pattern binds.
        bound: Vec<String>,
    },
    /// The template has a metavariable without a name.
    Nameless,
    /// It took too long, or the caller wanted no more.
    Interrupted,
    /// The bytes are not UTF-8, so that a text cannot be composed with them.
    NotUtf8,
    /// Two edits want the same text; the lines are counted from 1.
    Overlap {
        /// The line of the one match.
        line: usize,
        /// The numbers of the two edits, from 0.
        edits: (usize, usize),
    },
}

impl fmt::Display for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(error) => write!(f, "the rewrite does not read: {error}"),
            Self::Unbound { name, bound } if bound.is_empty() => write!(
                f,
                "the rewrite uses `${name}`, but the pattern binds no metavariable; write `\\${name}` \
                 for the literal text"
            ),
            Self::Unbound { name, bound } => write!(
                f,
                "the rewrite uses `${name}`, which the pattern does not bind; it binds: {}",
                bound.iter().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ")
            ),
            Self::Nameless => f.write_str(
                "the rewrite has a metavariable without a name, which stands for nothing; give it a \
                 name in the pattern and here",
            ),
            Self::Interrupted => f.write_str("rewriting it took too long"),
            Self::NotUtf8 => f.write_str("the file is not UTF-8: it is searched, but not edited"),
            Self::Overlap { line, edits: (a, b) } => write!(
                f,
                "edits {} and {} both want the code at line {line}; do them one after the other",
                a + 1,
                b + 1
            ),
        }
    }
}

impl std::error::Error for RewriteError {}

/// A match, and the number of the edit that it belongs to.
#[derive(Debug, Clone)]
pub struct Site {
    /// Which of the templates replaces it.
    pub edit: usize,
    /// The match.
    pub found: Match,
}

/// Replaces every site by its template.
///
/// `interrupted` is asked now and then while the new text is parsed.
///
/// # Errors
///
/// [`RewriteError`], when sites of different edits overlap or the file is not text.
pub fn rewrite(
    grammar: &Grammar,
    tree: &Tree,
    source: &[u8],
    sites: &[Site],
    templates: &[Template],
    interrupted: &dyn Fn() -> bool,
) -> Result<Rewritten, RewriteError> {
    let text = std::str::from_utf8(source).map_err(|_| RewriteError::NotUtf8)?;
    if source.contains(&0) {
        return Err(RewriteError::NotUtf8);
    }
    let tables = Tables::of(grammar);
    let file = File {
        text,
        tree,
        tables: &tables,
        layout: layout::Layout::of(text),
    };
    let mut sites = sites.to_vec();
    sites.sort_by_key(|site| {
        (
            site.found.range.start,
            std::cmp::Reverse(site.found.range.end),
        )
    });
    let plan = compose::Plan::new(&file, &sites, templates)?;
    let mut composed = plan.compose(&[]);
    let mut parser = parse::parser(grammar);
    let mut parse = |text: &str| {
        parse::parse(&mut parser, text.as_bytes(), interrupted).ok_or(RewriteError::Interrupted)
    };
    let mut new_tree = parse(&composed.text)?;
    let mut parenthesised = 0;
    if let Some(group) = &grammar.data().group {
        // Putting one place in parentheses can settle others, so that what is left over is looked
        // at again; nesting bounds the rounds, and the number bounds the work.
        let mut groups: Vec<compose::Place> = Vec::new();
        for _ in 0..4 {
            let loose = check::loose(&new_tree, &composed, &tables);
            let new: Vec<_> = loose
                .into_iter()
                .filter(|place| !groups.contains(place))
                .collect();
            if new.is_empty() {
                break;
            }
            let mut tried = groups.clone();
            tried.extend(new);
            let again = plan.compose_grouped(&tried, group);
            let again_tree = parse(&again.text)?;
            if check::errors(&again_tree) > check::errors(&new_tree) {
                break;
            }
            (groups, composed, new_tree) = (tried, again, again_tree);
        }
        let mut grouped: Vec<_> = composed
            .places
            .iter()
            .filter(|(place, _)| groups.contains(place))
            .map(|(_, range)| (range.start, range.end))
            .collect();
        grouped.sort_unstable();
        grouped.dedup();
        parenthesised = grouped.len();
    }
    let broken = check::breaks(tree, &new_tree, &composed);
    Ok(Rewritten {
        replacements: composed.replaced,
        dropped: composed.dropped,
        unchanged: composed.unchanged,
        comments_dropped: composed.comments_dropped,
        text: composed.text.into_bytes(),
        parenthesised,
        broken,
    })
}

/// A file to rewrite, and what is known of it.
struct File<'a> {
    text: &'a str,
    tree: &'a Tree,
    tables: &'a Tables,
    layout: layout::Layout,
}

impl File<'_> {
    /// The white space that the line of this byte begins with.
    fn indent_at(&self, byte: usize) -> &str {
        let start = self.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let line = &self.text[start..];
        let length = line.find(|letter: char| letter != ' ' && letter != '\t');
        let indent = &line[..length.unwrap_or(line.len())];
        &indent[..indent.len().min(byte - start)]
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
