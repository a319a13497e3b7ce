//! Goes through the nodes of a tree, and leaves out those that can hold no match.

use std::ops::Range;

use memchr::memmem::Finder;
use tree_sitter::{Node, Tree};

/// How many nodes are visited before the interruption is asked again.
const ASK_EVERY: u32 = 4096;

/// Visits every node, parents before their children, until it is interrupted or the visit says so.
pub(super) fn each_node<'t>(
    tree: &'t Tree,
    interrupted: &dyn Fn() -> bool,
    visit: impl FnMut(Node<'t>) -> bool,
) {
    nodes_that_hold(&[], tree, &[], interrupted, visit);
}

/// The same for the nodes that hold all of the tokens only. The bytes of a file tell that of a whole
/// subtree, while to visit its nodes takes a good part of the time of parsing them.
pub(super) fn nodes_that_hold<'t>(
    tokens: &[Finder<'_>],
    tree: &'t Tree,
    source: &[u8],
    interrupted: &dyn Fn() -> bool,
    mut visit: impl FnMut(Node<'t>) -> bool,
) {
    let mut ahead = Ahead::new(tokens, source);
    let mut cursor = tree.walk();
    let mut visited = 0_u32;
    // What the parser has filled in to recover from an error, the source lacks.
    let has_errors = tree.root_node().has_error();
    // The ends of the nodes that are open; no end where the bytes do not tell what the children hold.
    let mut ends: Vec<usize> = Vec::new();
    loop {
        visited = visited.wrapping_add(1);
        if visited.is_multiple_of(ASK_EVERY) && interrupted() {
            return;
        }
        let node = cursor.node();
        let holds = ahead.all_in(node.byte_range());
        let recovered = has_errors && node.has_error();
        if holds || recovered {
            if !visit(node) {
                return;
            }
            let (descended, end) = if recovered || tokens.is_empty() {
                (cursor.goto_first_child(), usize::MAX)
            } else {
                // A child that ends before a token lacks it.
                let child = cursor.goto_first_child_for_byte(ahead.farthest);
                (child.is_some(), node.end_byte())
            };
            if descended {
                ends.push(end);
                continue;
            }
        }
        loop {
            let Some(end) = ends.last() else { return };
            // No later sibling holds a token that stands behind them all.
            if ahead.farthest < *end && cursor.goto_next_sibling() {
                break;
            }
            cursor.goto_parent();
            ends.pop();
        }
    }
}

/// Where tokens stand next, seen from a place that only moves forward.
struct Ahead<'a> {
    source: &'a [u8],
    /// Each with its next place; the length of the source where there is none.
    tokens: Vec<(&'a Finder<'a>, usize)>,
    /// The place of the token that stands farthest away.
    farthest: usize,
}

impl<'a> Ahead<'a> {
    fn new(tokens: &'a [Finder<'a>], source: &'a [u8]) -> Self {
        let next = |token: &'a Finder<'a>| (token, token.find(source).unwrap_or(source.len()));
        Self {
            source,
            tokens: tokens.iter().map(next).collect(),
            farthest: 0,
        }
    }

    /// Whether the range holds all of them. Its start is never before that of the range asked for last.
    fn all_in(&mut self, range: Range<usize>) -> bool {
        for (token, next) in &mut self.tokens {
            if *next < range.start {
                let found = token.find(&self.source[range.start..]);
                *next = found.map_or(self.source.len(), |at| range.start + at);
            }
            self.farthest = self.farthest.max(*next);
            if *next + token.needle().len() > range.end {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use terret_grammars::{GrammarSource, Shipped};

    use super::super::{find, find_where};
    use crate::pattern::Pattern;

    /// Whether the nodes that lack a token of the pattern are visited changes nothing.
    #[test]
    fn nothing_is_found_where_a_token_is_missing() {
        let mut pruned = 0;
        for id in Shipped.ids() {
            let grammar = Shipped.grammar(id).unwrap();
            let mut parser = crate::parse::parser(&grammar);
            let examples = Shipped::examples(id).all;
            let sources = examples.iter().filter_map(|row| row.source.as_deref());
            let all = sources.collect::<Vec<_>>().join("\n");
            for example in &examples {
                let Ok(pattern) = Pattern::compile(&grammar, &example.pattern, None) else {
                    continue;
                };
                pruned += usize::from(!pattern.compiled().everywhere.is_empty());
                // Broken off in the middle, so that the parser fills in what is missing.
                let own = example.source.as_deref().unwrap_or_default();
                let half = &own[..own.floor_char_boundary(own.len() / 2)];
                for source in [own, half, &all] {
                    let tree = parser.parse(source, None).unwrap();
                    let source = source.as_bytes();
                    assert_eq!(
                        find(&pattern, &tree, source, &|| false),
                        find_where(&[], &pattern, &tree, source, &|| false),
                        "{id}: `{}` in `{}`",
                        example.pattern,
                        String::from_utf8_lossy(source)
                    );
                }
            }
        }
        assert!(pruned > 500, "{pruned} patterns");
    }
}
