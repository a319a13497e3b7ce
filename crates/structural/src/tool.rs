//! The tools.

mod ast_edit;
mod ast_grep;
mod resolve;

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use terret_changeset::Workspace;
use terret_grammars::{GrammarError, GrammarSource, Shipped};
use terret_tiers::wrapper::Writer;
use terret_tiers::{CallContext, Tool, ToolError, bound};

use crate::error::Error;
use crate::ops::Scope;
use crate::ops::search::{Located, Search};
use crate::render;
use crate::staged::Staged;
use crate::walk::{Target, TargetError};
pub use ast_edit::AstEdit;
pub use ast_grep::AstGrep;
pub use resolve::Resolve;

/// The tools of one run over one working directory, and what they share: the grammars, and the
/// changes that are staged and not resolved yet.
///
/// Cheap to make and to clone: no thread, no file until a tool is called. A clone is the same run.
#[derive(Clone)]
pub struct Structural {
    shared: Arc<Shared>,
}

struct Shared {
    /// The working directory.
    root: PathBuf,
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
    state_dir: Option<PathBuf>,
    staged: Staged,
    workspace: OnceLock<Workspace>,
}

impl Shared {
    /// What changes are captured and committed in; opened when it is needed first.
    fn workspace(&self) -> Result<&Workspace, Error> {
        if let Some(workspace) = self.workspace.get() {
            return Ok(workspace);
        }
        let workspace = match &self.state_dir {
            Some(state) => Workspace::with_state_dir(&self.root, state),
            None => Workspace::open(&self.root),
        };
        let workspace = workspace.map_err(Error::Workspace)?;
        Ok(self.workspace.get_or_init(|| workspace))
    }

    fn scope<'a>(
        &'a self,
        target: Target,
        language: Option<String>,
        context: Option<String>,
        progress: &'a (dyn Fn(usize) + Sync),
    ) -> Scope<'a> {
        Scope {
            grammars: &*self.grammars,
            target,
            language,
            context,
            threads: self.threads,
            progress,
        }
    }
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
        Self {
            shared: Arc::new(Shared {
                root: workspace.into(),
                grammars: options.grammars,
                threads: options.threads,
                state_dir: options.state_dir,
                staged: Staged::default(),
                workspace: OnceLock::new(),
            }),
        }
    }

    /// The working directory.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.root
    }

    /// `resolve` as a tool that writes files, for what wraps such tools.
    #[must_use]
    pub fn resolve_writer(&self) -> Writer {
        let structural = self.clone();
        let about_to = move |arguments: &Value| -> Vec<PathBuf> {
            let id = arguments["edit_id"].as_str().unwrap_or_default();
            match structural.shared.staged.get(id) {
                Ok(edit) if arguments["action"] == "accept" => {
                    let files = edit.change.files();
                    files.iter().map(|file| file.path().to_owned()).collect()
                }
                _ => Vec::new(),
            }
        };
        let touched = |details: &Value| -> Vec<PathBuf> {
            let paths = details["paths"].as_array().into_iter().flatten();
            paths.filter_map(Value::as_str).map(PathBuf::from).collect()
        };
        Writer::new(
            Arc::new(Resolve::new(self.clone())),
            move |arguments, _| {
                let paths = about_to(arguments);
                Box::pin(async move { paths })
            },
            touched,
        )
    }

    /// Counts the matches of a pattern in the whole working directory, without showing any.
    ///
    /// # Errors
    ///
    /// The message for a model, when nothing can be searched.
    pub fn count(&self, pattern: &str, language: Option<&str>) -> Result<usize, String> {
        self.search(pattern, language, |search| search.count(&|| false))
    }

    /// Hands out every match in the whole working directory as an answer of `ast_grep` shows it,
    /// however many there are, ordered by path and position, until `each` breaks.
    ///
    /// # Errors
    ///
    /// The message for a model, when nothing can be searched.
    pub fn each(
        &self,
        pattern: &str,
        language: Option<&str>,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let root = &self.shared.root;
        let all = self.search(pattern, language, |search| {
            let make = |found: Vec<Located>| render::found(root, &found);
            search.each_file(&|| false, &make, &mut |(text, ends)| {
                let mut rest = 0;
                ends.into_iter()
                    .try_for_each(|end| each(&text[std::mem::replace(&mut rest, end)..end]))
            })
        });
        all.map(|_| ())
    }

    /// Hands out where every match in the whole working directory is: its file, below the working
    /// directory, and its bytes. Ordered as in [`each`](Self::each), until `each` breaks. Gives the
    /// files that were not searched, or not to their end.
    ///
    /// # Errors
    ///
    /// The message for a model, when nothing can be searched.
    pub fn ranges(
        &self,
        pattern: &str,
        language: Option<&str>,
        each: &mut dyn FnMut(&Path, Range<usize>) -> ControlFlow<()>,
    ) -> Result<Vec<PathBuf>, String> {
        let root = &self.shared.root;
        let below = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        let skipped = self.search(pattern, language, |search| {
            let make = |found: Vec<Located>| {
                let place = |found: Located| (below(&found.path), found.bytes);
                found.into_iter().map(place).collect::<Vec<_>>()
            };
            search.each_file(&|| false, &make, &mut |places| {
                places
                    .into_iter()
                    .try_for_each(|(path, bytes)| each(&path, bytes))
            })
        })?;
        Ok(skipped.iter().map(|file| below(&file.path)).collect())
    }

    fn search<T>(
        &self,
        pattern: &str,
        language: Option<&str>,
        run: impl FnOnce(&Search<'_>) -> Result<T, Error>,
    ) -> Result<T, String> {
        let shared = &self.shared;
        let target = Target::resolve(&shared.root, None).map_err(Error::from);
        let found = target.and_then(|target| {
            run(&Search {
                scope: shared.scope(target, language.map(str::to_owned), None, &|_| {}),
                pattern: pattern.to_owned(),
                max_results: usize::MAX - 1,
            })
        });
        found.map_err(|error| error.message(&shared.root))
    }

    /// The tools, in the order in which they are listed; none without a grammar.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.shared.grammars.ids().is_empty() {
            return Vec::new();
        }
        vec![
            Arc::new(AstGrep::new(self.clone())),
            Arc::new(AstEdit::new(self.clone())),
            Arc::new(Resolve::new(self.clone())),
        ]
    }
}

/// How the tools work; the default suits most.
#[derive(Clone)]
pub struct Options {
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
    state_dir: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grammars: Arc::new(Shipped),
            threads: 0,
            state_dir: None,
        }
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

    /// Where a commit keeps its journal while it goes on. Default: the user's state folder.
    #[must_use]
    pub fn state_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(folder.into());
        self
    }
}

/// Tells the caller's sink how many files are behind.
fn progress(context: &CallContext) -> impl Fn(usize) + Send + Sync + use<> {
    let context = context.clone();
    move |files| context.progress(format!("{} files searched", bound::thousands(files)))
}

/// The error as a model should see it.
fn tool_error(error: Error, workspace: &Path, context: &CallContext) -> ToolError {
    let message = error.message(workspace);
    match error {
        Error::Grammar(GrammarError::NotCompiledIn { .. }) => ToolError::unavailable(message),
        Error::Grammar(_) | Error::Pattern(_) | Error::Rejected(_) | Error::Rewrite(_) => {
            ToolError::invalid_arguments(message)
        }
        Error::Target(TargetError::NotFound(_)) | Error::NoFiles { .. } => {
            ToolError::not_found(message)
        }
        Error::Target(TargetError::Glob(_)) | Error::NeedsLanguage => {
            ToolError::invalid_arguments(message)
        }
        Error::Target(TargetError::Unreadable(..)) => ToolError::failed(message),
        Error::Breaks { .. } | Error::TooLarge(_) | Error::Unfit { .. } => {
            ToolError::refused(message)
        }
        Error::Workspace(_) | Error::Thread(_) => ToolError::failed(message),
        Error::Interrupted => context
            .interrupted()
            .unwrap_or_else(|| ToolError::cancelled(message)),
    }
}
