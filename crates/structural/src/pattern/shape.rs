//! The shape of a pattern: the tree that a candidate is compared with.

use std::ops::Range;

use tree_sitter::{Node as Syntax, TreeCursor};

use super::tables::Tables;

/// A node of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A named node without children: same kind, same bytes.
    Leaf { kind: u16, text: Box<[u8]> },
    /// A leaf in which upper case and lower case are the same.
    Word { kind: u16, text: Box<[u8]> },
    /// A token without a name: same kind.
    Token { kind: u16 },
    /// What opens or closes a string literal: same kind, and the same letters before the quote, as
    /// some grammars have one kind of token for `"` and `b"`.
    Quote { kind: u16, prefix: Box<[u8]> },
    /// Text that no node of the grammar covers (the body of some string literals).
    Text { text: Box<[u8]> },
    /// A node with children.
    Inner { kind: u16, children: Vec<Node> },
    /// `$X`: exactly one named node.
    One { variable: Option<u8> },
    /// `$$$X`: any number of siblings.
    Run(Run),
}

/// How a run of siblings is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) variable: Option<u8>,
    /// The fewest siblings that it takes.
    pub(crate) least: u8,
    /// Whether it goes on past a separator.
    pub(crate) crosses: bool,
    /// Whether it takes tokens without a name, too.
    pub(crate) tokens: bool,
}

/// A child of a node as the matcher sees it: trivia is gone, uncovered text is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Child<'t> {
    Node(Syntax<'t>),
    Text { start: usize, end: usize },
}

impl Child<'_> {
    pub(crate) fn start(&self) -> usize {
        match self {
            Child::Node(node) => node.start_byte(),
            Child::Text { start, .. } => *start,
        }
    }

    pub(crate) fn end(&self) -> usize {
        match self {
            Child::Node(node) => node.end_byte(),
            Child::Text { end, .. } => *end,
        }
    }

    pub(crate) fn is_separator(&self, tables: &Tables) -> bool {
        matches!(self, Child::Node(node) if tables.is_separator(node.kind_id()))
    }
}

/// Appends the children of a node: without trivia, with the text that no child covers, without a
/// separator that nothing follows.
///
/// The cursor is any of the same tree: one that is kept saves an allocation a node.
pub(crate) fn children_into<'t>(
    cursor: &mut TreeCursor<'t>,
    node: Syntax<'t>,
    source: &[u8],
    tables: &Tables,
    out: &mut Vec<Child<'t>>,
) {
    let base = out.len();
    let is_string = tables.is_string(node.kind_id());
    if is_string && node.child_count() == 0 {
        let (open, close) = quotes(&source[node.byte_range()]);
        let (start, end) = (node.start_byte(), node.end_byte());
        for (start, end) in [
            (start, start + open),
            (start + open, end - close),
            (end - close, end),
        ] {
            if start < end {
                out.push(Child::Text { start, end });
            }
        }
        return;
    }
    // Quotes that are no tokens: some grammars name only what is special between them.
    let (open, close) = if is_string {
        quotes(&source[node.byte_range()])
    } else {
        (0, 0)
    };
    cursor.reset(node);
    let mut covered = node.start_byte();
    let gap = |from: usize, to: usize, out: &mut Vec<Child<'t>>| {
        let text = source.get(from..to).unwrap_or_default();
        if !text.is_empty() && (is_string || !is_layout(text)) {
            out.push(Child::Text {
                start: from,
                end: to,
            });
        }
    };
    if cursor.goto_first_child() {
        loop {
            let child = cursor.node();
            if covered == node.start_byte() && child.start_byte() >= covered + open {
                gap(covered, covered + open, out);
                covered += open;
            }
            if child.start_byte() > covered {
                gap(covered, child.start_byte(), out);
            }
            covered = covered.max(child.end_byte());
            if tables.is_transparent(child.kind_id()) || tables.is_wrapper(child) {
                children_into(&mut child.walk(), child, source, tables, out);
            } else if tables.is_padded(child.kind_id()) && padless(child, source, tables).is_empty()
            {
                // Nothing but white space between tags.
            } else if !tables.is_trivia(child) && !leads(tables, child, &out[base..]) {
                out.push(Child::Node(child));
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    let inner_end = node.end_byte() - close;
    if inner_end >= covered {
        gap(covered, inner_end, out);
        covered = inner_end;
    }
    if node.end_byte() > covered {
        gap(covered, node.end_byte(), out);
    }
    drop_trailing_separator(tables, base, out);
    if tables.is_open_list(node.kind_id()) {
        drop_parentheses(base, out);
    }
}

/// The bytes of a node, without the white space at the edges that some kinds take in.
pub(crate) fn padless(node: Syntax<'_>, source: &[u8], tables: &Tables) -> Range<usize> {
    let range = node.byte_range();
    if !tables.is_padded(node.kind_id()) {
        return range;
    }
    let text = source.get(range.clone()).unwrap_or_default();
    let start = range.end - text.trim_ascii_start().len();
    start..start + text.trim_ascii().len()
}

/// The parentheses around a list that means the same without them.
fn drop_parentheses(base: usize, out: &mut Vec<Child<'_>>) {
    let is = |child: &Child<'_>, kind| matches!(child, Child::Node(node) if node.kind() == kind);
    if let [first, .., last] = &out[base..]
        && is(first, "(")
        && is(last, ")")
    {
        out.pop();
        out.remove(base);
    }
}

/// The letters that a token of a string literal begins with.
pub(crate) fn prefix(text: &[u8]) -> &[u8] {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic());
    &text[..letters.count()]
}

/// The lengths of the opening and the closing quote of a string literal that is one token.
fn quotes(text: &[u8]) -> (usize, usize) {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'<');
    let Some(first) = text.iter().position(is_quote) else {
        return (0, 0);
    };
    let quote = text[first];
    let run = text[first..]
        .iter()
        .take_while(|&&byte| byte == quote)
        .count();
    let count = if run >= 3 && text.len() >= first + 6 {
        3
    } else {
        1
    };
    // Behind the closing quote stands what a raw string opens with, or a suffix.
    let closing = if quote == b'<' { b'>' } else { quote };
    let last = text
        .iter()
        .rposition(|&byte| byte == closing)
        .unwrap_or(first);
    let close = count + text.len() - last - 1;
    if text.len() < first + count + close {
        return (0, 0);
    }
    (first + count, close)
}

/// White space, continued lines, and a `;` that is part of no node: a hidden line end.
fn is_layout(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let is_blank = |text: &str| {
        text.chars()
            .all(|letter| letter.is_whitespace() || matches!(letter, '\u{feff}' | ';'))
    };
    is_blank(text) || is_blank(&text.replace("\\\n", "").replace("\\\r", ""))
}

/// A separator before the first member of its list means nothing in some languages.
fn leads(tables: &Tables, node: Syntax<'_>, before: &[Child<'_>]) -> bool {
    !node.is_named()
        && tables.is_leading(node.kind_id())
        && before
            .last()
            .is_none_or(|last| matches!(last, Child::Node(last) if !last.is_named()))
}

/// A separator at the end, or right before the closing bracket, means nothing.
fn drop_trailing_separator(tables: &Tables, base: usize, out: &mut Vec<Child<'_>>) {
    if tables.counts_trailing() {
        return;
    }
    let list = &out[base..];
    let closes =
        |child: &Child<'_>| matches!(child, Child::Node(node) if tables.is_closer(node.kind_id()));
    let at = match list {
        [.., member, separator, closer]
            if separator.is_separator(tables) && closes(closer) && is_member(member) =>
        {
            list.len() - 2
        }
        // One member with a comma behind it, and no brackets, is more than the member: a tuple.
        [_, Child::Node(separator)] if separator.kind() == "," => return,
        [.., member, separator] if separator.is_separator(tables) && is_member(member) => {
            list.len() - 1
        }
        _ => return,
    };
    out.remove(base + at);
}

/// A named node or a keyword (`return;`).
fn is_member(child: &Child<'_>) -> bool {
    let is_word = |kind: &str| kind.starts_with(|letter: char| letter.is_alphabetic());
    matches!(child, Child::Node(node) if node.is_named() || is_word(node.kind()))
}

/// Where a metavariable stands in the scaffold, and which.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    /// With its mould.
    pub(crate) range: Range<usize>,
    /// The word alone.
    pub(crate) word: Range<usize>,
    pub(crate) variable: Option<u8>,
    pub(crate) run: bool,
}

/// Why a parsed scaffold gives no shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A hole is part of a longer token.
    InsideToken {
        token: String,
        /// The number of the first hole in it.
        hole: usize,
    },
    /// A hole is not one node.
    NotOneNode,
}

/// Turns syntax into a shape.
pub(crate) struct Builder<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) tables: &'a Tables,
    pub(crate) holes: &'a [Hole],
}

impl Builder<'_> {
    pub(crate) fn build(&self, node: Syntax<'_>) -> Result<Node, Misfit> {
        self.node(node, false)
    }

    fn node(&self, node: Syntax<'_>, in_tokens: bool) -> Result<Node, Misfit> {
        let kind = node.kind_id();
        let range = padless(node, self.source, self.tables);
        let own = self.without_separator(node);
        let ended = self.with_separator(node);
        let is_whole = |hole: &&Hole| {
            hole.range == range
                || hole.range != hole.word && (hole.range == own || hole.range == ended)
        };
        if let Some(hole) = self.holes.iter().find(is_whole)
            && self.stands_here(hole, node)
        {
            return if self.tables.is_one(node) {
                Ok(hole_node(hole, in_tokens))
            } else {
                Err(Misfit::NotOneNode)
            };
        }
        let is_string = self.tables.is_string(kind);
        let holds = |hole: &Hole| range.start <= hole.range.start && hole.range.end <= range.end;
        if node.child_count() == 0 && !(is_string && self.holes.iter().any(holds)) {
            return self.leaf(node);
        }
        let mut syntax = Vec::new();
        children_into(
            &mut node.walk(),
            node,
            self.source,
            self.tables,
            &mut syntax,
        );
        let in_tokens = in_tokens || self.tables.is_token_tree(kind);
        let whole = is_string.then(|| self.letters(&syntax)).flatten();
        let children = syntax.iter().enumerate().filter_map(|(at, child)| {
            if let Some((hole, letters)) = &whole
                && letters.contains(&at)
            {
                return (at == letters.start).then(|| Ok(body(hole)));
            }
            Some(match *child {
                Child::Node(child) if is_string => self.in_string(child, syntax.len() == 3),
                Child::Node(child) => self.node(child, in_tokens),
                Child::Text { start, end } => self.text(start..end, self.tables.is_padded(kind)),
            })
        });
        let mut children = children.collect::<Result<Vec<_>, _>>()?;
        if has_parts(node) {
            for child in &mut children {
                if let Node::Run(run) = child {
                    run.crosses = false;
                }
            }
        }
        Ok(Node::Inner {
            kind: self.tables.kind(node),
            children,
        })
    }

    /// The hole that a string literal's body is, and the children that spell it, where each letter
    /// is a node of its own.
    fn letters(&self, children: &[Child<'_>]) -> Option<(&Hole, Range<usize>)> {
        self.holes.iter().find_map(|hole| {
            let first = children
                .iter()
                .position(|child| child.start() == hole.range.start)?;
            let last = children
                .iter()
                .position(|child| child.end() == hole.range.end)?;
            (first < last).then_some((hole, first..last + 1))
        })
    }

    /// The range of a node without a separator that the grammar counts in (the arms of `match`).
    fn without_separator(&self, node: Syntax<'_>) -> Range<usize> {
        let count = node.child_count();
        let children = count.checked_sub(2).and_then(|at| node.child(at));
        match (children, count.checked_sub(1).and_then(|at| node.child(at))) {
            (Some(before), Some(last))
                if !last.is_named() && self.tables.is_separator(last.kind_id()) =>
            {
                node.start_byte()..before.end_byte()
            }
            _ => node.byte_range(),
        }
    }

    /// The range of a node with the separator that ends it and is no more than layout: elsewhere it
    /// ends the statement around.
    fn with_separator(&self, node: Syntax<'_>) -> Range<usize> {
        let is_end = |next: &Syntax<'_>| {
            next.start_byte() == node.end_byte()
                && !next.is_named()
                && self.tables.is_separator(next.kind_id())
                && self.tables.is_trivia(*next)
        };
        let end = node.next_sibling().filter(is_end);
        node.start_byte()..end.map_or(node.end_byte(), |end| end.end_byte())
    }

    /// A hole sits directly below the innermost container of its range: one node is one member of
    /// that list, as a run is some of them. Of a declarator one node is the name.
    fn stands_here(&self, hole: &Hole, node: Syntax<'_>) -> bool {
        let mut below = Some(node);
        while let Some(inner) = below.filter(|inner| inner.byte_range() == hole.range) {
            let kind = inner.kind_id();
            if self.tables.is_container(kind) || !hole.run && self.tables.is_declarator(kind) {
                return false;
            }
            below = inner.named_child(0);
        }
        true
    }

    fn leaf(&self, node: Syntax<'_>) -> Result<Node, Misfit> {
        let range = padless(node, self.source, self.tables);
        let text = &self.source[range.clone()];
        // The word alone is a token of its own; it is its mould that is no node.
        if self.holes.iter().any(|hole| hole.word == range) {
            return Err(Misfit::NotOneNode);
        }
        let inside = |hole: &Hole| range.start <= hole.word.start && hole.word.end <= range.end;
        if let Some(hole) = self.holes.iter().position(inside) {
            return Err(inside_token(text, hole));
        }
        let kind = self.tables.kind(node);
        Ok(if !node.is_named() || self.tables.is_separator(kind) {
            Node::Token { kind }
        } else if self.tables.is_caseless(kind) {
            Node::Word {
                kind,
                text: text.into(),
            }
        } else {
            Node::Leaf {
                kind,
                text: text.into(),
            }
        })
    }

    /// Directly inside a string literal a hole is the whole body or an error, unless its mould is
    /// what makes a node of it there (a variable).
    fn in_string(&self, node: Syntax<'_>, is_whole: bool) -> Result<Node, Misfit> {
        let is_body =
            |hole: &&Hole| hole.range == node.byte_range() && (is_whole || hole.range == hole.word);
        match self.holes.iter().find(is_body) {
            Some(hole) => Ok(body(hole)),
            None if !node.is_named() && node.child_count() == 0 => {
                let text = &self.source[node.byte_range()];
                Ok(Node::Quote {
                    kind: node.kind_id(),
                    prefix: prefix(text).into(),
                })
            }
            None => self.node(node, false),
        }
    }

    fn text(&self, range: Range<usize>, padded: bool) -> Result<Node, Misfit> {
        let text = &self.source[range.clone()];
        let fills = |hole: &&Hole| {
            let start = range.start..hole.range.start;
            let is_space = |range: Range<usize>| {
                let text = self.source.get(range);
                text.is_some_and(|text| text.trim_ascii().is_empty())
            };
            hole.range == range || padded && is_space(start) && is_space(hole.range.end..range.end)
        };
        if let Some(hole) = self.holes.iter().find(fills) {
            return Ok(body(hole));
        }
        let inside = |hole: &Hole| range.start < hole.range.end && hole.range.start < range.end;
        if let Some(hole) = self.holes.iter().position(inside) {
            return Err(inside_token(text, hole));
        }
        Ok(Node::Text { text: text.into() })
    }
}

fn inside_token(text: &[u8], hole: usize) -> Misfit {
    Misfit::InsideToken {
        token: String::from_utf8_lossy(text.trim_ascii()).into_owned(),
        hole,
    }
}

/// Whether semicolons part what the node is made of, as in the head of a loop: there they are no
/// separators of members.
fn has_parts(node: Syntax<'_>) -> bool {
    let mut cursor = node.walk();
    node.kind().split('_').any(|word| word == "for")
        && node.children(&mut cursor).any(|child| child.kind() == ";")
}

fn hole_node(hole: &Hole, in_tokens: bool) -> Node {
    match (hole.run, in_tokens) {
        (false, false) => Node::One {
            variable: hole.variable,
        },
        (false, true) => Node::Run(Run {
            variable: hole.variable,
            least: 1,
            crosses: false,
            tokens: true,
        }),
        (true, tokens) => Node::Run(Run {
            variable: hole.variable,
            least: 0,
            crosses: true,
            tokens,
        }),
    }
}

/// The body of a string literal: whatever stands between its quotes.
fn body(hole: &Hole) -> Node {
    Node::Run(Run {
        variable: hole.variable,
        least: 0,
        crosses: true,
        tokens: true,
    })
}

impl Node {
    /// Calls `visit` with every node, outermost first.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Node)) {
        visit(self);
        if let Node::Inner { children, .. } = self {
            for child in children {
                child.each(visit);
            }
        }
    }

    /// Whether it is a list that may be absent: a container that holds runs only.
    pub(crate) fn is_optional(&self, tables: &Tables) -> bool {
        matches!(self, Node::Inner { kind, children } if tables.is_container(*kind)
            && children.iter().all(|child| matches!(child, Node::Run(run) if run.least == 0)))
    }
}
