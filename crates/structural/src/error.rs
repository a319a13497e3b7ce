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
    Breaks(Vec<(PathBuf, crate::rewrite::SyntaxBreak)>),
    /// The change is too large to be staged.
    TooLarge(String),
    /// An edit over many files is for one language.
    NeedsLanguage,
    /// Files that cannot be edited as they are.
    Unfit(Vec<(PathBuf, String)>),
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
            Self::Breaks(files) => list(
                "the rewrite breaks the syntax, nothing is staged:",
                files.iter().map(|(path, at)| {
                    let path = paths::show(workspace, path);
                    let why = match &at.fault {
                        Fault::Syntax => String::new(),
                        fault => format!(" ({fault})"),
                    };
                    format!("{path}:{}:{}: {}{why}", at.line, at.column, at.text)
                }),
                Some("mend the rewrite, or pass `allow_syntax_errors`"),
            ),
            Self::NeedsLanguage => {
                "pass `language`: an edit over a folder is for one language, since the same pattern \
                 can mean something else in another"
                    .to_owned()
            }
            Self::Unfit(files) => list(
                "nothing is staged, since not every file can be edited:",
                files.iter().map(|(path, why)| format!("{}: {why}", paths::show(workspace, path))),
                Some("narrow `path` to leave them out"),
            ),
            Self::TooLarge(message) => message.clone(),
            Self::Workspace(error) => format!("the workspace cannot be opened: {error}"),
            Self::Thread(error) => format!("no thread to work on: {error}"),
            Self::Interrupted => "the search was interrupted".to_owned(),
        }
    }
}

/// A heading, the first of the items, and what to do about them.
fn list(
    heading: &str,
    items: impl ExactSizeIterator<Item = String>,
    advice: Option<&str>,
) -> String {
    const NAMED: usize = 5;
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
