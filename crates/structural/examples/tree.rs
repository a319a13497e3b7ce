//! Prints the syntax tree of a text: `tree LANGUAGE TEXT`.
#![allow(clippy::print_stdout)]
use terret_grammars::{GrammarSource, Shipped};
fn main() {
    let mut args = std::env::args().skip(1);
    let grammar = Shipped.grammar(&args.next().unwrap_or_default()).expect("a language");
    let text = args.next().unwrap_or_default().replace("\\n", "\n");
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).expect("it loads");
    let tree = parser.parse(&text, None).expect("it parses");
    let mut stack = vec![(tree.root_node(), 0)];
    while let Some((node, depth)) = stack.pop() {
        let t = if node.child_count() == 0 { &text[node.byte_range()] } else { "" };
        println!("{}{}{} {:?} {:?} {}", "  ".repeat(depth), if node.is_named() {""} else {"'"}, node.kind(), node.byte_range(), t, if node.is_extra() {"extra"} else if node.is_missing() {"MISSING"} else {""});
        for at in (0..node.child_count()).rev() { if let Some(c) = node.child(at as u32) { stack.push((c, depth + 1)); } }
    }
}
