//! `ast_grep`: finds a pattern in the files of a target.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::memchr_iter;

use super::{Later, ReadAs, Scope, count_later, readings};
use crate::error::Error;
use crate::languages::Languages;
use crate::matcher::{self, Found, NearMiss};
use crate::pattern::PatternError;
use crate::search::{self, Parsed, Request, Skipped, Visit};
use crate::walk::Target;

/// The most lines of a match that are kept.
const MOST_LINES: usize = 3;
/// The most bytes of a line, or of a captured text, that are kept.
const MOST_BYTES: usize = 400;

/// How long to look for near misses. What was found by then is told.
const MOST_TIME_NEAR: Duration = Duration::from_secs(2);

/// A search with its arguments resolved.
pub(crate) struct Search<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) pattern: String,
    pub(crate) max_results: usize,
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
    pub(crate) near: Near,
    pub(crate) searched: usize,
    /// What the files of the language that was asked for are called.
    pub(crate) asked: Option<String>,
    pub(crate) with_errors: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A match as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) path: Arc<Path>,
    pub(crate) language: Arc<str>,
    pub(crate) bytes: Range<usize>,
    /// The first and the last line, from 1.
    pub(crate) lines: (usize, usize),
    /// The character of the first line that it begins with, from 1.
    pub(crate) column: usize,
    /// The first of its lines, whole.
    pub(crate) text: Vec<Excerpt>,
    pub(crate) captures: Vec<Captured>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) name: Arc<str>,
    pub(crate) run: bool,
    pub(crate) text: Excerpt,
}

/// A text, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// The bytes of the whole, where this is only the beginning.
    pub(crate) whole: Option<usize>,
}

impl Search<'_> {
    pub(crate) fn run(&self, interrupted: &(dyn Fn() -> bool + Sync)) -> Result<Report, Error> {
        let patterns = [self.pattern.clone()];
        let mut languages = self.scope.languages(&patterns)?;
        let request = self.scope.request(interrupted);
        let wanted = self.max_results;
        let mut matches: Vec<Located> = Vec::new();
        let mut later: Vec<Later> = Vec::new();
        let visit = |file: &Parsed<'_>| {
            let Visit { value, incomplete } = file.find();
            let value = value.map(|mut found| {
                let found = found.swap_remove(0);
                (
                    located(file, &found, wanted + 1),
                    file.patterns.clone(),
                    found.later,
                )
            });
            Visit { value, incomplete }
        };
        let consumed = search::run(&request, &mut languages, &visit, &mut |found| {
            let (located, patterns, counts) = found;
            count_later(&mut later, &patterns[0], &counts);
            matches.extend(located);
            if matches.len() > wanted {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let summary = consumed.map_err(Error::Thread)?;
        if summary.interrupted {
            return Err(Error::Interrupted);
        }
        let near = if matches.is_empty() && later.is_empty() {
            near(&request, summary.with_words, &mut languages)?
        } else {
            Near::default()
        };
        if interrupted() {
            return Err(Error::Interrupted);
        }
        let (read_as, rejected) = readings(&languages, 0);
        if read_as.is_empty() {
            return Err(nothing_searched(&self.scope.target, rejected));
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
            near,
            searched: summary.searched,
            asked: languages.asked_files(),
            with_errors: summary.with_errors,
            skipped: summary.skipped,
        })
    }
}

impl Search<'_> {
    /// Counts the matches, however many there are.
    pub(crate) fn count(&self, interrupted: &(dyn Fn() -> bool + Sync)) -> Result<usize, Error> {
        let mut count = 0;
        let visit = |_: &Parsed<'_>, found: Found| found.matches.len();
        self.visit(interrupted, &visit, &mut |matches| {
            count += matches;
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    /// Hands out what is made of the matches of each file, in the order of the walk; gives the files
    /// that were not searched, or not to their end.
    ///
    /// It is made on the thread that found them: what another thread frees, the two wait for.
    pub(crate) fn each_file<T: Send>(
        &self,
        interrupted: &(dyn Fn() -> bool + Sync),
        make: &(dyn Fn(Vec<Located>) -> T + Sync),
        each: &mut dyn FnMut(T) -> ControlFlow<()>,
    ) -> Result<Vec<Skipped>, Error> {
        let visit = |file: &Parsed<'_>, found: Found| make(located(file, &found, usize::MAX));
        self.visit(interrupted, &visit, each)
    }

    fn visit<T: Send>(
        &self,
        interrupted: &(dyn Fn() -> bool + Sync),
        visit: &(dyn Fn(&Parsed<'_>, Found) -> T + Sync),
        consume: &mut dyn FnMut(T) -> ControlFlow<()>,
    ) -> Result<Vec<Skipped>, Error> {
        let patterns = [self.pattern.clone()];
        let mut languages = self.scope.languages(&patterns)?;
        let request = self.scope.request(interrupted);
        let visit = |file: &Parsed<'_>| {
            let Visit { value, incomplete } = file.find();
            let value = value.map(|mut found| visit(file, found.swap_remove(0)));
            Visit { value, incomplete }
        };
        let summary = search::run(&request, &mut languages, &visit, consume);
        Ok(summary.map_err(Error::Thread)?.skipped)
    }
}

/// What a search that found nothing may have missed.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// What keeps candidates from matching, and how many of them: most first.
    pub(crate) misses: Vec<(String, usize)>,
    /// How many files have the pattern's words in the arguments of a macro.
    pub(crate) in_macros: usize,
}

/// Counts what the candidates have that the pattern does not show, in the files that hold its words.
fn near(
    request: &Request<'_>,
    files: Vec<PathBuf>,
    languages: &mut Languages<'_>,
) -> Result<Near, Error> {
    if files.is_empty() {
        return Ok(Near::default());
    }
    let until = Instant::now() + MOST_TIME_NEAR;
    let request = Request {
        target: &request.target.with_files(files),
        interrupted: &|| Instant::now() > until || (request.interrupted)(),
        near: true,
        ..*request
    };
    let visit = |file: &Parsed<'_>| {
        let pattern = &file.patterns[0];
        let misses = matcher::near_misses(pattern, file.tree, file.source, file.late);
        let in_macro = matcher::words_in_macro(pattern, file.tree, file.source);
        Visit {
            value: (in_macro || !misses.is_empty()).then_some((misses, in_macro)),
            incomplete: None,
        }
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut near = Near::default();
    let summary = search::run(&request, languages, &visit, &mut |found| {
        let (misses, in_macro): (Vec<NearMiss>, bool) = found;
        near.in_macros += usize::from(in_macro);
        for miss in misses {
            *counts.entry(miss.extras).or_default() += 1;
        }
        ControlFlow::Continue(())
    });
    summary.map_err(Error::Thread)?;
    near.misses = counts.into_iter().collect();
    near.misses
        .sort_by(|(a, most), (b, least)| (least, a).cmp(&(most, b)));
    Ok(near)
}

/// Why no file was searched.
pub(super) fn nothing_searched(target: &Target, rejected: Vec<(String, PatternError)>) -> Error {
    if rejected.is_empty() {
        Error::NoFiles {
            named: target.is_file(),
            path: target.root().to_owned(),
        }
    } else {
        Error::Rejected(rejected)
    }
}

fn located(file: &Parsed<'_>, found: &Found, most: usize) -> Vec<Located> {
    let pattern = &file.patterns[0];
    let path: Arc<Path> = file.path.into();
    let language: Arc<str> = pattern.grammar().id().into();
    let variables = pattern.variables().iter();
    let names: Vec<Arc<str>> = variables.map(|name| name.as_str().into()).collect();
    let mut line = 1;
    let mut counted = 0;
    let mut located = Vec::new();
    for found in found.matches.iter().take(most) {
        let range = found.range.clone();
        line += memchr_iter(b'\n', &file.source[counted..range.start]).count();
        counted = range.start;
        let start = memchr::memrchr(b'\n', &file.source[..range.start]).map_or(0, |at| at + 1);
        let inside = memchr_iter(b'\n', &file.source[range.clone()]).count();
        let end = memchr::memchr(b'\n', &file.source[range.end..])
            .map_or(file.source.len(), |at| range.end + at);
        // The byte order mark is no part of the first line.
        let mark = file.source[start..].starts_with(b"\xef\xbb\xbf");
        let start = if mark { start + 3 } else { start };
        let text = file.source[start..end]
            .split(|byte| *byte == b'\n')
            .take(MOST_LINES);
        let runs = &pattern.compiled().run_variables;
        let captures = names.iter().zip(runs).zip(&found.captures);
        let captures = captures.filter_map(|((name, run), capture)| {
            capture.as_ref().map(|capture| Captured {
                name: name.clone(),
                run: *run,
                text: excerpt(&file.source[capture.range.clone()]),
            })
        });
        located.push(Located {
            path: path.clone(),
            language: language.clone(),
            lines: (line, line + inside),
            column: String::from_utf8_lossy(&file.source[start..range.start.max(start)])
                .chars()
                .count()
                + 1,
            text: text
                .map(|line| excerpt(line.strip_suffix(b"\r").unwrap_or(line)))
                .collect(),
            captures: captures.collect(),
            bytes: range,
        });
    }
    located
}

/// The text, lossily and cut to what is shown at the most.
fn excerpt(text: &[u8]) -> Excerpt {
    // A character may be cut in half here; the lossy reading makes it one sign.
    let kept = &text[..text.len().min(MOST_BYTES)];
    Excerpt {
        text: String::from_utf8_lossy(kept).into_owned(),
        whole: (kept.len() < text.len()).then_some(text.len()),
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.whole.is_some() { "…" } else { "" };
        write!(f, "{}{more}", self.text)
    }
}
