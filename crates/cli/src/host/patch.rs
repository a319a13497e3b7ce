//! `apply_patch`: changes of several files in one text, all of them or none.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use terret::changeset::{ChangeSet, Workspace};
use terret::tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, async_trait};

use super::files::{Files, commit, staged};

const DESCRIPTION: &str = "\
Changes several files by one patch, all of them or none (a tool of this host's own). The patch is \
`*** Begin Patch`, then for each file `*** Add File: PATH` with lines that begin with `+`, `*** Delete File: PATH`, or \
`*** Update File: PATH` (with `*** Move to: PATH` behind it to rename it) and its hunks, each begun by `@@`, whose lines begin \
with a blank (context), `-` (goes) or `+` (comes); then `*** End Patch`. Returns what was changed, and what it has broken.";

/// The arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    patch: String,
}

/// The tool.
pub(super) struct ApplyPatch {
    spec: ToolSpec,
    files: Files,
}

impl ApplyPatch {
    pub(super) fn new(files: Files) -> Self {
        let spec = ToolSpec::new("apply_patch", Tier::Write, DESCRIPTION)
            .parameters::<Args>()
            .exclusive(WORKSPACE)
            .hint("input", "the patch is called `patch`");
        Self { spec, files }
    }
}

/// The files that a patch names.
pub(super) fn named(arguments: &Value) -> Vec<PathBuf> {
    let patch = arguments["patch"].as_str().unwrap_or_default();
    let changes = parse(patch).unwrap_or_default();
    changes
        .iter()
        .flat_map(Change::paths)
        .map(PathBuf::from)
        .collect()
}

#[async_trait]
impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let paths: Vec<String> = named(arguments)
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        format!("patch {}", paths.join(", "))
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let Args { patch } = self.spec.parse(arguments)?;
        let changes = parse(&patch).map_err(ToolError::invalid_arguments)?;
        let workspace = self.files.workspace()?;
        let mut set = ChangeSet::new(&workspace);
        for change in &changes {
            self.stage(&workspace, &mut set, change)?;
        }
        commit(set, context)?;
        let lines: Vec<String> = changes.iter().map(Change::said).collect();
        let paths: Vec<&str> = changes.iter().flat_map(Change::paths).collect();
        Ok(Output::text(lines.join("\n")).with_details(json!({ "paths": paths })))
    }
}

impl ApplyPatch {
    fn stage(
        &self,
        workspace: &Workspace,
        set: &mut ChangeSet,
        change: &Change,
    ) -> Result<(), ToolError> {
        match change {
            Change::Add { path, content } => set
                .create(path, content.clone().into_bytes())
                .map_err(staged),
            Change::Delete { path } => set.delete(path).map_err(staged),
            Change::Update { path, to, hunks } => {
                let (captured, text) = self.files.text(workspace, path)?;
                let new = patched(path, &text, hunks)?;
                set.edit(&captured, new.into_bytes()).map_err(staged)?;
                match to {
                    Some(to) => set.rename(path, to).map_err(staged),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What a patch does to a file.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Add {
        path: String,
        content: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

impl Change {
    fn paths(&self) -> impl Iterator<Item = &str> {
        let (path, to) = match self {
            Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Update { path, to, .. } => (path, to.as_ref()),
        };
        [Some(path), to].into_iter().flatten().map(String::as_str)
    }

    fn said(&self) -> String {
        match self {
            Self::Add { path, .. } => format!("added {path}"),
            Self::Delete { path } => format!("deleted {path}"),
            Self::Update { path, to: None, .. } => format!("updated {path}"),
            Self::Update {
                path, to: Some(to), ..
            } => format!("updated {path}, which is {to} now"),
        }
    }
}

/// Lines that are looked for, and those that stand in their place.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The text behind `@@`: a line somewhere above.
    anchor: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The changes of a patch; or what is wrong with it.
fn parse(patch: &str) -> Result<Vec<Change>, String> {
    let mut lines = patch.trim().lines();
    if lines.next().map(str::trim) != Some(BEGIN) {
        return Err(format!("a patch begins with `{BEGIN}`"));
    }
    let mut changes = Vec::new();
    for (number, line) in lines.enumerate() {
        let wrong = |why: &str| Err(format!("line {} of the patch, `{line}`: {why}", number + 2));
        let path = |prefix: &str| line.strip_prefix(prefix).map(|path| path.trim().to_owned());
        if line.trim() == END {
            return match changes.is_empty() {
                true => Err("the patch changes no file".to_owned()),
                false => Ok(changes),
            };
        }
        if let Some(path) = path("*** Add File: ") {
            let content = String::new();
            changes.push(Change::Add { path, content });
        } else if let Some(path) = path("*** Delete File: ") {
            changes.push(Change::Delete { path });
        } else if let Some(path) = path("*** Update File: ") {
            let (to, hunks) = (None, Vec::new());
            changes.push(Change::Update { path, to, hunks });
        } else {
            match changes.last_mut() {
                Some(Change::Add { content, .. }) => match line.strip_prefix('+') {
                    Some(line) => *content += &format!("{line}\n"),
                    None => return wrong("a line of a new file begins with `+`"),
                },
                Some(Change::Update { to, hunks, .. }) => {
                    if let Some(path) = path("*** Move to: ") {
                        *to = Some(path);
                    } else if !of_hunk(hunks, line) {
                        return wrong("a line of a hunk begins with a blank, `-` or `+`");
                    }
                }
                _ => return wrong("no file is named for it"),
            }
        }
    }
    Err(format!("a patch ends with `{END}`"))
}

/// Takes in a line of a hunk; says whether it is one.
fn of_hunk(hunks: &mut Vec<Hunk>, line: &str) -> bool {
    if line == "*** End of File" {
        return true;
    }
    if let Some(anchor) = line.strip_prefix("@@") {
        let anchor = Some(anchor.trim().to_owned()).filter(|anchor| !anchor.is_empty());
        hunks.push(Hunk {
            anchor,
            ..Hunk::default()
        });
        return true;
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else {
        return false;
    };
    let (sign, text) = match line.chars().next() {
        // A blank line of the context is often sent without its blank.
        None => (' ', ""),
        Some(sign @ (' ' | '-' | '+')) => (sign, &line[1..]),
        _ => return false,
    };
    if sign != '+' {
        hunk.old.push(text.to_owned());
    }
    if sign != '-' {
        hunk.new.push(text.to_owned());
    }
    true
}

/// A text with its hunks put in, each behind the one before it.
fn patched(path: &str, text: &str, hunks: &[Hunk]) -> Result<String, ToolError> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    for hunk in hunks {
        if let Some(anchor) = &hunk.anchor {
            let below = lines
                .iter()
                .skip(from)
                .position(|line| line.trim() == anchor);
            let Some(below) = below else {
                let message =
                    format!("{path} holds no line `{anchor}`, which a hunk names behind `@@`");
                return Err(ToolError::not_found(message));
            };
            from += below + 1;
        }
        let at = match hunk.old.is_empty() {
            true if hunk.anchor.is_some() => from,
            true => lines.len(),
            false => find(&lines, &hunk.old, from).ok_or_else(|| {
                let looked_for = hunk.old.join("\n");
                let message = format!(
                    "{path} does not hold these lines of a hunk, one after the other (read it, and make the patch anew):\n\
                     {looked_for}"
                );
                ToolError::not_found(message)
            })?,
        };
        let new = hunk.new.iter().map(String::as_str);
        lines.splice(at..at + hunk.old.len(), new);
        from = at + hunk.new.len();
    }
    let mut patched = lines.join(end);
    if !patched.is_empty() && (text.ends_with('\n') || text.is_empty()) {
        patched += end;
    }
    Ok(patched)
}

/// Where lines stand: letter by letter, or else but for blanks at their ends.
fn find(lines: &[&str], wanted: &[String], from: usize) -> Option<usize> {
    let exact = |a: &str, b: &str| a == b;
    let loose = |a: &str, b: &str| a.trim_end() == b.trim_end();
    let with = |same: &dyn Fn(&str, &str) -> bool| {
        let mut windows = lines.windows(wanted.len()).enumerate().skip(from);
        let is_here = |window: &[&str]| {
            let mut pairs = window.iter().zip(wanted);
            pairs.all(|(line, wanted)| same(line, wanted))
        };
        windows
            .find(|(_, window)| is_here(window))
            .map(|(at, _)| at)
    };
    with(&exact).or_else(|| with(&loose))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(text: &str, hunks: &str) -> Result<String, String> {
        let patch = format!("{BEGIN}\n*** Update File: a\n{hunks}{END}\n");
        let changes = parse(&patch)?;
        let [Change::Update { hunks, .. }] = changes.as_slice() else {
            panic!("{changes:?}");
        };
        patched("a", text, hunks).map_err(|error| error.message)
    }

    #[test]
    fn hunks_go_where_their_lines_are() {
        let text = "a\nb\nc\nb\n";
        let rows = [
            ("@@\n a\n-b\n+x\n", "a\nx\nc\nb\n"),
            ("@@ c\n-b\n+x\n", "a\nb\nc\nx\n"),
            ("-a\n@@\n-b\n+y\n+z\n", "y\nz\nc\nb\n"),
            ("@@\n+end\n", "a\nb\nc\nb\nend\n"),
            ("@@ a\n+in\n", "a\nin\nb\nc\nb\n"),
        ];
        for (hunks, expected) in rows {
            assert_eq!(update(text, hunks), Ok(expected.to_owned()), "{hunks}");
        }
        assert_eq!(
            update("a\r\nb\r\n", "-b\n+c\n"),
            Ok("a\r\nc\r\n".to_owned())
        );
        assert!(update(text, "-q\n").unwrap_err().ends_with("anew):\nq"));
        assert!(
            update(text, "@@ q\n+x\n")
                .unwrap_err()
                .contains("no line `q`")
        );
        assert!(
            update(text, "?\n")
                .unwrap_err()
                .contains("line 3 of the patch, `?`")
        );
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = format!(
            "{BEGIN}\n*** Add File: n\n+1\n+\n*** Delete File: d\n*** Update File: u\n*** Move to: m\n-x\n{END}"
        );
        let paths = named(&json!({ "patch": patch }));
        assert_eq!(paths, ["n", "d", "u", "m"].map(PathBuf::from));
        let changes = parse(&patch).unwrap();
        assert!(matches!(&changes[0], Change::Add { content, .. } if content == "1\n\n"));
        for wrong in [
            "",
            "*** Begin Patch\n",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n+x\n*** End Patch",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
