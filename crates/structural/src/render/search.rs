//! The result of `ast_grep`.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use terret_tiers::{Output, bound, paths};

use super::{CAPTURE, LINE, counted, excerpt, later, left_out, read_as};
use crate::ops::search::{Captured, Located, Report};

/// Room for the summary below the matches.
const BODY: bound::Bounds = bound::Bounds::new(28_000, 900);

pub(crate) fn search(workspace: &Path, report: &Report) -> Output {
    let (body, _) = found(workspace, &report.matches);
    let body = bound::head(&body, BODY);
    let truncated = body.truncated();
    let mut text = format!("pattern read as: {}\n", read_as(&report.read_as));
    text.push_str(&body.text);
    if truncated && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&summary(workspace, report));
    Output::text(text)
        .with_details(details(workspace, report))
        .with_truncated(truncated || report.more)
}

/// Matches as they are shown, one after the other, and where each ends.
pub(crate) fn found(workspace: &Path, found: &[Located]) -> (String, Vec<usize>) {
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(found.len()));
    for in_file in found.chunk_by(|a, b| a.path == b.path) {
        let path = paths::show(workspace, &in_file[0].path);
        for found in in_file {
            push_match(&mut text, &path, found);
            ends.push(text.len());
        }
    }
    (text, ends)
}

/// `path:line`, the lines, the captures.
fn push_match(text: &mut String, path: &str, found: &Located) {
    let (first, last) = found.lines;
    _ = writeln!(text, "{path}:{first}");
    for (number, source) in (first..).zip(&found.text) {
        _ = writeln!(text, "  {number}: {}", excerpt(source, LINE));
    }
    let shown = first + found.text.len();
    if shown <= last {
        let more = counted(last + 1 - shown, "more line", "more lines");
        _ = writeln!(text, "  … {more}");
    }
    let captures: Vec<String> = found.captures.iter().map(capture).collect();
    if !captures.is_empty() {
        _ = writeln!(text, "  {}", captures.join(", "));
    }
}

fn capture(captured: &Captured) -> String {
    let sigil = if captured.run { "$$$" } else { "$" };
    let text = excerpt(&captured.text, CAPTURE);
    format!(
        "{sigil}{} = {}",
        captured.name,
        if text.is_empty() { "(nothing)" } else { &text }
    )
}

fn summary(workspace: &Path, report: &Report) -> String {
    let shown = report.matches.len();
    let mut clauses = Vec::new();
    clauses.push(match (shown, report.more) {
        (0, _) => "0 matches".to_owned(),
        (_, false) => counted(shown, "match", "matches"),
        (_, true) => format!(
            "{} shown, there are more: narrow `path` or raise `max_results`",
            counted(shown, "match", "matches")
        ),
    });
    if !report.later.is_empty() {
        clauses.push(later(&report.later));
    }
    if !report.near.misses.is_empty() {
        let each = |(name, count): &(String, usize)| {
            let more = if count == &1 { "differs" } else { "differ" };
            format!("{} {more} only by `{name}`", bound::thousands(*count))
        };
        let near: Vec<String> = report.near.misses.iter().take(5).map(each).collect();
        clauses.push(format!("{}: write them into the pattern", near.join(", ")));
    }
    let misused: Vec<&String> = match shown {
        0 => report
            .read_as
            .iter()
            .flat_map(|read| &read.misused_keywords)
            .collect(),
        _ => Vec::new(),
    };
    if let Some(word) = misused.first() {
        clauses.push(format!(
            "`{word}` is read as a name here: write the whole construct if the keyword is meant"
        ));
    }
    if report.near.in_macros > 0 {
        let (files, have) = match report.near.in_macros {
            1 => ("1 file".to_owned(), "has"),
            many => (counted(many, "file", "files"), "have"),
        };
        clauses.push(format!(
            "{files} {have} its words in the arguments of a macro, which are not parsed: use a text \
             search there"
        ));
    }
    let files = counted(report.searched, "file", "files");
    clauses.push(if report.more {
        format!("stopped after {files}")
    } else {
        match &report.asked {
            Some(asked) if report.searched == 0 => {
                format!("{files} searched: none there is {asked}")
            }
            _ => format!("{files} searched"),
        }
    });
    clauses.extend(left_out(
        workspace,
        &report.skipped,
        &report.with_errors,
        &report.rejected,
    ));
    clauses.join("; ")
}

fn details(workspace: &Path, report: &Report) -> Value {
    let show = |path: &Path| paths::show(workspace, path);
    let captures = |found: &Located| {
        let one = |captured: &Captured| {
            (
                captured.name.to_string(),
                json!({ "text": captured.text.to_string(), "run": captured.run }),
            )
        };
        Value::Object(found.captures.iter().map(one).collect::<Map<_, _>>())
    };
    let matches: Vec<Value> = report
        .matches
        .iter()
        .map(|found| {
            json!({
                "path": show(&found.path),
                "language": &*found.language,
                "line": found.lines.0,
                "end_line": found.lines.1,
                "column": found.column,
                "bytes": [found.bytes.start, found.bytes.end],
                "text": found.text.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
                "captures": captures(found),
            })
        })
        .collect();
    let readings: Vec<Value> = report
        .read_as
        .iter()
        .map(|read| json!({ "language": read.language, "readings": read.readings }))
        .collect();
    let later: Vec<Value> = report
        .later
        .iter()
        .map(|later| {
            json!({
                "language": later.language,
                "context": later.context,
                "kind": later.kind,
                "count": later.count,
            })
        })
        .collect();
    json!({
        "matches": matches,
        "more": report.more,
        "readings": readings,
        "later_readings": later,
        "near_misses": report.near.misses.iter().map(|(name, count)| {
            json!({ "extra": name, "count": count })
        }).collect::<Vec<_>>(),
        "files_with_macros": report.near.in_macros,
        "files_searched": report.searched,
        "files_skipped": report.skipped.iter().map(|skipped| {
            json!({ "path": show(&skipped.path), "reason": skipped.reason })
        }).collect::<Vec<_>>(),
        "files_with_errors": report.with_errors.iter().map(|path| show(path)).collect::<Vec<_>>(),
        "languages_rejected": report.rejected.iter().map(|(id, error)| {
            json!({ "language": id, "error": error.to_string() })
        }).collect::<Vec<_>>(),
    })
}
