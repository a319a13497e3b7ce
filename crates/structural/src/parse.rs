//! Parsing that can be stopped.

use std::ops::ControlFlow;

use terret_grammars::Grammar;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// A parser of a grammar.
pub(crate) fn parser(grammar: &Grammar) -> Parser {
    let mut parser = Parser::new();
    parser
        .set_language(grammar.language())
        .expect("a source hands out grammars that load");
    parser
}

/// Parses a text; absent when `late` said so first.
pub(crate) fn parse(parser: &mut Parser, source: &[u8], late: &dyn Fn() -> bool) -> Option<Tree> {
    let mut progress = |_: &ParseState| {
        if late() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| source.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        // A parser that was stopped would go on with the old text.
        parser.reset();
    }
    tree
}
