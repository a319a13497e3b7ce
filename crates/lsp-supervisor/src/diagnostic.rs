//! Diagnostics as servers send them, and what makes two of them the same one.

use std::fmt;

use serde_json::{Value, json};

use crate::location::{Location, range};
use crate::position::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The code does not build, or does not mean what it should.
    Error,
    /// It may not mean what it should.
    Warning,
    /// Something to know.
    Information,
    /// Something to do better.
    Hint,
}

impl Severity {
    /// Servers leave it out, or send a number that means nothing: then it is taken seriously.
    fn of_number(number: Option<u64>) -> Self {
        match number {
            Some(2) => Self::Warning,
            Some(3) => Self::Information,
            Some(4) => Self::Hint,
            _ => Self::Error,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "info",
            Self::Hint => "hint",
        })
    }
}

/// Something that a server or a checker has to say about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// What the tool calls this kind: `E0308`, `2322`.
    pub code: Option<String>,
    /// Who says it: `rustc`, `Pyright`.
    pub source: Option<String>,
    /// In words.
    pub message: String,
    /// Other places that have to do with it, each with words.
    pub related: Vec<(Location, String)>,
    /// Nothing is wrong but that the code is not needed.
    pub unnecessary: bool,
    /// What the server wants back when it is asked for a fix.
    pub(crate) data: Value,
}

impl Diagnostic {
    /// Reads what a server sent, whatever its shape; absent where there are no words in it.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let message = match &value["message"] {
            Value::String(message) => message.clone(),
            // LSP 3.18 has text with markup here.
            other => other["value"].as_str()?.to_owned(),
        };
        let code = match &value["code"] {
            Value::Object(code) => code.get("value").and_then(text),
            code => text(code),
        };
        let related = value["relatedInformation"].as_array().into_iter().flatten();
        let related = related.filter_map(|related| {
            let location = Location::read(&related["location"])?;
            Some((location, related["message"].as_str()?.to_owned()))
        });
        let tags = value["tags"].as_array().into_iter().flatten();
        Some(Self {
            range: range(&value["range"]).unwrap_or_default(),
            severity: Severity::of_number(value["severity"].as_u64()),
            code: code.filter(|code| !code.is_empty()),
            source: text(&value["source"]).filter(|source| !source.is_empty()),
            message,
            related: related.collect(),
            unnecessary: tags.into_iter().any(|tag| tag.as_u64() == Some(1)),
            data: value["data"].clone(),
        })
    }

    /// What a server that sent it knows it again by.
    pub(crate) fn to_lsp(&self) -> Value {
        let number = self.code.as_ref().and_then(|code| code.parse::<u64>().ok());
        let mut value = json!({
            "range": { "start": self.range.start, "end": self.range.end },
            "severity": self.severity as u8 + 1,
            "message": self.message,
        });
        if let Some(code) = &self.code {
            value["code"] = number.map_or_else(|| json!(code), |number| json!(number));
        }
        if let Some(source) = &self.source {
            value["source"] = json!(source);
        }
        if !self.data.is_null() {
            value["data"] = self.data.clone();
        }
        value
    }

    /// All that a list of a server holds.
    #[must_use]
    pub fn read_all(items: &Value) -> Vec<Self> {
        let items = items.as_array().into_iter().flatten();
        items.filter_map(Self::read).collect()
    }

    /// What makes it the same as another one of the same file. The place does not: a diagnostic that moved is no new one.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            severity: self.severity,
            code: self.code.clone(),
            message: normalised(&self.message),
        }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Severity, code and message, without what changes in a message by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    severity: Severity,
    code: Option<String>,
    message: String,
}

impl Key {
    pub(crate) fn code(&self) -> Option<&String> {
        self.code.as_ref()
    }

    /// Its code, or its words where it has none.
    pub(crate) fn name(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.message)
    }
}

/// A message without line numbers, absolute paths and links, and with single blanks.
fn normalised(message: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut counts_lines = false;
    for word in message.split_whitespace() {
        let start = word.find(|first: char| !is_edge(first));
        let end = word.rfind(|last: char| !is_edge(last) && last != '.' && last != ',');
        let (Some(start), Some(end)) = (start, end) else {
            words.push(word.to_owned());
            continue;
        };
        let end = end + word[end..].chars().next().map_or(0, char::len_utf8);
        let core = word.get(start..end).unwrap_or_default();
        let is_number = !core.is_empty() && core.bytes().all(|byte| byte.is_ascii_digit());
        let plain = match core {
            core if core.contains("://") => "<url>".to_owned(),
            core if is_absolute(core) => "<path>".to_owned(),
            _ if is_number && counts_lines => "#".to_owned(),
            core => without_place(core),
        };
        let name = core.to_ascii_lowercase();
        counts_lines = ["line", "lines", "column", "col", "character", "ln"].contains(&&*name);
        let edges = (&word[..start], word.get(end..).unwrap_or_default());
        words.push(format!("{}{plain}{}", edges.0, edges.1));
    }
    words.join(" ")
}

fn is_edge(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | '`'
            | '('
            | ')'
            | '['
            | ']'
            | '<'
            | '>'
            | '{'
            | '}'
            | ';'
            | '‘'
            | '’'
            | '“'
            | '”'
    )
}

fn is_absolute(word: &str) -> bool {
    let drive =
        word.as_bytes().get(1) == Some(&b':') && word[..1].bytes().all(|b| b.is_ascii_alphabetic());
    let windows = drive
        && word
            .as_bytes()
            .get(2)
            .is_some_and(|byte| b"\\/".contains(byte));
    windows || word.starts_with('/') && word[1..].contains('/')
}

/// `src/a.rs:3:7` without its numbers.
fn without_place(word: &str) -> String {
    let mut rest = word;
    while let Some((before, number)) = rest.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        rest = before;
    }
    if rest.len() < word.len() && rest.contains(['.', '/']) {
        format!("{rest}:#")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_servers_send_is_read() {
        let place =
            json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 1, "character": 5 } });
        let rows = [
            (
                json!({ "range": place, "message": "m", "severity": 2, "code": "E1", "source": "s" }),
                "warning E1 s m",
            ),
            (
                json!({ "range": place, "message": "m", "code": 2322 }),
                "error 2322 - m",
            ),
            (
                json!({ "range": place, "message": "m", "code": { "value": "x", "target": "u" } }),
                "error x - m",
            ),
            (
                json!({ "range": place, "message": "m", "severity": 0, "code": null, "tags": null }),
                "error - - m",
            ),
            (
                json!({ "range": place, "message": "m", "severity": 99, "source": "" }),
                "error - - m",
            ),
            (
                json!({ "range": place, "message": { "kind": "markdown", "value": "m" } }),
                "error - - m",
            ),
            (
                json!({ "message": "m", "relatedInformation": [{ "location": 3 }] }),
                "error - - m",
            ),
        ];
        for (value, expected) in rows {
            let read = Diagnostic::read(&value).expect("a diagnostic");
            let or = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
            let (code, source) = (or(&read.code), or(&read.source));
            let shown = format!("{} {code} {source} {}", read.severity, read.message);
            assert_eq!(shown, expected, "{value}");
        }
        assert_eq!(Diagnostic::read(&json!({ "range": place })), None);
        assert_eq!(Diagnostic::read_all(&json!(null)), []);
    }

    #[test]
    fn what_changes_by_itself_is_no_part_of_a_message() {
        let same = [
            ("unused variable: `x`", "unused  variable:\n `x`"),
            ("defined at /opt/a/b.rs:3:4", "defined at /srv/x/b.rs:9:1"),
            (
                "first declared at line 12, column 5.",
                "first declared at line 13, column 6.",
            ),
            ("see src/a.rs:3:7", "see src/a.rs:30:1"),
            (
                "for further information visit https://x.y/z",
                "for further information visit https://x.z",
            ),
            (
                "'C:\\a\\b.ts' is not a module",
                "'D:\\c.ts' is not a module",
            ),
        ];
        for (one, other) in same {
            assert_eq!(normalised(one), normalised(other));
        }
        let different = [
            ("expected 2 arguments, got 3", "expected 2 arguments, got 4"),
            ("cannot find `foo`", "cannot find `bar`"),
            ("no module ./a", "no module ./b"),
            ("cannot divide a / b", "cannot divide a / c"),
            ("std::x:1", "std::x:2"),
            ("(", ")"),
        ];
        for (one, other) in different {
            assert_ne!(normalised(one), normalised(other));
        }
    }
}
