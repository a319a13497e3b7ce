//! Looks at the new text as the parser sees it.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use terret_grammars::Placed;
use tree_sitter::{Node, Tree};

use super::compose::{Composed, Place, Plan};
use super::seams;
use super::{Site, contains};
use crate::matcher::begins_with;
use crate::pattern::Tables;

/// Where a rewrite breaks the syntax of a file. Lines and columns are counted from 1, in the new
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxBreak {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
    /// The line's text.
    pub text: String,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a new text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It does not parse.
    Syntax,
    /// The syntax is sound, but the replacement falls apart: what is around it takes a part of it
    /// for its own.
    Torn,
    /// The grammar takes it, but the language has nothing of that kind there.
    Misplaced {
        /// The kind.
        kind: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("it does not parse"),
            Self::Torn => {
                f.write_str("what is around it takes a part of the replacement for its own")
            }
            Self::Misplaced { kind } => write!(f, "`{kind}` means nothing there"),
        }
    }
}

/// The bytes of what does not parse in the new text, beyond what did not in the old one; a missing
/// token counts as one. What is where it was is not looked at, however much longer it has become by
/// a replacement in it.
pub(super) fn added(old: &Tree, new: &Tree, composed: &Composed) -> usize {
    let (added, gone) = errors(old, new, composed);
    let bytes = |ranges: &[Range<usize>]| ranges.iter().map(|range| range.len().max(1)).sum();
    let (added, gone): (usize, usize) = (bytes(&added), bytes(&gone));
    added.saturating_sub(gone)
}

/// What does not parse in one of the texts alone: in the new one, and in the old one.
fn errors(old: &Tree, new: &Tree, composed: &Composed) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let all = |tree: &Tree| {
        let mut found = Vec::new();
        each_error(tree.root_node(), &mut |node| found.push(node.byte_range()));
        found
    };
    let mut added = all(new);
    if added.is_empty() {
        return (added, Vec::new());
    }
    let moved = |range: &Range<usize>| composed.moved(range.start)..composed.moved(range.end);
    let mut gone = all(old);
    let before: HashSet<Range<usize>> = gone.iter().map(moved).collect();
    let now: HashSet<Range<usize>> = added.iter().cloned().collect();
    gone.retain(|range| !now.contains(&moved(range)));
    added.retain(|range| !before.contains(range));
    added.sort_unstable_by_key(|range| range.start);
    (added, gone)
}

/// Set when the new text has more that does not parse than the old one.
pub(super) fn breaks(old: &Tree, new: &Tree, composed: &Composed) -> Option<SyntaxBreak> {
    if added(old, new, composed) == 0 {
        return None;
    }
    let (added, _) = errors(old, new, composed);
    let touches = |error: &&Range<usize>| {
        let mut places = composed.places.iter();
        places.any(|(_, place)| error.start <= place.end && place.start <= error.end)
    };
    let at = added.iter().find(touches).or(added.first())?.start;
    Some(place_in(composed, at, Fault::Syntax))
}

/// The places that touch what does not parse, those around others first.
pub(super) fn touching(tree: &Tree, composed: &Composed) -> Vec<Place> {
    let mut errors = Vec::new();
    // What is missing may be missed far behind what lacks it.
    each_error(tree.root_node(), &mut |node| {
        let around = node.parent().filter(|around| around.parent().is_some());
        let range = around.unwrap_or(node).byte_range();
        let start = composed.text[..range.start].trim_end().len();
        errors.push(start..range.end);
    });
    let touches = |place: &Range<usize>| {
        let mut errors = errors.iter();
        errors.any(|error| error.start <= place.end && place.start <= error.end)
    };
    let places = composed.places.iter().rev();
    let touching = places.filter(|(_, range)| !range.is_empty() && touches(range));
    touching.map(|(place, _)| *place).collect()
}

/// A place whose node stands where the language has no such thing, by its data.
pub(super) fn misplaced(
    plan: &Plan<'_>,
    composed: &Composed,
    new: &Tree,
    rules: &[Placed],
) -> Option<SyntaxBreak> {
    if rules.is_empty() {
        return None;
    }
    composed.places.iter().find_map(|(place, range)| {
        let (old, now) = (plan.node(*place), seams::at(new, range));
        let kind = rules.iter().find_map(|rule| is_misplaced(old, now, rule))?;
        Some(place_in(composed, range.start, Fault::Misplaced { kind }))
    })
}

/// The kind that stands where it must not.
fn is_misplaced(old: Option<Node<'_>>, now: Option<Node<'_>>, rule: &Placed) -> Option<String> {
    let named = |node: Node<'_>| rule.kinds.iter().find(|kind| seams::is_kind(node, kind));
    let around = |node: Option<Node<'_>>| Some(node?.parent()?.kind().to_owned());
    if let (Some(only_in), Some(kind)) = (&rule.only_in, old.and_then(named)) {
        let kept = now.filter(|now| seams::is_kind(*now, kind));
        let stands_in = around(kept);
        let fits = stands_in.is_some()
            && (stands_in == around(old)
                || only_in.iter().any(|kind| stands_in.as_ref() == Some(kind)));
        if !fits {
            return Some(node_kind(kind));
        }
    }
    let kind = now.and_then(named)?;
    let stands_in = around(now)?;
    rule.never_in.contains(&stands_in).then(|| node_kind(kind))
}

/// The kind of an entry, without the token that it asks for.
fn node_kind(entry: &str) -> String {
    entry.split(' ').next().unwrap_or_default().to_owned()
}

/// Where a replacement is no longer one piece.
pub(super) fn torn(composed: &Composed, place: Place) -> Option<SyntaxBreak> {
    let mut ranges = composed.places.iter().filter(|(other, _)| *other == place);
    ranges
        .next()
        .map(|(_, range)| place_in(composed, range.start, Fault::Torn))
}

/// The place of a replacement that what stands before it in a body took in: it began a statement, and
/// does no more.
pub(super) fn taken_in(
    old: &Tree,
    new: &Tree,
    composed: &Composed,
    sites: &[Site],
    tables: &Tables,
) -> Option<SyntaxBreak> {
    let mut wholes = composed
        .places
        .iter()
        .filter(|(place, range)| place.part.is_none() && !range.is_empty());
    let taken = wholes.find(|(place, range)| {
        let before = statement_at(old, sites[place.site].found.range.start, tables);
        let after = statement_at(new, range.start, tables);
        before.is_some_and(|before| {
            before.follows && after.is_none_or(|after| after.body != before.body)
        })
    });
    taken.map(|(_, range)| place_in(composed, range.start, Fault::Torn))
}

/// Where a statement that followed what was replaced, or what was left of one, is taken in by what
/// stands before it now.
pub(super) fn joined(
    old: &Tree,
    new: &Tree,
    source: &str,
    composed: &Composed,
    tables: &Tables,
) -> Option<SyntaxBreak> {
    let next = |tree: &Tree, text: &str, end: usize| {
        let blank = |letter: char| letter.is_whitespace() || letter == ';';
        let mut at = end;
        loop {
            let rest = &text[at..];
            at += rest.len() - rest.trim_start_matches(blank).len();
            // Some grammars put the comments before a body outside of it.
            let node = tree.root_node().descendant_for_byte_range(at, at + 1);
            let comment = node.filter(|node| node.is_extra() && node.end_byte() > at);
            let Some(comment) = comment else {
                return at;
            };
            at = comment.end_byte();
        }
    };
    let begun = |tree, at| statement_at(tree, at, tables);
    composed.cuts.iter().find_map(|(cut, put)| {
        let at = next(old, source, cut.end);
        let now = next(new, &composed.text, put.end);
        // What was replaced itself has its own row.
        let others = composed
            .cuts
            .partition_point(|(other, _)| other.start <= at);
        if others > 0 && composed.cuts[others - 1].0.contains(&at) {
            return None;
        }
        let rest = || {
            let whole = begun(old, next(old, source, cut.start));
            whole.filter(|whole| put.is_empty() && at < whole.end)
        };
        let before = begun(old, at).or_else(rest)?;
        let stays = begun(new, now).is_some_and(|now| now.body == before.body);
        (!stays).then(|| place_in(composed, now, Fault::Torn))
    })
}

/// Where a text behind a line is no longer asked for, though it stands there still.
pub(super) fn forsaken(
    old: &Tree,
    new: &Tree,
    composed: &Composed,
    heredocs: &[String],
) -> Option<SyntaxBreak> {
    let all = |tree: &Tree| {
        let mut found = Vec::new();
        each_of(tree.root_node(), heredocs, &mut |node| {
            found.push(node.byte_range());
        });
        found
    };
    if heredocs.is_empty() {
        return None;
    }
    let kept = all(new);
    all(old).into_iter().find_map(|body| {
        if composed.cuts.iter().any(|(cut, _)| contains(cut, &body)) {
            return None;
        }
        let now = composed.moved(body.start)..composed.moved(body.end);
        let fault = Fault::Misplaced {
            kind: heredocs[0].clone(),
        };
        (!kept.contains(&now)).then(|| place_in(composed, now.start, fault))
    })
}

/// A node of a replacement that must begin its line, and does not.
pub(super) fn off_margin(
    new: &Tree,
    composed: &Composed,
    rules: &[[String; 2]],
) -> Option<SyntaxBreak> {
    let mut found = None;
    for [kind, around] in rules {
        each_of(new.root_node(), std::slice::from_ref(kind), &mut |node| {
            // The white space before it may be its own.
            let text = &composed.text[node.byte_range()];
            let at = node.end_byte() - text.trim_start().len();
            let indented = composed.text[..at].ends_with([' ', '\t']);
            let mut wholes = composed.places.iter();
            let written = wholes.any(|(_, place)| place.start <= at && at < place.end);
            let asked = node
                .parent()
                .is_some_and(|node| seams::is_kind(node, around));
            if indented && written && asked && found.is_none() {
                let kind = kind.clone();
                found = Some(place_in(composed, at, Fault::Misplaced { kind }));
            }
        });
    }
    found
}

/// Visits the nodes of some kinds.
fn each_of<'t>(root: Node<'t>, kinds: &[String], visit: &mut dyn FnMut(Node<'t>)) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if kinds.iter().any(|kind| seams::is_kind(node, kind)) {
            visit(node);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// A statement of a body.
struct Begun<'t> {
    /// The kind of the body.
    body: &'t str,
    /// Whether it follows another with nothing in between.
    follows: bool,
    end: usize,
}

/// The statement that begins at this byte.
fn statement_at<'t>(tree: &'t Tree, at: usize, tables: &Tables) -> Option<Begun<'t>> {
    let mut node = tree.root_node().descendant_for_byte_range(at, at + 1)?;
    while node.start_byte() == at {
        let parent = node.parent()?;
        let has_brace = || parent.child(0).is_some_and(|first| first.kind() == "{");
        if parent.parent().is_none() || tables.is_container(parent.kind_id()) || has_brace() {
            return Some(Begun {
                body: parent.kind(),
                follows: node.prev_sibling().is_some_and(|before| before.is_named()),
                end: node.end_byte(),
            });
        }
        node = parent;
    }
    None
}

fn place_in(composed: &Composed, at: usize, fault: Fault) -> SyntaxBreak {
    let mut at = at.min(composed.text.len());
    while !composed.text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &composed.text[..at];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = composed.text[start..].lines().next().unwrap_or_default();
    SyntaxBreak {
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        text: line.trim().chars().take(120).collect(),
        fault,
    }
}

fn each_error(root: Node<'_>, visit: &mut dyn FnMut(Node<'_>)) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            visit(node);
        } else if node.has_error() {
            let children = (0..node.child_count()).rev();
            open.extend(children.filter_map(|at| node.child(at)));
        }
    }
}

/// The places whose text is no longer a unit in the new tree: what was one node has been torn apart
/// by the operators around it.
pub(super) fn loose(tree: &Tree, composed: &Composed, tables: &Tables) -> Vec<Place> {
    let root = tree.root_node();
    let is_loose = |(place, range): &&(Place, Range<usize>)| {
        let text = &composed.text;
        !range.is_empty() && !holds_together(root, text, range, place.part.is_some(), tables)
    };
    composed
        .places
        .iter()
        .filter(is_loose)
        .map(|(place, _)| *place)
        .collect()
}

/// Whether the range is one node, a stretch of whole siblings, or a part of a token (a template may
/// compose words and strings).
fn holds_together(
    root: Node<'_>,
    text: &str,
    range: &Range<usize>,
    one: bool,
    tables: &Tables,
) -> bool {
    let Some(node) = root.descendant_for_byte_range(range.start, range.end) else {
        return true;
    };
    if node.byte_range() == *range || node.child_count() == 0 || node.has_error() {
        return true;
    }
    // A match ends before the terminator that its pattern does not show.
    let tail = text.get(range.end..node.end_byte()).unwrap_or_default();
    if node.start_byte() == range.start && matches!(tail.trim(), "" | ";" | ",") {
        return true;
    }
    if in_text(root, range, tables) {
        return true;
    }
    // The grammar counts the operators before it in.
    if node.end_byte() == range.end
        && begins_with(node, tables).is_some_and(|operand| operand.start_byte() == range.start)
    {
        return true;
    }
    let mut cursor = node.walk();
    let inside: Vec<Node<'_>> = node
        .children(&mut cursor)
        .filter(|child| child.start_byte() < range.end && range.start < child.end_byte())
        .collect();
    let tiles = inside
        .first()
        .is_some_and(|first| first.start_byte() == range.start)
        && inside
            .last()
            .is_some_and(|last| last.end_byte() == range.end);
    // A sum between the factors of a product starts and ends with whole nodes, too, but shares its
    // parent with the operators beside it.
    let whole_list = inside
        .iter()
        .all(|child| child.is_named() || tables.is_separator(child.kind_id()));
    tiles && (whole_list && !one || inside.len() == 1)
}

/// Whether the range stands in a string literal or a comment.
fn in_text(root: Node<'_>, range: &Range<usize>, tables: &Tables) -> bool {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if tables.is_string(node.kind_id()) || node.is_extra() {
            return true;
        }
        let around = cursor.goto_first_child_for_byte(range.start).is_some()
            && cursor.node().start_byte() <= range.start
            && range.end <= cursor.node().end_byte();
        if !around {
            return false;
        }
    }
}
