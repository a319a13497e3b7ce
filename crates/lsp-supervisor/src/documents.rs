//! The documents that a server has open, kept as they are on disk.
//!
//! The disk is what counts: a document is opened when it is first asked about, and compared with its file before each
//! question. Versions only ever go up, over closing and opening again as well, since what a server says of an older
//! version may still be on its way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::capabilities::{Change, Sync};
use crate::error::{Error, ErrorKind};
use crate::position::{Encoding, Text};
use crate::uri;

/// How many documents are open at most; then the one that was asked about longest ago is closed.
pub(crate) const MOST_OPEN: usize = 64;
/// A larger file is not sent to a server.
const MOST_BYTES: u64 = 8 << 20;
/// From this size on, what changed is sent and not the whole.
const WHOLE: usize = 256 << 10;

/// The documents of one server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// The last version of a document that is closed.
    closed: HashMap<PathBuf, i64>,
    /// Counts the uses, so that it is known which was the longest ago.
    uses: u64,
}

#[derive(Debug)]
struct Document {
    uri: String,
    version: i64,
    /// The version that it was opened with.
    first_version: i64,
    /// The version that brought this text; later ones brought it again.
    text_version: i64,
    text: Arc<Text>,
    told: Told,
    /// When it was told that this text is saved, if it was.
    saved: Option<Told>,
    used: u64,
    /// Whether the server wants to hear of it, and was told that it is open.
    opened: bool,
}

/// A document as the server has it.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) uri: String,
    pub(crate) version: i64,
    /// What is said of an older version is not about what was told last.
    pub(crate) wanted: i64,
    pub(crate) text: Arc<Text>,
    /// When the server was told of this text.
    pub(crate) told: Told,
    /// When it was told that this text is saved, if it was.
    pub(crate) saved: Option<Told>,
    /// Whether the text has changed since it was opened.
    pub(crate) changed: bool,
}

/// What a server was told last of a document.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) version: i64,
    pub(crate) text: Arc<Text>,
}

/// When a server was told something, and what it had said until then: what it says of that comes later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) at: Instant,
    /// How much work it had begun.
    pub(crate) begun: u64,
    /// How often it had pushed something for the file.
    pub(crate) pushes: u64,
    /// How many checks it had begun.
    pub(crate) checks: u64,
}

/// Something to be told to the server: the method and what goes with it.
pub(crate) type Notice = (&'static str, Value);

/// What has to be told to the server, in this order.
pub(crate) type Notices = Vec<Notice>;

impl Documents {
    /// Makes a document what its file is: what to tell the server, and the document as the server has it then.
    pub(crate) fn sync(
        &mut self,
        path: &Path,
        language: &str,
        text: Arc<Text>,
        (sync, encoding): (Sync, Encoding),
        now: Told,
    ) -> (Notices, Open) {
        let mut notices = Notices::new();
        match self.open.get_mut(path) {
            Some(document) => {
                if document.text != text {
                    document.version += 1;
                    let changes = changes(&document.text, &text, sync.change, encoding);
                    if let Some(changes) = changes.filter(|_| document.opened) {
                        notices.push(("textDocument/didChange", json!({
                            "textDocument": { "uri": document.uri, "version": document.version },
                            "contentChanges": changes,
                        })));
                    }
                    document.text_version = document.version;
                    document.text = text;
                    document.told = now;
                    document.saved = None;
                }
            }
            None => {
                notices.extend(self.make_room());
                let version = self.closed.remove(path).map_or(1, |version| version + 1);
                let uri = uri::of_path(path);
                if sync.opens {
                    notices.push((
                        "textDocument/didOpen",
                        json!({ "textDocument": {
                        "uri": uri,
                        "languageId": language,
                        "version": version,
                        "text": text.as_str(),
                    } }),
                    ));
                }
                let used = self.uses;
                let document = Document {
                    uri,
                    version,
                    first_version: version,
                    text_version: version,
                    text,
                    told: now,
                    saved: None,
                    used,
                    opened: sync.opens,
                };
                self.open.insert(path.to_owned(), document);
            }
        }
        let document = &self.open[path];
        let open = Open {
            uri: document.uri.clone(),
            version: document.version,
            wanted: document.text_version,
            text: Arc::clone(&document.text),
            told: document.told,
            saved: document.saved,
            changed: document.text_version > document.first_version,
        };
        (notices, open)
    }

    /// What to tell a server that wants to hear of saves, if it was not told that a document as it is open is saved; and
    /// when it was.
    pub(crate) fn save(
        &mut self,
        path: &Path,
        sync: Sync,
        now: Told,
    ) -> (Option<Notice>, Option<Told>) {
        let (Some(document), Some(with_text)) = (self.open.get_mut(path), sync.save) else {
            return (None, None);
        };
        if document.saved.is_some() {
            return (None, document.saved);
        }
        document.saved = Some(now);
        let mut params = json!({ "textDocument": { "uri": document.uri } });
        if with_text {
            params["text"] = json!(document.text.as_str());
        }
        (Some(("textDocument/didSave", params)), document.saved)
    }

    /// Forgets that the server was told of a save.
    pub(crate) fn unsave(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.saved = None;
        }
    }

    /// The same text again under a new version, so that the server looks at it again: the version, and what to tell.
    pub(crate) fn touch(&mut self, path: &Path, now: Told) -> Option<(i64, Notice)> {
        let document = self.open.get_mut(path)?;
        document.version += 1;
        document.told = now;
        let params = json!({
            "textDocument": { "uri": document.uri, "version": document.version },
            "contentChanges": [{ "text": document.text.as_str() }],
        });
        Some((document.version, ("textDocument/didChange", params)))
    }

    /// Notes that a document was asked about.
    pub(crate) fn asked_about(&mut self, path: &Path) {
        self.uses += 1;
        if let Some(document) = self.open.get_mut(path) {
            document.used = self.uses;
        }
    }

    /// Closes a document, if it is open; absent, too, where the server was not told that it is.
    pub(crate) fn close(&mut self, path: &Path) -> Option<Notice> {
        let document = self.open.remove(path)?;
        self.closed.insert(path.to_owned(), document.version);
        let params = json!({ "textDocument": { "uri": document.uri } });
        let notice = ("textDocument/didClose", params);
        document.opened.then_some(notice)
    }

    fn make_room(&mut self) -> Option<Notice> {
        if self.open.len() < MOST_OPEN {
            return None;
        }
        let oldest = self.open.iter().min_by_key(|(_, document)| document.used);
        let path = oldest.map(|(path, _)| path.clone())?;
        self.close(&path)
    }

    /// The files of the documents that are open, the one that was used last first.
    pub(crate) fn recent(&self) -> Vec<PathBuf> {
        let mut all: Vec<(&PathBuf, u64)> = self
            .open
            .iter()
            .map(|(path, document)| (path, document.used))
            .collect();
        all.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        all.into_iter().map(|(path, _)| path.clone()).collect()
    }

    /// The files of the documents that are open.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.open.keys().map(PathBuf::as_path)
    }

    /// What the server was told last of each document.
    pub(crate) fn seen(&self) -> HashMap<PathBuf, Seen> {
        let seen = |(path, document): (&PathBuf, &Document)| {
            let (version, text) = (document.version, Arc::clone(&document.text));
            (path.clone(), Seen { version, text })
        };
        self.open.iter().map(seen).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

/// What makes one text the other; absent where the server does not want to hear of it.
fn changes(old: &Text, new: &Text, change: Change, encoding: Encoding) -> Option<Value> {
    match change {
        Change::None => None,
        Change::Full => Some(json!([{ "text": new.as_str() }])),
        // A change without a range is the whole text, which all servers take.
        Change::Incremental if new.as_str().len() < WHOLE => {
            Some(json!([{ "text": new.as_str() }]))
        }
        Change::Incremental => {
            let (old_text, new_text) = (old.as_str(), new.as_str());
            let start = common(old_text.char_indices(), new_text.chars());
            let (old_rest, new_rest) = (&old_text[start..], &new_text[start..]);
            let reversed = old_rest.chars().rev().zip(new_rest.chars().rev());
            let same = reversed.take_while(|(a, b)| a == b);
            let mut tail: usize = same.map(|(a, _)| a.len_utf8()).sum();
            // No range may begin or end between the two bytes of a line end.
            let start = match old_text[..start].ends_with('\r') {
                true => start - 1,
                false => start,
            };
            let splits =
                |text: &str, at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
            if splits(old_text, old_text.len() - tail) || splits(new_text, new_text.len() - tail) {
                tail -= 1;
            }
            let (old_end, new_end) = (old_text.len() - tail, new_text.len() - tail);
            Some(json!([{
                "range": {
                    "start": old.position(start, encoding),
                    "end": old.position(old_end, encoding),
                },
                "text": &new_text[start..new_end],
            }]))
        }
    }
}

/// How many bytes two texts begin with alike.
fn common(old: std::str::CharIndices<'_>, new: std::str::Chars<'_>) -> usize {
    let mut end = 0;
    for ((at, a), b) in old.zip(new) {
        if a != b {
            return at;
        }
        end = at + a.len_utf8();
    }
    end
}

/// Reads a file as text that a server can have.
pub(crate) async fn read(path: &Path) -> Result<Arc<Text>, Error> {
    let failed = |error| {
        let path = path.to_owned();
        Error::new(ErrorKind::File { path, error })
    };
    let no_text = |why: String| {
        let path = path.to_owned();
        Error::new(ErrorKind::NoText { path, why })
    };
    let meta = tokio::fs::metadata(path).await.map_err(failed)?;
    if !meta.is_file() {
        return Err(no_text("it is no regular file".to_owned()));
    }
    if meta.len() > MOST_BYTES {
        let mib = meta.len() >> 20;
        return Err(no_text(format!(
            "it is too large for a language server ({mib} MiB)"
        )));
    }
    let bytes = tokio::fs::read(path).await.map_err(failed)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| no_text("it is not UTF-8, which language servers want".to_owned()))?;
    // Editors send no byte order mark, and servers count none.
    let text = text
        .strip_prefix('\u{feff}')
        .map_or(text.clone(), str::to_owned);
    Ok(Arc::new(Text::new(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::location::range;
    use crate::position::Offset;

    const SYNC: Sync = Sync {
        opens: true,
        change: Change::Incremental,
        save: None,
    };

    fn told_now() -> Told {
        Told {
            at: Instant::now(),
            begun: 0,
            pushes: 0,
            checks: 0,
        }
    }

    fn sync(documents: &mut Documents, path: &str, text: &str) -> (Vec<String>, i64) {
        let text = Arc::new(Text::new(text));
        let (notices, open) = documents.sync(
            Path::new(path),
            "go",
            text,
            (SYNC, Encoding::Utf16),
            told_now(),
        );
        documents.asked_about(Path::new(path));
        let shown = notices.iter().map(|(method, params)| {
            let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
            format!("{method} {uri} {}", params["textDocument"]["version"])
        });
        (shown.collect(), open.version)
    }

    #[test]
    fn documents_follow_their_files() {
        let mut all = Documents::default();
        let told =
            |shown: &[&str], version| (shown.iter().map(ToString::to_string).collect(), version);
        assert_eq!(
            sync(&mut all, "/a", "x"),
            told(&["textDocument/didOpen file:///a 1"], 1)
        );
        assert_eq!(sync(&mut all, "/a", "x"), told(&[], 1));
        assert_eq!(
            sync(&mut all, "/a", "y"),
            told(&["textDocument/didChange file:///a 2"], 2)
        );
        assert!(all.close(Path::new("/a")).is_some() && all.close(Path::new("/a")).is_none());
        // A version never comes back.
        assert_eq!(
            sync(&mut all, "/a", "y"),
            told(&["textDocument/didOpen file:///a 3"], 3)
        );
    }

    #[test]
    fn the_one_that_was_used_longest_ago_makes_room() {
        let mut all = Documents::default();
        for at in 0..MOST_OPEN {
            sync(&mut all, &format!("/{at}"), "");
        }
        sync(&mut all, "/0", "");
        let (notices, _) = sync(&mut all, "/new", "");
        assert_eq!(
            notices,
            [
                "textDocument/didClose file:///1 null",
                "textDocument/didOpen file:///new 1"
            ]
        );
        assert_eq!(all.len(), MOST_OPEN);
        assert!(all.paths().any(|path| path == Path::new("/0")));
    }

    /// What a server makes of changes.
    fn applied(old: &Text, changes: &Value, encoding: Encoding) -> String {
        let change = &changes[0];
        let text = change["text"].as_str().expect("a text");
        let Some(place) = range(&change["range"]) else {
            return text.to_owned();
        };
        let at = |position| match old.offset(position, encoding) {
            Offset::At(at) => at,
            other => panic!("{other:?} is no place"),
        };
        let (start, end) = (at(place.start), at(place.end));
        format!("{}{text}{}", &old.as_str()[..start], &old.as_str()[end..])
    }

    proptest! {
        // Each case goes through large texts.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn changes_make_one_text_the_other(
            before in "[ab\u{1f600}\r\n]{0,12}", old in "[ab\u{1f600}\r\n]{0,6}",
            new in "[ab\u{1f600}\r\n]{0,6}", after in "[ab\u{1f600}\r\n]{0,12}",
        ) {
            // So large that what changed is sent.
            let large = "x".repeat(WHOLE);
            let (old, new) = (
                Text::new(format!("{before}{old}{after}{large}")),
                Text::new(format!("{before}{new}{after}{large}")),
            );
            for encoding in Encoding::ALL {
                let changes = changes(&old, &new, Change::Incremental, encoding).expect("changes");
                prop_assert!(changes[0]["text"].as_str().is_some_and(|text| text.len() < 100));
                prop_assert_eq!(applied(&old, &changes, encoding), new.as_str());
            }
        }
    }
}
