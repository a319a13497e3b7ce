//! A file's own line ends and indentation, and moving text from one indentation to another.

/// How a file is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The line end that most lines have.
    pub(super) line_end: &'static str,
    /// One level of indentation; absent where nothing is indented.
    pub(super) unit: Option<String>,
}

/// Stands for a line end that belongs to a string literal: what follows it is not indentation.
/// The composed text is made of files without this byte.
pub(super) const KEPT_LINE_END: char = '\0';

impl Layout {
    pub(super) fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        let with_return = text.matches("\r\n").count();
        let line_end = if with_return * 2 > all { "\r\n" } else { "\n" };
        Self {
            line_end,
            unit: unit(text),
        }
    }
}

/// A tab, or as many spaces as most deeper lines are deeper than the line before them.
fn unit(text: &str) -> Option<String> {
    let mut tabs = 0_usize;
    let mut spaces = [0_usize; 9];
    let mut before = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let width = line.len() - line.trim_start_matches(' ').len();
        if line.starts_with('\t') {
            tabs += 1;
        } else if width > before && width - before <= 8 {
            spaces[width - before] += 1;
        }
        before = width;
    }
    // One space is an alignment, not a level.
    let best = (2..=8)
        .max_by_key(|&width| (spaces[width], width == 4))
        .unwrap_or(4);
    let seen = spaces[best];
    if tabs > seen.max(1) || tabs > 0 && seen == 0 {
        Some("\t".to_owned())
    } else {
        (seen > 0).then(|| " ".repeat(best))
    }
}

/// Moves the lines after the first from one indentation to another.
pub(super) fn reindent(text: &str, from: &str, to: &str) -> String {
    let mut lines = text.split('\n');
    let mut moved = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        moved.push('\n');
        match line.strip_prefix(from) {
            _ if line.trim().is_empty() => moved.push_str(line.trim_matches([' ', '\t'])),
            Some(rest) => {
                moved.push_str(to);
                moved.push_str(rest);
            }
            None => moved.push_str(line),
        }
    }
    moved
}

/// Indents the lines after the first; a blank one between them stays empty.
pub(super) fn indented(text: &str, indent: &str) -> String {
    let mut lines = text.split('\n').peekable();
    let mut moved = lines.next().unwrap_or_default().to_owned();
    while let Some(line) = lines.next() {
        moved.push('\n');
        if !line.is_empty() || lines.peek().is_none() {
            moved.push_str(indent);
        }
        moved.push_str(line);
    }
    moved
}

/// Rewrites the indentation of a template's lines in a file's own unit.
pub(super) fn in_units(text: &str, unit: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let step = text
        .split('\n')
        .skip(1)
        .filter(|line| !line.trim().is_empty() && indent(line) > 0)
        .map(|line| {
            if line.starts_with('\t') {
                1
            } else {
                indent(line)
            }
        })
        .min()
        .unwrap_or(1);
    let mut lines = text.split('\n');
    let mut written = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let width = indent(line);
        written.push('\n');
        written.push_str(&unit.repeat(width / step));
        // What is no whole level is alignment.
        written.push_str(&" ".repeat(width % step));
        written.push_str(&line[width..]);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_what_most_deeper_lines_add() {
        let rows = [
            ("a\n  b\n    c\n  d\n", Some("  ")),
            ("a\n    b\n        c\n", Some("    ")),
            ("a\n\tb\n\t\tc\n", Some("\t")),
            ("a\nb\n", None),
            ("/*\n * x\n */\nf() {\n  a\n}\n", Some("  ")),
        ];
        for (text, expected) in rows {
            assert_eq!(unit(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_move_with_their_block() {
        assert_eq!(reindent("a\n    b\n\n  c", "  ", "\t"), "a\n\t  b\n\n\tc");
        assert_eq!(
            in_units("if x {\n  a\n    b\n}", "\t"),
            "if x {\n\ta\n\t\tb\n}"
        );
    }
}
