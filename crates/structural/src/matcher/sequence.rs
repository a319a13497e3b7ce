//! Compares lists of pattern nodes with lists of siblings, by backtracking.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node as Syntax, Tree, TreeCursor};

use super::{Capture, MOST_STEPS, tokens};
use crate::pattern::{Child, Compiled, Node, Run, children_into, padless, prefix};

/// The most children that a near miss may have more than the pattern.
const MOST_EXTRAS: usize = 4;

/// What is left to match once the innermost list is through: the lists around it.
struct Rest<'p, 'r> {
    pattern: &'p [Node],
    list: List,
    at: usize,
    next: Option<&'r Rest<'p, 'r>>,
}

/// A list of siblings: a stretch of the arena, with the bytes that may belong to a run in it.
#[derive(Debug, Clone, Copy)]
struct List {
    start: usize,
    end: usize,
    /// Where the text of a run at the list's start begins, and at its end ends.
    text: (usize, usize),
    /// The node whose children they are; 0 for the candidates themselves.
    owner: usize,
}

#[derive(Debug, Clone)]
struct Bound {
    /// The siblings, as a stretch of the arena.
    members: Range<usize>,
    text: Range<usize>,
    run: bool,
}

/// Compares readings of one pattern with candidates of one file; its buffers are reused.
pub(super) struct Sequence<'p, 't> {
    compiled: &'p Compiled,
    source: &'t [u8],
    /// Reads the children of nodes.
    cursor: TreeCursor<'t>,
    arena: Vec<Child<'t>>,
    bound: Vec<Option<Bound>>,
    /// The variables in the order in which they were bound, to undo a choice.
    trail: Vec<u8>,
    steps: u32,
    /// The steps of all candidates since the caller was asked last whether to go on.
    spent: u32,
    window: bool,
    taken: usize,
    /// For a run of the pattern in a list: the ends that were tried in vain.
    failed: HashMap<(usize, usize), Range<usize>>,
    /// Whether a candidate may have more than the pattern shows.
    lenient: bool,
    /// The operand that the candidate begins with, where the grammar counts operators before it in.
    operand: Option<Syntax<'t>>,
    /// What it had more, and how much that may be.
    extras: Vec<Syntax<'t>>,
    most_extras: usize,
}

impl<'p, 't> Sequence<'p, 't> {
    pub(super) fn new(compiled: &'p Compiled, tree: &'t Tree, source: &'t [u8]) -> Self {
        Self {
            compiled,
            source,
            cursor: tree.walk(),
            arena: Vec::new(),
            bound: vec![None; compiled.variables.len()],
            trail: Vec::new(),
            steps: 0,
            spent: 0,
            window: false,
            taken: 0,
            failed: HashMap::new(),
            lenient: false,
            operand: None,
            extras: Vec::new(),
            most_extras: 0,
        }
    }

    /// One that lets a candidate have a little more than the pattern shows.
    pub(super) fn lenient(compiled: &'p Compiled, tree: &'t Tree, source: &'t [u8]) -> Self {
        Self {
            lenient: true,
            ..Self::new(compiled, tree, source)
        }
    }

    /// The names of what the last candidate had more: fields, else kinds, else tokens.
    pub(super) fn extras(&self) -> Vec<&'t str> {
        let named = self.extras.iter().any(|node| node.is_named());
        let mut names: Vec<&str> = self
            .extras
            .iter()
            .filter(|node| node.is_named() || !named)
            .map(|node| field_name(*node).unwrap_or(node.kind()))
            .collect();
        names.dedup();
        names
    }

    pub(super) fn compiled(&self) -> &'p Compiled {
        self.compiled
    }

    pub(super) fn source(&self) -> &'t [u8] {
        self.source
    }

    /// Whether so much was done that it is time to ask whether to go on.
    pub(super) fn has_spent_much(&mut self) -> bool {
        let much = self.spent > MOST_STEPS / 4;
        if much {
            self.spent = 0;
        }
        much
    }

    /// Whether a window may begin with this sibling, by its kind alone.
    pub(super) fn may_start(&self, reading: usize, first: Child<'t>) -> bool {
        match (&self.compiled.readings[reading].roots[0], first) {
            (
                Node::Inner { kind, .. } | Node::Leaf { kind, .. } | Node::Token { kind },
                Child::Node(node),
            ) => *kind == self.compiled.tables.kind(node),
            _ => true,
        }
    }

    /// Whether the last candidate took too many steps to be decided.
    pub(super) fn gave_up(&self) -> bool {
        self.steps > self.most_steps()
    }

    /// How many of the siblings the last window took.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Compares a reading with the siblings: a single root with all of them, a window with as many
    /// from the first on as it needs.
    pub(super) fn start(&mut self, reading: usize, siblings: &[Child<'t>]) -> bool {
        let roots = &self.compiled.readings[reading].roots[..];
        if let ([Node::Leaf { text, .. }], [Child::Node(node)]) = (roots, siblings) {
            self.bound.fill(None);
            self.steps = 0;
            return self.source[node.byte_range()] == **text;
        }
        self.arena.clear();
        self.arena.extend_from_slice(siblings);
        self.bound.fill(None);
        self.trail.clear();
        self.failed.clear();
        self.extras.clear();
        self.steps = 0;
        self.window = roots.len() > 1;
        let text = match (siblings.first(), siblings.last()) {
            (Some(first), Some(last)) => (first.start(), last.end()),
            _ => return false,
        };
        let list = List {
            start: 0,
            end: siblings.len(),
            text,
            owner: 0,
        };
        if !self.lenient {
            return self.list(roots, list, 0, None);
        }
        // The fewest extras name what a candidate has too much; with more of them, a run would
        // rather skip its members than take them.
        (1..=MOST_EXTRAS).any(|most| {
            self.most_extras = most;
            self.list(roots, list, 0, None)
        })
    }

    /// The same for a candidate without the operators before this operand of it.
    pub(super) fn start_from(
        &mut self,
        reading: usize,
        candidate: Syntax<'t>,
        operand: Syntax<'t>,
    ) -> bool {
        self.operand = Some(operand);
        let matched = self.start(reading, &[Child::Node(candidate)]);
        self.operand = None;
        matched
    }

    pub(super) fn captures(&self) -> Vec<Option<Capture>> {
        let capture = |bound: &Bound| Capture {
            range: bound.text.clone(),
            run: bound.run,
        };
        self.bound
            .iter()
            .map(|bound| bound.as_ref().map(capture))
            .collect()
    }

    /// Matches the rest of a list, then the lists around it. Bindings made on a way that fails are
    /// undone by who chose that way.
    fn list(
        &mut self,
        pattern: &'p [Node],
        list: List,
        at: usize,
        rest: Option<&Rest<'p, '_>>,
    ) -> bool {
        if !self.lenient {
            return self.strict(pattern, list, at, rest);
        }
        let (bound, arena) = (self.trail.len(), self.arena.len());
        if self.strict(pattern, list, at, rest) {
            return true;
        }
        self.undo(bound);
        self.arena.truncate(arena);
        let Some(extra) = self.extra(list, at) else {
            return false;
        };
        self.extras.push(extra);
        if self.list(pattern, list, at + 1, rest) {
            return true;
        }
        self.undo(bound);
        self.arena.truncate(arena);
        self.extras.pop();
        false
    }

    /// The sibling at this place, if it is something that a candidate may have more: no bracket and
    /// no member of a list with separators.
    fn extra(&self, list: List, at: usize) -> Option<Syntax<'t>> {
        if at >= list.end || list.owner == 0 || self.extras.len() >= self.most_extras {
            return None;
        }
        let Child::Node(node) = self.arena[at] else {
            return None;
        };
        let separated = |at: usize| {
            (list.start..list.end).contains(&at)
                && self.arena[at].is_separator(&self.compiled.tables)
        };
        let listed = separated(at) || separated(at + 1) || at > 0 && separated(at - 1);
        let bracket = matches!(node.kind(), "(" | ")" | "[" | "]" | "{" | "}" | "<" | ">");
        (!listed && !bracket && !node.has_error()).then_some(node)
    }

    fn most_steps(&self) -> u32 {
        if self.lenient {
            MOST_STEPS / 50
        } else {
            MOST_STEPS
        }
    }

    fn strict(
        &mut self,
        mut pattern: &'p [Node],
        list: List,
        mut at: usize,
        rest: Option<&Rest<'p, '_>>,
    ) -> bool {
        loop {
            self.steps += 1;
            self.spent += 1;
            if self.steps > self.most_steps() {
                return false;
            }
            let Some((first, mut after)) = pattern.split_first() else {
                return match rest {
                    None if self.window => {
                        self.taken = at;
                        true
                    }
                    _ if at < list.end => false,
                    None => true,
                    Some(rest) => self.list(rest.pattern, rest.list, rest.at, rest.next),
                };
            };
            if let Node::Run(run) = first {
                return self.run(*run, pattern, list, at, rest);
            }
            // A separator before an empty run is absorbed with it.
            if let (true, Some(Node::Run(run))) = (self.is_separator(first), after.first())
                && run.least == 0
                && run.crosses
            {
                let mark = self.trail.len();
                if self.bind_run(*run, list, at, at) && self.list(&after[1..], list, at, rest) {
                    return true;
                }
                self.undo(mark);
            }
            let child = if at < list.end {
                Some(self.arena[at])
            } else {
                None
            };
            // A list that may be empty is not there when it is.
            if first.is_optional(&self.compiled.tables)
                && !matches!((child, first), (Some(Child::Node(node)), Node::Inner { kind, .. })
                    if self.compiled.tables.kind(node) == *kind)
            {
                let Node::Inner { children, .. } = first else {
                    return false;
                };
                for child in children {
                    if let Node::Run(run) = child
                        && !self.bind_run(*run, list, at, at)
                    {
                        return false;
                    }
                }
                pattern = after;
                continue;
            }
            match (first, child) {
                (_, None) => return false,
                (Node::Inner { kind, children }, Some(Child::Node(node))) => {
                    if self.compiled.tables.kind(node) != *kind || node.is_missing() {
                        return false;
                    }
                    let mark = self.arena.len();
                    let inner = self.open(node, list, at);
                    let rest = Rest {
                        pattern: after,
                        list,
                        at: at + 1,
                        next: rest,
                    };
                    let matched = self.list(children, inner, inner.start, Some(&rest));
                    if !matched {
                        self.arena.truncate(mark);
                    }
                    return matched;
                }
                (Node::One { variable }, Some(Child::Node(node)))
                    if let Some(end) = self.own_separator(after, list, at) =>
                {
                    let text = self.trimmed(node.start_byte()..end, None);
                    if text.is_empty() || !self.bind(*variable, at..at + 1, text, false) {
                        return false;
                    }
                    after = &after[1..];
                }
                (first, Some(child)) => {
                    if !self.one(first, child, at) {
                        return false;
                    }
                }
            }
            pattern = after;
            at += 1;
            if self.lenient {
                return self.list(pattern, list, at, rest);
            }
        }
    }

    /// Compares one pattern node without children with one sibling.
    fn one(&mut self, pattern: &Node, child: Child<'t>, at: usize) -> bool {
        match (pattern, child) {
            (Node::Leaf { kind, text }, Child::Node(node)) => {
                let tables = &self.compiled.tables;
                tables.kind(node) == *kind
                    && !node.is_missing()
                    && self.source[padless(node, self.source, tables)] == **text
            }
            (Node::Word { kind, text }, Child::Node(node)) => {
                node.kind_id() == *kind
                    && !node.is_missing()
                    && self.source[node.byte_range()].eq_ignore_ascii_case(text)
            }
            (Node::Token { kind }, Child::Node(node)) => {
                node.kind_id() == *kind && !node.is_missing()
            }
            (
                Node::Quote {
                    kind,
                    prefix: letters,
                },
                Child::Node(node),
            ) => {
                node.kind_id() == *kind
                    && !node.is_missing()
                    && prefix(&self.source[node.byte_range()]) == &**letters
            }
            (Node::Text { text }, Child::Text { start, end }) => self.source[start..end] == **text,
            (Node::One { variable }, Child::Node(node)) => {
                // A list without brackets is no member of a list.
                let tables = &self.compiled.tables;
                let is_list = tables.is_container(node.kind_id());
                let stands = tables.is_one(node) && !is_list && !node.has_error();
                // A directive of some grammars ends with its line end.
                let mut text = padless(node, self.source, tables);
                text.end = text.start + self.source[text.clone()].trim_ascii_end().len();
                stands && self.bind(*variable, at..at + 1, text, false)
            }
            _ => false,
        }
    }

    /// A run takes the fewest siblings first.
    fn run(
        &mut self,
        run: Run,
        pattern: &'p [Node],
        list: List,
        at: usize,
        rest: Option<&Rest<'p, '_>>,
    ) -> bool {
        let after = &pattern[1..];
        if run.least == 0 {
            let mark = self.trail.len();
            if self.bind_run(run, list, at, at) {
                if self.list(after, list, at, rest) {
                    return true;
                }
                // A separator behind an empty run is absorbed with it.
                if let Some(separator) = after.first()
                    && run.crosses
                    && self.is_separator(separator)
                    && self.list(&after[1..], list, at, rest)
                {
                    return true;
                }
            }
            self.undo(mark);
        }
        if at >= list.end || self.arena[at].is_separator(&self.compiled.tables) {
            return false;
        }
        // Without a repeated name the outcome depends on the end alone, so that no end is tried
        // twice for the same run of the same list.
        let remembers = self.compiled.runs > 1 && !self.compiled.repeats && !self.lenient;
        let key = (std::ptr::from_ref(&pattern[0]).addr(), list.owner);
        let tried = self
            .failed
            .get(&key)
            .filter(|_| remembers)
            .cloned()
            .unwrap_or(0..0);
        let from = at + 1 - list.start;
        let mut end = at;
        while end < list.end && self.may_take(run, end) {
            end += 1;
            let offset = end - list.start;
            if tried.contains(&offset) {
                end = list.start + tried.end - 1;
                continue;
            }
            if self.arena[end - 1].is_separator(&self.compiled.tables) {
                self.steps += 1;
                continue;
            }
            let mark = self.trail.len();
            if self.bind_run(run, list, at, end) && self.list(after, list, end, rest) {
                return true;
            }
            self.undo(mark);
            if let Some(own) = self.own_separator(after, list, end - 1) {
                let start = self.arena[at].start();
                let text = self.trimmed(start..own, None);
                if self.bind(run.variable, at..end, text, true)
                    && self.list(&after[1..], list, end, rest)
                {
                    return true;
                }
                self.undo(mark);
            }
            if self.gave_up() {
                return false;
            }
        }
        if remembers {
            let to = end - list.start + 1;
            let joined = if tried.is_empty() {
                from..to
            } else {
                tried.start.min(from)..tried.end.max(to)
            };
            self.failed.insert(key, joined);
        }
        false
    }

    fn may_take(&self, run: Run, at: usize) -> bool {
        match self.arena[at] {
            Child::Text { .. } => run.tokens,
            Child::Node(node) if node.has_error() => false,
            Child::Node(node) if self.compiled.tables.is_clause(node.kind_id()) => run.tokens,
            Child::Node(node) if self.compiled.tables.is_separator(node.kind_id()) => run.crosses,
            Child::Node(node) => run.tokens || self.compiled.tables.is_one(node),
        }
    }

    /// Where the separator begins that the pattern shows behind this sibling, if the sibling itself
    /// ends with it (`let i = 0;` in the head of a loop).
    fn own_separator(&self, after: &[Node], list: List, at: usize) -> Option<usize> {
        let Some(Node::Token { kind: separator }) = after.first() else {
            return None;
        };
        let is_it = |node: Syntax<'_>| node.kind_id() == *separator && !node.is_named();
        let (Child::Node(node), true) = (
            self.arena[at],
            self.compiled.tables.is_separator(*separator),
        ) else {
            return None;
        };
        let next = self.arena[..list.end].get(at + 1);
        if matches!(next, Some(Child::Node(next)) if is_it(*next)) {
            return None;
        }
        let last = node.child(node.child_count().checked_sub(1)?)?;
        (is_it(last) && !node.has_error()).then(|| last.start_byte())
    }

    fn is_separator(&self, node: &Node) -> bool {
        matches!(node, Node::Token { kind } if self.compiled.tables.is_separator(*kind))
    }

    /// Puts the children of a node into the arena.
    fn open(&mut self, node: Syntax<'t>, around: List, at: usize) -> List {
        let start = self.arena.len();
        children_into(
            &mut self.cursor,
            node,
            self.source,
            &self.compiled.tables,
            &mut self.arena,
        );
        if let Some(operand) = self.operand
            && node.start_byte() < operand.start_byte()
            && let Some(first @ Child::Node(_)) = self.arena.get_mut(start)
            && node.child(0).is_some_and(|first| {
                let tables = &self.compiled.tables;
                tables.is_misread(first.kind_id(), node.kind_id())
            })
        {
            *first = Child::Node(operand);
        }
        // Comments around the members of a container stand outside of it in some grammars.
        let text = if self.compiled.tables.is_open_list(node.kind_id()) {
            inside_parentheses(node)
        } else if self.compiled.tables.is_container(node.kind_id()) {
            (self.text_start(around, at), self.text_end(around, at + 1))
        } else {
            (node.start_byte(), node.end_byte())
        };
        List {
            start,
            end: self.arena.len(),
            text,
            owner: node.id(),
        }
    }

    /// Where the text of a run that begins at this sibling begins.
    fn text_start(&self, list: List, at: usize) -> usize {
        if at == list.start {
            list.text.0
        } else {
            self.arena[at - 1].end()
        }
    }

    fn text_end(&self, list: List, at: usize) -> usize {
        if at == list.end {
            list.text.1
        } else {
            self.arena[at].start()
        }
    }

    fn bind_run(&mut self, run: Run, list: List, from: usize, to: usize) -> bool {
        if run.variable.is_none() {
            return true;
        }
        let start = self.text_start(list, from);
        let end = self.text_end(list, to);
        let text = if run.tokens && self.in_string(list) {
            start..end
        } else {
            let first = if from < to {
                self.arena[from].start()
            } else {
                end
            };
            let start = self.behind_layout(start..first);
            self.trimmed(start..end, (from < to).then(|| self.arena[to - 1].end()))
        };
        self.bind(run.variable, from..to, text, true)
    }

    fn in_string(&self, list: List) -> bool {
        // The body of a string literal is the one place where white space is content.
        list.start < list.end
            && match self.arena[list.start] {
                Child::Text { .. } => true,
                Child::Node(node) => node
                    .parent()
                    .is_some_and(|parent| self.compiled.tables.is_string(parent.kind_id())),
            }
    }

    /// Where the text that a run begins with begins: behind the tokens that say no more than a line
    /// end does (`then`).
    fn behind_layout(&self, gap: Range<usize>) -> usize {
        let layout = &self.compiled.grammar.data().layout;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut start = gap.start;
        loop {
            let text = &self.source[start..gap.end.max(start)];
            let content = text.trim_ascii_start();
            let token = layout.iter().map(String::as_bytes).find(|token| {
                let rest = content.strip_prefix(*token);
                rest.is_some_and(|rest| {
                    !(token.last().is_some_and(is_word) && rest.first().is_some_and(is_word))
                })
            });
            match token {
                Some(token) => start += text.len() - content.len() + token.len(),
                None => return start,
            }
        }
    }

    /// Without white space at the edges, and without a separator behind the last member.
    fn trimmed(&self, range: Range<usize>, last_member: Option<usize>) -> Range<usize> {
        let mut range = range;
        if let Some(member_end) = last_member {
            let tail = &self.source[member_end..range.end];
            let content = tail.iter().position(|byte| !byte.is_ascii_whitespace());
            let ends =
                |byte: u8| matches!(byte, b',' | b';') && !self.compiled.tables.is_terminator(byte);
            if content.is_some_and(|at| ends(tail[at])) {
                range.end = member_end;
            }
        }
        // Without a member there is nothing for a separator to part.
        let is_edge = |byte: &u8| {
            byte.is_ascii_whitespace() || last_member.is_none() && matches!(byte, b',' | b';')
        };
        let text = &self.source[range.clone()];
        let from = text
            .iter()
            .position(|byte| !is_edge(byte))
            .unwrap_or(text.len());
        let to = text
            .iter()
            .rposition(|byte| !is_edge(byte))
            .map_or(from, |at| at + 1);
        range.start + from..range.start + to
    }

    /// Binds a variable, or compares with what it is bound to.
    fn bind(
        &mut self,
        variable: Option<u8>,
        members: Range<usize>,
        text: Range<usize>,
        run: bool,
    ) -> bool {
        let Some(variable) = variable else {
            return true;
        };
        let begin = self.operand.map_or(0, |operand| operand.start_byte());
        let text = text.start.max(begin)..text.end.max(begin);
        let slot = usize::from(variable);
        if let Some(bound) = &self.bound[slot] {
            if self.source[bound.text.clone()] == self.source[text] {
                return true;
            }
            let (a, b) = (&self.arena[bound.members.clone()], &self.arena[members]);
            // Comparing costs as much as it has tokens; a rough bound will do.
            self.steps += 1 + u32::try_from(bound.text.len() / 16).unwrap_or(u32::MAX / 2);
            return tokens::same(a, b, self.source, &self.compiled.tables);
        }
        self.bound[slot] = Some(Bound { members, text, run });
        self.trail.push(variable);
        true
    }

    fn undo(&mut self, mark: usize) {
        for variable in self.trail.drain(mark..) {
            self.bound[usize::from(variable)] = None;
        }
    }
}

/// The bytes of a list between its parentheses, if it has any.
fn inside_parentheses(node: Syntax<'_>) -> (usize, usize) {
    let count = node.child_count();
    let child = |at, kind| node.child(at).filter(|child| child.kind() == kind);
    match (
        child(0, "("),
        count.checked_sub(1).and_then(|at| child(at, ")")),
    ) {
        (Some(open), Some(close)) => (open.end_byte(), close.start_byte()),
        _ => (node.start_byte(), node.end_byte()),
    }
}

/// The name of the field that the node is in its parent.
fn field_name<'t>(node: Syntax<'t>) -> Option<&'t str> {
    let parent = node.parent()?;
    let mut cursor = parent.walk();
    let index = parent
        .children(&mut cursor)
        .position(|child| child == node)?;
    parent.field_name_for_child(u32::try_from(index).ok()?)
}
