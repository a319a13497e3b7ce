//! Lists and bodies of a template: the layout of those that their members were taken from, and the
//! separators beside an empty run.

use std::ops::Range;

use tree_sitter::Node;

use super::layout::KEPT_LINE_END;
use super::piece::Piece;
use super::template::Part;
use super::{File, contains};
use crate::matcher::{Capture, Match};

/// A list of the file between brackets, of which a metavariable captured members.
struct Source<'a> {
    open: u8,
    /// The white space behind the opening bracket.
    lead: &'a str,
    /// The white space before the closing bracket.
    trail: &'a str,
    /// What stands between the capture and that white space: a separator, comments.
    tail: Range<usize>,
    /// The indentation of the line that the opening bracket stands on.
    indent: &'a str,
    /// Whether the capture is a run.
    run: bool,
}

impl<'a> Source<'a> {
    /// The white space of the line that the closing bracket begins.
    fn closing(&self) -> Option<&'a str> {
        self.trail.rsplit_once('\n').map(|(_, own)| own)
    }
}

/// A pair of brackets of a template.
struct Group {
    open: (usize, usize),
    close: (usize, usize),
    /// The separators between its members.
    separators: Vec<(usize, usize)>,
    /// The parts directly in it that are metavariables.
    holes: Vec<usize>,
    /// The white space that its line begins with.
    indent: String,
    /// Whether the template lays it out in lines itself.
    has_lines: bool,
}

/// The number of a literal part, what of it is replaced, and by what.
type Edit = (usize, Range<usize>, Vec<Part>);

/// The parts of a template for one site: a list that is written on one line there, but was one
/// member a line in the file, is one member a line again, and what stands behind its last member
/// stays.
pub(super) fn laid_out<'a>(
    file: &'a File<'a>,
    comments: &[Range<usize>],
    found: &Match,
    parts: Vec<Part>,
) -> Vec<Part> {
    let captured = |part: usize| match &parts[part] {
        Part::Hole(variable) => found.captures.get(*variable).and_then(Option::as_ref),
        _ => None,
    };
    let mut edits: Vec<Edit> = Vec::new();
    let all = groups(&parts);
    let home = file.indent_at(found.range.start);
    // The part behind which the line is the template's own again.
    let mut behind_lines = 0;
    for group in &all {
        let sources = group.holes.iter().filter_map(|&hole| {
            let source = source(file, comments, found, captured(hole)?)?;
            Some((hole, source))
        });
        let open = letter(&parts, group.open);
        let sources: Vec<(usize, Source<'_>)> = sources
            .filter(|(_, source)| source.run || source.open == open)
            .collect();
        let Some((_, first)) = sources.first() else {
            continue;
        };
        let same = first.open == open;
        let last = sources
            .iter()
            .find(|(hole, _)| closes(&parts, *hole, group.close));
        let mut tail = Vec::new();
        match last {
            Some((_, source)) if same && !source.tail.is_empty() => {
                tail.push(Part::Kept(source.tail.clone()));
            }
            _ if same && !group.has_lines => {
                let tails = sources
                    .iter()
                    .map(|(_, source)| &file.text[source.tail.clone()]);
                let separator = tails.flat_map(|tail| tail.chars().next()).next();
                let separator = separator.filter(|letter| matches!(letter, ',' | ';'));
                tail.extend(separator.map(|letter| Part::Literal(letter.to_string())));
            }
            _ => {}
        }
        let before = blanks_before(&parts, group.close);
        let further = further_in(file, &parts, behind_lines..group.open.0, &captured);
        let indent = format!("{}{further}", group.indent);
        // A bracket that stands behind a wrapped head, or a string of several lines, closes where the
        // statement begins.
        let moves = |source: &Source<'a>| match source.closing() {
            Some(own) if own == home || !own.starts_with(source.indent) => {
                (own, group.indent.clone())
            }
            _ => (source.indent, indent.clone()),
        };
        let (from, to) = moves(first);
        let lines = (!group.has_lines).then(|| lines(first, (from, &to)));
        let Some((member, end)) = lines.flatten() else {
            let closing = last.filter(|_| same && !group.has_lines);
            let closing = closing.and_then(|(_, source)| {
                let (from, to) = moves(source);
                line(source.trail, from, &to)
            });
            let at = group.close.1 - before;
            // The separator goes before the blanks that the template has there.
            if let Some(closing) = closing {
                behind_lines = group.close.0;
                tail.push(Part::Literal(closing));
                edits.push((group.close.0, at..group.close.1, tail));
            } else if last.is_some() && !tail.is_empty() {
                edits.push((group.close.0, at..at, tail));
            }
            continue;
        };
        if end.contains('\n') {
            behind_lines = group.close.0;
        }
        let (part, at) = (group.open.0, group.open.1 + 1);
        let range = at..at + blanks_behind(&parts, (part, at));
        edits.push((part, range, vec![Part::Literal(member.clone())]));
        for &(part, at) in &group.separators {
            let ended = sources.iter().find(|(hole, source)| {
                let begins = file.text[source.tail.clone()].as_bytes().first();
                begins == Some(&letter(&parts, (part, at))) && closes(&parts, *hole, (part, at))
            });
            let separator = match ended {
                Some((_, source)) => Part::Kept(source.tail.clone()),
                None => Part::Literal(char::from(letter(&parts, (part, at))).to_string()),
            };
            let range = at..at + 1 + blanks_behind(&parts, (part, at + 1));
            edits.push((part, range, vec![separator, Part::Literal(member.clone())]));
        }
        tail.push(Part::Literal(end));
        edits.push((group.close.0, group.close.1 - before..group.close.1, tail));
    }
    let has_lines = parts
        .iter()
        .any(|part| matches!(part, Part::Literal(text) if text.contains('\n')));
    if !has_lines {
        let grouped: Vec<usize> = all.iter().flat_map(|group| group.holes.clone()).collect();
        let free = (0..parts.len()).filter(|part| !grouped.contains(part));
        for part in free {
            edits.extend(
                on_lines(file, found, &parts, part, captured(part))
                    .into_iter()
                    .flatten(),
            );
        }
    }
    edited(parts, edits)
}

/// What puts a run on lines of its own, if it had them between the tokens beside it (the children of
/// an element, a body without brackets).
fn on_lines(
    file: &File<'_>,
    found: &Match,
    parts: &[Part],
    hole: usize,
    capture: Option<&Capture>,
) -> Option<[Edit; 2]> {
    let range = &capture
        .filter(|capture| capture.run && !capture.range.is_empty())?
        .range;
    let before = file.text[found.range.start..range.start].trim_end();
    let behind = file.text[range.end..found.range.end].trim_start();
    let start = found.range.start + before.len();
    let end = found.range.end - behind.len();
    let line = |white: &str| line(white, file.indent_at(start), "");
    let edit =
        |part: usize, blanks: Range<usize>, text: String| (part, blanks, vec![Part::Literal(text)]);
    let (first, last) = (hole.checked_sub(1)?, hole + 1);
    let Part::Literal(text) = &parts[first] else {
        return None;
    };
    let lead = line(&file.text[start..range.start])?;
    let lead = edit(first, text.trim_end().len()..text.len(), lead);
    let trail = match parts.get(last) {
        None => edit(first, 0..0, String::new()),
        // What parts the run from the rest says that both are on one line.
        Some(Part::Literal(text)) if text.trim_start().starts_with([',', ';']) => return None,
        Some(Part::Literal(text)) => {
            let blanks = text.len() - text.trim_start().len();
            edit(last, 0..blanks, line(&file.text[range.end..end])?)
        }
        Some(_) => return None,
    };
    Some([lead, trail])
}

/// What stands before a member, and what before the closing bracket, if the list has lines.
fn lines(source: &Source<'_>, (from, to): (&str, &str)) -> Option<(String, String)> {
    let end = if source.closing().is_some() {
        line(source.trail, from, to)?
    } else {
        source.trail.to_owned()
    };
    Some((line(source.lead, from, to)?, end))
}

/// White space with line ends, moved from one indentation to another.
fn line(white: &str, from: &str, to: &str) -> Option<String> {
    let (ends, own) = white.rsplit_once('\n')?;
    let rest = own.strip_prefix(from)?;
    let ends = ends.matches('\n').count() + 1;
    Some(format!("{}{to}{rest}", "\n".repeat(ends)))
}

/// How much deeper a line is indented than the template's own, by the captures of these parts before
/// it that end on a line of their own (a chain of calls).
fn further_in<'c>(
    file: &File<'_>,
    parts: &[Part],
    before: Range<usize>,
    captured: &dyn Fn(usize) -> Option<&'c Capture>,
) -> String {
    let mut further = String::new();
    for index in before {
        match &parts[index] {
            Part::Literal(text) if text.contains('\n') => further.clear(),
            Part::Literal(_) => {}
            Part::Hole(_) | Part::Kept(_) => {
                let Some(range) = captured(index).map(|capture| &capture.range) else {
                    continue;
                };
                let Some((_, last)) = file.text[range.clone()].rsplit_once('\n') else {
                    continue;
                };
                let own = &last[..last.len() - last.trim_start_matches([' ', '\t']).len()];
                let deeper = own.strip_prefix(file.indent_at(range.start));
                further.push_str(deeper.unwrap_or_default());
            }
        }
    }
    further
}

/// The list of the file that a capture stands in, inside the match.
fn source<'a>(
    file: &'a File<'a>,
    comments: &[Range<usize>],
    found: &Match,
    capture: &Capture,
) -> Option<Source<'a>> {
    let range = &capture.range;
    if range.is_empty() {
        return None;
    }
    let root = file.tree.root_node();
    let mut node = root.descendant_for_byte_range(range.start, range.end)?;
    let (open, close) = loop {
        if let Some(pair) = brackets(node, range) {
            break pair;
        }
        node = node.parent()?;
    };
    if !contains(&found.range, &(open.start_byte()..close.end_byte())) {
        return None;
    }
    let text: &'a str = file.text;
    let inside: &'a str = &text[open.end_byte()..close.start_byte()];
    let lead = &inside[..inside.len() - inside.trim_start().len()];
    let trail = &inside[inside.trim_end().len()..];
    // Behind a run that is the last there may be a separator, and comments.
    let mut end = range.end;
    loop {
        let rest = &text[end..close.start_byte()];
        let blanks = rest.len() - rest.trim_start().len();
        let next = end + blanks;
        if next == close.start_byte() {
            break;
        }
        let comment = comments.iter().find(|comment| comment.start == next);
        let is_separator = || {
            let token = root.descendant_for_byte_range(next, next + 1);
            token.is_some_and(|token| file.tables.is_mark(token))
        };
        end = match comment {
            Some(comment) => next + text[comment.clone()].trim_end().len(),
            None if is_separator() => next + 1,
            None => {
                end = range.end;
                break;
            }
        };
    }
    Some(Source {
        open: text.as_bytes()[open.start_byte()],
        lead,
        trail,
        tail: range.end..end,
        indent: file.indent_at(open.start_byte()),
        run: capture.run,
    })
}

/// The pair of brackets of a node between which the range stands.
fn brackets<'t>(node: Node<'t>, range: &Range<usize>) -> Option<(Node<'t>, Node<'t>)> {
    let mut cursor = node.walk();
    let mut children = node.children(&mut cursor);
    let is_bracket = |child: &Node<'_>| matches!(child.kind(), "(" | ")" | "[" | "]" | "{" | "}");
    let mut open = None;
    let close = children.find(|child| {
        if is_bracket(child) && child.end_byte() <= range.start {
            open = Some(*child);
        }
        is_bracket(child) && range.end <= child.start_byte()
    })?;
    let open = open?;
    let is_pair = match (open.kind(), close.kind()) {
        ("(", ")") | ("[", "]") => node.child(0) == Some(open) && close.next_sibling().is_none(),
        // A body may stand in the statement itself, with what follows it.
        ("{", "}") => true,
        _ => false,
    };
    is_pair.then_some((open, close))
}

/// The pairs of brackets in the literal parts of a template; none where they do not pair up.
fn groups(parts: &[Part]) -> Vec<Group> {
    let mut done = Vec::new();
    let mut open: Vec<Group> = Vec::new();
    let mut indent = String::new();
    let mut starts_line = false;
    for (part, piece) in parts.iter().enumerate() {
        let Part::Literal(text) = piece else {
            if let Some(group) = open.last_mut() {
                group.holes.push(part);
            }
            starts_line = false;
            continue;
        };
        let mut letters = text.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\n' => {
                    indent.clear();
                    starts_line = true;
                    open.iter_mut().for_each(|group| group.has_lines = true);
                }
                ' ' | '\t' if starts_line => indent.push(letter),
                _ => starts_line = false,
            }
            match letter {
                '(' | '[' | '{' => open.push(Group {
                    open: (part, at),
                    close: (part, at),
                    separators: Vec::new(),
                    holes: Vec::new(),
                    indent: indent.clone(),
                    has_lines: false,
                }),
                ')' | ']' | '}' => {
                    let Some(mut group) = open.pop() else {
                        return Vec::new();
                    };
                    group.close = (part, at);
                    done.push(group);
                }
                ',' | ';' => {
                    if let Some(group) = open.last_mut() {
                        group.separators.push((part, at));
                    }
                }
                // Brackets in a string literal are no brackets.
                '"' | '\'' | '`' => {
                    let rest = &text[at + 1..];
                    if let Some(end) = rest.find(letter)
                        && !rest[..end].contains('\n')
                    {
                        let end = at + 1 + end;
                        while letters.offset() <= end && letters.next().is_some() {}
                    }
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { done } else { Vec::new() }
}

fn letter(parts: &[Part], (part, at): (usize, usize)) -> u8 {
    match &parts[part] {
        Part::Literal(text) => text.as_bytes()[at],
        _ => 0,
    }
}

/// Whether nothing but white space stands between the metavariable and the bracket.
fn closes(parts: &[Part], hole: usize, close: (usize, usize)) -> bool {
    hole + 1 == close.0
        && matches!(&parts[close.0], Part::Literal(text) if text[..close.1].trim().is_empty())
}

/// The number of spaces behind this place, or before it.
fn blanks_behind(parts: &[Part], (part, at): (usize, usize)) -> usize {
    let Part::Literal(text) = &parts[part] else {
        return 0;
    };
    text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len()
}

fn blanks_before(parts: &[Part], (part, at): (usize, usize)) -> usize {
    let Part::Literal(text) = &parts[part] else {
        return 0;
    };
    at - text[..at].trim_end().len()
}

/// The parts with the ranges of literals replaced, neighbouring literals as one.
fn edited(parts: Vec<Part>, mut edits: Vec<Edit>) -> Vec<Part> {
    if edits.is_empty() {
        return parts;
    }
    edits.sort_by_key(|(part, range, _)| (*part, range.start));
    let mut edits = edits.into_iter().peekable();
    let mut written: Vec<Part> = Vec::new();
    let mut push = |part: Part| match (written.last_mut(), part) {
        (Some(Part::Literal(before)), Part::Literal(text)) => before.push_str(&text),
        (_, part) => written.push(part),
    };
    for (index, part) in parts.into_iter().enumerate() {
        let Part::Literal(text) = part else {
            push(part);
            continue;
        };
        let mut done = 0;
        while let Some((_, range, with)) = edits.next_if(|(part, ..)| *part == index) {
            let start = range.start.max(done);
            push(Part::Literal(text[done..start].to_owned()));
            with.into_iter().for_each(&mut push);
            done = range.end.max(start);
        }
        push(Part::Literal(text[done..].to_owned()));
    }
    written.retain(|part| !matches!(part, Part::Literal(text) if text.is_empty()));
    written
}

/// An empty run takes a separator beside it along, and the line that it has for itself.
/// Returns where to go on.
pub(super) fn skip_empty_run(
    piece: &mut Piece,
    parts: &[Part],
    index: usize,
    base_indent: &str,
) -> usize {
    // A `;` ends the statement before it, whatever follows.
    let is_separator = |letter: char| letter == ',';
    let Some(Part::Literal(after)) = parts.get(index + 1) else {
        let kept = piece
            .text
            .trim_end_matches([' ', '\t'])
            .trim_end_matches(is_separator)
            .len();
        if kept < piece.text.trim_end_matches([' ', '\t']).len() || index + 1 == parts.len() {
            piece.text.truncate(kept);
        }
        return index + 1;
    };
    let mut after = after.replace('\n', &format!("\n{base_indent}"));
    let line = piece.text.rsplit('\n').next().unwrap_or_default();
    let before = piece.text.trim_end_matches([' ', '\t', '\n']);
    let closes = after.trim_start().starts_with([')', ']', '}', '>', '|']);
    if let Some(rest) = after
        .trim_start_matches([' ', '\t'])
        .strip_prefix(is_separator)
    {
        after = rest.trim_start_matches([' ', '\t']).to_owned();
    } else if before.ends_with(is_separator) && closes && !before.is_empty() {
        let kept = before.len() - 1;
        piece.text.truncate(kept);
    } else if line.trim().is_empty() && piece.text.contains('\n') && after.starts_with('\n') {
        let kept = piece.text.len() - line.len() - 1;
        piece.text.truncate(kept);
    } else if before.len() < piece.text.len() && after.starts_with([' ', '\t']) {
        after = after.trim_start_matches([' ', '\t']).to_owned();
    } else if before.len() < piece.text.len() && after.starts_with('>') {
        // The end of a tag whose last attributes are not there.
        piece.text.truncate(before.len());
    }
    piece.text.push_str(&after);
    index + 2
}

/// A capture that ends in a line comment must not swallow what follows on its line.
pub(super) fn end_line_comment(
    file: &File<'_>,
    comments: &[Range<usize>],
    piece: &mut Piece,
    parts: &mut [Part],
    index: usize,
    indent: &str,
) {
    let last_line = piece
        .text
        .rsplit(['\n', KEPT_LINE_END])
        .next()
        .unwrap_or_default();
    let comment = comments.iter().find_map(|range| {
        let comment = file.text[range.clone()].trim_end();
        let to_line_end = file.text[range.end..].trim_start_matches([' ', '\t', '\r']);
        let is_last = !comment.ends_with("*/")
            && to_line_end.starts_with('\n')
            && last_line.ends_with(comment);
        is_last.then_some(comment.len())
    });
    let Some(comment) = comment else {
        return;
    };
    // A separator stands before the comment on its line.
    if let Some(Part::Literal(text)) = parts.get_mut(index + 1)
        && let Some(letter @ (',' | ';')) = text.chars().next()
    {
        text.remove(0);
        let before = piece.text[..piece.text.len() - comment].trim_end().len();
        piece.text.insert(before, letter);
    }
    let follows = match parts.get(index + 1) {
        Some(Part::Literal(text)) => !text.is_empty() && !text.starts_with('\n'),
        Some(Part::Hole(_) | Part::Kept(_)) => true,
        None => false,
    };
    if follows {
        piece.text.push('\n');
        piece.text.push_str(indent);
    }
}
