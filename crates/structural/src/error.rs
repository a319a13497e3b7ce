//! What can go wrong in a search or a rewrite.

use std::path::{Path, PathBuf};

use terret_grammars::GrammarError;
use terret_tiers::{bound, paths};

use crate::pattern::PatternError;
use crate::rewrite::{Fault, RewriteError};
use crate::walk::TargetError;

/// Why a search or a rewrite gave no result.
#[derive(Debug)]
pub(crate) enum Error {
    /// The language is not known or not compiled in.
    Grammar(GrammarError),
    /// The pattern does not compile in the language that was asked for.
    Pattern(PatternError),
    /// None of the languages that were met accepts the pattern.
    Rejected(Vec<(String, PatternError)>),
    /// There is no such path.
    Target(TargetError),
    /// No file is in a language that is searched.
    NoFiles {
        /// Whether one file was named by its path.
        named: bool,
        /// The file or folder.
        path: PathBuf,
    },
    /// The rewrite does not fit the pattern, or the edits do not fit each other.
    Rewrite(RewriteError),
    /// The rewrite breaks the syntax of files; nothing is staged.
    Breaks {
        /// The files, and where.
        files: Vec<(PathBuf, crate::rewrite::SyntaxBreak)>,
        /// The folder that was searched; absent for one file.
        root: Option<PathBuf>,
    },
    /// The change is too large to be staged.
    TooLarge(String),
    /// An edit over many files is for one language.
    NeedsLanguage,
    /// Files that cannot be edited as they are.
    Unfit {
        /// The files, and why.
        files: Vec<(PathBuf, String)>,
        /// The folder that was searched; absent for one file.
        root: Option<PathBuf>,
    },
    /// The workspace itself cannot be used.
    Workspace(std::io::Error),
    /// The system gives no thread to work on.
    Thread(std::io::Error),
    /// The caller wanted no more.
    Interrupted,
}

impl Error {
    /// The error for a model, with paths as they are shown.
    pub(crate) fn message(&self, workspace: &Path) -> String {
        match self {
            Self::Grammar(error) => error.to_string(),
            Self::Pattern(error) => error.to_string(),
            Self::Rejected(rejected) => match &rejected[..] {
                [(_, error)] => error.to_string(),
                many => list(
                    "no language of these files accepts the pattern:",
                    many.iter().map(|(_, error)| error.to_string()),
                    None,
                ),
            },
            Self::Target(error) => error.to_string(),
            Self::NoFiles { named: true, path } => format!(
                "the language of `{}` is not known from its name; pass `language`",
                paths::show(workspace, path)
            ),
            Self::NoFiles { named: false, .. } => {
                "no file there is in a language that is searched; ignored and hidden files are left \
                 out: name one to search it, or pass `language`"
                    .to_owned()
            }
            Self::Rewrite(error) => error.to_string(),
            Self::Breaks { files, root } => {
                let names = files.iter().map(|(path, _)| path);
                let advice = match left_out(workspace, root.as_deref(), names) {
                    Some(path) => format!(
                        "mend the rewrite, pass `allow_syntax_errors`, or leave the files out: \
                         `path`: \"{path}\""
                    ),
                    None => "mend the rewrite, or pass `allow_syntax_errors`".to_owned(),
                };
                let files = files.iter().map(|(path, at)| {
                    let path = paths::show(workspace, path);
                    let why = match &at.fault {
                        Fault::Syntax => String::new(),
                        fault => format!(" ({fault})"),
                    };
                    format!("{path}:{}:{}: {}{why}", at.line, at.column, at.text)
                });
                let heading = "the rewrite breaks the syntax, nothing is staged:";
                list(heading, files, Some(&advice))
            }
            Self::NeedsLanguage => {
                "pass `language`: an edit over a folder is for one language, since the same pattern \
                 can mean something else in another"
                    .to_owned()
            }
            Self::Unfit { files, root } => {
                let names = files.iter().map(|(path, _)| path);
                let advice = left_out(workspace, root.as_deref(), names)
                    .map(|path| format!("leave them out: `path`: \"{path}\""));
                let files = files
                    .iter()
                    .map(|(path, why)| format!("{}: {why}", paths::show(workspace, path)));
                let heading = "nothing is staged, since not every file can be edited:";
                list(heading, files, advice.as_deref())
            }
            Self::TooLarge(message) => message.clone(),
            Self::Workspace(error) => format!("the workspace cannot be opened: {error}"),
            Self::Thread(error) => format!("no thread to work on: {error}"),
            Self::Interrupted => "the search was interrupted".to_owned(),
        }
    }
}

/// The `path` that leaves files out; absent where there is nothing else, or too much to name.
fn left_out<'a>(
    workspace: &Path,
    root: Option<&Path>,
    files: impl ExactSizeIterator<Item = &'a PathBuf>,
) -> Option<String> {
    const MOST: usize = 20;
    let root = root.filter(|_| files.len() <= MOST)?;
    let below: Vec<&str> = files
        .map(|file| file.strip_prefix(root).ok()?.to_str())
        .collect::<Option<_>>()?;
    let is_plain = |path: &&str| !path.contains(['*', '?', '[', ']', '{', '}', ',', '"', '\\']);
    let named = match &below[..] {
        [path] => (*path).to_owned(),
        paths => format!("{{{}}}", paths.join(",")),
    };
    let base = root.strip_prefix(workspace).ok()?.to_str()?;
    let base = if base.is_empty() {
        String::new()
    } else {
        format!("{base}/")
    };
    below
        .iter()
        .all(is_plain)
        .then(|| format!("{base}!{named}"))
}

/// A heading, the first of the items, and what to do about them.
fn list(
    heading: &str,
    items: impl ExactSizeIterator<Item = String>,
    advice: Option<&str>,
) -> String {
    const NAMED: usize = 20;
    let total = items.len();
    let mut text = heading.to_owned();
    for item in items.take(NAMED) {
        text.push_str(&format!("\n- {item}"));
    }
    if total > NAMED {
        text.push_str(&format!("\n- and {} more", bound::thousands(total - NAMED)));
    }
    if let Some(advice) = advice {
        text.push_str(&format!("\n{advice}"));
    }
    bound::sanitise(&text).into_owned()
}

impl From<GrammarError> for Error {
    fn from(error: GrammarError) -> Self {
        Self::Grammar(error)
    }
}

impl From<PatternError> for Error {
    fn from(error: PatternError) -> Self {
        Self::Pattern(error)
    }
}

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Self {
        Self::Target(error)
    }
}

impl From<RewriteError> for Error {
    fn from(error: RewriteError) -> Self {
        Self::Rewrite(error)
    }
}
