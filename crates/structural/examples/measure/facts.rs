//! What the syntax tree says of a place where one search found something and another did not.

use std::error::Error;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::{Match, find, near_misses};
use terret_structural::pattern::Pattern;
use tree_sitter::{Node, Parser, Tree};

/// The most bytes of a text that are told.
const MOST_BYTES: usize = 300;
/// How many of them are those at the end.
const END: usize = 30;

/// A file with all that the pattern means in it.
struct File {
    path: String,
    source: Vec<u8>,
    tree: Tree,
    matches: Vec<Match>,
    /// Where what is found has more than the pattern shows, and what.
    near: Vec<(Range<usize>, String)>,
    /// The kinds of code that the pattern is read as.
    kinds: Vec<String>,
    /// The kinds of the language's string literals.
    strings: Vec<String>,
    variables: Vec<String>,
}

/// Reads places and tells each with its facts; how many there were. Places of a file follow each
/// other. A place may name the end of another match that begins where it does (`other_end`).
pub(crate) fn tell(
    folder: &str,
    language: &str,
    pattern: &str,
    out: &mut impl Write,
) -> Result<usize, Box<dyn Error>> {
    let mut patterns: Vec<(String, Pattern)> = Vec::new();
    let mut open: Option<File> = None;
    let mut count = 0;
    for line in std::io::stdin().lock().lines() {
        let place: Value = serde_json::from_str(&line?)?;
        let path = place["path"].as_str().ok_or("no path")?;
        let number = |name: &str| place[name].as_u64().and_then(|at| usize::try_from(at).ok());
        let start = number("start").ok_or("no start")?;
        let end = number("end").ok_or("no end")?;
        if open.as_ref().is_none_or(|file| file.path != path) {
            let name = Path::new(path).file_name().unwrap_or_default();
            let ids = Shipped.ids_of_file(&name.to_string_lossy());
            let id = if ids.contains(&language) {
                language
            } else {
                ids.first().copied().unwrap_or(language)
            };
            if !patterns.iter().any(|(known, _)| known == id) {
                let grammar = Shipped.grammar(id)?;
                patterns.push((id.to_owned(), Pattern::compile(&grammar, pattern, None)?));
            }
            let known = patterns.iter().find(|(known, _)| known == id);
            open = Some(read(folder, path, &known.ok_or("it was put in")?.1)?);
        }
        let file = open.as_ref().ok_or("it was opened")?;
        writeln!(out, "{}", file.facts(start..end, number("other_end")))?;
        count += 1;
    }
    Ok(count)
}

fn read(folder: &str, path: &str, pattern: &Pattern) -> Result<File, Box<dyn Error>> {
    let source = std::fs::read(Path::new(folder).join(path))?;
    let mut parser = Parser::new();
    parser.set_language(pattern.grammar().language())?;
    let tree = parser.parse(&source, None).ok_or("nothing stops it")?;
    let near = near_misses(pattern, &tree, &source, &|| false);
    let readings = pattern.readings().iter();
    Ok(File {
        path: path.to_owned(),
        matches: find(pattern, &tree, &source, &|| false).matches,
        near: near
            .into_iter()
            .map(|miss| (miss.range, miss.extras))
            .collect(),
        kinds: readings.map(|reading| reading.kind().to_owned()).collect(),
        strings: pattern.grammar().data().strings.clone(),
        variables: pattern.variables().to_vec(),
        source,
        tree,
    })
}

impl File {
    fn facts(&self, range: Range<usize>, other_end: Option<usize>) -> Value {
        let root = self.tree.root_node();
        let node = self.around(&range);
        let nodes: Vec<Node<'_>> = same_place(node).collect();
        let children: Vec<&str> = nodes.iter().flat_map(|node| children(*node)).collect();
        let inner_children: Vec<&str> = nodes
            .iter()
            .flat_map(|node| inner_children(*node))
            .collect();
        let text = &self.source[range.start..range.end.min(self.source.len())];
        let near = self
            .near
            .iter()
            .find(|(place, _)| place.start == range.start && place.end.abs_diff(range.end) <= 1);
        let found = self.matches.iter().find(|found| found.range == range);
        let captures: Vec<_> = found
            .iter()
            .flat_map(|found| found.captures.iter().flatten())
            .collect();
        let single: Vec<Node<'_>> = captures
            .iter()
            .filter(|capture| !capture.run)
            .map(|capture| self.around(&capture.range))
            .collect();
        let runs = captures.iter().filter(|capture| capture.run);
        let empty_run = runs.clone().any(|run| run.range.is_empty());
        let captured: Vec<Range<usize>> = captures
            .iter()
            .map(|capture| self.without_comments_before(node, &capture.range))
            .collect();
        let tail = other_end.map(|end| range.end.min(end)..range.end.max(end));
        json!({
            "path": self.path,
            "start": range.start,
            "end": range.end,
            "text": shortened(text),
            "kinds": nodes.iter().map(Node::kind).collect::<Vec<_>>(),
            "exact": node.start_byte() == range.start && node.end_byte() == range.end,
            "error_inside": node.has_error(),
            "comment": holds_comment(node, &range, &captured),
            "token_captured": single.iter().any(|node| !node.is_named()),
            "string_parts": runs.filter_map(|run| self.string_parts(&run.range)).collect::<Vec<_>>(),
            "empty_run": empty_run,
            "members": single.iter().filter_map(|node| Some(members(node.parent()?))).max(),
            "open_members": open_members(node, 4),
            "bare_runs": found.map(|found| self.bare_runs(found)),
            "children": children,
            "inner_children": inner_children,
            "kinds_differ": single.iter().any(|node| self.is_other_kind_elsewhere(*node, &range)),
            "utf8": std::str::from_utf8(&self.source).is_ok(),
            "near": near.map(|(_, extras)| extras),
            "read_as": self.kinds,
            "trivial_tail": tail.map(|tail| self.is_trivial(root, &tail)),
        })
    }

    /// The largest of the smallest nodes that cover these bytes.
    fn around(&self, range: &Range<usize>) -> Node<'_> {
        let root = self.tree.root_node();
        let mut node = root
            .descendant_for_byte_range(range.start, range.end)
            .unwrap_or(root);
        while let Some(outer) = node
            .parent()
            .filter(|outer| outer.byte_range() == node.byte_range())
        {
            node = outer;
        }
        node
    }

    /// The bytes from the first node on that is no comment.
    fn without_comments_before(&self, node: Node<'_>, range: &Range<usize>) -> Range<usize> {
        let mut cursor = node.walk();
        let mut start = range.start;
        loop {
            let inside = node
                .children(&mut cursor)
                .find(|child| child.end_byte() > start);
            let comment = inside.and_then(|child| comment_at(child, start));
            match comment.filter(|end| *end < range.end) {
                Some(end) => {
                    let rest = &self.source[end..range.end];
                    start = range.end - rest.trim_ascii_start().len();
                }
                None => return start..range.end,
            }
        }
    }

    /// The runs that stand between no brackets here.
    fn bare_runs(&self, found: &Match) -> Vec<&str> {
        let all = self.variables.iter().zip(&found.captures);
        let runs = all.filter_map(|(name, capture)| Some((name, capture.as_ref()?)));
        let bare = runs.filter(|(_, capture)| {
            let before = self.source[..capture.range.start].trim_ascii_end();
            capture.run && !before.ends_with(b"(")
        });
        bare.map(|(name, _)| name.as_str()).collect()
    }

    /// Whether the same text stands a second time in these bytes and is another kind of code there.
    fn is_other_kind_elsewhere(&self, node: Node<'_>, range: &Range<usize>) -> bool {
        let text = &self.source[node.byte_range()];
        memchr::memmem::find_iter(&self.source[range.clone()], text).any(|at| {
            let start = range.start + at;
            let place = start..start + text.len();
            let other = self.around(&place);
            other.byte_range() == place && other.kind() != node.kind()
        })
    }

    /// Of how many nodes the body of a string literal consists; absent if these bytes are none.
    fn string_parts(&self, body: &Range<usize>) -> Option<usize> {
        let inside = body.start.checked_sub(1)?..body.end + 1;
        let is_string = |node: &Node<'_>| self.strings.iter().any(|kind| kind == node.kind());
        // Some lists have no brackets, and are then no longer than their only member.
        let node = same_place(self.around(&inside)).find(is_string)?;
        let mut cursor = node.walk();
        let children = node.children(&mut cursor);
        let parts = children.filter(|child| {
            child.start_byte() >= body.start
                && child.end_byte() <= body.end
                && child.end_byte() > child.start_byte()
        });
        Some(parts.count())
    }

    /// Whether nothing but comments, layout and separators stand there.
    fn is_trivial(&self, node: Node<'_>, range: &Range<usize>) -> bool {
        if node.end_byte() <= range.start || node.start_byte() >= range.end || node.is_extra() {
            return true;
        }
        if node.child_count() == 0 {
            let from = node.start_byte().max(range.start);
            let text = &self.source[from..node.end_byte().min(range.end)];
            return matches!(text.trim_ascii(), b"" | b"," | b";");
        }
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .all(|child| self.is_trivial(child, range))
    }
}

/// A text without its middle, where it is long.
fn shortened(text: &[u8]) -> String {
    match text.len() > MOST_BYTES {
        false => String::from_utf8_lossy(text).into_owned(),
        true => {
            let (start, end) = (&text[..MOST_BYTES - END], &text[text.len() - END..]);
            let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
            format!("{start} … {end}")
        }
    }
}

/// The node and those inside it that cover the same bytes.
fn same_place(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(Some(node), |node| inner(*node))
}

fn inner(outer: Node<'_>) -> Option<Node<'_>> {
    let child = outer.named_child(0)?;
    (child.byte_range() == outer.byte_range()).then_some(child)
}

/// Whether a comment, or what else may stand anywhere, stands between what is captured.
fn holds_comment(node: Node<'_>, range: &Range<usize>, captured: &[Range<usize>]) -> bool {
    let (start, end) = (node.start_byte(), node.end_byte());
    let is_captured = captured
        .iter()
        .any(|capture| capture.start <= start && end <= capture.end);
    if is_captured || end <= range.start || start >= range.end {
        return false;
    }
    let mut cursor = node.walk();
    node.is_extra()
        || node
            .children(&mut cursor)
            .any(|child| holds_comment(child, range, captured))
}

/// How many members a list with separators has.
fn members(list: Node<'_>) -> usize {
    let mut cursor = list.walk();
    let children = list.children(&mut cursor);
    let mut after_comma = true;
    let mut count = 0;
    for child in children {
        if matches!(child.kind(), "," | ";") {
            after_comma = true;
        } else if child.is_named() && !child.is_extra() && after_comma {
            after_comma = false;
            count += 1;
        }
    }
    count
}

/// The most members of a list without brackets, at most so deep inside. Bodies are not looked into.
fn open_members(node: Node<'_>, depth: usize) -> usize {
    let bracketed = |node: Node<'_>| {
        let first = node.child(0);
        first.is_some_and(|first| matches!(first.kind(), "(" | "[" | "{" | "<"))
    };
    let mut cursor = node.walk();
    let mut most = members(node);
    if depth == 0 || !cursor.goto_first_child() {
        return most;
    }
    loop {
        // What is done `if` something holds is no body of several lines.
        let is_body = !node.kind().ends_with("modifier")
            && matches!(
                cursor.field_name(),
                Some("body" | "consequence" | "alternative")
            );
        let child = cursor.node();
        if child.is_named() && !is_body && !bracketed(child) {
            most = most.max(open_members(child, depth - 1));
        }
        if !cursor.goto_next_sibling() {
            return most;
        }
    }
}

/// Where the comment ends that begins there, if one does.
fn comment_at(node: Node<'_>, start: usize) -> Option<usize> {
    if node.is_extra() {
        return (node.start_byte() == start).then(|| node.end_byte());
    }
    let mut cursor = node.walk();
    let inside = node
        .children(&mut cursor)
        .find(|child| child.end_byte() > start)?;
    (inside.start_byte() <= start).then(|| comment_at(inside, start))?
}

/// The kinds of the children, and the names of the fields that they are in.
fn children(node: Node<'_>) -> Vec<&str> {
    let count = node.child_count();
    let kinds = (0..count).filter_map(|at| Some(node.child(at)?.kind()));
    let mut all: Vec<&str> = kinds
        .chain((0..count).filter_map(|at| node.field_name_for_child(at)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The same of the children that have a name.
fn inner_children(node: Node<'_>) -> Vec<&str> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .flat_map(children)
        .collect()
}
