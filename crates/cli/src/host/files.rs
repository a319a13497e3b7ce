//! The files of the workspace, as the host's own tools read and write them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use terret::changeset::{Captured, ChangeSet, CommitErrorKind, StageError, Workspace};
use terret::tiers::wrapper::Writer;
use terret::tiers::{CallContext, Tool, ToolError};

/// The largest file that is read as text, in bytes.
const LARGEST: u64 = 8 << 20;

/// The files of the workspace.
#[derive(Clone, Debug)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    pub(super) fn workspace(&self) -> Result<Workspace, ToolError> {
        Workspace::open(&self.root).map_err(|error| ToolError::failed(error.to_string()))
    }

    /// Whether there is something of this name.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// A file that holds text, as it is now.
    pub(super) fn text(
        &self,
        workspace: &Workspace,
        path: &str,
    ) -> Result<(Captured, String), ToolError> {
        let meta = std::fs::metadata(self.root.join(path))
            .map_err(|error| ToolError::not_found(format!("{path}: {error}")))?;
        if meta.is_dir() {
            return Err(ToolError::invalid_arguments(format!(
                "{path} is a folder; name a file"
            )));
        }
        if meta.len() > LARGEST {
            let mib = meta.len() >> 20;
            return Err(ToolError::refused(format!(
                "{path} is too large to be read as text ({mib} MiB)"
            )));
        }
        let captured = workspace.capture(path).map_err(staged)?;
        let text = String::from_utf8(captured.bytes().to_vec())
            .map_err(|_| ToolError::refused(format!("{path} is not text (UTF-8)")))?;
        Ok((captured, text))
    }
}

/// Writes a set of changes, whole or not at all.
pub(super) fn commit(set: ChangeSet, context: &CallContext) -> Result<(), ToolError> {
    let cancelled = || context.interrupted().is_some();
    let committed = set.commit(&cancelled);
    let error = match committed {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    Err(match error.kind() {
        CommitErrorKind::Cancelled => context
            .interrupted()
            .unwrap_or_else(|| ToolError::cancelled("cancelled; nothing was written")),
        CommitErrorKind::Refused(_) | CommitErrorKind::Locked { .. } => {
            ToolError::refused(error.to_string())
        }
        _ => ToolError::failed(error.to_string()),
    })
}

/// Why a change cannot be made.
pub(super) fn staged(error: StageError) -> ToolError {
    ToolError::refused(error.to_string())
}

/// A tool that writes the files that its arguments name, and tells them in `paths` of its details.
pub(super) fn writer(
    tool: impl Tool + 'static,
    named: impl Fn(&Value) -> Vec<PathBuf> + Send + Sync + 'static,
) -> Writer {
    let touched = |details: &Value| -> Vec<PathBuf> {
        let paths = details["paths"].as_array().into_iter().flatten();
        paths.filter_map(Value::as_str).map(PathBuf::from).collect()
    };
    Writer::new(
        std::sync::Arc::new(tool),
        move |arguments, _| {
            let paths = named(arguments);
            Box::pin(async move { paths })
        },
        touched,
    )
}

/// The file that `path` names.
pub(super) fn of_path(arguments: &Value) -> Vec<PathBuf> {
    let path = arguments["path"].as_str();
    path.map(PathBuf::from).into_iter().collect()
}

/// `1 line`, `3 lines`.
pub(super) fn counted(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}
