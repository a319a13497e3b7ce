//! What the matcher asks of a kind, looked up by its id.

use terret_grammars::Grammar;
use tree_sitter::Node;

/// Flags of each node kind of a grammar, indexed by kind id.
#[derive(Debug)]
pub(crate) struct Tables {
    has_layout: bool,
    has_leading: bool,
    flags: Vec<u16>,
    /// The kinds that count as another, with that.
    alike: Vec<(u16, u16)>,
    /// Whether a separator that nothing follows means something.
    counts_trailing: bool,
    /// The separators that belong to the member before them.
    terminators: Vec<u8>,
    /// What each kind is to the rules of what the grammar misreads; empty where there are none.
    operands: Vec<Operand>,
}

/// The rules in which a kind is an operand that must be grouped, those whose last operand is what is
/// meant, and those in which it takes one, as bits.
#[derive(Debug, Clone, Copy, Default)]
struct Operand {
    is: u16,
    ends_in_one: bool,
    takes: u16,
    takes_last: bool,
    same_line: bool,
}

const SEPARATOR: u16 = 1;
const CLOSER: u16 = 1 << 1;
const LAYOUT: u16 = 1 << 2;
const STRING: u16 = 1 << 3;
const CONTAINER: u16 = 1 << 4;
const TOKEN_TREE: u16 = 1 << 5;
const NAMELESS: u16 = 1 << 6;
const CLAUSE: u16 = 1 << 7;
const PADDED: u16 = 1 << 8;
const CASELESS: u16 = 1 << 9;
const LEADING: u16 = 1 << 10;
const TRANSPARENT: u16 = 1 << 11;
const OPEN_LIST: u16 = 1 << 12;
const DECLARATOR: u16 = 1 << 13;
const WRAPPER: u16 = 1 << 14;

impl Tables {
    pub(crate) fn of(grammar: &Grammar) -> Self {
        let language = grammar.language();
        let data = grammar.data();
        let has = |list: &[String], kind: &str| list.iter().any(|entry| entry == kind);
        let any_of = |list: &[String], kind: &str| {
            list.iter().any(|entry| match entry.strip_suffix('*') {
                Some(start) => kind.starts_with(start),
                None => entry == kind,
            })
        };
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let flags = (0..count).map(|id| {
            let kind = language.node_kind_for_id(id).unwrap_or_default();
            let named = language.node_kind_is_named(id);
            let mut flags = 0;
            let mut set = |flag, holds: bool| flags |= if holds { flag } else { 0 };
            set(SEPARATOR, has(&data.separators, kind));
            set(
                CLOSER,
                // Some grammars give their brackets names.
                !named && matches!(kind, ")" | "]" | "}" | ">" | "|" | "end")
                    || named && kind.ends_with("_end"),
            );
            // Some grammars make a token of a line end.
            let is_line_end = !kind.is_empty() && kind.trim().is_empty();
            // A node may be named like the keyword that it begins with. To look for that takes as
            // long as all the rest.
            let is_token = || !named || language.id_for_node_kind(kind, false) == 0;
            set(
                LAYOUT,
                !named && is_line_end || has(&data.layout, kind) && is_token(),
            );
            set(OPEN_LIST, named && has(&data.open_lists, kind));
            set(STRING, named && has(&data.strings, kind));
            set(CONTAINER, named && has(&data.containers, kind));
            set(DECLARATOR, named && has(&data.declarators, kind));
            set(TOKEN_TREE, named && has(&data.token_trees, kind));
            set(NAMELESS, !named && has(&data.nameless, kind));
            set(LEADING, !named && has(&data.leading, kind));
            set(TRANSPARENT, named && has(&data.transparent, kind));
            set(WRAPPER, named && has(&data.wrappers, kind));
            set(CLAUSE, named && has(&data.clauses, kind));
            set(PADDED, named && has(&data.padded, kind));
            set(CASELESS, named && any_of(&data.caseless, kind));
            flags
        });
        let alike = data.alike.iter().flat_map(|kinds| {
            let ids = kinds
                .iter()
                .map(|kind| language.id_for_node_kind(kind, true));
            let ids: Vec<u16> = ids.filter(|id| *id != 0).collect();
            let first = ids.first().copied().unwrap_or_default();
            ids.into_iter().skip(1).map(move |id| (id, first))
        });
        Self {
            has_layout: !data.layout.is_empty(),
            has_leading: !data.leading.is_empty(),
            flags: flags.collect(),
            alike: alike.collect(),
            counts_trailing: data.counts_trailing,
            terminators: data.terminators.concat().into_bytes(),
            operands: operands(grammar, count),
        }
    }

    fn operand(&self, kind: u16) -> Operand {
        let operand = self.operands.get(usize::from(kind));
        operand.copied().unwrap_or_default()
    }

    /// Whether the language never has the one bare for an operand of the other.
    pub(crate) fn is_misread(&self, inner: u16, outer: u16) -> bool {
        self.operand(inner).is & self.operand(outer).takes != 0
    }

    /// Whether there is something that takes no such operand.
    pub(crate) fn is_operand(&self, kind: u16) -> bool {
        self.operand(kind).is != 0
    }

    /// Whether there are operands that it does not take.
    pub(crate) fn takes_operand(&self, kind: u16) -> bool {
        self.operand(kind).takes != 0
    }

    /// What may have taken in operators that it has the last operand of.
    pub(crate) fn takes_last(&self, kind: u16) -> bool {
        self.operand(kind).takes_last
    }

    /// An operator whose last operand is what a node really has for its own.
    pub(crate) fn is_operation(&self, kind: u16) -> bool {
        self.operand(kind).ends_in_one
    }

    /// Whether the grammar misreads anything.
    pub(crate) fn has_misread(&self) -> bool {
        !self.operands.is_empty()
    }

    /// What never follows on a later line.
    pub(crate) fn is_same_line(&self, kind: u16) -> bool {
        self.operand(kind).same_line
    }

    /// The kind that a node is compared by.
    pub(crate) fn kind(&self, node: Node<'_>) -> u16 {
        let id = node.kind_id();
        let first = self.alike.iter().find(|(kind, _)| *kind == id);
        first.map_or(id, |(_, first)| *first)
    }

    /// The kinds that are compared as this one.
    pub(crate) fn alike(&self, kind: u16) -> impl Iterator<Item = u16> {
        let others = self.alike.iter().filter(move |(_, first)| *first == kind);
        std::iter::once(kind).chain(others.map(|(other, _)| *other))
    }

    fn has(&self, kind: u16, flag: u16) -> bool {
        self.flags
            .get(usize::from(kind))
            .is_some_and(|flags| flags & flag != 0)
    }

    pub(crate) fn is_separator(&self, kind: u16) -> bool {
        self.has(kind, SEPARATOR)
    }

    /// Whether a separator that nothing follows means something.
    pub(crate) fn counts_trailing(&self) -> bool {
        self.counts_trailing
    }

    /// A separator that belongs to the member before it.
    pub(crate) fn is_terminator(&self, byte: u8) -> bool {
        self.terminators.contains(&byte)
    }

    /// A node that is there for a list of several members only: they count as its parent's.
    pub(crate) fn is_transparent(&self, kind: u16) -> bool {
        self.has(kind, TRANSPARENT)
    }

    /// A node in whose place the only node that it holds counts.
    pub(crate) fn is_wrapper(&self, node: Node<'_>) -> bool {
        self.has(node.kind_id(), WRAPPER) && node.child_count() == 1
    }

    /// A separator that may stand before the first member too.
    pub(crate) fn is_leading(&self, kind: u16) -> bool {
        self.has(kind, LEADING)
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

    /// Whether there are separators that may stand before the first member.
    pub(crate) fn has_leading(&self) -> bool {
        self.has_leading
    }

    /// Whether the language has tokens that say no more than a line end does.
    pub(crate) fn has_layout(&self) -> bool {
        self.has_layout
    }

    /// A list that means the same with and without its parentheses.
    pub(crate) fn is_open_list(&self, kind: u16) -> bool {
        self.has(kind, OPEN_LIST)
    }

    /// What follows the members of a list in the same node without being one.
    pub(crate) fn is_clause(&self, kind: u16) -> bool {
        self.has(kind, CLAUSE)
    }

    /// Comments, line ends and whatever else may stand anywhere without a meaning. What a parser
    /// skips to recover from an error may stand anywhere, too, but it does have a meaning.
    pub(crate) fn is_trivia(&self, node: Node<'_>) -> bool {
        node.is_extra() && !node.is_error() || self.has(node.kind_id(), LAYOUT)
    }

    /// A separator of one byte that says more than a line end does.
    pub(crate) fn is_mark(&self, token: Node<'_>) -> bool {
        let kind = token.kind_id();
        token.byte_range().len() == 1 && self.is_separator(kind) && !self.has(kind, LAYOUT)
    }

    /// What `$X` may stand for: a named node that is no separator and no clause of the statement around it, or one of
    /// the few tokens that count as one.
    pub(crate) fn is_one(&self, node: Node<'_>) -> bool {
        let kind = node.kind_id();
        node.is_named() && !self.has(kind, CLAUSE | SEPARATOR) || self.has(kind, NAMELESS)
    }

    /// A kind whose text takes in white space at its edges.
    pub(crate) fn is_padded(&self, kind: u16) -> bool {
        self.has(kind, PADDED)
    }

    /// A leaf in which upper case and lower case are the same.
    pub(crate) fn is_caseless(&self, kind: u16) -> bool {
        self.has(kind, CASELESS)
    }
}

fn operands(grammar: &Grammar, count: u16) -> Vec<Operand> {
    let data = grammar.data();
    let rules = data
        .grouped
        .iter()
        .filter(|rule| !rule.operand_of.is_empty());
    let rules: Vec<_> = rules.take(16).collect();
    if rules.is_empty() && data.same_line.is_empty() {
        return Vec::new();
    }
    let language = grammar.language();
    let mut operands = vec![Operand::default(); usize::from(count)];
    let id = |kind: &String| usize::from(language.id_for_node_kind(kind, true));
    for (bit, rule) in rules.into_iter().enumerate() {
        for kind in &rule.kinds {
            let operand = &mut operands[id(kind)];
            operand.is |= 1 << bit;
            operand.ends_in_one |= rule.last_operand;
        }
        for kind in &rule.operand_of {
            let operand = &mut operands[id(kind)];
            operand.takes |= 1 << bit;
            operand.takes_last |= rule.last_operand;
        }
    }
    for kind in &data.same_line {
        operands[id(kind)].same_line = true;
    }
    // The kind that stands for none at all, such as one that asks for a token too.
    operands[0] = Operand::default();
    operands
}
