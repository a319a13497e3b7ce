//! What the syntax tree says of a place where one search found something and another did not.

use std::error::Error;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};
use terret_grammars::{GrammarSource, Shipped};
use terret_structural::matcher::{find, near_misses};
use terret_structural::pattern::Pattern;
use tree_sitter::{Node, Parser, Tree};

/// The most bytes of a text that are told.
const MOST_BYTES: usize = 300;

/// A file with all that the pattern could mean in it.
struct File {
    path: String,
    source: Vec<u8>,
    tree: Tree,
    /// Where what is found has more than the pattern shows, and what.
    near: Vec<(Range<usize>, String)>,
    /// Where another context would find it, and which.
    later: Vec<(Range<usize>, String)>,
    /// The kinds of code that the pattern is read as.
    kinds: Vec<String>,
}

/// Reads places and tells each with its facts; how many there were. Places of a file follow each
/// other.
pub(crate) fn tell(
    folder: &str,
    language: &str,
    pattern: &str,
    out: &mut impl Write,
) -> Result<usize, Box<dyn Error>> {
    let mut patterns: Vec<(String, Vec<Pattern>)> = Vec::new();
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
                patterns.push((id.to_owned(), compiled(id, pattern)?));
            }
            let known = patterns.iter().find(|(known, _)| known == id);
            open = Some(read(folder, path, &known.ok_or("it was put in")?.1)?);
        }
        let file = open.as_ref().ok_or("it was opened")?;
        writeln!(out, "{}", file.facts(start..end))?;
        count += 1;
    }
    Ok(count)
}

/// The pattern as it is matched, then each context of a later reading.
fn compiled(id: &str, pattern: &str) -> Result<Vec<Pattern>, Box<dyn Error>> {
    let grammar = Shipped.grammar(id)?;
    let first = Pattern::compile(&grammar, pattern, None)?;
    let mut patterns = vec![first.clone()];
    for reading in first.later_readings() {
        patterns.extend(Pattern::compile(
            &grammar,
            pattern,
            Some(reading.asked_by()),
        ));
    }
    Ok(patterns)
}

fn read(folder: &str, path: &str, patterns: &[Pattern]) -> Result<File, Box<dyn Error>> {
    let source = std::fs::read(Path::new(folder).join(path))?;
    let mut parser = Parser::new();
    parser.set_language(patterns[0].grammar().language())?;
    let tree = parser.parse(&source, None).ok_or("nothing stops it")?;
    let near = near_misses(&patterns[0], &tree, &source, &|| false);
    let later = patterns[1..].iter().flat_map(|pattern| {
        let found = find(pattern, &tree, &source, &|| false);
        let reading = pattern.readings()[0].to_string();
        let ranges = found.matches.into_iter().map(|found| found.range);
        ranges
            .map(move |range| (range, reading.clone()))
            .collect::<Vec<_>>()
    });
    Ok(File {
        path: path.to_owned(),
        near: near
            .into_iter()
            .map(|miss| (miss.range, miss.extras))
            .collect(),
        later: later.collect(),
        kinds: patterns[0]
            .readings()
            .iter()
            .map(|reading| reading.kind().to_owned())
            .collect(),
        source,
        tree,
    })
}

impl File {
    fn facts(&self, range: Range<usize>) -> Value {
        let root = self.tree.root_node();
        let node = root.descendant_for_byte_range(range.start, range.end.max(range.start + 1) - 1);
        let node = node.unwrap_or(root);
        let text = &self.source[range.start..range.end.min(self.source.len())];
        let cut = &text[..text.len().min(MOST_BYTES)];
        let at = |places: &[(Range<usize>, String)]| {
            let found = places.iter().find(|(place, _)| {
                place.start == range.start && place.end.abs_diff(range.end) <= 1
            });
            found.map(|(_, what)| what.clone())
        };
        json!({
            "path": self.path,
            "start": range.start,
            "end": range.end,
            "text": String::from_utf8_lossy(cut),
            "kinds": same_place(node),
            "exact": node.start_byte() == range.start && node.end_byte() == range.end,
            "error_inside": node.has_error(),
            "comment": comment_before(node, 3),
            "wildcard": holds(node, "_"),
            "commas": commas(node, 2),
            "fields": fields(node),
            "utf8": std::str::from_utf8(&self.source).is_ok(),
            "near": at(&self.near),
            "later": at(&self.later),
            "read_as": self.kinds,
        })
    }
}

/// The kinds of the node and of those inside it that cover the same bytes.
fn same_place(node: Node<'_>) -> Vec<&str> {
    let around = std::iter::successors(Some(node), |inner| {
        let outer = inner.parent()?;
        (outer.byte_range() == inner.byte_range()).then_some(outer)
    });
    let inside = std::iter::successors(inner(node), |node| inner(*node));
    around.chain(inside).map(|node| node.kind()).collect()
}

fn inner(outer: Node<'_>) -> Option<Node<'_>> {
    let child = outer.named_child(0)?;
    (child.byte_range() == outer.byte_range()).then_some(child)
}

/// Whether a comment, or what else may stand anywhere, stands before another part of the code, at
/// most so deep inside.
fn comment_before(node: Node<'_>, depth: usize) -> bool {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let before = children
        .iter()
        .enumerate()
        .any(|(at, child)| child.is_extra() && at + 1 < children.len());
    before
        || depth > 1
            && children
                .iter()
                .any(|child| comment_before(*child, depth - 1))
}

/// Whether a token of this kind stands somewhere inside.
fn holds(node: Node<'_>, kind: &str) -> bool {
    let mut cursor = node.walk();
    node.kind() == kind || node.children(&mut cursor).any(|child| holds(child, kind))
}

/// The most commas that one list has, at most so deep inside.
fn commas(node: Node<'_>, depth: usize) -> usize {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let own = children.iter().filter(|child| child.kind() == ",").count();
    let inside = children.iter().map(|child| match depth {
        0 | 1 => 0,
        _ => commas(*child, depth - 1),
    });
    inside.max().unwrap_or(0).max(own)
}

/// The names of the fields that the node has.
fn fields(node: Node<'_>) -> Vec<&str> {
    let count = node.child_count();
    let mut names: Vec<&str> = (0..count)
        .filter_map(|at| node.field_name_for_child(at))
        .collect();
    names.dedup();
    names
}
