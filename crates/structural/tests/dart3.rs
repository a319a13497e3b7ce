//! Dart 3: the grammar parses it, and each piece of it is a pattern that finds itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::{Grammar, GrammarSource, Shipped};
use terret_structural::matcher::find;
use terret_structural::pattern::Pattern;
use tree_sitter::{Node, Tree};

const SNIPPETS: &str = include_str!("data/dart3.txt");

/// Snippets that do not parse, and why.
const BROKEN: &[(&str, &str)] = &[(
    "metadata on fields/params/type args",
    "the language has no metadata on type arguments",
)];

/// The largest piece that is tried as a pattern.
const MOST_BYTES: usize = 200;

fn snippets() -> impl Iterator<Item = (&'static str, &'static str)> {
    SNIPPETS
        .split("=== ")
        .skip(1)
        .map(|snippet| snippet.split_once('\n').unwrap())
}

fn parse(grammar: &Grammar, source: &str) -> Tree {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    parser.parse(source, None).unwrap()
}

#[test]
fn snippets_parse() {
    let dart = Shipped.grammar("dart").unwrap();
    let broken: Vec<&str> = snippets()
        .filter(|(_, source)| parse(&dart, source).root_node().has_error())
        .map(|(name, _)| name)
        .collect();
    let expected: Vec<&str> = BROKEN.iter().map(|(name, _)| *name).collect();
    assert_eq!(broken, expected);
}

/// Statements, declarations, members and expressions, by the ends of their kinds.
const PIECES: &[&str] = &[
    "statement",
    "_declaration",
    "_expression",
    "_literal",
    "_directive",
    "block",
    "cascade",
    "library_import",
    "library_export",
    "type_alias",
];

/// Kinds that are named like a piece but are half of one: a cascade's section without its dots, a
/// constant without its `const`, a `switch` without its head.
const HALVES: &[&str] = &[
    "cascade_call_expression",
    "cascade_index_expression",
    "static_final_declaration",
    "switch_block",
];

fn is_piece(node: Node<'_>) -> bool {
    let kind = node.kind();
    node.is_named()
        && node.byte_range().len() <= MOST_BYTES
        && PIECES.iter().any(|end| kind.ends_with(end))
        && !HALVES.contains(&kind)
}

fn pieces<'t>(node: Node<'t>, out: &mut Vec<Node<'t>>) {
    if is_piece(node) {
        out.push(node);
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        pieces(child, out);
    }
}

#[test]
fn pieces_find_themselves() {
    let dart = Shipped.grammar("dart").unwrap();
    let (mut count, mut exempt) = (0_usize, Vec::new());
    let mut wrong = Vec::new();
    for (name, source) in snippets() {
        if BROKEN.iter().any(|(broken, _)| *broken == name) {
            continue;
        }
        let tree = parse(&dart, source);
        let mut found = Vec::new();
        pieces(tree.root_node(), &mut found);
        for node in found {
            count += 1;
            let text = &source[node.byte_range()];
            let piece = format!("{name}: {} `{text}`", node.kind());
            let pattern = match Pattern::compile(&dart, text, None) {
                Ok(pattern) => pattern,
                Err(error) => {
                    wrong.push(format!("{piece}\n    {error}"));
                    continue;
                }
            };
            let found = find(&pattern, &tree, source.as_bytes(), &|| false);
            let is_here = found.matches.iter().any(|found| {
                found.range.start == node.start_byte() && found.range.end <= node.end_byte()
            });
            if is_here {
                continue;
            }
            let reading = &pattern.readings()[0];
            if found.later.iter().any(|&count| count > 0) {
                exempt.push(format!("{piece}: {reading}"));
            } else {
                wrong.push(format!("{piece}\n    is read as {reading}"));
            }
        }
    }
    println!(
        "{count} pieces, {} found by a later reading only:\n{}",
        exempt.len(),
        exempt.join("\n")
    );
    assert!(
        wrong.is_empty(),
        "{} of {count}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(exempt.len() * 20 <= count, "{} of {count}", exempt.len());
}
