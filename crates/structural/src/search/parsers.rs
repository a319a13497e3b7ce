//! Parsers, one a language, kept by each worker.

use terret_grammars::Grammar;
use tree_sitter::{Parser, Tree};

use crate::parse;

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
            let parser = parse::parser(grammar);
            self.by_language.push((grammar.id().to_owned(), parser));
            self.by_language.len() - 1
        });
        parse::parse(&mut self.by_language[index].1, source, late)
    }
}
