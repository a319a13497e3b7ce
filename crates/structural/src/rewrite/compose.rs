//! Puts the new text together.

use std::collections::HashSet;
use std::ops::Range;

use terret_grammars::LanguageData;
use tree_sitter::{Node, Tree};

use super::layout::{self, KEPT_LINE_END};
use super::lists;
use super::piece::Piece;
use super::seams;
use super::template::{Part, Template};
use super::{File, RewriteError, Site, contains, delete};

/// How deep matches may nest in matches.
const MOST_NESTED: usize = 500;
/// The most bytes that the replacements of one file are composed of.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A replaced site as a whole, or one of its template's metavariables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of the site.
    pub(super) site: usize,
    /// The number of the part of the template; absent for the whole.
    pub(super) part: Option<usize>,
}

/// What keeps replaced places apart from what stands beside them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Guards {
    /// Places to put in parentheses.
    pub(super) grouped: HashSet<Place>,
    /// Places with a space before them.
    pub(super) before: HashSet<Place>,
    /// Places with a space behind them.
    pub(super) behind: HashSet<Place>,
}

impl Guards {
    /// With those of others too.
    pub(super) fn with(&self, others: &Self) -> Self {
        let join = |a: &HashSet<Place>, b: &HashSet<Place>| a.union(b).copied().collect();
        Self {
            grouped: join(&self.grouped, &others.grouped),
            before: join(&self.before, &others.before),
            behind: join(&self.behind, &others.behind),
        }
    }
}

/// The new text of a file, and where in it the replacements stand.
#[derive(Debug, Default)]
pub(super) struct Composed {
    pub(super) text: String,
    pub(super) places: Vec<(Place, Range<usize>)>,
    /// What of the file was replaced, and what stands there now.
    pub(super) cuts: Vec<(Range<usize>, Range<usize>)>,
    pub(super) replaced: usize,
    pub(super) dropped: usize,
    pub(super) unchanged: usize,
    pub(super) comments_dropped: usize,
}

impl Composed {
    /// Where a byte of the file has come to; for one that was replaced, where its replacement ends.
    pub(super) fn moved(&self, byte: usize) -> usize {
        let before = self.cuts.partition_point(|(cut, _)| cut.start < byte);
        match before.checked_sub(1).map(|at| &self.cuts[at]) {
            Some((cut, put)) => put.end + byte.saturating_sub(cut.end),
            None => byte,
        }
    }
}

/// The sites of a file with the templates that replace them.
pub(super) struct Plan<'a> {
    file: &'a File<'a>,
    /// Ordered by start, the longer first.
    sites: &'a [Site],
    templates: &'a [Template],
    /// Where line ends belong to a string literal.
    literals: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
    data: &'a LanguageData,
    /// For each site its template as it is spelled there: in the file's indentation, its lists laid
    /// out as those that the runs were taken from.
    parts: Vec<Vec<Part>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        file: &'a File<'a>,
        sites: &'a [Site],
        templates: &'a [Template],
        data: &'a LanguageData,
    ) -> Result<Self, RewriteError> {
        let mut plan = Self {
            file,
            sites,
            templates,
            literals: Vec::new(),
            comments: Vec::new(),
            data,
            parts: Vec::new(),
        };
        plan.collect(file.tree.root_node());
        // The nesting bounds how much there is to compare for overlaps.
        plan.check_nesting()?;
        plan.check_overlaps()?;
        plan.check_deletions()?;
        plan.parts = sites.iter().map(|site| plan.laid_out(site)).collect();
        Ok(plan)
    }

    fn collect(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let spans_lines = node.start_position().row != node.end_position().row;
            if spans_lines && self.file.tables.is_string(node.kind_id()) {
                self.literals.push(node.byte_range());
            }
            if node.is_extra() && node.kind().contains("comment") {
                self.comments.push(node.byte_range());
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Sites of different edits may nest where the outer one captures, and nowhere else.
    fn check_overlaps(&self) -> Result<(), RewriteError> {
        for (index, outer) in self.sites.iter().enumerate() {
            let inside = self.sites[index + 1..]
                .iter()
                .take_while(|inner| inner.found.range.start < outer.found.range.end);
            for inner in inside {
                let captured = || {
                    outer
                        .found
                        .captures
                        .iter()
                        .flatten()
                        .any(|capture| contains(&capture.range, &inner.found.range))
                };
                if inner.edit != outer.edit && !captured() {
                    let line = self.file.line_of(inner.found.range.start);
                    return Err(RewriteError::Overlap {
                        line,
                        edits: (outer.edit, inner.edit),
                    });
                }
            }
        }
        Ok(())
    }

    /// Sites inside sites are composed by recursion.
    fn check_nesting(&self) -> Result<(), RewriteError> {
        let mut ends: Vec<usize> = Vec::new();
        for site in self.sites {
            let range = &site.found.range;
            while ends.last().is_some_and(|end| *end <= range.start) {
                ends.pop();
            }
            ends.push(range.end);
            if ends.len() > MOST_NESTED {
                let line = self.file.line_of(range.start);
                return Err(RewriteError::TooNested { line });
            }
        }
        Ok(())
    }

    fn check_deletions(&self) -> Result<(), RewriteError> {
        let deleted = self
            .sites
            .iter()
            .filter(|site| self.templates[site.edit].is_empty());
        for site in deleted {
            let range = &site.found.range;
            if delete::is_sole_body(self.file, range)
                || delete::is_sole_between(self.file, range, &self.data.never_empty)
            {
                let line = self.file.line_of(range.start);
                return Err(RewriteError::SoleBody { line });
            }
        }
        Ok(())
    }

    /// What a part of a site's template stands for.
    fn captured(&self, site: usize, part: usize) -> Option<Range<usize>> {
        let Part::Hole(variable) = self.parts[site].get(part)? else {
            return None;
        };
        let site = &self.sites[site];
        let capture = site.found.captures.get(*variable)?.as_ref()?;
        Some(capture.range.clone())
    }

    /// The tree of the file as it is.
    pub(super) fn tree(&self) -> &'a Tree {
        self.file.tree
    }

    /// The node of the file that a place was taken from, where it is one.
    pub(super) fn node(&self, place: Place) -> Option<Node<'a>> {
        let range = self.captured(place.site, place.part?)?;
        seams::at(self.file.tree, &range)
    }

    fn laid_out(&self, site: &Site) -> Vec<Part> {
        let parts = spelled(&self.templates[site.edit], self.file.layout.unit.as_deref());
        lists::laid_out(self.file, &self.comments, &site.found, parts)
    }

    /// How the language groups an expression, with an `@` for it; empty where it cannot.
    pub(super) fn group(&self) -> &'a str {
        self.data.group.as_deref().unwrap_or_default()
    }

    pub(super) fn compose(&self, guards: &Guards) -> Result<Composed, RewriteError> {
        let (open, close) = self.group().split_once('@').unwrap_or_default();
        let mut run = Run {
            plan: self,
            guards,
            open,
            close,
            composed: Composed::default(),
            rendered: HashSet::new(),
            room: MOST_BYTES,
        };
        run.file();
        if run.room == 0 {
            return Err(RewriteError::TooLarge);
        }
        let mut composed = run.composed;
        composed.replaced = run.rendered.len() - composed.unchanged;
        composed.dropped = self.sites.len() - run.rendered.len();
        Ok(composed)
    }

    /// The sites that stand in the range and in no other site there, of those from `first` on.
    fn outermost(&self, range: &Range<usize>, first: usize) -> Vec<usize> {
        let mut sites = Vec::new();
        let mut end = range.start;
        for (index, site) in self.sites.iter().enumerate().skip(first) {
            let found = &site.found.range;
            if found.start >= range.end {
                break;
            }
            if found.start >= end && contains(range, found) {
                sites.push(index);
                end = found.end;
            }
        }
        sites
    }
}

/// One composition.
struct Run<'p, 'a> {
    plan: &'p Plan<'a>,
    guards: &'p Guards,
    open: &'p str,
    close: &'p str,
    composed: Composed,
    /// The sites that came to stand in the new text, or to be deleted.
    rendered: HashSet<usize>,
    /// How many more bytes may be composed. A template that uses a metavariable twice doubles what
    /// is nested in it, level by level.
    room: usize,
}

impl Run<'_, '_> {
    /// Splices the replacements into the file; all other bytes stay.
    fn file(&mut self) {
        let text = self.plan.file.text;
        let mut done = 0;
        for site in self.plan.outermost(&(0..text.len()), 0) {
            let range = self.plan.sites[site].found.range.clone();
            let template = self.template(site);
            if template.is_empty() {
                let deleted = delete::extent(self.plan.file, &range);
                let deleted = deleted.start.max(done)..deleted.end.max(done);
                self.composed.text.push_str(&text[done..deleted.start]);
                done = deleted.end;
                self.rendered.insert(site);
                self.count_comments(site, &range);
                let end = self.composed.text.len();
                self.composed.cuts.push((deleted, end..end));
                continue;
            }
            self.composed.text.push_str(&text[done..range.start]);
            let piece = self.site(site);
            let base = self.composed.text.len();
            let finished = self.finished(&piece, base);
            if finished == text[range.clone()] {
                self.composed.unchanged += 1;
            }
            self.composed.text.push_str(&finished);
            done = range.end;
            let new = base..self.composed.text.len();
            self.composed.cuts.push((range, new));
        }
        self.composed.text.push_str(&text[done..]);
    }

    /// The piece with the file's line ends; its places are noted where they come to stand.
    fn finished(&mut self, piece: &Piece, base: usize) -> String {
        let line_end = self.plan.file.layout.line_end;
        let mut text = String::with_capacity(piece.text.len());
        let mut offsets = Vec::with_capacity(piece.text.len() + 1);
        for letter in piece.text.chars() {
            offsets.resize(offsets.len() + letter.len_utf8(), base + text.len());
            match letter {
                '\n' => text.push_str(line_end),
                KEPT_LINE_END => text.push('\n'),
                letter => text.push(letter),
            }
        }
        offsets.push(base + text.len());
        for (place, range) in &piece.places {
            self.composed
                .places
                .push((*place, offsets[range.start]..offsets[range.end]));
        }
        text
    }

    fn template(&self, site: usize) -> &Template {
        &self.plan.templates[self.plan.sites[site].edit]
    }

    /// The replacement of a site, laid out for the place where the site stands.
    fn site(&mut self, site: usize) -> Piece {
        self.rendered.insert(site);
        if self.room == 0 {
            return Piece::default();
        }
        let found = self.plan.sites[site].found.clone();
        self.count_comments(site, &found.range);
        let file = self.plan.file;
        let mut parts = self.plan.parts[site].clone();
        let base_indent = file.indent_at(found.range.start).to_owned();
        let mut piece = Piece::default();
        let mut index = 0;
        while index < parts.len() {
            let (range, is_run) = match &parts[index] {
                Part::Literal(text) => {
                    let text = layout::indented(text, &base_indent);
                    piece.text.push_str(&text);
                    index += 1;
                    continue;
                }
                Part::Hole(variable) => {
                    let capture = found.captures.get(*variable).and_then(Option::as_ref);
                    let range = capture.map(|capture| capture.range.clone());
                    let is_run = capture.is_none_or(|capture| capture.run);
                    (range.unwrap_or_default(), is_run)
                }
                Part::Kept(range) => (range.clone(), true),
            };
            if is_run && range.is_empty() {
                index = lists::skip_empty_run(&mut piece, &parts, index, &base_indent);
                continue;
            }
            self.hole(&mut piece, site, index, range, is_run);
            let comments = &self.plan.comments;
            lists::end_line_comment(file, comments, &mut piece, &mut parts, index, &base_indent);
            index += 1;
        }
        let whole = Place { site, part: None };
        self.place(&mut piece, whole, 0);
        self.room = self.room.saturating_sub(piece.text.len());
        piece
    }

    /// Appends what a metavariable captured, moved to the indentation of the line it lands on.
    fn hole(
        &mut self,
        piece: &mut Piece,
        site: usize,
        part: usize,
        range: Range<usize>,
        is_run: bool,
    ) {
        let file = self.plan.file;
        let from = file.indent_at(range.start).to_owned();
        let line = piece.text.rsplit('\n').next().unwrap_or_default();
        let to: String = if piece.text.contains('\n') {
            line.chars()
                .take_while(|letter| matches!(letter, ' ' | '\t'))
                .collect()
        } else {
            file.indent_at(self.plan.sites[site].found.range.start)
                .to_owned()
        };
        let mut captured = self.text(range, site + 1);
        captured.map_lines(|text| layout::reindent(text, &from, &to));
        let start = piece.text.len();
        piece.append(captured);
        if !is_run {
            self.place(
                piece,
                Place {
                    site,
                    part: Some(part),
                },
                start,
            );
        }
    }

    /// Notes a place that reaches from `start` to the end, with what guards it.
    fn place(&self, piece: &mut Piece, place: Place, start: usize) {
        // A nested replacement that is all of it may stand in parentheses already.
        let whole = start..piece.text.len();
        let grouped = &self.guards.grouped;
        let is_grouped =
            |(inner, range): &(Place, Range<usize>)| *range == whole && grouped.contains(inner);
        if grouped.contains(&place) && !piece.places.iter().any(is_grouped) {
            piece.insert(start, self.open);
            piece.text.push_str(self.close);
        }
        let mut start = start;
        if self.guards.before.contains(&place) {
            piece.insert(start, " ");
            start += 1;
        }
        piece.places.push((place, start..piece.text.len()));
        if self.guards.behind.contains(&place) {
            piece.text.push(' ');
        }
    }

    /// A stretch of the file with the sites in it replaced.
    fn text(&mut self, range: Range<usize>, first: usize) -> Piece {
        let mut piece = Piece::default();
        let mut done = range.start;
        for site in self.plan.outermost(&range, first) {
            let found = self.plan.sites[site].found.range.clone();
            if self.template(site).is_empty() {
                let deleted = delete::extent(self.plan.file, &found);
                let deleted = deleted.start.max(done)..deleted.end.clamp(done, range.end);
                piece.text.push_str(&self.source(done..deleted.start));
                done = deleted.end;
                self.rendered.insert(site);
                continue;
            }
            piece.text.push_str(&self.source(done..found.start));
            let inner = self.site(site);
            piece.append(inner);
            done = found.end;
        }
        piece.text.push_str(&self.source(done..range.end));
        piece
    }

    /// Source text with plain line ends, those of string literals marked.
    fn source(&self, range: Range<usize>) -> String {
        let text = &self.plan.file.text[range.clone()];
        if !text.contains('\n') {
            return text.to_owned();
        }
        let mut source = String::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            let at = range.start + at;
            match letter {
                '\n' if self.in_literal(at) => source.push(KEPT_LINE_END),
                '\r' if self.plan.file.text[at..].starts_with("\r\n") && !self.in_literal(at) => {}
                letter => source.push(letter),
            }
        }
        source
    }

    fn in_literal(&self, byte: usize) -> bool {
        self.plan
            .literals
            .iter()
            .any(|range| range.start <= byte && byte < range.end)
    }

    fn count_comments(&mut self, site: usize, range: &Range<usize>) {
        let found = &self.plan.sites[site].found;
        let captured = |variable: usize| found.captures.get(variable).and_then(Option::as_ref);
        let used: Vec<&Range<usize>> = self.plan.parts[site]
            .iter()
            .filter_map(|part| match part {
                Part::Literal(_) => None,
                Part::Hole(variable) => captured(*variable).map(|capture| &capture.range),
                Part::Kept(range) => Some(range),
            })
            .collect();
        let dropped = self.plan.comments.iter().filter(|comment| {
            contains(range, comment) && !used.iter().any(|used| contains(used, comment))
        });
        self.composed.comments_dropped += dropped.count();
    }
}

/// The parts of a template with its indentation in the file's unit.
fn spelled(template: &Template, unit: Option<&str>) -> Vec<Part> {
    let Some(unit) = unit else {
        return template.pieces.clone();
    };
    // Metavariables become one marked letter while lines are counted: they are no indentation.
    let mut text = String::new();
    for part in &template.pieces {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Hole(_) | Part::Kept(_) => text.push(KEPT_LINE_END),
        }
    }
    let text = layout::in_units(&text, unit);
    let mut holes = template
        .pieces
        .iter()
        .filter(|part| !matches!(part, Part::Literal(_)));
    let mut parts = Vec::new();
    for (index, literal) in text.split(KEPT_LINE_END).enumerate() {
        if index > 0 {
            parts.extend(holes.next().cloned());
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal.to_owned()));
        }
    }
    parts
}
