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
    /// Whether it could be searched in the time that a search gives a file.
    slow: bool,
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
        patterns.extend(Pattern::compile(&grammar, pattern, Some(reading.context())));
    }
    Ok(patterns)
}

fn read(folder: &str, path: &str, patterns: &[Pattern]) -> Result<File, Box<dyn Error>> {
    let source = std::fs::read(Path::new(folder).join(path))?;
    let mut parser = Parser::new();
    parser.set_language(patterns[0].grammar().language())?;
    let begun = std::time::Instant::now();
    let tree = parser.parse(&source, None).ok_or("nothing stops it")?;
    let slow = begun.elapsed() > std::time::Duration::from_secs(1);
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
        source,
        tree,
        slow,
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
            "kind": node.kind(),
            "parents": parents(node),
            "exact": node.start_byte() == range.start && node.end_byte() == range.end,
            "error_inside": node.has_error(),
            "error_around": around(node).any(Node::is_error_or_missing),
            "file_errors": root.has_error(),
            "comment": holds_extra(node),
            "utf8": std::str::from_utf8(&self.source).is_ok(),
            "near": at(&self.near),
            "later": at(&self.later),
            "slow": self.slow,
        })
    }
}

trait Broken {
    fn is_error_or_missing(self) -> bool;
}

impl Broken for Node<'_> {
    fn is_error_or_missing(self) -> bool {
        self.is_error() || self.is_missing()
    }
}

fn around(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(Some(node), |node| node.parent())
}

fn parents(node: Node<'_>) -> Vec<&str> {
    around(node)
        .skip(1)
        .take(4)
        .map(|node| node.kind())
        .collect()
}

/// Whether there is a comment, or whatever else may stand anywhere.
fn holds_extra(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .any(|child| child.is_extra() || holds_extra(child))
}
