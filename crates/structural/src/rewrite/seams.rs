//! Where replaced places meet what stands beside them: tokens that would become one, and operands
//! that would fall apart.

use std::collections::HashSet;
use std::ops::Range;

use terret_grammars::Grouped;
use tree_sitter::{Node, Tree};

use super::compose::{Composed, Guards, Place, Plan};
use crate::pattern::Tables;

/// Places that want a space before them or behind them: a token reaches across their edge.
pub(super) fn glued(composed: &Composed, tree: &Tree, tables: &Tables) -> Guards {
    let mut guards = Guards::default();
    let mut seams = HashSet::new();
    // The whole replacement comes behind its parts, and what it shares with them is its own.
    for (place, range) in composed.places.iter().rev() {
        if range.is_empty() {
            continue;
        }
        if is_glued(composed, tree, tables, *place, range.start) && seams.insert(range.start) {
            guards.before.insert(*place);
        }
        if is_glued(composed, tree, tables, *place, range.end) && seams.insert(range.end) {
            guards.behind.insert(*place);
        }
    }
    guards
}

fn is_glued(composed: &Composed, tree: &Tree, tables: &Tables, place: Place, seam: usize) -> bool {
    let bytes = composed.text.as_bytes();
    let (Some(&before), Some(&after)) = (
        seam.checked_sub(1).and_then(|at| bytes.get(at)),
        bytes.get(seam),
    ) else {
        return false;
    };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let is_mark = |byte: u8| b"+-*/%&|^<>=!~?:.@#{".contains(&byte);
    // What a template joins to a word was meant to be one word.
    let are_words = is_word(before) && is_word(after) && place.part.is_none();
    if !(are_words || is_mark(before) && is_mark(after)) {
        return false;
    }
    // Some grammars take apart what is one token to the language: `--`, a comment that nothing ends.
    if matches!(
        (before, after),
        (b'/', b'*' | b'/') | (b'-', b'-') | (b'+', b'+') | (b'&', b'&')
    ) {
        return true;
    }
    let root = tree.root_node();
    let Some(token) = root.descendant_for_byte_range(seam - 1, seam + 1) else {
        return false;
    };
    let spans = token.child_count() == 0 && token.start_byte() < seam && seam < token.end_byte();
    let is_text = || {
        let around = token
            .parent()
            .is_some_and(|around| tables.is_string(around.kind_id()));
        around || tables.is_string(token.kind_id()) || token.is_extra()
    };
    // `{{` is an escape in some strings.
    let is_pair = token.end_byte() - token.start_byte() == 2;
    spans && (is_pair || (are_words || token.start_byte() + 2 >= seam) && !is_text())
}

/// Places to put in parentheses although the grammar takes them without: those that a language's
/// data name, and an object that would become a block.
pub(super) fn loose(
    plan: &Plan<'_>,
    composed: &Composed,
    new_tree: &Tree,
    rules: &[Grouped],
) -> HashSet<Place> {
    let mut loose = named(plan, composed, new_tree, rules);
    let turns = |(place, new): &&(Place, Range<usize>)| {
        let nodes = (plan.node(*place), at(new_tree, new));
        let is_braced = composed.text[new.clone()].starts_with('{');
        matches!(nodes, (Some(old), Some(now)) if is_braced && old.kind() != now.kind())
    };
    loose.extend(
        composed
            .places
            .iter()
            .filter(turns)
            .map(|(place, _)| *place),
    );
    loose
}

/// Those that a language's data name.
pub(super) fn named(
    plan: &Plan<'_>,
    composed: &Composed,
    new_tree: &Tree,
    rules: &[Grouped],
) -> HashSet<Place> {
    let is_named = |(place, new): &&(Place, Range<usize>)| {
        let now = at(new_tree, new);
        let Some(node) = plan.node(*place).or(now) else {
            return false;
        };
        let mut rules = rules.iter().filter(|rule| {
            let mut kinds = rule.kinds.iter();
            kinds.any(|kind| is_kind(node, kind))
        });
        rules.any(|rule| {
            now.is_some_and(|now| is_operand(now, &rule.operand_of))
                || Beside::of(&composed.text, new_tree, new).are_named(rule)
        })
    };
    let named = composed.places.iter().filter(is_named);
    named.map(|(place, _)| *place).collect()
}

/// Whether a node of one of these kinds has the node for an operand: a child that no brackets of its
/// own part from the others.
pub(super) fn is_operand(node: Node<'_>, kinds: &[String]) -> bool {
    if kinds.is_empty() {
        return false;
    }
    let mut node = node;
    let parent = loop {
        let Some(parent) = node.parent() else {
            return false;
        };
        if parent.byte_range() != node.byte_range() {
            break parent;
        }
        node = parent;
    };
    let mut cursor = parent.walk();
    let mut before = parent
        .children(&mut cursor)
        .take_while(|child| child.start_byte() < node.start_byte());
    kinds.iter().any(|kind| is_kind(parent, kind))
        && !before.any(|child| matches!(child.kind(), "(" | "[" | "{"))
}

/// The node of exactly this range.
pub(super) fn at<'t>(tree: &'t Tree, range: &Range<usize>) -> Option<Node<'t>> {
    let root = tree.root_node();
    let node = root.named_descendant_for_byte_range(range.start, range.end)?;
    (node.byte_range() == *range).then_some(node)
}

/// The tokens beside a place on its line, and what begins where it begins.
struct Beside<'t> {
    before: &'t str,
    behind: &'t str,
    begun: Vec<&'t str>,
}

impl<'t> Beside<'t> {
    fn of(text: &'t str, tree: &'t Tree, range: &Range<usize>) -> Self {
        let root = tree.root_node();
        let blanks = [' ', '\t'];
        let end = text[..range.start].trim_end_matches(blanks).len();
        let start = text.len() - text[range.end..].trim_start_matches(blanks).len();
        let token = |from: usize, to: usize| {
            let token = root.descendant_for_byte_range(from, to);
            token.filter(|token| token.child_count() == 0)
        };
        let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
        let before = token(end - last, end).filter(|token| token.end_byte() == end);
        let before = before.map_or(end - last, |token| token.start_byte());
        let first = text[start..].chars().next().map_or(0, char::len_utf8);
        let behind = token(start, start + first).filter(|token| token.start_byte() == start);
        let behind = behind.map_or(start + first, |token| token.end_byte());
        let mut begun = Vec::new();
        // What begins within the place is none of its surroundings.
        let around = root.descendant_for_byte_range(range.start, range.end);
        let mut around = match around {
            Some(node) if node.byte_range() == *range => node.parent(),
            around => around,
        };
        while let Some(node) = around.filter(|node| node.start_byte() == range.start) {
            begun.push(node.kind());
            around = node.parent();
        }
        Self {
            before: &text[before.min(end)..end],
            behind: &text[start..behind],
            begun,
        }
    }

    /// Whether the rule names one of them.
    fn are_named(&self, rule: &Grouped) -> bool {
        let mut first_in = rule.first_in.iter();
        rule.behind.iter().any(|token| token == self.before)
            || rule.before.iter().any(|token| token == self.behind)
            || first_in.any(|kind| self.begun.contains(&kind.as_str()))
    }
}

/// Whether the node is of a kind, which may be followed by a token that the node must hold.
pub(super) fn is_kind(node: Node<'_>, kind: &str) -> bool {
    let Some((kind, token)) = kind.split_once(' ') else {
        return node.kind() == kind;
    };
    let mut cursor = node.walk();
    node.kind() == kind
        && node
            .children(&mut cursor)
            .any(|child| child.kind() == token)
}
