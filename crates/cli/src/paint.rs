//! Colours for the text of a result, which is plain as it comes from a tool.

use anstyle::{AnsiColor, Style};

const HEADING: Style = AnsiColor::Magenta.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
/// A name in a table.
pub(crate) const NAME: Style = Style::new().bold();

/// The text with `path:line` headings and the lines of a diff coloured.
pub(crate) fn result(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() + 256);
    // A line that begins with `+` is an added one only below the head of a diff.
    let mut diff = false;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end_matches('\n');
        diff |= words.starts_with("--- ") || words.starts_with("@@ ");
        let style = match words.as_bytes().first() {
            Some(b'@') if diff => Some(HUNK),
            Some(b'+') if diff => Some(ADDED),
            Some(b'-') if diff => Some(REMOVED),
            _ if is_heading(words) => Some(HEADING),
            _ => None,
        };
        match style {
            Some(style) => painted.push_str(&format!("{style}{words}{style:#}")),
            None => painted.push_str(words),
        }
        painted.push_str(&line[words.len()..]);
    }
    painted
}

/// Whether the line is a `path:line` on its own.
fn is_heading(line: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    !line.starts_with(char::is_whitespace)
        && line
            .rsplit_once(':')
            .is_some_and(|(path, line)| !path.is_empty() && number(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_diffs() {
        let text = "+ no diff yet\na b.rs:12\n  12: x:1\nfound: 3 of them\n\
                    --- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n";
        let painted = result(text);
        let shown = painted.replace('\u{1b}', "").replace("[0m", "[]");
        assert_eq!(
            shown,
            "+ no diff yet\n[35ma b.rs:12[]\n  12: x:1\nfound: 3 of them\n\
             [31m--- a/x[]\n[32m+++ b/x[]\n[36m@@ -1 +1 @@[]\n[31m-old[]\n[32m+new[]\n same\n"
        );
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), text);
    }
}
