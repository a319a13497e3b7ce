//! Reports as text for a model, and as details for a program. Pure: no I/O, nothing is looked up.

mod edit;
mod search;

use std::path::{Path, PathBuf};

use terret_tiers::{bound, paths};

use crate::ops::search::Excerpt;
use crate::ops::{Later, ReadAs};
use crate::pattern::PatternError;
use crate::search::Skipped;

pub(crate) use edit::{proposal, resolved};
pub(crate) use search::{found, search};

/// The most characters of one line of source text.
const LINE: usize = 200;
/// The most characters of a captured text.
const CAPTURE: usize = 80;
/// How many of the files of one sort are named.
const NAMED: usize = 3;

/// A line of somebody else's text: harmless, and not too long.
fn line(text: &str, characters: usize) -> String {
    bound::line(&bound::sanitise(text), characters)
}

/// The same for an excerpt, which says how big the whole is.
fn excerpt(excerpt: &Excerpt, characters: usize) -> String {
    bound::line_of(&bound::sanitise(&excerpt.text), characters, excerpt.whole)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        bound::thousands(count),
        if count == 1 { one } else { many }
    )
}

/// "pattern read as: expression, call_expression".
fn read_as(read_as: &[ReadAs]) -> String {
    let readings = |read: &ReadAs| read.readings.join("; ");
    match read_as {
        [] => String::new(),
        [first, rest @ ..] if rest.iter().all(|read| read.readings == first.readings) => {
            readings(first)
        }
        many => {
            let each = |read: &ReadAs| format!("{}: {}", read.language, readings(read));
            many.iter().map(each).collect::<Vec<_>>().join(" | ")
        }
    }
}

/// Languages that read a fragment alike share a clause.
fn later(later: &[Later]) -> String {
    let mut joined: Vec<Later> = Vec::new();
    for one in later {
        let same = |known: &&mut Later| known.context == one.context && known.kind == one.kind;
        match joined.iter_mut().find(same) {
            Some(known) => known.count += one.count,
            None => joined.push(one.clone()),
        }
    }
    let clauses: Vec<String> = joined.iter().map(ToString::to_string).collect();
    clauses.join("; ")
}

/// What was left out of a search, in one clause each.
fn left_out(
    workspace: &Path,
    skipped: &[Skipped],
    with_errors: &[PathBuf],
    rejected: &[(String, PatternError)],
) -> Vec<String> {
    let mut clauses = Vec::new();
    if !skipped.is_empty() {
        let each = |skipped: &Skipped| {
            format!(
                "{}: {}",
                paths::show(workspace, &skipped.path),
                line(&skipped.reason, LINE)
            )
        };
        clauses.push(format!(
            "{} skipped ({})",
            counted(skipped.len(), "file", "files"),
            some(skipped, each)
        ));
    }
    if !with_errors.is_empty() {
        let each = |path: &PathBuf| paths::show(workspace, path);
        clauses.push(format!(
            "{} with syntax errors, searched in the sound parts ({})",
            counted(with_errors.len(), "file", "files"),
            some(with_errors, each)
        ));
    }
    if !rejected.is_empty() {
        let languages: Vec<&str> = rejected.iter().map(|(id, _)| id.as_str()).collect();
        clauses.push(format!(
            "not searched, since the pattern does not parse there: {}",
            languages.join(", ")
        ));
    }
    clauses
}

fn some<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    let mut named: Vec<String> = items.iter().take(NAMED).map(each).collect();
    if items.len() > NAMED {
        named.push(format!("{} more", bound::thousands(items.len() - NAMED)));
    }
    named.join(", ")
}
