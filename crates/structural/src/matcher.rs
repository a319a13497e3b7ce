//! Compares a pattern with the syntax tree of a file.
//!
//! A candidate has what the pattern shows and nothing more, except comments, layout and a trailing
//! separator. A run takes the shortest stretch of siblings that lets the whole match, the leftmost
//! run first, with full backtracking: the work is linear in pattern and candidate as long as no
//! metavariable is repeated, and bounded by a million steps a candidate where one is.

mod sequence;
mod tokens;

use std::ops::Range;

use tree_sitter::{Node as Syntax, Tree, TreeCursor};

use crate::pattern::{Child, Node, Pattern, Reading, Tables, children_into};
use sequence::Sequence;

/// The most steps that one candidate may take before it is given up.
pub(crate) const MOST_STEPS: u32 = 1_000_000;

/// One place that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The bytes that it covers.
    pub range: Range<usize>,
    /// What each variable of the pattern captured, in the order of
    /// [`Pattern::variables`]; absent for a variable that this reading does not hold.
    pub captures: Vec<Option<Capture>>,
}

/// What a metavariable stands for in one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The bytes that it covers: one node, or a run with the comments inside and at its edges.
    pub range: Range<usize>,
    /// Whether it is a run.
    pub run: bool,
}

/// What was found in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The matches, ordered by start, the longer first.
    pub matches: Vec<Match>,
    /// For each later reading of the pattern, how often it would have matched.
    pub later: Vec<usize>,
    /// Where a candidate was given up because it took too many steps.
    pub given_up: Vec<usize>,
}

/// Finds every match of the pattern in a parsed file, nested ones included.
///
/// `interrupted` is asked now and then; once it says so, what was found so far is returned.
#[must_use]
pub fn find(
    pattern: &Pattern,
    tree: &Tree,
    source: &[u8],
    interrupted: &dyn Fn() -> bool,
) -> Found {
    let compiled = pattern.compiled();
    let mut search = Search {
        sequence: Sequence::new(compiled, source),
        found: Found {
            later: vec![0; pattern.later_readings().len()],
            ..Found::default()
        },
        siblings: Vec::new(),
        windows_end: vec![0; compiled.readings.len()],
    };
    let roots: Vec<Root> = compiled.readings.iter().map(Root::of).collect();
    let has_windows = roots.iter().any(|root| matches!(root, Root::Window));
    let mut cursor = tree.walk();
    let mut visited = 0_u32;
    loop {
        let node = cursor.node();
        visited = visited.wrapping_add(1);
        if visited.is_multiple_of(4096) && interrupted() {
            break;
        }
        for (index, root) in roots.iter().enumerate() {
            if root.admits(node, &compiled.tables) {
                search.single(index, node);
            }
        }
        if has_windows && node.child_count() > 1 {
            search.windows(node, &roots);
        }
        if !advance(&mut cursor) {
            break;
        }
    }
    search
        .found
        .matches
        .sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    search.found.matches.dedup_by(|a, b| a.range == b.range);
    search.found
}

/// The candidates that would match but for what they have more than the pattern shows: for each the
/// names of that, joined by ` + `.
#[must_use]
pub fn near_misses(
    pattern: &Pattern,
    tree: &Tree,
    source: &[u8],
    interrupted: &dyn Fn() -> bool,
) -> Vec<String> {
    let compiled = pattern.compiled();
    let mut sequence = Sequence::lenient(compiled, source);
    let roots: Vec<Root> = compiled.readings[..compiled.active]
        .iter()
        .map(Root::of)
        .collect();
    let mut misses = Vec::new();
    let mut cursor = tree.walk();
    let mut visited = 0_u32;
    loop {
        let node = cursor.node();
        visited = visited.wrapping_add(1);
        if visited.is_multiple_of(4096) && interrupted() {
            break;
        }
        for (reading, root) in roots.iter().enumerate() {
            if root.admits(node, &compiled.tables) && sequence.start(reading, &[Child::Node(node)])
            {
                misses.push(sequence.extras().join(" + "));
                break;
            }
        }
        if !advance(&mut cursor) {
            break;
        }
    }
    misses
}

/// Steps to the next node of the tree, parents before their children.
fn advance(cursor: &mut TreeCursor<'_>) -> bool {
    if cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// What the root of a reading says about a candidate before anything is compared.
enum Root {
    Kind(u16),
    Window,
}

impl Root {
    fn of(reading: &Reading) -> Self {
        match reading.roots[..] {
            [Node::Inner { kind, .. } | Node::Leaf { kind, .. } | Node::Token { kind }] => {
                Self::Kind(kind)
            }
            _ => Self::Window,
        }
    }

    fn admits(&self, node: Syntax<'_>, tables: &Tables) -> bool {
        matches!(self, Self::Kind(kind) if *kind == tables.kind(node))
    }
}

/// Where what the pattern shows ends: before a trailing separator of the candidate.
fn shown_end(pattern: &Node, node: Syntax<'_>, tables: &Tables) -> usize {
    let (mut pattern, mut node) = (pattern, node);
    loop {
        let children = (0..node.child_count())
            .rev()
            .filter_map(|at| node.child(at));
        let last = children.into_iter().find(|child| !tables.is_trivia(*child));
        let (Node::Inner { children, .. }, Some(last)) = (pattern, last) else {
            return node.end_byte();
        };
        if !last.is_named() && tables.is_separator(last.kind_id()) {
            return last
                .prev_sibling()
                .map_or(node.end_byte(), |before| before.end_byte());
        }
        match children.last() {
            Some(inner) if last.end_byte() == node.end_byte() => (pattern, node) = (inner, last),
            _ => return node.end_byte(),
        }
    }
}

/// Where a node ends before the comments behind its last child; a directive takes them in, as it
/// ends with its line.
fn without_trailing_comments(node: Syntax<'_>) -> usize {
    let children = (0..node.child_count()).rev();
    let mut children = children.filter_map(|at| node.child(at)).peekable();
    if !children.peek().is_some_and(Syntax::is_extra) {
        return usize::MAX;
    }
    let solid = children.find(|child| !child.is_extra());
    solid.map_or(usize::MAX, |child| child.end_byte())
}

struct Search<'p, 't> {
    sequence: Sequence<'p, 't>,
    found: Found,
    siblings: Vec<Child<'t>>,
    /// For each reading the end of its last window, since windows do not overlap.
    windows_end: Vec<usize>,
}

impl<'t> Search<'_, 't> {
    fn single(&mut self, reading: usize, node: Syntax<'t>) {
        self.siblings.clear();
        self.siblings.push(Child::Node(node));
        if self.sequence.start(reading, &self.siblings) {
            let mut range = node.byte_range();
            let compiled = self.sequence.compiled();
            let chosen = &compiled.readings[reading];
            if let Some(separator) = self.terminator(reading, node) {
                range.end = separator.end_byte();
            } else if !chosen.terminated {
                range.end = shown_end(&chosen.roots[0], node, &compiled.tables);
            }
            range.end = range.end.min(without_trailing_comments(node));
            self.record(reading, range);
        }
        self.note_given_up(node);
    }

    /// The separator behind the node, when the pattern was written with one.
    fn terminator(&self, reading: usize, node: Syntax<'t>) -> Option<Syntax<'t>> {
        let kind = self.sequence.compiled().readings[reading].terminator?;
        node.next_sibling().filter(|next| next.kind_id() == kind)
    }

    fn windows(&mut self, parent: Syntax<'t>, roots: &[Root]) {
        self.siblings.clear();
        children_into(
            parent,
            self.sequence.source(),
            &self.sequence.compiled().tables,
            &mut self.siblings,
        );
        let siblings = std::mem::take(&mut self.siblings);
        for (reading, root) in roots.iter().enumerate() {
            if !matches!(root, Root::Window) {
                continue;
            }
            let mut from = 0;
            while from < siblings.len() {
                let window = &siblings[from..];
                let taken = if self.sequence.start(reading, window) {
                    self.sequence.taken()
                } else {
                    0
                };
                if taken > 0 && window[0].start() >= self.windows_end[reading] {
                    let end = window[taken - 1].end();
                    self.windows_end[reading] = end;
                    self.record(reading, window[0].start()..end);
                }
                self.note_given_up(parent);
                from += taken.max(1);
            }
        }
        self.siblings = siblings;
    }

    fn note_given_up(&mut self, node: Syntax<'_>) {
        if self.sequence.gave_up() {
            self.found.given_up.push(node.start_byte());
        }
    }

    fn record(&mut self, reading: usize, mut range: Range<usize>) {
        // Some grammars count the line end in; what is put in its place must not lose it.
        let text = &self.sequence.source()[range.clone()];
        range.end -= text.len() - text.trim_ascii_end().len();
        if self.sequence.compiled().readings[reading].drops_terminator {
            let after = &self.sequence.source()[range.end..];
            let blanks = after.iter().take_while(|&&byte| byte == b' ').count();
            if after.get(blanks) == Some(&b';') {
                range.end += blanks + 1;
            }
        }
        let active = self.sequence.compiled().active;
        match reading.checked_sub(active) {
            Some(later) => self.found.later[later] += 1,
            None => {
                let captures = self.sequence.captures();
                self.found.matches.push(Match { range, captures });
            }
        }
    }
}
