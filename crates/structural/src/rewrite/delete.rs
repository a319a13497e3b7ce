//! What goes with a match that is deleted.

use std::ops::Range;

use tree_sitter::Node;

use super::File;

/// The bytes to delete: the match, with the rest of the statement that it is, with one separator of
/// the list that it stands in, and with its line if nothing else is on it.
pub(super) fn extent(file: &File<'_>, range: &Range<usize>) -> Range<usize> {
    let mut extent = range.clone();
    if let Some(node) = node_at(file, range) {
        // A terminator on a later line parts what is before the match from what follows.
        let rest = &file.text[range.end..node.end_byte().max(range.end)];
        let own = if rest.trim_end().contains('\n') {
            range.end
        } else {
            node.end_byte()
        };
        extent = extent.start.min(node.start_byte())..extent.end.max(own);
        let is_separator =
            |node: &Node<'_>| !node.is_named() && file.tables.is_separator(node.kind_id());
        if let Some(next) = node.next_sibling().filter(is_separator) {
            extent.end = extent.end.max(next.end_byte());
            if next
                .next_sibling()
                .is_some_and(|after| after.start_position().row == next.end_position().row)
                && !starts_line(file, extent.start)
            {
                extent.end += leading_space(&file.text[extent.end..]);
            }
        } else if let Some(previous) = node.prev_sibling().filter(is_separator) {
            extent.start = extent.start.min(previous.start_byte());
        }
    }
    whole_lines(file, extent)
}

/// Whether the range is all that there is between two tokens that must not meet.
pub(super) fn is_sole_between(
    file: &File<'_>,
    range: &Range<usize>,
    pairs: &[[String; 2]],
) -> bool {
    let before = file.text[..range.start].trim_end();
    let after = file.text[range.end..].trim_start();
    let after = after.strip_prefix(';').map_or(after, str::trim_start);
    pairs
        .iter()
        .any(|[open, close]| before.ends_with(open) && after.starts_with(close))
}

/// Whether the range is all that there is of a body: what follows would take its place.
pub(super) fn is_sole_body(file: &File<'_>, range: &Range<usize>) -> bool {
    let Some(node) = node_at(file, range) else {
        return false;
    };
    let Some(parent) = node.parent() else {
        return false;
    };
    if file.tables.is_container(parent.kind_id()) {
        // A block by indentation; one in brackets may be empty.
        let bracketed = parent
            .parent()
            .is_some_and(|outer| outer.child(0).is_some_and(|child| child.kind() == "{"));
        return !bracketed && parent.parent().is_some() && parent.named_child_count() == 1;
    }
    let mut cursor = parent.walk();
    let index = parent.children(&mut cursor).position(|child| child == node);
    let field = index
        .and_then(|index| u32::try_from(index).ok())
        .and_then(|index| parent.field_name_for_child(index));
    matches!(field, Some("body" | "consequence" | "alternative")) || parent.kind() == "else_clause"
}

/// The outermost node that is the range but for a terminator.
fn node_at<'t>(file: &File<'t>, range: &Range<usize>) -> Option<Node<'t>> {
    let is_whole = |node: &Node<'_>| {
        let rest = file
            .text
            .get(range.end..node.end_byte())
            .unwrap_or_default();
        node.start_byte() == range.start && matches!(rest.trim(), "" | ";")
    };
    let root = file.tree.root_node();
    let mut node = root
        .named_descendant_for_byte_range(range.start, range.end)
        .filter(is_whole)?;
    while let Some(parent) = node
        .parent()
        .filter(|parent| *parent != root && is_whole(parent))
    {
        node = parent;
    }
    Some(node)
}

fn starts_line(file: &File<'_>, byte: usize) -> bool {
    let line = file.text[..byte].rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty()
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

fn whole_lines(file: &File<'_>, extent: Range<usize>) -> Range<usize> {
    let after = &file.text[extent.end..];
    let line_end = after.find('\n').map_or(after.len(), |at| at + 1);
    if !starts_line(file, extent.start) {
        return extent;
    }
    if !after[..line_end].trim().is_empty() {
        // What follows on the line takes the place, and its indentation.
        return extent.start..extent.end + leading_space(after);
    }
    let start = file.text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
    without_blanks(file.text, start..extent.end + line_end)
}

/// Whole lines, with the blank lines that would be left over: those that double others, and those
/// that nothing stands before or behind.
fn without_blanks(text: &str, lines: Range<usize>) -> Range<usize> {
    let before = text[..lines.start].trim_end();
    let behind = text[lines.end..].trim_start();
    // The line end of what stands before is no blank line.
    let first_above = text[before.len()..lines.start].find('\n');
    let first_above = match first_above {
        Some(at) if !before.is_empty() => before.len() + at + 1,
        _ => before.len(),
    };
    let above = text[first_above..lines.start].matches('\n').count();
    let blanks = &text[lines.end..text.len() - behind.len()];
    let below = blanks.matches('\n').count();
    if behind.is_empty() || behind.starts_with(['}', ')', ']']) {
        return first_above..lines.end;
    }
    let left_over = if before.is_empty() || before.ends_with(['{', '(', '[', ':']) {
        below
    } else {
        above.min(below)
    };
    let ends = blanks.match_indices('\n').map(|(at, _)| at + 1);
    let end = ends.take(left_over).last().unwrap_or(0);
    lines.start..lines.end + end
}
