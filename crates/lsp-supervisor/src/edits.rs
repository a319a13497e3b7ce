//! What a server wants changed, as a set of file changes: the whole of it, or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use terret_changeset::{ChangeSet, StageError};

use crate::documents::Seen;
use crate::location::range;
use crate::position::{Encoding, Offset, Position, Text};
use crate::uri;

/// A workspace edit that can be committed.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) set: ChangeSet,
    /// The lines of each file that are edited, from 1, as they were.
    pub(crate) lines: BTreeMap<PathBuf, Vec<usize>>,
    /// What is there is no longer what was there.
    changed: BTreeSet<PathBuf>,
}

impl Planned {
    /// How many edits there are.
    pub(crate) fn edits(&self) -> usize {
        self.lines.values().map(Vec::len).sum()
    }
}

/// Why a workspace edit is not applied.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is of a document that is no file here.
    NoFile(String),
    /// It was made for another text than the one that the server was told last.
    Stale(PathBuf),
    /// Two of its edits are of the same text.
    Overlap(PathBuf, usize),
    /// A place in it is none: inside a character.
    NoPlace(PathBuf, usize),
    /// It begins behind the end of the file.
    Beyond(PathBuf, usize),
    /// It is no text, but something that an editor fills in.
    Snippet(PathBuf),
    /// It is something that is not known here.
    Unknown(String),
    /// The file is no text.
    NoText(PathBuf),
    /// A file is not as it was, or must not be changed.
    Stage(StageError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |path: &Path| path.display().to_string();
        match self {
            Self::NoFile(uri) => write!(f, "it changes {uri}, which is no file of this machine"),
            Self::Stale(path) => write!(
                f,
                "it was made for another text of {} than the one that is there: ask again",
                at(path)
            ),
            Self::Overlap(path, line) => {
                write!(f, "two of its edits overlap in {} at line {line}", at(path))
            }
            Self::NoPlace(path, line) => write!(
                f,
                "an edit in {} at line {line} begins or ends inside a character",
                at(path)
            ),
            Self::Beyond(path, line) => write!(
                f,
                "an edit in {} begins at line {line}, which there is not",
                at(path)
            ),
            Self::Snippet(path) => write!(
                f,
                "an edit in {} is a template for an editor to fill in",
                at(path)
            ),
            Self::Unknown(what) => write!(f, "it holds {what}, which is not known here"),
            Self::NoText(path) => write!(f, "{} is not UTF-8", at(path)),
            Self::Stage(error) => error.fmt(f),
        }
    }
}

impl From<StageError> for Refused {
    fn from(error: StageError) -> Self {
        Self::Stage(error)
    }
}

/// Plans a workspace edit.
///
/// Of `documentChanges` and `changes` the first counts where both are there: they say the same, and applied twice it would
/// be wrong. `seen` gives what the server was told last of a document.
pub(crate) fn plan(
    edit: &Value,
    set: ChangeSet,
    encoding: Encoding,
    seen: &dyn Fn(&Path) -> Option<Seen>,
) -> Result<Planned, Refused> {
    let mut planned = Planned {
        set,
        lines: BTreeMap::new(),
        changed: BTreeSet::new(),
    };
    if let Some(changes) = edit["documentChanges"].as_array() {
        for change in changes {
            planned.change(change, encoding, seen)?;
        }
    } else if let Some(changes) = edit["changes"].as_object() {
        for (uri, edits) in changes {
            planned.text(&path(&Value::String(uri.clone()))?, edits, encoding, seen)?;
        }
    }
    Ok(planned)
}

fn path(uri: &Value) -> Result<PathBuf, Refused> {
    let text = uri.as_str().unwrap_or_default();
    uri::to_path(text).ok_or_else(|| Refused::NoFile(text.to_owned()))
}

impl Planned {
    fn change(
        &mut self,
        change: &Value,
        encoding: Encoding,
        seen: &dyn Fn(&Path) -> Option<Seen>,
    ) -> Result<(), Refused> {
        let option = |name: &str| change["options"][name] == true;
        match change["kind"].as_str() {
            None => {
                let document = &change["textDocument"];
                let path = path(&document["uri"])?;
                let wanted = document["version"].as_i64();
                let known = seen(&path).map(|seen| seen.version);
                if wanted.is_some_and(|wanted| known.is_some_and(|known| known != wanted)) {
                    return Err(Refused::Stale(path));
                }
                self.text(&path, &change["edits"], encoding, seen)
            }
            Some("create") => {
                let path = path(&change["uri"])?;
                self.changed.insert(path.clone());
                match self.set.exists(&path)? {
                    true if option("overwrite") => Ok(self.set.write(&path, &b""[..])?),
                    true if option("ignoreIfExists") => Ok(()),
                    _ => Ok(self.set.create(&path, &b""[..])?),
                }
            }
            Some("rename") => {
                let (old, new) = (path(&change["oldUri"])?, path(&change["newUri"])?);
                if self.set.exists(&new)? {
                    match (option("overwrite"), option("ignoreIfExists")) {
                        (true, _) => self.set.delete(&new)?,
                        (_, true) => return Ok(()),
                        // The error is that of the rename itself.
                        _ => {}
                    }
                }
                self.changed.insert(new.clone());
                Ok(self.set.rename(&old, &new)?)
            }
            Some("delete") => {
                let path = path(&change["uri"])?;
                if option("ignoreIfNotExists") && !self.set.exists(&path)? {
                    return Ok(());
                }
                Ok(self.set.delete(&path)?)
            }
            Some(other) => Err(Refused::Unknown(format!("`{other}`"))),
        }
    }

    fn text(
        &mut self,
        path: &Path,
        edits: &Value,
        encoding: Encoding,
        seen: &dyn Fn(&Path) -> Option<Seen>,
    ) -> Result<(), Refused> {
        let bytes = self.set.read(path)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Refused::NoText(path.to_owned()))?;
        // The mark is no part of what the server has.
        let (mark, rest) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let text = Text::new(rest);
        let is_first = self.changed.insert(path.to_owned());
        if is_first && seen(path).is_some_and(|seen| *seen.text != text) {
            return Err(Refused::Stale(path.to_owned()));
        }
        let edits = read(path, &text, edits, encoding)?;
        let lines = self.lines.entry(path.to_owned()).or_default();
        lines.extend(edits.iter().map(|edit| text.line_of(edit.start) + 1));
        let new = format!("{mark}{}", applied(text.as_str(), &edits));
        Ok(self.set.write(path, new.into_bytes())?)
    }
}

/// An edit in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TextEdit {
    start: usize,
    end: usize,
    new: String,
}

/// Reads the edits of a file, in the order of their places. Those that replace the same by the same are one.
fn read(
    path: &Path,
    text: &Text,
    edits: &Value,
    encoding: Encoding,
) -> Result<Vec<TextEdit>, Refused> {
    let is_crlf = text.as_str().contains("\r\n");
    let byte = |position: Position| match text.offset(position, encoding) {
        Offset::At(at) | Offset::Behind(at) => Ok(at),
        Offset::Inside(at) => Err(Refused::NoPlace(path.to_owned(), text.line_of(at) + 1)),
    };
    let mut all: Vec<TextEdit> = Vec::new();
    for edit in edits.as_array().into_iter().flatten() {
        let is_snippet = edit["insertTextFormat"] == 2 || edit.get("snippet").is_some();
        if is_snippet {
            return Err(Refused::Snippet(path.to_owned()));
        }
        let (Some(place), Some(new)) = (range(&edit["range"]), edit["newText"].as_str()) else {
            return Err(Refused::Unknown(
                "an edit without a range and a text".to_owned(),
            ));
        };
        // One line behind the last is where some servers append.
        let line = usize::try_from(place.start.line).unwrap_or(usize::MAX);
        if line > text.lines() {
            return Err(Refused::Beyond(path.to_owned(), line.saturating_add(1)));
        }
        let new = match is_crlf {
            true => new.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => new.to_owned(),
        };
        let edit = TextEdit {
            start: byte(place.start)?,
            end: byte(place.end)?,
            new,
        };
        if edit.start == edit.end || !all.contains(&edit) {
            all.push(edit);
        }
    }
    // The sort is stable: insertions at one place stay in their order.
    all.sort_by_key(|edit| (edit.start, edit.end));
    for pair in all.windows(2) {
        if pair[1].start < pair[0].end {
            let line = text.line_of(pair[1].start) + 1;
            return Err(Refused::Overlap(path.to_owned(), line));
        }
    }
    Ok(all)
}

fn applied(text: &str, edits: &[TextEdit]) -> String {
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        new.push_str(&text[from..edit.start]);
        new.push_str(&edit.new);
        from = edit.end;
    }
    new.push_str(&text[from..]);
    new
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use terret_changeset::Workspace;
    use terret_testkit::Tree;

    use super::*;

    fn at(line: u32, from: u32, to: u32, new: &str) -> Value {
        let place = |character: u32| json!({ "line": line, "character": character });
        json!({ "range": { "start": place(from), "end": place(to) }, "newText": new })
    }

    /// What a workspace edit makes of the files, or why it is refused.
    fn planned(tree: &Tree, edit: &Value) -> String {
        let state = tempfile::tempdir().expect("a folder");
        let root = tree.root().canonicalize().expect("it is there");
        let workspace = Workspace::with_state_dir(&root, state.path()).expect("a workspace");
        let seen = |path: &Path| {
            path.ends_with("a.rs").then(|| Seen {
                version: 3,
                text: Arc::new(Text::new(
                    String::from_utf8(tree.read("a.rs")).expect("UTF-8"),
                )),
            })
        };
        let set = ChangeSet::new(&workspace);
        let text = match plan(edit, set, Encoding::Utf16, &seen) {
            Ok(planned) => {
                let mut text = String::new();
                for file in planned.set.files() {
                    text += &format!("{:?}\n", file.change());
                }
                let mut set = planned.set;
                for path in planned.lines.keys() {
                    let bytes = set.read(path).map(|bytes| bytes.to_vec());
                    let bytes = bytes.unwrap_or_default();
                    let name = path.file_name().unwrap_or_default();
                    let new = String::from_utf8_lossy(&bytes).into_owned();
                    text += &format!("{}: {new:?}\n", name.display());
                }
                text
            }
            Err(refused) => refused.to_string(),
        };
        text.replace(&format!("{}/", root.display()), "")
    }

    fn tree() -> Tree {
        let tree = Tree::new("//- /a.rs\nfn a() {}\nlet é = \"😀\"; a();\n//- /b.rs\n");
        tree.write("b.rs", "\u{feff}one\r\ntwo\r\n");
        tree
    }

    fn uri(tree: &Tree, name: &str) -> String {
        let root = tree.root().canonicalize().expect("it is there");
        uri::of_path(&root.join(name))
    }

    #[test]
    fn edits_are_made_where_the_server_says() {
        let tree = tree();
        let a = uri(&tree, "a.rs");
        let edits = json!([at(1, 14, 15, "b"), at(0, 3, 4, "b"), at(1, 14, 15, "b")]);
        let both = json!({
            "changes": { a.clone(): [at(0, 0, 2, "never")] },
            "documentChanges": [{ "textDocument": { "uri": a, "version": 3 }, "edits": edits }],
        });
        let text = planned(&tree, &both);
        assert!(
            text.contains(r#"a.rs: "fn b() {}\nlet é = \"😀\"; b();\n""#),
            "{text}"
        );
        let b = uri(&tree, "b.rs");
        // Insertions at one place in their order, past the end of a line at its end, line ends as the file has them.
        let edits = json!([at(0, 3, 3, "1\n"), at(0, 99, 99, "2")]);
        let text = planned(&tree, &json!({ "changes": { b: edits } }));
        assert!(
            text.contains(r#"b.rs: "\u{feff}one1\r\n2\r\ntwo\r\n""#),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_applied_whole_is_not_applied() {
        let tree = tree();
        let a = uri(&tree, "a.rs");
        let changes = |edits: Value| json!({ "changes": { a.clone(): edits } });
        let document = |version: Value| {
            let document = json!({ "uri": a, "version": version });
            json!({ "documentChanges": [{ "textDocument": document, "edits": [] }] })
        };
        let rows = [
            (
                changes(json!([at(0, 0, 4, "x"), at(0, 3, 5, "y")])),
                "two of its edits overlap in a.rs at line 1",
            ),
            (
                changes(json!([at(1, 10, 11, "x")])),
                "an edit in a.rs at line 2 begins or ends inside a character",
            ),
            (
                changes(
                    json!([{ "range": at(0, 0, 0, "")["range"], "snippet": { "value": "$0" } }]),
                ),
                "an edit in a.rs is a template for an editor to fill in",
            ),
            (
                json!({ "changes": { "jdt://x": [] } }),
                "it changes jdt://x, which is no file of this machine",
            ),
            (
                json!({ "documentChanges": [{ "kind": "chmod" }] }),
                "it holds `chmod`, which is not known here",
            ),
            (
                document(json!(2)),
                "it was made for another text of a.rs than the one that is there: ask again",
            ),
        ];
        for (edit, why) in rows {
            assert_eq!(planned(&tree, &edit), why);
        }
        assert_eq!(
            planned(&tree, &document(json!(null))),
            "a.rs: \"fn a() {}\\nlet é = \\\"😀\\\"; a();\\n\"\n"
        );
    }

    #[test]
    fn files_are_renamed_before_they_are_edited_there() {
        let tree = tree();
        let (a, c) = (uri(&tree, "a.rs"), uri(&tree, "sub/c.rs"));
        let text = planned(
            &tree,
            &json!({ "documentChanges": [
            { "kind": "rename", "oldUri": a, "newUri": c },
            { "textDocument": { "uri": c, "version": null }, "edits": [at(0, 3, 4, "c")] },
        ] }),
        );
        assert!(text.contains(r#"c.rs: "fn c() {}\n"#), "{text}");
        let b = uri(&tree, "b.rs");
        let onto = json!({ "documentChanges": [{ "kind": "rename", "oldUri": a, "newUri": b }] });
        assert!(planned(&tree, &onto).contains("b.rs"), "something is there");
    }
}
