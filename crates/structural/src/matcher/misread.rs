//! What a grammar reads otherwise than its language does, as the language's data tell.
//!
//! Some grammars let a call take in the operators before it, so that `!f(x)` is a call of `!f`, or
//! join two lines that are two statements. A node of theirs that the language has no such thing as
//! is no match, and nothing that a metavariable stands for.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::{Found, Match};
use crate::pattern::Tables;

/// The operand that is really what the outer node begins with: that of the last operator before it.
/// Absent where the grammar has read it right, or where nothing tells what it should have read.
pub(crate) fn begins_with<'t>(outer: Node<'t>, tables: &Tables) -> Option<Node<'t>> {
    let mut node = outer;
    let mut operand = loop {
        let first = node.child(0).filter(Node::is_named)?;
        if tables.is_misread(first.kind_id(), node.kind_id()) {
            break first;
        }
        node = first;
    };
    while tables.is_operation(operand.kind_id()) {
        let last = operand.child(operand.child_count().checked_sub(1)?)?;
        operand = Some(last).filter(Node::is_named)?;
    }
    // Behind a cast stands a type.
    (!tables.is_misread(operand.kind_id(), node.kind_id())).then_some(operand)
}

/// What took in the operator that the node is, or is the right end of.
fn taken_in_by<'t>(node: Node<'t>, tables: &Tables) -> Option<Node<'t>> {
    let mut inner = node;
    while tables.is_operand(inner.kind_id()) {
        let outer = inner.parent()?;
        if takes_in(outer, inner, tables) {
            return Some(outer);
        }
        if outer.end_byte() != node.end_byte() {
            return None;
        }
        inner = outer;
    }
    None
}

/// The prefix that the grammar binds looser than the operator that the node is, or is the left end
/// of.
fn led_by<'t>(node: Node<'t>, tables: &Tables) -> Option<Node<'t>> {
    let mut inner = node;
    while tables.is_operand(inner.kind_id()) {
        let outer = inner.parent()?;
        let leads = outer.child_count() == 2 && outer.child(1) == Some(inner);
        if leads && tables.is_misread(inner.kind_id(), outer.kind_id()) {
            return Some(outer);
        }
        if outer.start_byte() != node.start_byte() {
            return None;
        }
        inner = outer;
    }
    None
}

/// Whether the node took in the operators before it, and is an operand itself.
fn is_swollen(node: Node<'_>, tables: &Tables) -> bool {
    let is_operand = node.parent().is_some_and(|around| {
        tables.takes_operand(around.kind_id()) && around.child(0) == Some(node)
    });
    let mut outer = node;
    while is_operand && let Some(first) = outer.child(0).filter(Node::is_named) {
        if takes_in(outer, first, tables) {
            return true;
        }
        outer = first;
    }
    false
}

fn takes_in(outer: Node<'_>, inner: Node<'_>, tables: &Tables) -> bool {
    tables.is_misread(inner.kind_id(), outer.kind_id()) && outer.child(0) == Some(inner)
}

/// The end of all that follows the operand.
fn whole_end(outer: Node<'_>, tables: &Tables) -> usize {
    let mut node = outer;
    while let Some(around) = node.parent()
        && tables.takes_operand(around.kind_id())
        && around.child(0) == Some(node)
    {
        node = around;
    }
    node.end_byte()
}

/// The end of the first operand of an operator.
fn first_end(operator: Node<'_>, tables: &Tables) -> usize {
    let mut node = operator;
    while tables.is_operand(node.kind_id())
        && let Some(first) = node.child(0)
    {
        node = first;
    }
    node.end_byte()
}

/// Makes of the matches what the language has there, and leaves out those that it has no such code
/// for.
pub(super) fn mend(found: &mut Found, tree: &Tree, tables: &Tables) {
    if found.matches.is_empty() {
        return;
    }
    let survey = Survey::of(tree, tables);
    let mut left_out = Vec::new();
    found.matches.retain_mut(|found| {
        let sound =
            (!survey.misread || mend_match(found, tree, tables)) && !survey.is_joined(found);
        if !sound {
            left_out.push(found.range.clone());
        }
        sound
    });
    // What the operators before it were taken from is found by itself.
    left_out.retain(|range| {
        !found
            .matches
            .iter()
            .any(|found| found.range.end == range.end)
    });
    found.misread = left_out.into_iter().map(|range| range.start).collect();
}

/// Whether the match is one in the language too. An operator reaches to the end of what took it in
/// and to the start of the prefix before it, and so does what stands for its operand there.
fn mend_match(found: &mut Match, tree: &Tree, tables: &Tables) -> bool {
    let at = |range: &Range<usize>| {
        let root = tree.root_node();
        let node = root.named_descendant_for_byte_range(range.start, range.end);
        node.filter(|node| node.byte_range() == *range)
    };
    let (mut later, mut earlier) = (None, None);
    if let Some(node) = at(&found.range) {
        if is_swollen(node, tables) {
            return false;
        }
        if let Some(outer) = taken_in_by(node, tables) {
            let Some(operand) = begins_with(outer, tables) else {
                return false;
            };
            later = Some((operand.byte_range(), whole_end(outer, tables)));
        }
        earlier = led_by(node, tables).map(|prefix| (first_end(node, tables), prefix.start_byte()));
    }
    let whole = found.range.clone();
    let (mut ends, mut begins) = (later.is_none(), earlier.is_none());
    for capture in found.captures.iter_mut().flatten() {
        let range = capture.range.clone();
        let mut grown = false;
        if let Some((operand, end)) = &later
            && range.end == operand.end
        {
            ends |= range.start <= operand.start;
            capture.range.end = *end;
            grown = true;
        }
        if let Some((operand_end, start)) = &earlier
            && range.start == whole.start
        {
            begins |= range.end >= *operand_end;
            capture.range.start = *start;
            grown = true;
        }
        let Some(node) = at(&range).filter(|_| !grown) else {
            continue;
        };
        match led_by(node, tables) {
            Some(prefix) if prefix.byte_range() == whole => {
                capture.range.end = first_end(node, tables);
                found.range.end = capture.range.end;
            }
            Some(_) => return false,
            None if is_swollen(node, tables) || taken_in_by(node, tables).is_some() => {
                return false;
            }
            None => {}
        }
    }
    if let Some((_, end)) = later {
        found.range.end = end;
    }
    if let Some((_, start)) = earlier {
        found.range.start = start;
    }
    ends && begins
}

/// What of a file is misread. Most have nothing of it, and to ask for the parent of a node takes as
/// long as it stands deep.
struct Survey {
    /// Whether there are operands that the language does not have bare.
    misread: bool,
    /// Where lines are joined that are statements of their own: the start of what stands on the later
    /// line, and the statement that it seems to be a part of.
    joined: Vec<(usize, Range<usize>)>,
}

impl Survey {
    fn of(tree: &Tree, tables: &Tables) -> Self {
        let mut survey = Self {
            misread: false,
            joined: Vec::new(),
        };
        let mut around: Vec<u16> = Vec::new();
        // On which the token before this one ends.
        let mut row = usize::MAX;
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let kind = node.kind_id();
            let outer = around.last();
            survey.misread |= outer.is_some_and(|outer| tables.is_misread(kind, *outer));
            if tables.is_same_line(kind) && row < node.start_position().row {
                let statement = statement(node, tables).byte_range();
                survey.joined.push((node.start_byte(), statement));
            }
            if cursor.goto_first_child() {
                around.push(kind);
                continue;
            }
            row = node.end_position().row;
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return survey;
                }
                around.pop();
            }
        }
    }

    /// Whether the match holds two statements for one.
    fn is_joined(&self, found: &Match) -> bool {
        let range = &found.range;
        let inside = |(at, _): &&(usize, _)| range.start < *at && *at < range.end;
        self.joined.iter().filter(inside).any(|(_, statement)| {
            let mut captures = found.captures.iter().flatten();
            !captures.any(|capture| {
                capture.range.start <= statement.start && statement.end <= capture.range.end
            })
        })
    }
}

/// The statement that the node stands in.
fn statement<'t>(node: Node<'t>, tables: &Tables) -> Node<'t> {
    let mut node = node;
    while let Some(parent) = node.parent() {
        let is_body = parent.parent().is_none()
            || tables.is_container(parent.kind_id())
            || parent.child(0).is_some_and(|first| first.kind() == "{");
        if is_body {
            break;
        }
        node = parent;
    }
    node
}
