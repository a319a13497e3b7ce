//! Parsers, one a language, kept by each worker.

use std::ops::ControlFlow;

use terret_grammars::Grammar;
use tree_sitter::{ParseOptions, Parser, Tree};

#[derive(Default)]
pub(super) struct Parsers {
    by_language: Vec<(String, Parser)>,
}

impl Parsers {
    /// Parses a file; absent when `late` said so first.
    pub(super) fn parse(
        &mut self,
        grammar: &Grammar,
        source: &[u8],
        late: &dyn Fn() -> bool,
    ) -> Option<Tree> {
        let known = self
            .by_language
            .iter()
            .position(|(id, _)| id == grammar.id());
        let index = known.unwrap_or_else(|| {
            let mut parser = Parser::new();
            parser
                .set_language(grammar.language())
                .expect("a source hands out grammars that load");
            self.by_language.push((grammar.id().to_owned(), parser));
            self.by_language.len() - 1
        });
        let parser = &mut self.by_language[index].1;
        let mut progress = |_: &tree_sitter::ParseState| {
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
            // A parser that was stopped would go on with the old file.
            parser.reset();
        }
        tree
    }
}
