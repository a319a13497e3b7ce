//! What can go wrong in a search or a rewrite.

use std::fmt;
use std::path::PathBuf;

use terret_grammars::GrammarError;

use crate::pattern::PatternError;
use crate::rewrite::RewriteError;
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
    /// Files that cannot be edited as they are.
    Unfit(Vec<(PathBuf, String)>),
    /// The workspace itself cannot be used.
    Workspace(std::io::Error),
    /// The caller wanted no more.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grammar(error) => error.fmt(f),
            Self::Pattern(error) => error.fmt(f),
            Self::Rejected(rejected) => {
                if let [(_, error)] = &rejected[..] {
                    return error.fmt(f);
                }
                f.write_str("no language of these files accepts the pattern:")?;
                for (_, error) in rejected {
                    write!(f, "\n- {error}")?;
                }
                Ok(())
            }
            Self::Target(error) => error.fmt(f),
            Self::NoFiles { named: true, path } => write!(
                f,
                "the language of `{}` is not known from its name; pass `language`",
                path.file_name().unwrap_or(path.as_os_str()).display()
            ),
            Self::NoFiles { named: false, .. } => f.write_str(
                "no file there is in a language that is searched; ignored and hidden files are \
                 left out: name one to search it, or pass `language`",
            ),
            Self::Rewrite(error) => error.fmt(f),
            Self::Breaks(files) => {
                f.write_str("the rewrite breaks the syntax, nothing is staged:")?;
                for (path, at) in files.iter().take(5) {
                    write!(f, "\n- {}:{}:{}: {}", path.display(), at.line, at.column, at.text)?;
                }
                if files.len() > 5 {
                    write!(f, "\n- and {} more files", files.len() - 5)?;
                }
                f.write_str("\nmend the rewrite, or pass `allow_syntax_errors`")
            }
            Self::Unfit(files) => {
                f.write_str("nothing is staged, since not every file can be edited:")?;
                for (path, reason) in files.iter().take(5) {
                    write!(f, "\n- {}: {reason}", path.display())?;
                }
                if files.len() > 5 {
                    write!(f, "\n- and {} more files", files.len() - 5)?;
                }
                f.write_str("\nnarrow `path` to leave them out")
            }
            Self::TooLarge(message) => f.write_str(message),
            Self::Workspace(error) => write!(f, "the workspace cannot be opened: {error}"),
            Self::Interrupted => f.write_str("the search was interrupted"),
        }
    }
}

impl std::error::Error for Error {}

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
