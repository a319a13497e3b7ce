//! What the host's tools share: files of the workspace as text, and changes that land whole or not at all.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use terret::changeset::{
    ChangeSet, CommitError, CommitErrorKind, StageError, StageErrorKind, Workspace,
};
use terret::tiers::wrapper::Writer;
use terret::tiers::{CallContext, Tool, ToolError, bound};

/// The largest file that is read or written.
const MOST_BYTES: u64 = 10 << 20;
/// So much of a file tells whether it is text.
const HEAD: usize = 8000;

/// The workspace as a set of changes sees it.
pub(super) fn open(root: &Path) -> Result<Workspace, ToolError> {
    let opened = Workspace::open(root);
    opened.map_err(|error| ToolError::failed(format!("the workspace: {error}")))
}

/// The text of a file, if it is one.
pub(super) fn text(workspace: &Workspace, path: &str) -> Result<String, ToolError> {
    check_size(workspace, path)?;
    let captured = workspace.capture(path).map_err(unstaged)?;
    as_text(path, captured.bytes())
}

/// Refuses what is too large before all of it is read.
pub(super) fn check_size(workspace: &Workspace, path: &str) -> Result<(), ToolError> {
    let length = std::fs::metadata(workspace.root().join(path)).map_or(0, |found| found.len());
    if length <= MOST_BYTES {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "{path} has {}, and at most {} are handled",
        bound::size(usize::try_from(length).unwrap_or(usize::MAX)),
        bound::size(MOST_BYTES as usize)
    )))
}

pub(super) fn as_text(path: &str, bytes: &[u8]) -> Result<String, ToolError> {
    if bytes[..bytes.len().min(HEAD)].contains(&0) {
        let size = bound::size(bytes.len());
        return Err(ToolError::refused(format!(
            "{path} is binary ({size}), and not text"
        )));
    }
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        ToolError::refused(format!(
            "{path} is not UTF-8: see line {line}. Only UTF-8 is handled"
        ))
    })
}

/// Puts all changes in place, or none.
pub(super) async fn commit(set: ChangeSet, context: &CallContext) -> Result<(), ToolError> {
    // The thread goes on when the call is dropped, and until then nobody else is to write.
    let lease = context.lease();
    let stop = context.cancel().child_token();
    let stop_on_drop = stop.clone().drop_guard();
    let work = tokio::task::spawn_blocking(move || {
        let committed = set.commit(&|| stop.is_cancelled());
        drop(lease);
        committed
    });
    let committed = work.await;
    drop(stop_on_drop);
    match committed {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(uncommitted(&error, context)),
        Err(error) => Err(ToolError::failed(format!(
            "the write has panicked: {error}"
        ))),
    }
}

fn uncommitted(error: &CommitError, context: &CallContext) -> ToolError {
    match error.kind() {
        CommitErrorKind::Refused(_) => ToolError::refused(error.to_string()),
        CommitErrorKind::Cancelled => context
            .interrupted()
            .unwrap_or_else(|| ToolError::cancelled("nothing was written")),
        _ => ToolError::failed(error.to_string()),
    }
}

pub(super) fn unstaged(error: StageError) -> ToolError {
    let message = error.to_string();
    match error.kind() {
        StageErrorKind::Missing => ToolError::not_found(format!(
            "{message}; paths are relative to the workspace's root"
        )),
        StageErrorKind::Io(_) => ToolError::failed(message),
        _ => ToolError::refused(message),
    }
}

/// The details of a write: the paths that it has touched, and whatever else.
pub(super) fn details(paths: &[impl AsRef<str>], more: Value) -> Value {
    let paths: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
    let mut details = json!({ "paths": paths });
    if let (Some(details), Value::Object(more)) = (details.as_object_mut(), more) {
        details.extend(more);
    }
    details
}

/// A tool that writes, with what tells which files: by its arguments before, by its details after.
pub(super) fn writer(
    tool: impl Tool + 'static,
    about_to: impl Fn(&Value) -> Vec<PathBuf> + Send + Sync + 'static,
) -> Writer {
    let touched = |details: &Value| -> Vec<PathBuf> {
        let paths = details["paths"].as_array().into_iter().flatten();
        paths.filter_map(Value::as_str).map(PathBuf::from).collect()
    };
    Writer::new(
        std::sync::Arc::new(tool),
        move |arguments, _| {
            let paths = about_to(arguments);
            Box::pin(async move { paths })
        },
        touched,
    )
}

/// The argument `path`, as the path that a call is about to touch.
pub(super) fn path_argument(arguments: &Value) -> Vec<PathBuf> {
    let path = arguments["path"].as_str();
    path.map(PathBuf::from).into_iter().collect()
}

/// A count with its noun.
pub(super) struct Count(pub(super) usize, pub(super) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count(count, noun) = self;
        let plural = if *count == 1 { "" } else { "s" };
        write!(f, "{} {noun}{plural}", bound::thousands(*count))
    }
}

/// Where lines are: `line 3`, `lines 3, 10 and 22`.
pub(super) fn places(lines: &[usize]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    match (shown.as_slice(), lines.len().saturating_sub(SHOWN)) {
        ([one], _) => format!("line {one}"),
        ([most @ .., last], 0) => format!("lines {} and {last}", most.join(", ")),
        (all, more) => format!("lines {} and {more} more", all.join(", ")),
    }
}

/// A text whose line ends are all `\n`, and the way back to the bytes that it was made of.
pub(super) struct Unified<'a> {
    original: &'a str,
    pub(super) text: String,
    /// The places in `text` of the line ends that were `\r\n`.
    shortened: Vec<usize>,
}

impl<'a> Unified<'a> {
    pub(super) fn new(original: &'a str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut shortened = Vec::new();
        let mut rest = original;
        while let Some(at) = rest.find("\r\n") {
            text.push_str(&rest[..at]);
            shortened.push(text.len());
            text.push('\n');
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        Self {
            original,
            text,
            shortened,
        }
    }

    /// The place in the original of a place in the text.
    pub(super) fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|place| *place < at)
    }

    /// A text with the line ends that are usual around a place of the original.
    pub(super) fn ended_like(&self, at: usize, text: &str) -> String {
        let text = Unified::new(text).text;
        let after = self.text[at..].find('\n').map(|length| at + length);
        let near = after.or_else(|| self.text[..at].rfind('\n'));
        match near.is_some_and(|near| self.shortened.binary_search(&near).is_ok()) {
            true => text.replace('\n', "\r\n"),
            false => text,
        }
    }

    pub(super) fn source(&self) -> &'a str {
        self.original
    }
}

/// The number of the line that a place of a text is on.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_back_to_where_they_came_from() {
        let original = "a\r\nb\nc\r\n\r\nd\r";
        let unified = Unified::new(original);
        assert_eq!(unified.text, "a\nb\nc\n\nd\r");
        for (at, byte) in unified.text.bytes().enumerate() {
            let found = original.as_bytes()[unified.original(at)];
            assert!(found == byte || (byte == b'\n' && found == b'\r'), "{at}");
        }
        assert_eq!(unified.original(unified.text.len()), original.len());
        assert_eq!(unified.ended_like(0, "x\ny"), "x\r\ny");
        assert_eq!(unified.ended_like(2, "x\r\ny"), "x\ny");
        assert_eq!(
            unified.ended_like(8, "x\ny"),
            "x\r\ny",
            "as the line before"
        );
    }

    #[test]
    fn lines_in_words() {
        assert_eq!(places(&[3]), "line 3");
        assert_eq!(places(&[3, 4]), "lines 3 and 4");
        assert_eq!(places(&[3, 4, 5]), "lines 3, 4 and 5");
        let many: Vec<usize> = (1..=12).collect();
        assert_eq!(
            places(&many),
            "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
        );
    }

    #[test]
    fn what_is_no_text_is_told() {
        let error = |bytes: &[u8]| as_text("a", bytes).unwrap_err().message;
        assert_eq!(error(b"a\0"), "a is binary (2 bytes), and not text");
        assert_eq!(
            error(b"a\n\xff"),
            "a is not UTF-8: see line 2. Only UTF-8 is handled"
        );
    }
}
