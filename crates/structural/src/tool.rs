//! The tools.

mod ast_grep;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terret_grammars::{GrammarError, GrammarSource, Shipped};
use terret_tiers::{CallContext, Tool, ToolError};

use crate::error::Error;
use crate::walk::TargetError;
pub use ast_grep::AstGrep;

/// The tools of one run over one working directory, and what they share: the grammars, and the
/// changes that are staged and not resolved yet.
///
/// Cheap to make and to clone: no thread, no file until a tool is called. A clone is the same run.
#[derive(Clone)]
pub struct Structural {
    shared: Arc<Shared>,
}

struct Shared {
    workspace: PathBuf,
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
}

impl Structural {
    /// The tools for a working directory, with the grammars that are compiled in.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self::with_options(workspace, Options::default())
    }

    /// The tools for a working directory.
    #[must_use]
    pub fn with_options(workspace: impl Into<PathBuf>, options: Options) -> Self {
        let workspace = workspace.into();
        Self {
            shared: Arc::new(Shared {
                workspace,
                grammars: options.grammars,
                threads: options.threads,
            }),
        }
    }

    /// The working directory.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// The tools, in the order in which they are listed; none without a grammar.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.shared.grammars.ids().is_empty() {
            return Vec::new();
        }
        vec![Arc::new(AstGrep::new(self.clone()))]
    }
}

/// How the tools work; the default suits most.
#[derive(Clone)]
pub struct Options {
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { grammars: Arc::new(Shipped), threads: 0 }
    }
}

impl Options {
    /// Where grammars come from. Default: those that are compiled in.
    #[must_use]
    pub fn grammars(mut self, grammars: Arc<dyn GrammarSource>) -> Self {
        self.grammars = grammars;
        self
    }

    /// How many threads search. Default: 0, as many as there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// The error as a model should see it.
fn tool_error(error: Error, context: &CallContext) -> ToolError {
    let message = error.to_string();
    match error {
        Error::Grammar(GrammarError::NotCompiledIn { .. }) => ToolError::unavailable(message),
        Error::Grammar(_) | Error::Pattern(_) | Error::Rejected(_) | Error::Rewrite(_) => {
            ToolError::invalid_arguments(message)
        }
        Error::Target(TargetError::NotFound(_)) | Error::NoFiles { .. } => {
            ToolError::not_found(message)
        }
        Error::Target(TargetError::Glob(_)) => ToolError::invalid_arguments(message),
        Error::Target(TargetError::Unreadable(..)) => ToolError::failed(message),
        Error::Breaks(_) | Error::TooLarge(_) | Error::Unfit(_) => ToolError::refused(message),
        Error::Workspace(_) => ToolError::failed(message),
        Error::Interrupted => context.interrupted().unwrap_or_else(|| ToolError::cancelled(message)),
    }
}
