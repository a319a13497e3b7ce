//! Reports as a model reads them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use terret_changeset::Change;
use terret_tiers::{Output, bound, paths};

use crate::checks::{self, Checked, Outcome};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ops::Question;
use crate::ops::actions::{Action, Actions};
use crate::ops::diagnostics::Report;
use crate::ops::navigate::{Answer, At, Content, Place};
use crate::ops::rename::Renamed;
use crate::ops::status::Statuses;
use crate::ops::symbols::{Found, Symbols};
use crate::ops::written::Introduced;
use crate::uri;

/// How many characters of a line are shown.
const LINE: usize = 200;
/// How many characters of a message are shown.
const MESSAGE: usize = 400;
/// How much of an answer is shown.
const TEXT: bound::Bounds = bound::Bounds::new(24_000, 600);

/// The answer to a question about a symbol.
pub(crate) fn answer(workspace: &Path, answer: &Answer) -> Output {
    let Answer {
        question, symbol, ..
    } = answer;
    let mut text = String::new();
    let mut truncated = false;
    match &answer.content {
        Content::Text(None) => text += &format!("{} knows nothing of `{symbol}`\n", answer.server),
        Content::Text(Some(hover)) => {
            let bounded = bound::head(&bound::sanitise(hover), TEXT);
            truncated = bounded.truncated();
            text += &bounded.text;
            text.push('\n');
        }
        Content::Places { places, .. } if places.is_empty() => {
            text += &format!("{} of `{symbol}`: none\n", what(*question));
        }
        Content::Places { places, total } => {
            for place in places {
                text += &line(workspace, place);
            }
            truncated = *total > places.len();
            if let Some(note) =
                bound::list_note(places.len(), *total, "ask about something narrower")
            {
                text += &format!("{note}\n");
            }
        }
    }
    text += &incomplete(&answer.server, answer.at_work.as_deref());
    let places = match &answer.content {
        Content::Text(_) => Vec::new(),
        Content::Places { places, .. } => places
            .iter()
            .map(|place| details(workspace, place))
            .collect(),
    };
    Output::text(text.trim_end())
        .with_truncated(truncated)
        .with_details(json!({
            "symbol": symbol,
            "server": answer.server,
            "places": places,
            "total": match &answer.content {
                Content::Text(_) => Value::Null,
                Content::Places { total, .. } => json!(total),
            },
            "at_work": answer.at_work,
        }))
}

fn what(question: Question) -> &'static str {
    match question {
        Question::Definition => "declarations",
        Question::TypeDefinition => "declarations of the type",
        Question::Implementation => "implementations",
        Question::References => "uses",
        Question::Hover => "documentation",
    }
}

/// `path:line: text`.
fn line(workspace: &Path, place: &Place) -> String {
    let at = match &place.at {
        At::File(path) => paths::show(workspace, path),
        At::Virtual(uri) => bound::sanitise(uri).into_owned(),
    };
    let text = place.text.as_deref().unwrap_or_default().trim();
    let text = bound::line(&bound::sanitise(text), LINE);
    match &*text {
        "" => format!("{at}:{}\n", place.line),
        text => format!("{at}:{}: {text}\n", place.line),
    }
}

fn details(workspace: &Path, place: &Place) -> Value {
    let (name, at) = match &place.at {
        At::File(path) => ("path", paths::show(workspace, path)),
        At::Virtual(uri) => ("uri", uri.clone()),
    };
    json!({ name: at, "line": place.line, "column": place.column, "text": place.text })
}

fn incomplete(server: &str, at_work: Option<&str>) -> String {
    match at_work {
        Some(task) => format!("{server} is at work on {task}: this may be incomplete\n"),
        None => String::new(),
    }
}

/// Symbols, those of a file as a tree.
pub(crate) fn symbols(workspace: &Path, symbols: &Symbols) -> Output {
    let mut text = String::new();
    for Found { symbol, place } in &symbols.found {
        let indent = "  ".repeat(symbol.depth);
        let name = bound::line(&bound::sanitise(&symbol.name), LINE);
        let of = match &symbol.container {
            Some(container) => format!(" of {}", bound::line(&bound::sanitise(container), LINE)),
            None => String::new(),
        };
        let at = match place.as_ref().map(|place| (&place.at, place.line)) {
            None => String::new(),
            // The file of all of them is known.
            Some((At::File(_), number)) if symbol.uri.is_none() => format!(":{number}"),
            Some((At::File(path), number)) => format!("{}:{number}", paths::show(workspace, path)),
            Some((At::Virtual(uri), number)) => format!("{}:{number}", bound::sanitise(uri)),
        };
        text += &format!("{indent}{at} {} {name}{of}\n", symbol.kind);
    }
    if symbols.found.is_empty() {
        text += "no symbols\n";
    }
    let shown = symbols.found.len();
    if let Some(note) = bound::list_note(shown, symbols.total, "narrow `query`, or read the file") {
        text += &format!("{note}\n");
    }
    for error in &symbols.errors {
        text += &format!("{error}\n");
    }
    text += &incomplete(&symbols.servers.join(", "), symbols.at_work.as_deref());
    let each = |Found { symbol, place }: &Found| {
        json!({
            "name": symbol.name,
            "kind": symbol.kind,
            "container": symbol.container,
            "depth": symbol.depth,
            "place": place.as_ref().map(|place| details(workspace, place)),
        })
    };
    Output::text(text.trim_end())
        .with_truncated(symbols.total > shown)
        .with_details(json!({
            "symbols": symbols.found.iter().map(each).collect::<Vec<_>>(),
            "total": symbols.total,
            "servers": symbols.servers,
            "at_work": symbols.at_work,
        }))
}

/// How many fixes and refactorings are shown.
const MOST_ACTIONS: usize = 50;

/// What servers offer to do at a symbol.
pub(crate) fn actions(actions: &Actions) -> Output {
    let mut text = String::new();
    for action in actions.found.iter().take(MOST_ACTIONS) {
        text += &bound::line(&bound::sanitise(&action.title), LINE);
        let mut notes = Vec::new();
        notes.extend(action.kind.clone());
        if action.preferred {
            notes.push("preferred".to_owned());
        }
        if let Some(why) = &action.disabled {
            notes.push(format!("not here: {why}"));
        }
        if !notes.is_empty() {
            let notes = notes.join(", ");
            text += &format!(" ({})", bound::line(&bound::sanitise(&notes), LINE));
        }
        text.push('\n');
    }
    let servers = actions.servers.join(", ");
    if actions.found.is_empty() {
        text += &format!(
            "nothing is offered for `{}`, says {servers}\n",
            actions.symbol
        );
    } else {
        text += "none is applied; make the change yourself\n";
    }
    let shown = actions.found.len().min(MOST_ACTIONS);
    if let Some(note) = bound::list_note(shown, actions.found.len(), "these come first") {
        text += &format!("{note}\n");
    }
    text += &incomplete(&servers, actions.at_work.as_deref());
    let each = |action: &Action| {
        json!({
            "title": action.title,
            "kind": action.kind,
            "preferred": action.preferred,
            "disabled": action.disabled,
        })
    };
    Output::text(text.trim_end())
        .with_truncated(actions.found.len() > shown)
        .with_details(json!({
            "symbol": actions.symbol,
            "actions": actions.found.iter().map(each).collect::<Vec<_>>(),
            "servers": actions.servers,
            "at_work": actions.at_work,
        }))
}

/// How many diagnostics are shown.
const MOST_DIAGNOSTICS: usize = 50;
/// How many of those that a write introduced are shown.
const MOST_NEW: usize = 20;
/// How many related places of a diagnostic are shown.
const MOST_RELATED: usize = 3;

/// What is wrong with a file: errors and warnings.
pub(crate) fn diagnostics(workspace: &Path, report: &Report) -> Output {
    let path = paths::show(workspace, &report.file);
    let matters = |severity: Severity| severity <= Severity::Warning;
    let found: Vec<_> = report
        .found
        .iter()
        .filter(|found| matters(found.severity))
        .collect();
    let mut text = String::new();
    for found in found.iter().take(MOST_DIAGNOSTICS) {
        text += &problem(workspace, &report.file, found);
    }
    let shown = found.len().min(MOST_DIAGNOSTICS);
    if let Some(note) = bound::list_note(shown, found.len(), "mend these first") {
        text += &format!("{note}\n");
    }
    match (report.servers.is_empty(), found.is_empty()) {
        (false, true) => {
            let servers = report.servers.join(", ");
            text += &format!("{path}: no errors and no warnings, says {servers}\n");
        }
        (true, true) => text += &format!("{path}: not verified\n"),
        _ => {}
    }
    for pending in &report.pending {
        text += &format!("pending: {}\n", bound::sanitise(pending));
    }
    for error in &report.errors {
        text += &format!("{}\n", bound::sanitise(&error.to_string()));
    }
    let each = |found: &Diagnostic| problem_details(workspace, &report.file, found);
    Output::text(text.trim_end())
        .with_truncated(found.len() > shown)
        .with_details(json!({
            "diagnostics": report.found.iter().map(each).collect::<Vec<_>>(),
            "servers": report.servers,
            "pending": report.pending,
        }))
}

/// How many problems of a project a program is told.
const MOST_DETAILED: usize = 1_000;

/// What is wrong with a project.
pub(crate) fn checks(workspace: &Path, report: &checks::Report) -> Output {
    let found = report.found.iter();
    let found: Vec<_> = found.filter(|(_, found)| checks::matters(found)).collect();
    let is_error = |found: &&(PathBuf, Diagnostic)| found.1.severity == Severity::Error;
    let errors = found
        .iter()
        .copied()
        .filter(|found| is_error(found))
        .count();
    let mut text = String::new();
    for (path, found) in found.iter().take(MOST_DIAGNOSTICS) {
        text += &problem(workspace, path, found);
    }
    let shown = found.len().min(MOST_DIAGNOSTICS);
    if shown < found.len() {
        let (errors, warnings) = (
            count(errors, "error"),
            count(found.len() - errors, "warning"),
        );
        text += &format!("{shown} shown of {errors} and {warnings}; mend these first\n");
    }
    for one in &report.checked {
        text += &checked(workspace, one);
    }
    if report.passed_over > 0 {
        let folders = count(report.passed_over, "folder");
        text += &format!("not checked: {folders} more with projects of their own\n");
    }
    if report.cut {
        text += "not checked: there may be more projects; there are too many folders to look at\n";
    }
    let details = found.iter().take(MOST_DETAILED);
    let details = details.map(|(path, found)| problem_details(workspace, path, found));
    let each = |one: &Checked| checked_details(workspace, one);
    Output::text(text.trim_end())
        .with_truncated(found.len() > shown)
        .with_details(json!({
            "diagnostics": details.collect::<Vec<_>>(),
            "errors": errors,
            "warnings": found.len() - errors,
            "checkers": report.checked.iter().map(each).collect::<Vec<_>>(),
            "passed_over": report.passed_over,
            "cut": report.cut,
        }))
}

fn count(count: usize, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name}{plural}", bound::thousands(count))
}

/// How a checker fared, as a line and its last words.
pub(crate) fn checked(workspace: &Path, checked: &Checked) -> String {
    let mut who = checked.name.to_owned();
    if checked.root != workspace {
        who += &format!(" in {}", paths::show(workspace, &checked.root));
    }
    if let Some(of) = &checked.of {
        who += &format!(" of {of}");
    }
    let how = match &checked.outcome {
        Outcome::Done(0) if checked.errors_only => "no errors".to_owned(),
        Outcome::Done(0) => "no errors and no warnings".to_owned(),
        Outcome::Done(found) => count(*found, "problem"),
        Outcome::Failed { why, found: 0 } => format!("failed: {why}"),
        Outcome::Failed { why, found } => {
            format!("{}, and failed: {why}", count(*found, "problem"))
        }
        Outcome::Missing(why) => format!("not run: {why}"),
    };
    let how = bound::sanitise(&how);
    let how = bound::head(&how, TEXT).text;
    format!("{who}: {how}\n")
}

fn checked_details(workspace: &Path, checked: &Checked) -> Value {
    let (state, found, why) = match &checked.outcome {
        Outcome::Done(0) => ("clean", 0, None),
        Outcome::Done(found) => ("problems", *found, None),
        Outcome::Failed { why, found } => ("failed", *found, Some(why)),
        Outcome::Missing(why) => ("missing", 0, Some(why)),
    };
    json!({
        "name": checked.name,
        "root": paths::show(workspace, &checked.root),
        "state": state,
        "problems": found,
        "why": why,
        "of": checked.of,
    })
}

/// `path:line severity message [source code]`, and what is related on a line of its own.
fn problem(workspace: &Path, file: &Path, found: &Diagnostic) -> String {
    let path = paths::show(workspace, file);
    let line = u64::from(found.range.start.line) + 1;
    let message: Vec<&str> = found.message.split_whitespace().collect();
    let message = bound::line(&bound::sanitise(&message.join(" ")), MESSAGE);
    let mut text = format!("{path}:{line} {} {message}", found.severity);
    let by = [found.source.as_deref(), found.code.as_deref()];
    let by: Vec<&str> = by.into_iter().flatten().collect();
    if !by.is_empty() {
        text += &format!(" [{}]", bound::sanitise(&by.join(" ")));
    }
    text.push('\n');
    let related = found.related.iter().take(MOST_RELATED);
    let related: Vec<String> = related
        .map(|(location, words)| {
            let at = match uri::to_path(&location.uri) {
                Some(path) => paths::show(workspace, &path),
                None => bound::sanitise(&location.uri).into_owned(),
            };
            let line = u64::from(location.range.start.line) + 1;
            let words = bound::line(&bound::sanitise(words), LINE);
            format!("{at}:{line} {words}")
        })
        .collect();
    if !related.is_empty() {
        text += &format!("  see {}\n", related.join("; "));
    }
    text
}

fn problem_details(workspace: &Path, file: &Path, found: &Diagnostic) -> Value {
    json!({
        "path": paths::show(workspace, file),
        "line": u64::from(found.range.start.line) + 1,
        "severity": found.severity.to_string(),
        "message": found.message,
        "source": found.source,
        "code": found.code,
    })
}

/// Adds what a write has introduced to the output of the tool that wrote; nothing where it introduced nothing.
pub(crate) fn introduced(workspace: &Path, output: Output, introduced: Introduced) -> Output {
    let Introduced {
        mut new,
        fixed,
        first,
        verified,
        pending,
        failed,
        passed_over,
    } = introduced;
    new.sort_by(|(a_path, a), (b_path, b)| {
        let key = |found: &Diagnostic| (found.severity, found.range.start);
        let (a_key, b_key) = (key(a), key(b));
        (a_key.0, a_path, a_key.1).cmp(&(b_key.0, b_path, b_key.1))
    });
    let mut text = String::new();
    if !new.is_empty() {
        text += match new.iter().all(|(path, _)| first.contains(path)) {
            true => "problems (first look at this file: some may have been there before):\n",
            false => "new problems:\n",
        };
    }
    for (path, found) in new.iter().take(MOST_NEW) {
        text += &problem(workspace, path, found);
    }
    if new.len() > MOST_NEW {
        let rest = &new[MOST_NEW..];
        let errors = rest
            .iter()
            .filter(|(_, found)| found.severity == Severity::Error)
            .count();
        text += &format!(
            "… {} more: {errors} errors, {} warnings\n",
            rest.len(),
            rest.len() - errors
        );
    }
    text += &match fixed.len() {
        0 => String::new(),
        1 => "fixed: 1 earlier problem\n".to_owned(),
        count => format!("fixed: {count} earlier problems\n"),
    };
    if !pending.is_empty() {
        let servers = bound::sanitise(&pending.join(", ")).into_owned();
        text +=
            &format!("diagnostics pending: {servers}; what is found comes with the next result\n");
    }
    if let Some(why) = failed.first() {
        // A write is told of a server's trouble in a line.
        let why = why.lines().next().unwrap_or_default();
        let why = bound::line(&bound::sanitise(why), MESSAGE);
        text += &format!("not verified: {why}\n");
    }
    if passed_over > 0 {
        text +=
            &format!("not verified: {passed_over} more files; `lsp` with `diagnostics` tells\n");
    }
    let knows_nothing = text.is_empty() && verified.is_empty();
    let details = json!({
        "new": new.iter().map(|(path, found)| problem_details(workspace, path, found)).collect::<Vec<_>>(),
        "fixed": fixed.len(),
        "verified": verified,
        "pending": pending,
        "failed": failed,
    });
    let truncated = output.truncated || new.len() > MOST_NEW;
    if knows_nothing {
        // No server is for what was written.
        return output;
    }
    let mut output = match text.trim_end() {
        "" => output,
        text => output.with_text(text),
    };
    output.truncated = truncated;
    match &mut output.details {
        Value::Object(all) => {
            all.entry("diagnostics").or_insert(details);
        }
        empty @ Value::Null => *empty = json!({ "diagnostics": details }),
        _ => {}
    }
    output
}

/// How many lines of a file are named.
const MOST_LINES: usize = 20;
/// How many files are named.
const MOST_FILES: usize = 100;

/// What a rename has changed.
pub(crate) fn renamed(workspace: &Path, renamed: Renamed) -> Output {
    let Renamed { old, new, .. } = &renamed;
    let count = |count: usize, one: &str, many: &str| {
        let name = if count == 1 { one } else { many };
        format!("{} {name}", bound::thousands(count))
    };
    let mut text = format!(
        "renamed `{old}` to `{new}`: {} in {}\n",
        count(renamed.edits, "edit", "edits"),
        count(renamed.files.len(), "file", "files"),
    );
    for (path, lines) in renamed.files.iter().take(MOST_FILES) {
        let mut numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
        numbers.dedup();
        let more = numbers.len().saturating_sub(MOST_LINES);
        numbers.truncate(MOST_LINES);
        text += &format!("  {}: {}", paths::show(workspace, path), numbers.join(", "));
        match more {
            0 => text.push('\n'),
            more => text += &format!(" and {more} more\n"),
        }
    }
    if let Some(more @ 1..) = renamed.files.len().checked_sub(MOST_FILES) {
        text += &format!("  … {}\n", count(more, "more file", "more files"));
    }
    for file in &renamed.moved {
        let path = paths::show(workspace, file.path());
        text += &match file.change() {
            Change::Created => format!("  {path}: new\n"),
            Change::Deleted => format!("  {path}: deleted\n"),
            Change::Renamed { from, .. } => {
                format!("  {path}: was {}\n", paths::show(workspace, from))
            }
            _ => continue,
        };
    }
    let each = |(path, lines): &(std::path::PathBuf, Vec<usize>)| json!({ "path": paths::show(workspace, path), "lines": lines });
    let output = Output::text(bound::sanitise(text.trim_end()).into_owned())
        .with_truncated(renamed.files.len() > MOST_FILES)
        .with_details(json!({
            "edits": renamed.edits,
            "files": renamed.files.iter().map(each).collect::<Vec<_>>(),
            "moved": renamed.moved.iter().map(|file| paths::show(workspace, file.path())).collect::<Vec<_>>(),
            "server": renamed.server,
        }));
    self::introduced(workspace, output, renamed.introduced)
}

/// How the servers are.
pub(crate) fn status(workspace: &Path, statuses: &Statuses) -> Output {
    let mut text = String::new();
    for status in &statuses.started {
        let root = paths::show(workspace, &status.root);
        text += &format!("{} for {root}: {}", status.name, status.state);
        if status.starts > 1 {
            text += &format!(" (started {} times)", status.starts);
        }
        text.push('\n');
    }
    if statuses.started.is_empty() {
        text += "no server was started yet: they start when they are needed first\n";
    }
    for (name, problem) in &statuses.for_file {
        match problem {
            None => text += &format!("{name}: can serve the file\n"),
            Some(problem) => text += &format!("{name}: {problem}\n"),
        }
    }
    let each = |status: &crate::supervisor::Status| {
        json!({
            "id": status.id,
            "name": status.name,
            "root": paths::show(workspace, &status.root),
            "state": status.state.to_string(),
            "starts": status.starts,
        })
    };
    let details = json!({
        "servers": statuses.started.iter().map(each).collect::<Vec<_>>(),
    });
    Output::text(bound::sanitise(text.trim_end()).into_owned()).with_details(details)
}
