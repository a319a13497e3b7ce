//! What a run has been told about its files, so that it is told only what is new.
//!
//! For each file and server the ledger counts the diagnostics that are accounted for: those that were there before a
//! write, and those that were reported. What a server says now is compared with that by count: one more of a kind is
//! new, one that moved is not, one that went away is fixed, and new again if it comes back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diagnostic::{Diagnostic, Key};

/// The ledger of a run.
#[derive(Debug, Default)]
pub struct Ledger {
    files: Mutex<HashMap<PathBuf, HashMap<String, Known>>>,
}

/// Each diagnostic that is accounted for, with the lines that it is on.
type Known = HashMap<Key, Vec<u32>>;

/// What is new in what a server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The diagnostics that are new, in the order in which the server gave them.
    pub new: Vec<Diagnostic>,
    /// What is gone: the line that it was on, and its code, or its words where it has none.
    pub fixed: Vec<(u32, String)>,
    /// Nothing was known of this file, so that what is "new" may have been there before.
    pub first: bool,
}

impl Ledger {
    /// Accounts for what is there before a write: none of it was introduced by that.
    pub fn before(&self, file: &Path, server: &str, diagnostics: &[Diagnostic]) {
        let known = count(diagnostics);
        let mut files = self.lock();
        files
            .entry(file.to_owned())
            .or_default()
            .insert(server.to_owned(), known);
    }

    /// Whether anything is known of what a server says about a file, be it that it says nothing.
    #[must_use]
    pub fn knows(&self, file: &Path, server: &str) -> bool {
        let files = self.lock();
        files
            .get(file)
            .is_some_and(|servers| servers.contains_key(server))
    }

    /// Compares all that a server says about a file now with what is accounted for, which it is from now on.
    ///
    /// `moved` gives the line that an old line has become: where there are more of a kind than before, those are new
    /// that are not where the old ones went.
    pub fn compare(
        &self,
        file: &Path,
        server: &str,
        diagnostics: &[Diagnostic],
        moved: &dyn Fn(u32) -> Option<u32>,
    ) -> News {
        let now = count(diagnostics);
        let mut files = self.lock();
        let servers = files.entry(file.to_owned()).or_default();
        let before = servers.insert(server.to_owned(), now.clone());
        drop(files);
        let first = before.is_none();
        let before = before.unwrap_or_default();
        let gone = |(key, lines): (&Key, &Vec<u32>)| {
            let left = now.get(key).map_or(&[][..], Vec::as_slice);
            let stayed = |line: &u32| moved(*line).is_some_and(|line| left.contains(&line));
            // Those first that are not where they would have moved to.
            let (stayed, mut gone): (Vec<u32>, Vec<u32>) =
                lines.iter().partition(|line| stayed(line));
            gone.extend(stayed);
            gone.truncate(lines.len().saturating_sub(left.len()));
            let name = key.name().to_owned();
            gone.into_iter().map(move |line| (line, name.clone()))
        };
        let mut surplus: HashMap<&Key, Surplus> = HashMap::new();
        for (key, lines) in &now {
            let old = before.get(key).map_or(&[][..], Vec::as_slice);
            if let Some(count @ 1..) = lines.len().checked_sub(old.len()) {
                surplus.insert(key, Surplus::new(count, lines, old, moved));
            }
        }
        let is_new = |diagnostic: &&Diagnostic| {
            surplus
                .get_mut(&diagnostic.key())
                .is_some_and(|surplus| surplus.take(diagnostic.range.start.line))
        };
        News {
            fixed: before.iter().flat_map(gone).collect(),
            new: diagnostics.iter().filter(is_new).cloned().collect(),
            first,
        }
    }

    /// Whether another voice than this one has told of the same on the same line: a server and its checker often know the
    /// same error by the same code, and have different words for it.
    #[must_use]
    pub fn told_by_another(&self, file: &Path, server: &str, diagnostic: &Diagnostic) -> bool {
        let Some(code) = &diagnostic.code else {
            return false;
        };
        let files = self.lock();
        let voices = files.get(file).into_iter().flatten();
        let mut others = voices.filter(|(voice, _)| *voice != server);
        others.any(|(_, known)| {
            known.iter().any(|(key, lines)| {
                key.code() == Some(code) && lines.contains(&diagnostic.range.start.line)
            })
        })
    }

    /// Forgets a file that is no more, or is called otherwise.
    pub fn forget(&self, file: &Path) {
        self.lock().remove(file);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, HashMap<String, Known>>> {
        // Nothing is left half changed by a panic.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(diagnostics: &[Diagnostic]) -> Known {
    let mut known = Known::new();
    for diagnostic in diagnostics {
        let lines = known.entry(diagnostic.key()).or_default();
        lines.push(diagnostic.range.start.line);
    }
    known
}

/// Which of several alike are the ones that are too many.
struct Surplus {
    left: usize,
    /// The lines that the old ones went to, once for each.
    old: Vec<u32>,
}

impl Surplus {
    fn new(left: usize, lines: &[u32], old: &[u32], moved: &dyn Fn(u32) -> Option<u32>) -> Self {
        let mut old: Vec<u32> = old.iter().filter_map(|line| moved(*line)).collect();
        old.retain(|line| lines.contains(line));
        // As many as there are too many have to be left over.
        old.truncate(lines.len() - left);
        Self { left, old }
    }

    fn take(&mut self, line: u32) -> bool {
        if let Some(at) = self.old.iter().position(|old| *old == line) {
            self.old.swap_remove(at);
            return false;
        }
        let is_new = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STAY: &dyn Fn(u32) -> Option<u32> = &|line| Some(line);

    /// Diagnostics as `LINE MESSAGE`, all of them errors.
    fn diagnostics(all: &[&str]) -> Vec<Diagnostic> {
        let one = |text: &&str| {
            let (line, message) = text.split_once(' ').expect("a line and a message");
            let line: u32 = line.parse().expect("a number");
            let place = json!({ "line": line, "character": 0 });
            let range = json!({ "start": place, "end": place });
            Diagnostic::read(&json!({ "range": range, "message": message })).expect("a diagnostic")
        };
        all.iter().map(one).collect()
    }

    struct Told(Ledger);

    impl Told {
        fn before(&self, all: &[&str]) {
            self.0.before(Path::new("/a"), "s", &diagnostics(all));
        }

        /// `LINE MESSAGE` of what is new, and how many are fixed.
        fn compare(
            &self,
            all: &[&str],
            moved: &dyn Fn(u32) -> Option<u32>,
        ) -> (Vec<String>, usize) {
            let news = self
                .0
                .compare(Path::new("/a"), "s", &diagnostics(all), moved);
            let one = |found: &Diagnostic| format!("{} {}", found.range.start.line, found.message);
            (news.new.iter().map(one).collect(), news.fixed.len())
        }
    }

    fn told(new: &[&str], fixed: usize) -> (Vec<String>, usize) {
        (new.iter().map(ToString::to_string).collect(), fixed)
    }

    #[test]
    fn only_what_is_new_is_told() {
        let ledger = Told(Ledger::default());
        ledger.before(&["1 old"]);
        assert_eq!(
            ledger.compare(&["1 old"], STAY),
            told(&[], 0),
            "it was there before"
        );
        assert_eq!(ledger.compare(&["11 old"], STAY), told(&[], 0), "it moved");
        assert_eq!(
            ledger.compare(&["11 old", "12 bad"], STAY),
            told(&["12 bad"], 0)
        );
        assert_eq!(
            ledger.compare(&["11 old", "30 bad"], STAY),
            told(&[], 0),
            "it was told"
        );
        assert_eq!(
            ledger.compare(&["11 old"], STAY),
            told(&[], 1),
            "it is fixed"
        );
        assert_eq!(
            ledger.compare(&["11 old", "30 bad"], STAY),
            told(&["30 bad"], 0),
            "it is back"
        );
        assert_eq!(ledger.compare(&[], STAY), told(&[], 2));
    }

    #[test]
    fn one_more_of_a_kind_is_new() {
        let ledger = Told(Ledger::default());
        ledger.before(&["5 bad"]);
        // Ten lines were put in above, with the same mistake on the third.
        let moved = |line: u32| Some(line + 10);
        assert_eq!(
            ledger.compare(&["3 bad", "15 bad"], &moved),
            told(&["3 bad"], 0)
        );
        // Where the old one went is not known: any will do, but one only.
        let (new, fixed) = ledger.compare(&["3 bad", "15 bad", "20 bad"], &|_| None);
        assert_eq!((new.len(), fixed), (1, 0));
        // Several on one line.
        assert_eq!(
            ledger.compare(&["3 bad", "3 bad", "15 bad", "20 bad"], STAY),
            told(&["3 bad"], 0)
        );
    }

    #[test]
    fn what_is_not_known_is_told_as_such() {
        let ledger = Ledger::default();
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        assert!(!ledger.knows(a, "s"));
        assert!(ledger.compare(a, "s", &diagnostics(&["1 x"]), STAY).first);
        assert!(ledger.knows(a, "s") && !ledger.knows(a, "t") && !ledger.knows(b, "s"));
        assert!(!ledger.compare(a, "s", &[], STAY).first);
        // Another server's silence fixes nothing.
        ledger.compare(a, "s", &diagnostics(&["1 x"]), STAY);
        assert_eq!(ledger.compare(a, "t", &[], STAY).fixed, []);
        ledger.forget(a);
        assert!(!ledger.knows(a, "s"));
    }
}
