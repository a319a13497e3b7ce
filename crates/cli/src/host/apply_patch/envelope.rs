//! What a patch says, file by file.

/// What is to become of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Section<'a> {
    pub(super) path: &'a str,
    pub(super) what: What<'a>,
}

#[derive(Debug, PartialEq)]
pub(super) enum What<'a> {
    Add {
        content: String,
    },
    Delete,
    Update {
        to: Option<&'a str>,
        hunks: Vec<Hunk<'a>>,
    },
}

/// A place, and what is to become of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Hunk<'a> {
    /// Lines that stand above it, the outer first.
    pub(super) above: Vec<&'a str>,
    pub(super) lines: Vec<Line<'a>>,
    /// Whether it is at the end of the file.
    pub(super) at_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

impl<'a> Section<'a> {
    pub(super) fn paths(&self) -> Vec<&'a str> {
        match self.what {
            What::Update { to: Some(to), .. } => vec![self.path, to],
            _ => vec![self.path],
        }
    }

    pub(super) fn summary(&self) -> String {
        let path = self.path;
        match &self.what {
            What::Add { .. } => format!("create {path}"),
            What::Delete => format!("delete {path}"),
            What::Update { to: None, .. } => format!("edit {path}"),
            What::Update { to: Some(to), .. } => format!("edit {path} and move it to {to}"),
        }
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch.
///
/// # Errors
///
/// What is wrong with it, and on which line.
pub(super) fn parse(patch: &str) -> Result<Vec<Section<'_>>, String> {
    let mut lines = Lines {
        lines: patch.trim().lines().collect(),
        at: 0,
    };
    if lines.next().map(str::trim) != Some(BEGIN) {
        return Err(format!("the patch begins with a line `{BEGIN}`"));
    }
    let mut sections = Vec::new();
    loop {
        let Some(line) = lines.next() else {
            return Err(format!(
                "the patch ends with a line `{END}`, which is missing"
            ));
        };
        let line = line.trim_end();
        if line == END {
            break;
        }
        let (path, what) = if let Some(path) = named(line, "Add File") {
            (path, added(&mut lines)?)
        } else if let Some(path) = named(line, "Delete File") {
            (path, What::Delete)
        } else if let Some(path) = named(line, "Update File") {
            (path, updated(&mut lines)?)
        } else if line.is_empty() {
            continue;
        } else {
            return Err(lines.wrong(&format!(
                "`{line}` is none of `*** Add File: …`, `*** Delete File: …`, `*** Update File: …`, `{END}`"
            )));
        };
        if path.is_empty() {
            return Err(lines.wrong("the path is missing"));
        }
        sections.push(Section { path, what });
    }
    if lines.next().is_some() {
        return Err(lines.wrong(&format!("something follows `{END}`")));
    }
    match sections.is_empty() {
        true => Err("the patch names no file".to_owned()),
        false => Ok(sections),
    }
}

/// The path in a line `*** WORD: PATH`.
fn named<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix("*** ")?.strip_prefix(word)?;
    rest.strip_prefix(':').map(str::trim)
}

struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// What is wrong with the line that came last.
    fn wrong(&self, why: &str) -> String {
        format!("line {} of the patch: {why}", self.at)
    }

    /// The next line, if it belongs to the section.
    fn inner(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        let is_end = line.starts_with("*** ") && line.trim_end() != END_OF_FILE;
        if is_end { None } else { self.next() }
    }
}

fn added<'a>(lines: &mut Lines<'a>) -> Result<What<'a>, String> {
    let mut content = String::new();
    while let Some(line) = lines.inner() {
        let Some(line) = line.strip_prefix('+') else {
            return Err(lines.wrong("each line of an added file begins with `+`"));
        };
        content.push_str(line);
        content.push('\n');
    }
    Ok(What::Add { content })
}

fn updated<'a>(lines: &mut Lines<'a>) -> Result<What<'a>, String> {
    let to = lines.peek().and_then(|line| named(line, "Move to"));
    if to.is_some() {
        lines.next();
    }
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    let mut hunk = Hunk::default();
    while let Some(line) = lines.inner() {
        if let Some(above) = line.strip_prefix("@@") {
            if !hunk.lines.is_empty() {
                hunks.push(std::mem::take(&mut hunk));
            }
            hunk.above.extend(header(above));
            continue;
        }
        if line.trim_end() == END_OF_FILE {
            hunk.at_end = true;
            hunks.push(std::mem::take(&mut hunk));
            continue;
        }
        hunk.lines.push(match line.as_bytes().first() {
            // Editors take away the blank of a line that is empty otherwise.
            None => Line::Kept(""),
            Some(b' ') => Line::Kept(&line[1..]),
            Some(b'-') => Line::Removed(&line[1..]),
            Some(b'+') => Line::Added(&line[1..]),
            Some(_) => {
                return Err(lines.wrong(
                    "it begins neither with a blank (a line as it is) nor with `-`, `+` or `@@`",
                ));
            }
        });
    }
    if !hunk.lines.is_empty() {
        hunks.push(hunk);
    } else if !hunk.above.is_empty() {
        return Err(lines.wrong("no lines follow `@@`"));
    }
    if hunks.is_empty() && to.is_none() {
        return Err(lines.wrong("the update changes nothing"));
    }
    Ok(What::Update { to, hunks })
}

/// The line that a `@@` names. Numbers, as in a unified diff, name none.
fn header(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            rest.split_once("@@").map_or("", |(_, rest)| rest.trim())
        }
        _ => text,
    };
    (!text.is_empty()).then_some(text)
}
