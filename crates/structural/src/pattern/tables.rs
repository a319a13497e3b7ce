//! What the matcher asks of a kind, looked up by its id.

use terret_grammars::Grammar;
use tree_sitter::Node;

/// Flags of each node kind of a grammar, indexed by kind id.
#[derive(Debug)]
pub(crate) struct Tables {
    flags: Vec<u8>,
}

const SEPARATOR: u8 = 1;
const CLOSER: u8 = 1 << 1;
const LAYOUT: u8 = 1 << 2;
const STRING: u8 = 1 << 3;
const CONTAINER: u8 = 1 << 4;
const TOKEN_TREE: u8 = 1 << 5;
const NAMELESS: u8 = 1 << 6;
const DECLARATOR: u8 = 1 << 7;

impl Tables {
    pub(crate) fn of(grammar: &Grammar) -> Self {
        let language = grammar.language();
        let data = grammar.data();
        let has = |list: &[String], kind: &str| list.iter().any(|entry| entry == kind);
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let flags = (0..count).map(|id| {
            let kind = language.node_kind_for_id(id).unwrap_or_default();
            let named = language.node_kind_is_named(id);
            let mut flags = 0;
            let mut set = |flag, holds: bool| flags |= if holds { flag } else { 0 };
            set(SEPARATOR, !named && has(&data.separators, kind));
            set(
                CLOSER,
                !named && matches!(kind, ")" | "]" | "}" | ">" | "|" | "end"),
            );
            // Some grammars make a token of a line end.
            set(LAYOUT, !named && !kind.is_empty() && kind.trim().is_empty());
            set(STRING, named && has(&data.strings, kind));
            set(CONTAINER, named && has(&data.containers, kind));
            set(DECLARATOR, named && has(&data.declarators, kind));
            set(TOKEN_TREE, named && has(&data.token_trees, kind));
            set(NAMELESS, !named && has(&data.nameless, kind));
            flags
        });
        Self {
            flags: flags.collect(),
        }
    }

    fn has(&self, kind: u16, flag: u8) -> bool {
        self.flags
            .get(usize::from(kind))
            .is_some_and(|flags| flags & flag != 0)
    }

    pub(crate) fn is_separator(&self, kind: u16) -> bool {
        self.has(kind, SEPARATOR)
    }

    pub(crate) fn is_closer(&self, kind: u16) -> bool {
        self.has(kind, CLOSER)
    }

    /// The literal's own node, where a gap between children is text and white space counts.
    pub(crate) fn is_string(&self, kind: u16) -> bool {
        self.has(kind, STRING)
    }

    pub(crate) fn is_container(&self, kind: u16) -> bool {
        self.has(kind, CONTAINER)
    }

    pub(crate) fn is_declarator(&self, kind: u16) -> bool {
        self.has(kind, DECLARATOR)
    }

    pub(crate) fn is_token_tree(&self, kind: u16) -> bool {
        self.has(kind, TOKEN_TREE)
    }

    /// Comments, line ends and whatever else may stand anywhere without a meaning.
    pub(crate) fn is_trivia(&self, node: Node<'_>) -> bool {
        node.is_extra() || self.has(node.kind_id(), LAYOUT)
    }

    /// What `$X` may stand for: a named node, or one of the few tokens that count as one.
    pub(crate) fn is_one(&self, node: Node<'_>) -> bool {
        node.is_named() || self.has(node.kind_id(), NAMELESS)
    }
}
