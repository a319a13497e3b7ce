//! Hunks put into a text: each at its place, or none at all.

use super::envelope::{Hunk, Line};
use crate::host::files;

/// A line of a file, and how it ends.
#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    text: &'a str,
    end: &'static str,
}

/// How alike a line has to be to what a hunk shows of it; the strictest way that fits somewhere is taken.
const ALIKE: [fn(&str, &str) -> bool; 3] = [
    |a, b| a == b,
    |a, b| a.trim_end() == b.trim_end(),
    |a, b| a.trim() == b.trim(),
];

/// The text with all hunks in it.
///
/// # Errors
///
/// Which hunk has no place, or more than one, and what it was looked for by.
pub(super) fn apply(text: &str, hunks: &[Hunk<'_>]) -> Result<String, String> {
    let rows = rows(text);
    let mut new: Vec<Row<'_>> = Vec::new();
    let mut at = 0;
    for (number, hunk) in hunks.iter().enumerate() {
        let place = place(&rows, at, hunk);
        let place =
            place.map_err(|why| format!("hunk {} of {}: {why}", number + 1, hunks.len()))?;
        new.extend(&rows[at..place]);
        at = place;
        for line in &hunk.lines {
            match line {
                Line::Kept(_) => {
                    new.push(rows[at]);
                    at += 1;
                }
                Line::Removed(_) => at += 1,
                Line::Added(text) => new.push(Row {
                    text,
                    end: usual_end(&rows, at),
                }),
            }
        }
    }
    new.extend(&rows[at..]);
    Ok(joined(&rows, new))
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let row = |line: &'_ str| -> (usize, &'static str) {
        if line.ends_with("\r\n") {
            (line.len() - 2, "\r\n")
        } else if line.ends_with('\n') {
            (line.len() - 1, "\n")
        } else {
            (line.len(), "")
        }
    };
    text.split_inclusive('\n')
        .map(|line| {
            let (length, end) = row(line);
            Row {
                text: &line[..length],
                end,
            }
        })
        .collect()
}

/// How lines end around a place.
fn usual_end(rows: &[Row<'_>], at: usize) -> &'static str {
    let before = rows[..at].iter().rev();
    let near = before.chain(&rows[at..]).map(|row| row.end);
    near.into_iter().find(|end| !end.is_empty()).unwrap_or("\n")
}

/// A file without a line end at its end stays so, and no other line is without one.
fn joined(old: &[Row<'_>], new: Vec<Row<'_>>) -> String {
    let ends_open = old.last().is_some_and(|row| row.end.is_empty());
    let count = new.len();
    let mut text = String::new();
    for (index, row) in new.iter().enumerate() {
        text.push_str(row.text);
        let is_last = index + 1 == count;
        text.push_str(match (is_last && ends_open, row.end) {
            (true, _) => "",
            (false, "") => usual_end(old, old.len()),
            (false, end) => end,
        });
    }
    text
}

/// The row at which a hunk begins, from `from` on.
fn place(rows: &[Row<'_>], from: usize, hunk: &Hunk<'_>) -> Result<usize, String> {
    let mut start = from;
    for above in &hunk.above {
        let found = find(rows, start, &[above]);
        let Some(found) = found.first() else {
            return Err(format!(
                "no line `{above}` {}; a line after `@@` is one of the file that stands above the hunk, whole",
                after(from)
            ));
        };
        start = found + 1;
    }
    let wanted: Vec<&str> = hunk.lines.iter().filter_map(Line::old).collect();
    if wanted.is_empty() {
        // Only something to add: below the line that is named, or at the end.
        return Ok(match hunk.above.is_empty() {
            true => rows.len(),
            false => start,
        });
    }
    let mut found = find(rows, start, &wanted);
    if hunk.at_end {
        let last = rows.len().checked_sub(wanted.len());
        found.retain(|place| Some(*place) == last);
    }
    match found.as_slice() {
        [] => Err(nowhere(rows, start, &wanted, hunk.at_end)),
        [first, _, ..] if hunk.above.is_empty() => {
            let lines: Vec<usize> = found.iter().map(|place| place + 1).collect();
            Err(format!(
                "it fits at {} ({} first): show more lines around the change, or name a line above it with `@@`",
                files::places(&lines),
                first + 1
            ))
        }
        [first, ..] => Ok(*first),
    }
}

/// Where these lines are, in the strictest way that gives a place.
fn find(rows: &[Row<'_>], from: usize, wanted: &[&str]) -> Vec<usize> {
    let Some(last) = rows.len().checked_sub(wanted.len()) else {
        return Vec::new();
    };
    let by = |alike: fn(&str, &str) -> bool| -> Vec<usize> {
        let fits = |place: &usize| {
            let window = rows[*place..].iter().zip(wanted);
            window
                .into_iter()
                .all(|(row, wanted)| alike(row.text, wanted))
        };
        (from..=last).filter(fits).collect()
    };
    let found = ALIKE.into_iter().map(by);
    found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn after(from: usize) -> String {
    match from {
        0 => "in the file".to_owned(),
        from => format!("below line {from}, where the hunk before ends"),
    }
}

fn nowhere(rows: &[Row<'_>], start: usize, wanted: &[&str], at_end: bool) -> String {
    const SHOWN: usize = 12;
    let elsewhere: Vec<usize> = find(rows, 0, wanted)
        .iter()
        .map(|place| place + 1)
        .collect();
    let hint = match (elsewhere.is_empty(), at_end) {
        (false, true) => format!(
            "they are at {}, and not at the end",
            files::places(&elsewhere)
        ),
        (false, false) => format!(
            "they are at {}, above: hunks come in the order of the file",
            files::places(&elsewhere)
        ),
        (true, _) => "read the file, and show the lines as they are there".to_owned(),
    };
    let more = wanted.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = wanted
        .iter()
        .take(SHOWN)
        .map(|line| format!("  {line}"))
        .collect();
    if more > 0 {
        lines.push(format!("  … and {more} more"));
    }
    format!(
        "these lines are not {}; {hint}\n{}",
        after(start),
        lines.join("\n")
    )
}

impl<'a> Line<'a> {
    /// The line as the file has it before.
    fn old(&self) -> Option<&'a str> {
        match self {
            Self::Kept(text) | Self::Removed(text) => Some(text),
            Self::Added(_) => None,
        }
    }
}
