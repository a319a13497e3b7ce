//! Renames a symbol everywhere.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use terret_changeset::{Change, ChangeSet, CommitError, FileChange, Workspace};

use super::written::{Introduced, Limit};
use super::{ANSWER, Asked, Context, OpError, Target};
use crate::client::FileEvent;
use crate::edits::{self, Refused};

/// What a rename has changed.
#[derive(Debug)]
pub(crate) struct Renamed {
    pub(crate) old: String,
    pub(crate) new: String,
    /// Each file with the lines that were edited, as they were.
    pub(crate) files: Vec<(PathBuf, Vec<usize>)>,
    /// Files that were created, deleted or renamed.
    pub(crate) moved: Vec<FileChange>,
    pub(crate) edits: usize,
    pub(crate) server: String,
    /// What the servers say that it has broken.
    pub(crate) introduced: Introduced,
}

/// Why nothing was renamed.
#[derive(Debug)]
pub(crate) enum Unrenamed {
    Op(OpError),
    /// The name is none, or the one that the symbol has.
    Name(String),
    /// The server says that it cannot be renamed.
    Server {
        server: String,
        why: String,
    },
    /// What the server wants changed cannot be.
    Edit {
        server: String,
        why: Refused,
    },
    Workspace(std::io::Error),
    Commit(CommitError),
}

impl<E: Into<OpError>> From<E> for Unrenamed {
    fn from(error: E) -> Self {
        Self::Op(error.into())
    }
}

impl Context<'_> {
    /// Renames a symbol. Nothing is changed if this is dropped before it commits.
    pub(crate) async fn rename(
        &self,
        target: Target,
        new: &str,
        workspace: &(dyn Fn() -> std::io::Result<Workspace> + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
        limit: &(dyn Fn() -> Limit + Sync),
    ) -> Result<Renamed, Unrenamed> {
        target.check().await?;
        let file = &target.file;
        if new.trim().is_empty() {
            return Err(Unrenamed::Name("`new_name` is empty".to_owned()));
        }
        let Asked { server, at_work } = self.server_for(file, "textDocument/rename").await?;
        let client = server.client();
        let name = client.name().to_owned();
        if let Some(task) = at_work {
            let why =
                format!("it is at work on {task}, and may not know all uses yet: try again later");
            return Err(Unrenamed::Server { server: name, why });
        }
        let open = client.open(file).await?;
        client.refresh().await?;
        let place = target.find(&open.text)?;
        let old = open.text.as_str()[place.identifier.clone()].to_owned();
        if old == new {
            return Err(Unrenamed::Name(format!("`{old}` is its name already")));
        }
        let position = open.text.position(place.inside, client.encoding());
        let document = json!({ "uri": open.uri });
        let at = json!({ "textDocument": document, "position": position });
        client.settled(&open, ANSWER).await;
        if client.offers("textDocument/prepareRename") {
            let answer = client
                .ask("textDocument/prepareRename", &at, ANSWER)
                .await?;
            if let Some(why) = refused(&answer, &old, &open.text, client.encoding()) {
                return Err(Unrenamed::Server { server: name, why });
            }
        }
        let mut params = at;
        params["newName"] = json!(new);
        let edit = client.ask("textDocument/rename", &params, ANSWER).await?;
        let workspace = workspace().map_err(Unrenamed::Workspace)?;
        let seen = client.seen().await;
        let seen = |path: &Path| seen.get(path).cloned();
        let set = ChangeSet::new(&workspace);
        let planned = match edits::plan(&edit, set, client.encoding(), &seen) {
            Ok(planned) => planned,
            Err(why) => return Err(Unrenamed::Edit { server: name, why }),
        };
        if planned.set.is_empty() {
            let why = format!("it knows nothing to change for `{old}`");
            return Err(Unrenamed::Server { server: name, why });
        }
        let edits = planned.edits();
        let root = self.supervisor.workspace();
        let touched = planned.set.files().into_iter();
        let touched: Vec<PathBuf> = touched
            .flat_map(|file| {
                let from = match file.change() {
                    Change::Renamed { from, .. } => Some(root.join(from)),
                    _ => None,
                };
                from.into_iter().chain([root.join(file.path())])
            })
            .collect();
        let limit = limit();
        let baseline = self.supervisor.baseline(&touched, &limit.half()).await;
        let committed = planned.set.commit(cancelled).map_err(Unrenamed::Commit)?;
        self.tell(committed.files()).await;
        let introduced = self.supervisor.introduced(baseline, &touched, &limit);
        let introduced = introduced.await;
        Ok(Renamed {
            introduced,
            old,
            new: new.to_owned(),
            files: planned.lines.into_iter().collect(),
            moved: committed
                .files()
                .iter()
                .filter(|file| is_moved(file))
                .cloned()
                .collect(),
            edits,
            server: name,
        })
    }

    /// Tells all servers what has changed. That one has died is told to whoever asks it next.
    async fn tell(&self, files: &[FileChange]) {
        let root = self.supervisor.workspace();
        let paths: Vec<(PathBuf, FileEvent)> = files
            .iter()
            .flat_map(|file| {
                let path = root.join(file.path());
                match file.change() {
                    Change::Created => vec![(path, FileEvent::Created)],
                    Change::Deleted => vec![(path, FileEvent::Deleted)],
                    Change::Renamed { from, .. } => vec![
                        (root.join(from), FileEvent::Deleted),
                        (path, FileEvent::Created),
                    ],
                    _ => vec![(path, FileEvent::Changed)],
                }
            })
            .collect();
        let events: Vec<(&Path, FileEvent)> = paths
            .iter()
            .map(|(path, event)| (path.as_path(), *event))
            .collect();
        for server in self.supervisor.running().await {
            let client = server.client();
            let _ = client.refresh().await;
            let _ = client.files_changed(&events);
        }
    }
}

fn is_moved(file: &FileChange) -> bool {
    !matches!(file.change(), Change::Edited)
}

/// Why a symbol cannot be renamed, by the answer to `prepareRename`. The place that it gives has to be that of the symbol:
/// some servers take a keyword for the name behind it.
fn refused(
    answer: &Value,
    old: &str,
    text: &crate::position::Text,
    encoding: crate::position::Encoding,
) -> Option<String> {
    if answer.is_null() {
        return Some(format!("`{old}` cannot be renamed"));
    }
    let place =
        crate::location::range(&answer["range"]).or_else(|| crate::location::range(answer))?;
    let start = text.offset(place.start, encoding).floor();
    let end = text.offset(place.end, encoding).floor();
    let found = text.as_str().get(start..end)?;
    (!found.contains(old) && !old.contains(found))
        .then(|| format!("it would rename `{found}`, and not `{old}`"))
}
