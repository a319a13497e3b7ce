//! Compares a pattern with the syntax tree of a file.
//!
//! A candidate has what the pattern shows and nothing more, except comments, layout and a trailing
//! separator. A run takes the shortest stretch of siblings that lets the whole match, the leftmost
//! run first, with full backtracking: the work is linear in pattern and candidate as long as no
//! metavariable is repeated, and bounded by a million steps a candidate where one is.

mod misread;
mod sequence;
mod tokens;
mod visit;

use std::cell::Cell;
use std::ops::Range;

use memchr::memmem::Finder;
use tree_sitter::{Node as Syntax, Tree};

use crate::pattern::{Child, Node, Pattern, Reading, Tables, children_into};
pub(crate) use misread::begins_with;
use sequence::Sequence;
use visit::{each_node, nodes_that_hold};

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
    /// Where a candidate is no match since the grammar reads the code otherwise than the language
    /// does.
    pub misread: Vec<usize>,
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
    let tokens = &pattern.compiled().everywhere;
    find_where(tokens, pattern, tree, source, interrupted)
}

/// The same in the nodes that hold the tokens.
fn find_where(
    tokens: &[Finder<'_>],
    pattern: &Pattern,
    tree: &Tree,
    source: &[u8],
    interrupted: &dyn Fn() -> bool,
) -> Found {
    let compiled = pattern.compiled();
    let mut search = Search {
        sequence: Sequence::new(compiled, tree, source),
        found: Found {
            later: vec![0; pattern.later_readings().len()],
            ..Found::default()
        },
        siblings: Vec::new(),
        windows_end: vec![0; compiled.readings.len()],
    };
    let roots = Roots::of(&compiled.readings, &compiled.tables);
    nodes_that_hold(tokens, tree, source, interrupted, |node| {
        for reading in roots.of_kind(node.kind_id()) {
            search.single(reading, node);
        }
        if compiled.tables.takes_last(node.kind_id())
            && let Some(operand) = begins_with(node, &compiled.tables)
        {
            for reading in roots.of_kind(node.kind_id()) {
                search.split(reading, node, operand);
            }
        }
        if !roots.windows.is_empty() && node.child_count() > 1 {
            search.windows(node, &roots.windows);
        }
        !search.sequence.has_spent_much() || !interrupted()
    });
    search
        .found
        .matches
        .sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    search.found.matches.dedup_by(|a, b| a.range == b.range);
    let mut found = search.found;
    if compiled.tables.has_misread() {
        misread::mend(&mut found, tree, &compiled.tables);
        found
            .matches
            .sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    }
    found
}

/// A candidate that would match but for what it has more than the pattern shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The bytes that it covers.
    pub range: Range<usize>,
    /// The names of what it has more, joined by ` + `.
    pub extras: String,
}

/// The candidates that would match but for what they have more than the pattern shows.
#[must_use]
pub fn near_misses(
    pattern: &Pattern,
    tree: &Tree,
    source: &[u8],
    interrupted: &dyn Fn() -> bool,
) -> Vec<NearMiss> {
    let compiled = pattern.compiled();
    let mut sequence = Sequence::lenient(compiled, tree, source);
    let roots = Roots::of(&compiled.readings[..compiled.active], &compiled.tables);
    let mut misses = Vec::new();
    nodes_that_hold(&compiled.everywhere, tree, source, interrupted, |node| {
        let mut readings = roots.of_kind(node.kind_id());
        if readings.any(|reading| sequence.start(reading, &[Child::Node(node)])) {
            misses.push(NearMiss {
                range: node.byte_range(),
                extras: sequence.extras().join(" + "),
            });
        }
        !sequence.has_spent_much() || !interrupted()
    });
    // A candidate without extras is a match.
    misses.retain(|miss| !miss.extras.is_empty());
    misses
}

/// Whether all words of a pattern stand together in the arguments of a macro, which are tokens and
/// no code that a pattern could match.
pub(crate) fn words_in_macro(pattern: &Pattern, tree: &Tree, source: &[u8]) -> bool {
    let compiled = pattern.compiled();
    if compiled.grammar.data().token_trees.is_empty() {
        return false;
    }
    let holds = |text: &[u8]| {
        let mut readings = compiled.literals.iter();
        readings
            .any(|words| !words.is_empty() && words.iter().all(|word| word.find(text).is_some()))
    };
    let found = Cell::new(false);
    each_node(tree, &|| found.get(), |node| {
        let in_macro = compiled.tables.is_token_tree(node.kind_id());
        if !found.get() && in_macro && holds(&source[node.byte_range()]) {
            found.set(true);
        }
        true
    });
    found.get()
}

/// Which readings a candidate may match, by its kind alone.
struct Roots {
    /// For each kind the readings with a single root of it, as bits.
    by_kind: Vec<u64>,
    /// The readings that are windows of siblings.
    windows: Vec<usize>,
}

impl Roots {
    fn of(readings: &[Reading], tables: &Tables) -> Self {
        let mut roots = Self {
            by_kind: Vec::new(),
            windows: Vec::new(),
        };
        // A ladder has fewer contexts than a word has bits.
        for (index, reading) in readings.iter().enumerate().take(64) {
            let (Node::Inner { kind, .. }
            | Node::Leaf { kind, .. }
            | Node::Word { kind, .. }
            | Node::Token { kind }) = &reading.roots[0]
            else {
                roots.windows.push(index);
                continue;
            };
            if reading.roots.len() > 1 {
                roots.windows.push(index);
                continue;
            }
            for kind in tables.alike(*kind).map(usize::from) {
                if roots.by_kind.len() <= kind {
                    roots.by_kind.resize(kind + 1, 0);
                }
                roots.by_kind[kind] |= 1 << index;
            }
        }
        roots
    }

    fn of_kind(&self, kind: u16) -> impl Iterator<Item = usize> + use<> {
        let mut bits = self.by_kind.get(usize::from(kind)).copied().unwrap_or(0);
        std::iter::from_fn(move || {
            let next = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (next < u64::BITS).then_some(next as usize)
        })
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

    /// Compares a node that took in the operators before it with a reading: without them.
    fn split(&mut self, reading: usize, node: Syntax<'t>, operand: Syntax<'t>) {
        if self.sequence.start_from(reading, node, operand) {
            let end = node.end_byte().min(without_trailing_comments(node));
            self.record(reading, operand.start_byte()..end);
        }
        self.note_given_up(node);
    }

    /// The separator behind the node, when the pattern was written with one.
    fn terminator(&self, reading: usize, node: Syntax<'t>) -> Option<Syntax<'t>> {
        let kind = self.sequence.compiled().readings[reading].terminator?;
        // It may stand behind a node that is nothing but a wrapping of this one.
        let mut node = node;
        while node.next_sibling().is_none() {
            node = node
                .parent()
                .filter(|parent| parent.byte_range() == node.byte_range())?;
        }
        node.next_sibling().filter(|next| next.kind_id() == kind)
    }

    fn windows(&mut self, parent: Syntax<'t>, readings: &[usize]) {
        self.siblings.clear();
        children_into(
            &mut parent.walk(),
            parent,
            self.sequence.source(),
            &self.sequence.compiled().tables,
            &mut self.siblings,
        );
        let siblings = std::mem::take(&mut self.siblings);
        for &reading in readings {
            let mut from = 0;
            while from < siblings.len() {
                let window = &siblings[from..];
                if !self.sequence.may_start(reading, window[0]) {
                    from += 1;
                    continue;
                }
                let taken = if self.sequence.start(reading, window) {
                    self.sequence.taken()
                } else {
                    0
                };
                if taken > 0 && window[0].start() >= self.windows_end[reading] {
                    let last = window[taken - 1];
                    let terminator = match last {
                        Child::Node(node) => self.terminator(reading, node),
                        Child::Text { .. } => None,
                    };
                    let end = terminator.map_or(last.end(), |separator| separator.end_byte());
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
