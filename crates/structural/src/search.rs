//! The ordered search: walk, read, prefilter, parse, match.
//!
//! Workers take files from one ordered walk and hand their results to the caller's thread, which
//! consumes them in the order of the walk whatever the number of workers. Once the consumer has
//! enough, the walk stops.

mod budget;
mod parsers;
mod prefilter;
mod window;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tree_sitter::Tree;

use crate::languages::{Choice, Languages};
use crate::matcher::{self, Found};
use crate::pattern::Pattern;
use crate::thread::STACK;
use crate::walk::Target;
use budget::Budget;
use parsers::Parsers;
use prefilter::Verdict;
use window::Window;

/// A file of more bytes is skipped.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// After how many files progress is told again.
const PROGRESS: usize = 200;
/// A NUL in the first bytes tells a binary file.
const SNIFFED: usize = 8 * 1024;

/// A parsed file that may hold a match.
pub(crate) struct Parsed<'a> {
    pub(crate) path: &'a Path,
    pub(crate) source: &'a [u8],
    pub(crate) tree: &'a Tree,
    pub(crate) patterns: &'a Arc<[Pattern]>,
    /// Says when the file has taken long enough.
    pub(crate) late: &'a dyn Fn() -> bool,
}

/// What a visit makes of a file.
pub(crate) struct Visit<T> {
    /// Absent when there is nothing to consume.
    pub(crate) value: Option<T>,
    /// Why the visit did not see everything.
    pub(crate) incomplete: Option<String>,
}

impl Parsed<'_> {
    /// Finds each of the patterns; absent when there is nothing of any of them.
    pub(crate) fn find(&self) -> Visit<Vec<Found>> {
        let find = |pattern| matcher::find(pattern, self.tree, self.source, self.late);
        let found: Vec<Found> = self.patterns.iter().map(find).collect();
        let total = |of: fn(&Found) -> usize| found.iter().map(of).sum::<usize>();
        let given_up = total(|found| found.given_up.len());
        let misread = total(|found| found.misread.len());
        let is_empty = found
            .iter()
            .all(|found| found.matches.is_empty() && found.later.iter().all(|count| *count == 0));
        let incomplete = match (given_up, misread) {
            (0, 0) => None,
            (0, _) => Some(format!(
                "{misread} candidates were left out: the grammar reads them otherwise than the \
                 language does"
            )),
            _ => Some(format!(
                "{given_up} candidates were given up: the pattern is too ambiguous there"
            )),
        };
        Visit {
            value: (!is_empty).then_some(found),
            incomplete,
        }
    }
}

/// A file that was not searched, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

/// What a search went through.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Files that were read in a language that accepts the pattern.
    pub(crate) searched: usize,
    /// Files that hold the words of a pattern, and no match.
    pub(crate) with_words: Vec<PathBuf>,
    /// Files that were parsed and hold syntax errors.
    pub(crate) with_errors: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
    /// Whether the walk came to its end.
    pub(crate) complete: bool,
    /// Whether the caller's interruption ended it.
    pub(crate) interrupted: bool,
}

/// What is wanted of a search.
pub(crate) struct Request<'a> {
    pub(crate) target: &'a Target,
    /// How many threads work; 0 for as many as there are cores.
    pub(crate) threads: usize,
    pub(crate) interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Whether files are opened that can hold near misses only.
    pub(crate) near: bool,
    /// Is told now and then how many files are behind.
    pub(crate) progress: &'a (dyn Fn(usize) + Sync),
}

/// Searches the files of the target. `visit` runs on the workers, `consume` on this thread and in
/// the order of the walk, until it breaks.
///
/// # Errors
///
/// That the system gives no thread.
pub(crate) fn run<T: Send>(
    request: &Request<'_>,
    languages: &mut Languages<'_>,
    visit: &(dyn Fn(&Parsed<'_>) -> Visit<T> + Sync),
    consume: &mut dyn FnMut(T) -> ControlFlow<()>,
) -> std::io::Result<Summary> {
    let feed = Mutex::new(Feed {
        files: request.target.files(),
        languages,
        next: 0,
        unreadable: Vec::new(),
        named: request.target.is_file(),
    });
    let stop = AtomicBool::new(false);
    let threads = match request.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    let threads = if request.target.is_file() { 1 } else { threads };
    let window = Window::default();
    let (sender, receiver) = mpsc::channel::<(usize, Outcome<T>)>();
    let mut summary = Summary::default();
    // How many results were consumed. Workers run ahead of that, and what they saw there depends on
    // the threads: it is left out of the summary.
    let mut next = 0;
    std::thread::scope(|scope| {
        let mut refused = None;
        for at in 0..threads {
            let sender = sender.clone();
            let worker = Worker {
                feed: &feed,
                stop: &stop,
                window: &window,
                interrupted: request.interrupted,
                visit,
                named: request.target.is_file(),
                near: request.near,
            };
            let worker = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || worker.run(&sender));
            // Fewer threads will do, none will not.
            if let (Err(error), 0) = (worker, at) {
                refused = Some(error);
                break;
            }
        }
        drop(sender);
        if let Some(error) = refused {
            return Err(error);
        }
        let mut waiting: BTreeMap<usize, Outcome<T>> = BTreeMap::new();
        'results: for (index, outcome) in receiver {
            waiting.insert(index, outcome);
            while let Some(outcome) = waiting.remove(&next) {
                next += 1;
                window.move_to(next);
                if next.is_multiple_of(PROGRESS) {
                    (request.progress)(next);
                }
                summary.searched += usize::from(outcome.searched);
                if outcome.has_words {
                    summary.with_words.extend(outcome.path.clone());
                }
                if outcome.with_errors {
                    summary.with_errors.extend(outcome.path.clone());
                }
                if let (Some(reason), Some(path)) = (outcome.skipped, outcome.path) {
                    summary.skipped.push(Skipped { path, reason });
                }
                if let Some(value) = outcome.value
                    && consume(value).is_break()
                {
                    stop.store(true, Ordering::Relaxed);
                    window.open();
                    break 'results;
                }
            }
        }
        Ok(())
    })?;
    summary.interrupted = (request.interrupted)();
    summary.complete = !stop.load(Ordering::Relaxed) && !summary.interrupted;
    let feed = feed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let consumed = if stop.load(Ordering::Relaxed) {
        next
    } else {
        usize::MAX
    };
    feed.languages.forget_from(consumed);
    let unreadable = feed.unreadable.into_iter();
    let unreadable = unreadable.filter(|(at, _)| *at < consumed);
    summary
        .skipped
        .extend(unreadable.map(|(_, skipped)| skipped));
    Ok(summary)
}

/// The walk, shared by the workers.
struct Feed<'f, 'l> {
    files: Box<dyn Iterator<Item = Result<PathBuf, ignore::Error>> + Send + 'f>,
    languages: &'f mut Languages<'l>,
    next: usize,
    /// What the walk could not read, each with the number of the file that came after it.
    unreadable: Vec<(usize, Skipped)>,
    named: bool,
}

impl Feed<'_, '_> {
    /// The next file to search, with its place in the order.
    fn next(&mut self) -> Option<(usize, PathBuf, Arc<[Pattern]>)> {
        loop {
            match self.files.next()? {
                Ok(path) => {
                    let index = self.next;
                    let choice = self.languages.choose(&path, self.named, index);
                    if let Choice::Search(patterns) = choice {
                        self.next += 1;
                        return Some((index, path, patterns));
                    }
                }
                Err(error) => self.unreadable.push((self.next, unreadable(&error))),
            }
        }
    }
}

fn unreadable(error: &ignore::Error) -> Skipped {
    match error {
        ignore::Error::WithPath { path, err } => Skipped {
            path: path.clone(),
            reason: err.to_string(),
        },
        ignore::Error::WithDepth { err, .. } => unreadable(err),
        other => Skipped {
            path: PathBuf::new(),
            reason: other.to_string(),
        },
    }
}

/// What became of one file. Every file that was taken has one, so that the order is kept.
struct Outcome<T> {
    path: Option<PathBuf>,
    /// Whether it was read as source text.
    searched: bool,
    /// It holds the words of a pattern, and no match.
    has_words: bool,
    with_errors: bool,
    skipped: Option<String>,
    value: Option<T>,
}

impl<T> Outcome<T> {
    const NOTHING: Self = Self {
        path: None,
        searched: false,
        has_words: false,
        with_errors: false,
        skipped: None,
        value: None,
    };
}

struct Worker<'w, 'f, 'l, T> {
    feed: &'w Mutex<Feed<'f, 'l>>,
    stop: &'w AtomicBool,
    window: &'w Window,
    interrupted: &'w (dyn Fn() -> bool + Sync),
    visit: &'w (dyn Fn(&Parsed<'_>) -> Visit<T> + Sync),
    /// The one file was named by its path: it is searched whatever it looks like.
    named: bool,
    near: bool,
}

impl<T> Worker<'_, '_, '_, T> {
    fn run(&self, results: &mpsc::Sender<(usize, Outcome<T>)>) {
        let mut parsers = Parsers::default();
        let mut source = Vec::new();
        while !self.stop.load(Ordering::Relaxed) && !(self.interrupted)() {
            let next = self
                .feed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next();
            let Some((index, path, patterns)) = next else {
                return;
            };
            let done = || self.stop.load(Ordering::Relaxed) || (self.interrupted)();
            if !self.window.wait_for(index, &done) {
                return;
            }
            let outcome = self.file(&path, &patterns, &mut parsers, &mut source);
            if results.send((index, outcome)).is_err() {
                return;
            }
        }
    }

    fn file(
        &self,
        path: &Path,
        patterns: &Arc<[Pattern]>,
        parsers: &mut Parsers,
        source: &mut Vec<u8>,
    ) -> Outcome<T> {
        let skipped = |reason: String| Outcome {
            path: Some(path.to_owned()),
            skipped: Some(reason),
            ..Outcome::NOTHING
        };
        match read(path, source) {
            Ok(Content::Text) => {}
            Ok(Content::Binary) if self.named => {}
            Ok(Content::Binary) => return Outcome::NOTHING,
            Ok(Content::TooLarge(bytes)) => {
                return skipped(format!("too large ({} MiB)", bytes / 1024 / 1024));
            }
            Err(error) => return skipped(error.to_string()),
        }
        let verdict = prefilter::judge(patterns, source);
        let passes = match verdict {
            Verdict::Foreign => false,
            Verdict::Near => self.near,
            Verdict::Possible => true,
        };
        if !passes {
            return Outcome {
                path: (verdict == Verdict::Near).then(|| path.to_owned()),
                searched: true,
                has_words: verdict == Verdict::Near,
                ..Outcome::NOTHING
            };
        }
        let budget = Budget::start();
        let late =
            || budget.is_spent() || (self.interrupted)() || self.stop.load(Ordering::Relaxed);
        let Some(tree) = parsers.parse(patterns[0].grammar(), source, &late) else {
            return skipped(format!("parsing took over {} s", Budget::SECONDS));
        };
        let visit = (self.visit)(&Parsed {
            path,
            source,
            tree: &tree,
            patterns,
            late: &late,
        });
        let reason = if budget.is_spent() {
            Some(format!(
                "matching took over {} s, results are incomplete",
                Budget::SECONDS
            ))
        } else {
            visit.incomplete
        };
        let with_errors = tree.root_node().has_error();
        Outcome {
            path: Some(path.to_owned()),
            searched: true,
            has_words: visit.value.is_none(),
            with_errors,
            skipped: reason,
            value: visit.value,
        }
    }
}

enum Content {
    Text,
    Binary,
    TooLarge(u64),
}

fn read(path: &Path, source: &mut Vec<u8>) -> std::io::Result<Content> {
    use std::io::Read;

    // Opening a pipe would wait for somebody to write to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    if size > MOST_BYTES {
        return Ok(Content::TooLarge(size));
    }
    source.clear();
    // A file may grow while it is read.
    file.take(MOST_BYTES + 1).read_to_end(source)?;
    let sniffed = &source[..source.len().min(SNIFFED)];
    Ok(if sniffed.contains(&0) {
        Content::Binary
    } else {
        Content::Text
    })
}
