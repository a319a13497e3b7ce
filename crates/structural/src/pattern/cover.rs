//! Which nodes of a parsed scaffold are the fragment.

use std::ops::Range;

use tree_sitter::{Node as Syntax, Tree};

use super::tables::Tables;

/// The nodes that tile the range exactly, if they are whole siblings of one list.
pub(super) fn cover<'t>(
    root: Syntax<'t>,
    range: Range<usize>,
    tables: &Tables,
) -> Option<Vec<Syntax<'t>>> {
    let node = root.named_descendant_for_byte_range(range.start, range.end)?;
    let is_list = |node: Syntax<'_>| {
        let kind = node.kind_id();
        node == root || tables.is_container(kind) || tables.is_transparent(kind)
    };
    if node.byte_range() == range && !is_list(node) {
        return Some(if tables.is_trivia(node) {
            Vec::new()
        } else {
            vec![node]
        });
    }
    // A node that begins where the fragment begins would be a node of the fragment cut in half.
    let around = node.start_byte() < range.start && range.end < node.end_byte();
    if !around && !is_list(node) {
        return None;
    }
    let mut cursor = node.walk();
    let inside: Vec<Syntax<'_>> = node
        .children(&mut cursor)
        .filter(|child| child.start_byte() >= range.start && child.end_byte() <= range.end)
        .filter(|child| !child.byte_range().is_empty())
        .collect();
    // A list with brackets, or a name with its value, is more than its members.
    let is_member = |child: &Syntax<'_>| {
        child.is_named() || tables.is_one(*child) || tables.is_separator(child.kind_id())
    };
    if node != root && node.byte_range() == range && !inside.iter().all(is_member) {
        return Some(vec![node]);
    }
    let (first, last) = (*inside.first()?, *inside.last()?);
    if first.start_byte() != range.start || last.end_byte() != range.end {
        return None;
    }
    // What ends the fragment tells how far a match reaches, be it layout or not.
    let ends = |child: &Syntax<'_>| {
        child == &last && inside.len() > 1 && tables.is_separator(child.kind_id())
    };
    Some(
        inside
            .iter()
            .copied()
            .filter(|child| !tables.is_trivia(*child) || ends(child))
            .collect(),
    )
}

/// The innermost named node of the same range.
pub(super) fn innermost(node: Syntax<'_>) -> Syntax<'_> {
    node.named_descendant_for_byte_range(node.start_byte(), node.end_byte())
        .unwrap_or(node)
}

/// The start of the first ERROR or MISSING node.
pub(super) fn first_error(node: Syntax<'_>) -> Option<usize> {
    if node.is_error() || node.is_missing() {
        // An ERROR node begins with what it could still use; the trouble starts behind it.
        return Some(if node.is_error() && node.child_count() > 0 {
            inner_error(node)
        } else {
            node.start_byte()
        });
    }
    let children = (0..node.child_count()).filter_map(|at| node.child(at));
    children
        .filter(|child| child.has_error())
        .find_map(first_error)
}

fn inner_error(node: Syntax<'_>) -> usize {
    let children = (0..node.child_count()).filter_map(|at| node.child(at));
    let nested = children
        .filter(|child| child.has_error())
        .find_map(first_error);
    nested.unwrap_or_else(|| node.end_byte())
}

/// Whether the tree nests deeper than that.
pub(super) fn is_deep(tree: &Tree, most: usize) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > most {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
