//! The results of `ast_edit` and `resolve`.

use std::path::Path;

use serde_json::{Value, json};
use terret_changeset::{ChangeSet, DiffBounds};
use terret_tiers::{Output, bound, paths};

use super::{LINE, counted, later, left_out, line, read_as};
use crate::ops::resolve::Resolved;
use crate::ops::stage::{Changed, Proposal};

/// Room for what stands around the diff.
const DIFF: bound::Bounds = bound::Bounds::new(26_000, 800);

/// A staged change; without an id nothing was staged, since nothing would change.
pub(crate) fn proposal(
    workspace: &Path,
    id: Option<&str>,
    change: &ChangeSet,
    proposal: &Proposal,
) -> Output {
    let total = |count: fn(&Changed) -> usize| proposal.files.iter().map(count).sum::<usize>();
    let replacements = total(|file| file.replacements);
    let mut text = String::new();
    let mut truncated = false;
    match id {
        Some(id) => {
            text.push_str(&format!(
                "(proposed) {} in {}; nothing is written yet: call resolve with edit_id \"{id}\" and \
                 action \"accept\" or \"discard\"\n",
                counted(replacements, "replacement", "replacements"),
                counted(change.files().len(), "file", "files"),
            ));
            text.push_str(&readings(proposal));
            let diff = change.diff(&DiffBounds::default());
            let shown = bound::head(&bound::sanitise(&diff.to_string()), DIFF);
            truncated = shown.truncated() || diff.cut_lines() > 0 || diff.cut_files() > 0;
            text.push_str(shown.text.trim_end());
            text.push('\n');
        }
        None => {
            let matches: usize = proposal.matches.iter().sum();
            text.push_str(&readings(proposal));
            text.push_str(&match matches {
                0 => "0 matches: nothing is staged".to_owned(),
                found => format!(
                    "{}, and the rewrite is what stands there already: nothing is staged",
                    counted(found, "match", "matches")
                ),
            });
            text.push('\n');
        }
    }
    text.push_str(&notes(workspace, proposal).join("\n"));
    Output::text(text.trim_end().to_owned())
        .with_details(details(workspace, id, proposal))
        .with_truncated(truncated)
}

fn readings(proposal: &Proposal) -> String {
    let several = proposal.read_as.len() > 1;
    let each = |(number, read): (usize, &Vec<_>)| {
        let which = if several {
            format!("pattern {}", number + 1)
        } else {
            "pattern".to_owned()
        };
        format!("{which} read as: {}\n", read_as(read))
    };
    proposal.read_as.iter().enumerate().map(each).collect()
}

/// What there is to know about a change beside its diff, one line each.
fn notes(workspace: &Path, proposal: &Proposal) -> Vec<String> {
    let total = |count: fn(&Changed) -> usize| proposal.files.iter().map(count).sum::<usize>();
    let mut notes = Vec::new();
    for (number, found) in proposal
        .later
        .iter()
        .enumerate()
        .filter(|(_, found)| !found.is_empty())
    {
        notes.push(format!(
            "pattern {} matches nothing as read; {}",
            number + 1,
            later(found)
        ));
    }
    let several = proposal.matches.len() > 1;
    for (number, _) in proposal
        .matches
        .iter()
        .enumerate()
        .filter(|(_, found)| several && **found == 0)
    {
        notes.push(format!("pattern {} matches nothing", number + 1));
    }
    let dropped = total(|file| file.dropped);
    if dropped > 0 {
        notes.push(format!(
            "{} inside replaced code went with it: the rewrite keeps nothing of where they stood",
            counted(dropped, "more match", "more matches")
        ));
    }
    let unchanged = total(|file| file.unchanged);
    if unchanged > 0 && proposal.files.iter().any(|file| file.replacements > 0) {
        notes.push(format!(
            "{} already as rewritten",
            counted(unchanged, "match is", "matches are")
        ));
    }
    let comments = total(|file| file.comments_dropped);
    if comments > 0 {
        let count = counted(comments, "comment", "comments");
        notes.push(format!("{count} inside replaced code would be lost"));
    }
    let parenthesised = total(|file| file.parenthesised);
    if parenthesised > 0 {
        notes.push(format!(
            "parentheses were added in {} to keep the meaning",
            counted(parenthesised, "place", "places")
        ));
    }
    for file in &proposal.files {
        if let Some(broken) = &file.broken {
            notes.push(format!(
                "breaks the syntax at {}:{}:{}: {}",
                paths::show(workspace, &file.path),
                broken.line,
                broken.column,
                line(&broken.text, LINE)
            ));
        }
    }
    notes.extend(left_out(
        workspace,
        &proposal.skipped,
        &proposal.with_errors,
        &proposal.rejected,
    ));
    notes.push(format!(
        "{} searched",
        counted(proposal.searched, "file", "files")
    ));
    notes
}

fn details(workspace: &Path, id: Option<&str>, proposal: &Proposal) -> Value {
    let files: Vec<Value> = proposal
        .files
        .iter()
        .map(|file| {
            json!({
                "path": paths::show(workspace, &file.path),
                "replacements": file.replacements,
                "dropped": file.dropped,
                "unchanged": file.unchanged,
                "comments_dropped": file.comments_dropped,
                "parenthesised": file.parenthesised,
                "syntax_error": file.broken.as_ref().map(|broken| {
                    json!({ "line": broken.line, "column": broken.column, "text": broken.text })
                }),
            })
        })
        .collect();
    let replacements: usize = proposal.files.iter().map(|file| file.replacements).sum();
    json!({
        "edit_id": id,
        "replacements": replacements,
        "matches": proposal.matches,
        "files": files,
        "files_searched": proposal.searched,
    })
}

/// What became of a staged change.
pub(crate) fn resolved(workspace: &Path, id: &str, resolved: &Resolved) -> Output {
    match resolved {
        Resolved::Discarded { edit } => Output::text(format!("discarded {id}: {}", edit.title))
            .with_details(json!({ "edit_id": id, "action": "discard", "paths": [] })),
        Resolved::Applied { edit, committed } => {
            let files = committed.files();
            let paths: Vec<String> = files
                .iter()
                .map(|file| paths::show(workspace, file.path()))
                .collect();
            let mut text = format!(
                "applied {id}: {} in {}\n",
                counted(edit.replacements, "replacement", "replacements"),
                counted(files.len(), "file", "files")
            );
            let (list, truncated) = bound::list(&paths, 50, "all of them are in the details");
            text.push_str(&bound::sanitise(&list));
            if let Some(recovered) = committed.recovered() {
                text.push_str(&format!("\nbefore that, {recovered}"));
            }
            for left in committed.left() {
                text.push_str(&format!("\n{left}"));
            }
            Output::text(text)
                .with_details(json!({
                    "edit_id": id,
                    "action": "accept",
                    "replacements": edit.replacements,
                    "paths": paths,
                }))
                .with_truncated(truncated)
        }
    }
}
