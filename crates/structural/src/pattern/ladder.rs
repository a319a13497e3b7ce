//! The pattern compiler: tries the contexts of a language in order and keeps what accepts.
//!
//! A context accepts a fragment when the scaffold parses without an error or a missing node, when
//! each metavariable is exactly one named node, and when nodes tile the fragment exactly, so that
//! no half of a node passes for a whole. Of the contexts that accept, those lose in which a keyword
//! of the language would be read as a name.

use std::ops::Range;

use memchr::memmem;
use terret_grammars::{Context, Grammar};
use tree_sitter::{Node as Syntax, Parser, Tree};

use crate::parse::parser;

use super::asked::{Asked, say_how_to_ask};
use super::cover::{self, cover, innermost};
use super::failure::{self, Failure};
use super::keywords::Keywords;
use super::mould::{self, Moulded};
use super::need::Need;
use super::shape::{Builder, Hole, Misfit, Node};
use super::tables::Tables;
use super::{Compiled, Fragment, PatternError, Piece, Reading, literals_of};

/// How deep the syntax of a pattern may nest.
const MOST_DEPTH: usize = 300;

pub(super) fn compile(
    grammar: &Grammar,
    text: &str,
    context: Option<&str>,
) -> Result<Compiled, PatternError> {
    let fragment = Fragment::of_pattern(text)?;
    check_content(&fragment)?;
    if fragment.holes().count() > usize::from(u8::MAX) {
        return Err(PatternError::Nothing(
            "the pattern has more than 255 metavariables: use runs, `$$$`".to_owned(),
        ));
    }
    let Asked { mut contexts, kind } = Asked::of(grammar, context)?;
    let text = fragment.to_string();
    let fits = |context: &&Context| {
        let begins = context.begins.as_deref();
        begins.is_none_or(|word| begins_with(&text, word))
    };
    if contexts.iter().any(fits) {
        contexts.retain(fits);
    }
    let mut ladder = Ladder {
        grammar,
        tables: Tables::of(grammar),
        variables: variables(&fragment),
        fragment: &fragment,
        parser: parser(grammar),
        failures: Vec::new(),
    };
    let mut readings = ladder.readings(&contexts)?;
    say_how_to_ask(&mut readings);
    if let Some(kind) = &kind {
        let is_asked = |reading: &Reading| reading.kind == *kind;
        if !readings.iter().any(is_asked) {
            ladder.failures.push(Failure::Cover);
            return Err(failure::explain(
                grammar,
                &fragment,
                &contexts,
                &ladder.failures,
            ));
        }
        readings.retain(is_asked);
    }
    // Whoever asks for a kind means it wherever it stands.
    let (readings, active) = match (kind, readings.len()) {
        (Some(_), active) => (readings, active),
        (None, _) => families(readings),
    };
    let mut named = 0;
    for hole in fragment.holes() {
        named += usize::from(hole.name.is_some());
    }
    let literals = |reading: &Reading| {
        let texts = literals_of(&reading.roots);
        texts
            .into_iter()
            .map(|text| memmem::Finder::new(text).into_owned())
            .collect()
    };
    let token = |kind: u16| {
        let token = grammar.language().node_kind_for_id(kind);
        token.unwrap_or_default().to_owned()
    };
    let need = |reading: &Reading| Need::of(reading, &ladder.tables, &token);
    let mut needs: Vec<Need> = readings.iter().map(need).collect();
    let everywhere = Need::shared(&needs);
    needs.truncate(active);
    Ok(Compiled {
        literals: readings[..active].iter().map(literals).collect(),
        needs,
        everywhere,
        grammar: grammar.clone(),
        repeats: named > ladder.variables.len(),
        runs: readings.iter().map(runs).max().unwrap_or(0),
        run_variables: run_variables(&fragment, &ladder.variables),
        variables: ladder.variables,
        tables: ladder.tables,
        readings,
        active,
    })
}

fn check_content(fragment: &Fragment) -> Result<(), PatternError> {
    let nothing = |text: &str| Err(PatternError::Nothing(text.to_owned()));
    match &fragment.pieces[..] {
        [] => nothing("the pattern is empty: write a piece of code, such as `dispose($X)`"),
        [Piece::Hole(hole)] if hole.run => {
            nothing("a run alone matches everything: put it where it belongs, such as `f($$$ARGS)`")
        }
        [Piece::Hole(_)] => nothing(
            "a metavariable alone matches everything: write the code around it, such as `dispose($X)`",
        ),
        _ => Ok(()),
    }
}

/// Whether the text begins with the word, and not with a longer one.
fn begins_with(text: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let goes_on = |rest: &str| word.ends_with(is_letter) && rest.starts_with(is_letter);
    text.strip_prefix(word).is_some_and(|rest| !goes_on(rest))
}

pub(super) fn variables(fragment: &Fragment) -> Vec<String> {
    let mut variables: Vec<String> = Vec::new();
    for name in fragment.holes().filter_map(|hole| hole.name.as_ref()) {
        if !variables.contains(name) {
            variables.push(name.clone());
        }
    }
    variables
}

fn run_variables(fragment: &Fragment, variables: &[String]) -> Vec<bool> {
    let is_run = |name: &String| {
        let mut holes = fragment.holes();
        holes.any(|hole| hole.run && hole.name.as_ref() == Some(name))
    };
    variables.iter().map(is_run).collect()
}

fn runs(reading: &Reading) -> usize {
    let mut runs = 0;
    for root in &reading.roots {
        root.each(&mut |node| runs += usize::from(matches!(node, Node::Run(_))));
    }
    runs
}

/// Puts what is matched together first and counts it.
///
/// Declarations that differ only in where they stand are one thing to who writes the pattern, and
/// so is one name in its places, and one expression that is parsed differently as a statement. Of
/// everything else the first reading counts.
fn families(readings: Vec<Reading>) -> (Vec<Reading>, usize) {
    let first = match readings.first() {
        Some(first) if first.roots.len() == 1 => first.clone(),
        _ => return (readings, 1),
    };
    let belongs = |reading: &Reading| {
        is_declaration(&first) && is_declaration(reading)
            || is_name(&first) && is_name(reading)
            || first.kind.ends_with("_expression") && first.kind == reading.kind
            || first.roots == reading.roots
    };
    let (mut family, later): (Vec<_>, Vec<_>) = readings.into_iter().partition(belongs);
    let active = family.len();
    family.extend(later);
    (family, active)
}

fn is_declaration(reading: &Reading) -> bool {
    let suffixes = [
        "declaration",
        "declaration_statement",
        "definition",
        "_function_statement",
        "_item",
        "_signature",
    ];
    reading.roots.len() == 1 && suffixes.iter().any(|suffix| reading.kind.ends_with(suffix))
}

fn is_name(reading: &Reading) -> bool {
    matches!(&reading.roots[..], [Node::Leaf { .. } | Node::Word { .. }])
}

/// A fragment put into a context.
struct Scaffold {
    text: String,
    fragment: Range<usize>,
    holes: Vec<Hole>,
    /// Where each hole ends together with the blanks of its mould.
    ends: Vec<usize>,
}

struct Ladder<'a> {
    grammar: &'a Grammar,
    tables: Tables,
    variables: Vec<String>,
    fragment: &'a Fragment,
    parser: Parser,
    failures: Vec<Failure>,
}

impl Ladder<'_> {
    /// Every distinct reading that the least speaks against, in the order of the ladder.
    fn readings(&mut self, contexts: &[&Context]) -> Result<Vec<Reading>, PatternError> {
        let choices = mould::choices(self.fragment, self.grammar.data());
        let mut readings: Vec<Reading> = Vec::new();
        for (rung, context) in contexts.iter().enumerate() {
            if let Some(mut reading) = self.read(context, &choices) {
                reading.rungs.push(rung);
                // A statement that took the context's terminator for that of its last part.
                let is_known = |known: &Reading| {
                    known.kind == reading.kind && known.contexts[0] == context.name
                };
                if !reading.completed || !readings.iter().any(is_known) {
                    merge(&mut readings, reading);
                }
            }
        }
        let Some(fewest) = readings.iter().map(Reading::doubts).min() else {
            return Err(failure::explain(
                self.grammar,
                self.fragment,
                contexts,
                &self.failures,
            ));
        };
        readings.retain(|reading| reading.doubts() == fewest);
        Ok(readings)
    }

    /// The reading of one context: that of the first choice of moulds that it accepts, if it takes
    /// no keyword for a name; else that which takes the fewest.
    fn read(&mut self, context: &Context, choices: &[Moulded]) -> Option<Reading> {
        let mut best: Option<Reading> = None;
        for choice in choices {
            let scaffold = self.scaffold(context, choice);
            let tree = self.parser.parse(&scaffold.text, None)?;
            if cover::is_deep(&tree, MOST_DEPTH) {
                self.failures.push(Failure::Deep);
                return None;
            }
            match self.accept(context, &scaffold, &tree) {
                Ok(reading) if !reading.completed && reading.doubts() == 0 => {
                    return Some(reading);
                }
                Ok(reading) => {
                    let rank = |reading: &Reading| (reading.doubts(), reading.completed);
                    if best.as_ref().is_none_or(|best| rank(&reading) < rank(best)) {
                        best = Some(reading);
                    }
                }
                Err(failure) => self.failures.push(failure),
            }
        }
        best
    }

    fn scaffold(&self, context: &Context, choice: &Moulded) -> Scaffold {
        let line = context.before.rsplit('\n').next().unwrap_or_default();
        let indent = if line.trim().is_empty() { line } else { "" };
        let word = &self.grammar.data().hole;
        let (text, ranges) = self
            .fragment
            .spelled(indent, |hole| choice.spell(hole, word));
        let start = context.before.len();
        let ends = ranges.iter().map(|range| start + range.end).collect();
        let holes = self
            .fragment
            .holes()
            .zip(ranges)
            .enumerate()
            .map(|(index, (hole, range))| {
                let range = start + range.start..start + range.end;
                let word_start = range.start + choice.word_at(index);
                // A mould may ask for a line of its own.
                let spelled = &text[range.start - start..range.end - start];
                let blanks = spelled.len() - spelled.trim_start().len();
                let shown = range.start + blanks;
                Hole {
                    word: word_start..range.end.min(word_start + word.len()),
                    range: shown..shown + spelled.trim().len(),
                    variable: hole.name.as_ref().and_then(|name| {
                        let index = self.variables.iter().position(|variable| variable == name);
                        index.and_then(|index| u8::try_from(index).ok())
                    }),
                    run: hole.run,
                }
            });
        Scaffold {
            holes: holes.collect(),
            ends,
            fragment: start..start + text.len(),
            text: format!("{}{text}{}\n", context.before, context.after),
        }
    }

    fn accept(
        &self,
        context: &Context,
        scaffold: &Scaffold,
        tree: &Tree,
    ) -> Result<Reading, Failure> {
        let root = tree.root_node();
        if root.has_error() {
            let at = cover::first_error(root).unwrap_or(scaffold.fragment.start);
            return Err(Failure::Syntax {
                context: context.name.clone(),
                place: self.place(scaffold, at),
            });
        }
        let exact = cover(root, scaffold.fragment.clone(), &self.tables).or_else(|| {
            // A directive ends with its line, and some grammars count the line end in.
            let with_line_end = scaffold.fragment.start..scaffold.fragment.end + 1;
            let ends_line = scaffold.text[scaffold.fragment.end..].starts_with('\n');
            ends_line
                .then(|| cover(root, with_line_end, &self.tables))
                .flatten()
        });
        let hidden = match exact {
            None => self.before_hidden_terminator(scaffold, root),
            Some(_) => None,
        };
        let drops_terminator = hidden.is_some();
        let (cover, completed) = match exact.or(hidden) {
            Some(cover) => (cover, false),
            // `int n = 0` is a declaration that waits for its `;`.
            None if context.after.starts_with(';') => {
                let range = scaffold.fragment.start..scaffold.fragment.end + 1;
                let end = scaffold.fragment.end;
                let cover = cover(root, range, &self.tables).ok_or(Failure::Cover)?;
                let last = root.named_descendant_for_byte_range(end, end + 1);
                // `if (c)` does not wait for its `;`: that would be an empty body.
                if last.is_some_and(|last| last.byte_range() == (end..end + 1)) {
                    return Err(Failure::Syntax {
                        context: context.name.clone(),
                        place: self.place(scaffold, end),
                    });
                }
                (cover, true)
            }
            None => return Err(Failure::Cover),
        };
        let length = match cover.last() {
            Some(last) if drops_terminator => last.end_byte() - scaffold.fragment.start,
            _ => scaffold.fragment.len() + usize::from(completed),
        };
        let is_window =
            || self.are_members(&cover) && self.is_list(context, scaffold, &cover, length);
        if cover.len() > 1 && !is_window() {
            return Err(Failure::Cover);
        }
        let is_leading =
            |node: &Syntax<'_>| !node.is_named() && self.tables.is_leading(node.kind_id());
        if cover.first().is_some_and(is_leading) {
            return Err(Failure::Cover);
        }
        let (cover, terminator) = match &cover[..] {
            [] => return Err(Failure::OnlyComment),
            [cover @ .., last] if !cover.is_empty() && self.is_terminator(*last) => {
                (cover.to_vec(), Some(last.kind_id()))
            }
            _ => (cover, None),
        };
        let keywords = Keywords {
            data: self.grammar.data(),
            language: self.grammar.language(),
            tables: &self.tables,
            text: &scaffold.text,
            start: scaffold.fragment.start,
        };
        if keywords.begins_with_opener(cover[0]) {
            return Err(Failure::Syntax {
                context: context.name.clone(),
                place: self.place(scaffold, scaffold.fragment.end),
            });
        }
        if let Some(at) = cover.iter().find_map(|node| keywords.reserved(*node)) {
            return Err(Failure::Keyword {
                context: context.name.clone(),
                place: self.place(scaffold, at),
            });
        }
        if self.holds_detached_string(root, &scaffold.fragment) {
            return Err(Failure::DetachedString);
        }
        // Text between tags takes in whatever is written there.
        if let [node] = cover[..]
            && node.child_count() == 0
            && node.kind().ends_with("text")
        {
            return Err(Failure::Cover);
        }
        let builder = Builder {
            source: scaffold.text.as_bytes(),
            tables: &self.tables,
            holes: &scaffold.holes,
        };
        let mut roots = Vec::new();
        for node in &cover {
            // A single root is taken at its innermost node, so that a call matches as any
            // expression; the members of a window as the siblings that they are.
            let node = if let [single] = cover[..] {
                innermost(single)
            } else {
                *node
            };
            roots.push(builder.build(node).map_err(|misfit| match misfit {
                Misfit::InsideToken { token, hole } => Failure::Token { token, hole },
                Misfit::NotOneNode => Failure::Cover,
            })?);
        }
        let mut found = 0;
        for root in &roots {
            root.each(&mut |node| {
                found += usize::from(matches!(node, Node::One { .. } | Node::Run(_)));
            });
        }
        let is_bare = |node: &Node| matches!(node, Node::One { .. } | Node::Run(_));
        if found != scaffold.holes.len() || roots.iter().all(is_bare) {
            return Err(Failure::Cover);
        }
        // A text between tags next to something else may be a half of that.
        let is_text = |node: &&Syntax<'_>| cover.len() > 1 && node.kind().ends_with("text");
        let kind = |node: &Syntax<'_>| match cover[..] {
            [single] => innermost(single).kind().to_owned(),
            _ => node.kind().to_owned(),
        };
        Ok(Reading {
            contexts: vec![context.name.clone()],
            kind: cover.iter().map(kind).collect::<Vec<_>>().join(" then "),
            asked_by: String::new(),
            rungs: Vec::new(),
            roots,
            terminator,
            drops_terminator,
            completed,
            terminated: self.is_terminated(),
            misused_keywords: cover
                .iter()
                .flat_map(|node| keywords.misused(*node))
                .collect(),
            texts: cover.iter().filter(is_text).count(),
        })
    }

    /// What stands before a `;` that is part of no node, in languages in which a line end will do.
    fn before_hidden_terminator<'t>(
        &self,
        scaffold: &Scaffold,
        root: Syntax<'t>,
    ) -> Option<Vec<Syntax<'t>>> {
        let Range { start, end } = scaffold.fragment;
        let shown = scaffold.text[start..end].strip_suffix(';')?.trim_end();
        let last = root.descendant_for_byte_range(end - 1, end)?;
        let is_token = last.byte_range() == (end - 1..end);
        (!is_token && !shown.is_empty())
            .then(|| cover(root, start..start + shown.len(), &self.tables))?
    }

    /// Whether no member of a plain list is half of something, such as the `?` of a chain.
    fn are_members(&self, nodes: &[Syntax<'_>]) -> bool {
        let Some(list) = nodes.first().and_then(|node| node.parent()) else {
            return true;
        };
        let is_plain = list.parent().is_none() || self.tables.is_container(list.kind_id());
        let is_member = |node: &Syntax<'_>| {
            self.tables.is_one(*node) || node.is_named() || self.tables.is_separator(node.kind_id())
        };
        !is_plain || nodes.iter().all(is_member)
    }

    /// Whether the nodes are members of a list, and not the half of something: they stand in a kind
    /// that is known for a list, or the fragment may stand here twice and reads the same both times.
    fn is_list(
        &self,
        context: &Context,
        scaffold: &Scaffold,
        once: &[Syntax<'_>],
        length: usize,
    ) -> bool {
        let parent = once.first().and_then(|node| node.parent());
        // What a file holds is a list, though its head may stand there only once.
        let is_known = |parent: Syntax<'_>| {
            let kind = parent.kind_id();
            parent.parent().is_none()
                || self.tables.is_container(kind)
                || self.tables.is_transparent(kind)
        };
        if parent.is_some_and(is_known) {
            return true;
        }
        let fragment = &scaffold.text[scaffold.fragment.clone()];
        let mut parser = parser(self.grammar);
        let separators = self.grammar.data().separators.iter().map(String::as_str);
        separators.chain(["\n"]).any(|separator| {
            let Context { before, after, .. } = context;
            let indent = before
                .rsplit('\n')
                .next()
                .filter(|line| line.trim().is_empty());
            let indent = indent.unwrap_or_default();
            let between = format!("{separator}\n{indent}");
            let twice = format!("{before}{fragment}{between}{fragment}{after}\n");
            let Some(tree) = parser.parse(&twice, None) else {
                return false;
            };
            let root = tree.root_node();
            let reads = |start: usize| {
                let range = start..start + length;
                let line_end = start..start + length + 1;
                cover(root, range, &self.tables)
                    .or_else(|| cover(root, line_end, &self.tables))
                    .filter(|nodes| same_kinds(nodes, once))
                    .and_then(|nodes| nodes.first().and_then(|node| node.parent()))
            };
            let first = before.len();
            let second = first + fragment.len() + between.len();
            // Two relations in a row parse as one chain of them: that is no list.
            !root.has_error() && reads(first).is_some_and(|list| reads(second) == Some(list))
        })
    }

    /// Whether the body of a string literal stands apart from the code in the fragment (that of a
    /// here-document, in some grammars), where it is not compared.
    fn holds_detached_string(&self, root: Syntax<'_>, fragment: &Range<usize>) -> bool {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let outside = node.end_byte() <= fragment.start || fragment.end <= node.start_byte();
            if !outside && node.is_extra() && self.tables.is_string(node.kind_id()) {
                return true;
            }
            let children = (0..node.child_count()).filter_map(|at| node.child(at));
            open.extend(children.filter(|_| !outside));
        }
        false
    }

    /// Whether the fragment itself ends in a separator.
    fn is_terminated(&self) -> bool {
        let separators = &self.grammar.data().separators;
        match self.fragment.pieces.last() {
            Some(Piece::Literal(text)) => separators
                .iter()
                .any(|separator| text.trim_end().ends_with(separator.as_str())),
            _ => false,
        }
    }

    fn is_terminator(&self, node: Syntax<'_>) -> bool {
        !node.is_named() && self.tables.is_separator(node.kind_id())
    }

    /// Where a byte of the scaffold is in the fragment as it was written.
    fn place(&self, scaffold: &Scaffold, byte: usize) -> usize {
        let byte = byte.clamp(scaffold.fragment.start, scaffold.fragment.end);
        let mut written = 0;
        let mut spelled = scaffold.fragment.start;
        let mut ends = scaffold.ends.iter();
        for piece in &self.fragment.pieces {
            let (length, end) = match piece {
                Piece::Literal(text) => (text.len(), spelled + text.len()),
                Piece::Hole(hole) => (
                    hole.to_string().len(),
                    ends.next().copied().unwrap_or(spelled),
                ),
            };
            if byte < end {
                let is_literal = matches!(piece, Piece::Literal(_));
                return written + if is_literal { byte - spelled } else { 0 };
            }
            written += length;
            spelled = end;
        }
        written
    }
}

fn same_kinds(a: &[Syntax<'_>], b: &[Syntax<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kind_id() == b.kind_id())
}

fn merge(readings: &mut Vec<Reading>, reading: Reading) {
    match readings
        .iter_mut()
        .find(|known| known.roots == reading.roots && known.completed == reading.completed)
    {
        Some(known) => {
            if reading.misused_keywords.len() < known.misused_keywords.len() {
                known.misused_keywords = reading.misused_keywords;
            }
            known.contexts.extend(reading.contexts);
            known.rungs.extend(reading.rungs);
        }
        None => readings.push(reading),
    }
}
