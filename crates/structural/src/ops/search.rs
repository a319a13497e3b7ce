//! `ast_grep`: finds a pattern in the files of a target.

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

use memchr::memchr_iter;
use terret_grammars::GrammarSource;

use super::{Later, ReadAs, count_later, readings};
use crate::error::Error;
use crate::languages::Languages;
use crate::pattern::PatternError;
use crate::search::{self, Hit, Request, Skipped};
use crate::walk::Target;

/// The most lines of a match that are kept.
const MOST_LINES: usize = 3;
/// The most bytes of a line, or of a captured text, that are kept.
const MOST_BYTES: usize = 400;

/// A search with its arguments resolved.
pub(crate) struct Search<'a> {
    pub(crate) grammars: &'a dyn GrammarSource,
    pub(crate) target: Target,
    pub(crate) pattern: String,
    pub(crate) language: Option<String>,
    pub(crate) context: Option<String>,
    pub(crate) max_results: usize,
    pub(crate) threads: usize,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) matches: Vec<Located>,
    /// Whether there are more than those.
    pub(crate) more: bool,
    pub(crate) read_as: Vec<ReadAs>,
    pub(crate) rejected: Vec<(String, PatternError)>,
    pub(crate) later: Vec<Later>,
    pub(crate) searched: usize,
    pub(crate) with_errors: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A match as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) path: PathBuf,
    pub(crate) language: String,
    pub(crate) bytes: Range<usize>,
    /// The first and the last line, from 1.
    pub(crate) lines: (usize, usize),
    /// The character of the first line that it begins with, from 1.
    pub(crate) column: usize,
    /// The first of its lines, whole.
    pub(crate) text: Vec<String>,
    pub(crate) captures: Vec<Captured>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) name: String,
    pub(crate) run: bool,
    pub(crate) text: String,
}

impl Search<'_> {
    pub(crate) fn run(&self, interrupted: &(dyn Fn() -> bool + Sync)) -> Result<Report, Error> {
        let patterns = [self.pattern.clone()];
        let mut languages = Languages::new(
            self.grammars,
            self.language.as_deref(),
            &patterns,
            self.context.as_deref(),
        )?;
        languages.check_asked()?;
        let request = Request { target: &self.target, threads: self.threads, interrupted };
        let wanted = self.max_results;
        let mut matches: Vec<Located> = Vec::new();
        let mut later: Vec<Later> = Vec::new();
        let visit = |hit: Hit<'_>| {
            let counts = hit.found[0].later.clone();
            (located(&hit, wanted + 1), hit.patterns.clone(), counts)
        };
        let summary = search::run(&request, &mut languages, &visit, &mut |found| {
            let (located, patterns, counts) = found;
            count_later(&mut later, &patterns[0], &counts);
            matches.extend(located);
            if matches.len() > wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if summary.interrupted {
            return Err(Error::Interrupted);
        }
        let (read_as, rejected) = readings(&languages, 0);
        if read_as.is_empty() {
            return Err(nothing_searched(&self.target, rejected));
        }
        let more = matches.len() > wanted;
        matches.truncate(wanted);
        if !matches.is_empty() {
            later.clear();
        }
        Ok(Report {
            matches,
            more,
            read_as,
            rejected,
            later,
            searched: summary.searched,
            with_errors: summary.with_errors,
            skipped: summary.skipped,
        })
    }
}

/// Why no file was searched.
pub(super) fn nothing_searched(target: &Target, rejected: Vec<(String, PatternError)>) -> Error {
    if rejected.is_empty() {
        Error::NoFiles { named: target.is_file(), path: target.root().to_owned() }
    } else {
        Error::Rejected(rejected)
    }
}

fn located(hit: &Hit<'_>, most: usize) -> Vec<Located> {
    let pattern = &hit.patterns[0];
    let mut line = 1;
    let mut counted = 0;
    let mut located = Vec::new();
    for found in hit.found[0].matches.iter().take(most) {
        let range = found.range.clone();
        line += memchr_iter(b'\n', &hit.source[counted..range.start]).count();
        counted = range.start;
        let start = memchr::memrchr(b'\n', &hit.source[..range.start]).map_or(0, |at| at + 1);
        let inside = memchr_iter(b'\n', &hit.source[range.clone()]).count();
        let end = memchr::memchr(b'\n', &hit.source[range.end..])
            .map_or(hit.source.len(), |at| range.end + at);
        let text = hit.source[start..end].split(|byte| *byte == b'\n').take(MOST_LINES);
        let names = pattern.variables().iter().zip(&found.captures);
        let captures = names.filter_map(|(name, capture)| {
            capture.as_ref().map(|capture| Captured {
                name: name.clone(),
                run: capture.run,
                text: bounded(&hit.source[capture.range.clone()]),
            })
        });
        located.push(Located {
            path: hit.path.to_owned(),
            language: pattern.grammar().id().to_owned(),
            lines: (line, line + inside),
            column: String::from_utf8_lossy(&hit.source[start..range.start]).chars().count() + 1,
            text: text.map(|line| bounded(line.strip_suffix(b"\r").unwrap_or(line))).collect(),
            captures: captures.collect(),
            bytes: range,
        });
    }
    located
}

/// The text, lossily and cut to what is shown at the most.
fn bounded(text: &[u8]) -> String {
    let cut = text.len() > MOST_BYTES;
    // A character may be cut in half here; the lossy reading makes it one sign.
    let mut shown = String::from_utf8_lossy(&text[..text.len().min(MOST_BYTES)]).into_owned();
    if cut {
        shown.push('…');
    }
    shown
}
