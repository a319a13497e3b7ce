//! Rewrites the matches of one file.
//!
//! All edits match the original text; the new text is composed in one pass, parsed again and
//! checked before anybody sees it.

mod check;
mod compose;
mod delete;
mod layout;
mod lists;
mod piece;
mod seams;
mod template;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use terret_grammars::Grammar;
use tree_sitter::Tree;

use crate::matcher::Match;
use crate::parse;
use crate::pattern::{PatternError, Tables};
pub use check::{Fault, SyntaxBreak};
use compose::{Guards, Place};
pub use template::Template;

/// How often a composition is mended for what its parse shows.
const MOST_ROUNDS: usize = 4;
/// How many places are tried to be put in parentheses one by one.
const MOST_TRIED: usize = 50;
/// How many places are put in parentheses one by one to see whether that mends the syntax.
const MOST_MENDED: usize = 20;

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
    /// Set when the new text has more syntax errors than the old, or when a replacement is no longer
    /// one piece there.
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
    /// What is to be deleted is all that there is of a body.
    SoleBody {
        /// Its line, from 1.
        line: usize,
    },
    /// Matches nest too deep in matches.
    TooNested {
        /// The line of the innermost that was looked at, from 1.
        line: usize,
    },
    /// The replacements would be too long.
    TooLarge,
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
            Self::SoleBody { line } => write!(
                f,
                "at line {line} the match is all of a body, and deleting it would put the next \
                 statement in its place; delete what is around it, or rewrite it to an empty body"
            ),
            Self::TooNested { line } => write!(
                f,
                "matches nest more than 500 deep at line {line}; rewrite the outer ones in steps"
            ),
            Self::TooLarge => f.write_str(
                "the replacements would come to more than 16 MiB; a rewrite that uses a metavariable \
                 twice doubles what is nested in it",
            ),
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
    let data = grammar.data();
    let plan = compose::Plan::new(&file, &sites, templates, data)?;
    let mut parser = parse::parser(grammar);
    let mut parse = |text: &str| {
        parse::parse(&mut parser, text.as_bytes(), interrupted).ok_or(RewriteError::Interrupted)
    };
    let mut draft = Draft::of(&plan, Guards::default(), &mut parse)?;
    for _ in 0..MOST_ROUNDS {
        let glued = seams::glued(&draft.composed, &draft.tree, &tables);
        let guards = draft.guards.with(&glued);
        if guards == draft.guards {
            break;
        }
        draft = Draft::of(&plan, guards, &mut parse)?;
    }
    let rules = &data.grouped;
    if !plan.group().is_empty() {
        let torn = |draft: &Draft| check::loose(&draft.tree, &draft.composed, &tables);
        let named = |draft: &Draft| seams::loose(&plan, &draft.composed, &draft.tree, rules);
        draft = grouped(&plan, draft, &torn, &mut parse)?;
        draft = grouped(&plan, draft, &named, &mut parse)?;
        // What does not parse hides what is loose.
        if draft.added(&plan) > 0 {
            draft = mended(&plan, draft, &mut parse)?;
            draft = grouped(&plan, draft, &torn, &mut parse)?;
            draft = grouped(&plan, draft, &named, &mut parse)?;
        }
    }
    let Draft {
        guards,
        composed,
        tree: new_tree,
    } = draft;
    let parenthesised = {
        let mut grouped: Vec<_> = composed
            .places
            .iter()
            .filter(|(place, _)| guards.grouped.contains(place))
            .map(|(_, range)| (range.start, range.end))
            .collect();
        grouped.sort_unstable();
        grouped.dedup();
        grouped.len()
    };
    let loose = check::loose(&new_tree, &composed, &tables);
    let bare = seams::named(&plan, &composed, &new_tree, rules);
    let bare = bare.difference(&guards.grouped).min();
    let torn = loose.first().or(bare);
    let torn = torn.and_then(|place| check::torn(&composed, *place));
    let broken = check::breaks(tree, &new_tree, &composed)
        .or_else(|| check::misplaced(&plan, &composed, &new_tree, &data.placed))
        .or_else(|| check::forsaken(tree, &new_tree, &composed, &data.heredocs))
        .or_else(|| check::off_margin(&new_tree, &composed, &data.at_margin))
        .or(torn)
        .or_else(|| check::taken_in(tree, &new_tree, &composed, &sites, &tables))
        .or_else(|| check::joined(tree, &new_tree, text, &composed, &tables));
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

/// A composition, and how it parses.
struct Draft {
    guards: Guards,
    composed: compose::Composed,
    tree: Tree,
}

type Parse<'p> = dyn FnMut(&str) -> Result<Tree, RewriteError> + 'p;

impl Draft {
    fn of(
        plan: &compose::Plan<'_>,
        guards: Guards,
        parse: &mut Parse<'_>,
    ) -> Result<Self, RewriteError> {
        let composed = plan.compose(&guards)?;
        let tree = parse(&composed.text)?;
        Ok(Self {
            guards,
            composed,
            tree,
        })
    }

    /// How much of it does not parse that did before.
    fn added(&self, plan: &compose::Plan<'_>) -> usize {
        check::added(plan.tree(), &self.tree, &self.composed)
    }

    /// With these places in parentheses too, unless that breaks the syntax.
    fn try_grouping(
        self,
        plan: &compose::Plan<'_>,
        places: &HashSet<Place>,
        parse: &mut Parse<'_>,
    ) -> Result<Self, RewriteError> {
        if places.is_subset(&self.guards.grouped) {
            return Ok(self);
        }
        let mut guards = self.guards.clone();
        guards.grouped.extend(places);
        let again = Self::of(plan, guards, parse)?;
        let sound = again.added(plan) <= self.added(plan);
        Ok(if sound { again } else { self })
    }
}

/// Puts in parentheses what does not parse without them.
fn mended(
    plan: &compose::Plan<'_>,
    mut draft: Draft,
    parse: &mut Parse<'_>,
) -> Result<Draft, RewriteError> {
    let mut left = draft.added(plan);
    let touching = check::touching(&draft.tree, &draft.composed);
    for place in touching.into_iter().take(MOST_MENDED) {
        let mut guards = draft.guards.clone();
        if !guards.grouped.insert(place) {
            continue;
        }
        let again = Draft::of(plan, guards, parse)?;
        let now = again.added(plan);
        if now < left {
            (draft, left) = (again, now);
        }
        if left == 0 {
            break;
        }
    }
    Ok(draft)
}

/// Puts in parentheses what is loose: what the operators around it would tear apart, or what the
/// language's data name.
///
/// Grouping one place can settle others, so that what is left over is looked at again; nesting
/// bounds the rounds, and the number bounds the work.
fn grouped<Loose: IntoIterator<Item = Place>>(
    plan: &compose::Plan<'_>,
    mut draft: Draft,
    loose: &dyn Fn(&Draft) -> Loose,
    parse: &mut Parse<'_>,
) -> Result<Draft, RewriteError> {
    let mut hopeless: HashSet<Place> = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        let loose = loose(&draft);
        let new: HashSet<Place> = loose
            .into_iter()
            .filter(|place| !draft.guards.grouped.contains(place) && !hopeless.contains(place))
            .collect();
        if new.is_empty() {
            break;
        }
        draft = draft.try_grouping(plan, &new, parse)?;
        if new.is_subset(&draft.guards.grouped) {
            continue;
        }
        // One that cannot be grouped must not keep the others from it.
        let mut new: Vec<Place> = new.into_iter().collect();
        new.sort_unstable();
        for place in new.iter().take(MOST_TRIED) {
            draft = draft.try_grouping(plan, &HashSet::from([*place]), parse)?;
            if !draft.guards.grouped.contains(place) {
                hopeless.insert(*place);
            }
        }
        hopeless.extend(new.into_iter().skip(MOST_TRIED));
    }
    Ok(draft)
}

/// A file to rewrite, and what is known of it.
struct File<'a> {
    text: &'a str,
    tree: &'a Tree,
    tables: &'a Tables,
    layout: layout::Layout,
}

impl File<'_> {
    /// The number of the line of this byte, from 1.
    fn line_of(&self, byte: usize) -> usize {
        self.text[..byte].matches('\n').count() + 1
    }

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
