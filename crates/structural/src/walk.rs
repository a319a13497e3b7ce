//! The files to search, in order.

use std::fmt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

/// What a `path` argument names.
#[derive(Debug)]
pub(crate) struct Target {
    /// A file, or the folder to walk.
    root: PathBuf,
    /// Of the files below the root only those that match, by their path.
    glob: Option<GlobMatcher>,
    is_file: bool,
    /// These files instead of a walk.
    listed: Option<Vec<PathBuf>>,
}

/// Why a `path` argument names nothing.
#[derive(Debug)]
pub(crate) enum TargetError {
    /// There is no such file or folder.
    NotFound(String),
    /// The glob does not parse.
    Glob(String),
    /// The file or folder cannot be looked at.
    Unreadable(String, std::io::Error),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(path) => write!(
                f,
                "no file or folder `{path}` in the workspace; paths are relative to its root, and a \
                 glob such as `src/**/*.rs` is accepted"
            ),
            Self::Glob(error) => write!(f, "the glob does not parse: {error}"),
            Self::Unreadable(path, error) => write!(f, "cannot look at `{path}`: {error}"),
        }
    }
}

impl std::error::Error for TargetError {}

impl Target {
    /// Resolves a file, a folder or a glob below the workspace.
    pub(crate) fn resolve(workspace: &Path, path: Option<&str>) -> Result<Self, TargetError> {
        let path = path.unwrap_or(".");
        // An existing name wins over a glob: `[id].ts` is a file.
        let root = clean(&workspace.join(path));
        match std::fs::metadata(&root) {
            Ok(metadata) => Ok(Self {
                root,
                glob: None,
                is_file: metadata.is_file(),
                listed: None,
            }),
            Err(_) if path.contains(['*', '?', '[', '{']) => Self::glob(workspace, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(TargetError::NotFound(path.to_owned()))
            }
            Err(error) => Err(TargetError::Unreadable(path.to_owned(), error)),
        }
    }

    fn glob(workspace: &Path, pattern: &str) -> Result<Self, TargetError> {
        let components: Vec<&str> = pattern.split('/').collect();
        let plain = components
            .iter()
            .take_while(|part| !part.contains(['*', '?', '[', '{']))
            .count();
        let base = clean(&workspace.join(components[..plain].join("/")));
        if !base.is_dir() {
            return Err(TargetError::NotFound(pattern.to_owned()));
        }
        let matcher = GlobBuilder::new(&components[plain..].join("/"))
            .literal_separator(true)
            .build()
            .map_err(|error| TargetError::Glob(error.to_string()))?
            .compile_matcher();
        Ok(Self {
            root: base,
            glob: Some(matcher),
            is_file: false,
            listed: None,
        })
    }

    /// The same target, for some of its files.
    pub(crate) fn with_files(&self, files: Vec<PathBuf>) -> Self {
        Self {
            root: self.root.clone(),
            glob: None,
            is_file: self.is_file,
            listed: Some(files),
        }
    }

    /// Whether it is one file, named by its path.
    pub(crate) fn is_file(&self) -> bool {
        self.is_file
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The files, ordered by path: folders and files of one folder by name. Ignored, hidden and
    /// linked ones are left out, as `rg` does it.
    pub(crate) fn files(&self) -> Box<dyn Iterator<Item = Result<PathBuf, ignore::Error>> + Send> {
        if let Some(files) = &self.listed {
            return Box::new(files.clone().into_iter().map(Ok));
        }
        let walk = WalkBuilder::new(&self.root)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .require_git(false)
            .build();
        let (root, glob) = (self.root.clone(), self.glob.clone());
        Box::new(walk.filter_map(move |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            let named = entry.depth() == 0;
            if !named && !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return None;
            }
            if named && entry.path().is_dir() {
                return None;
            }
            let path = entry.into_path();
            let below = path.strip_prefix(&root).unwrap_or(&path);
            let admitted = glob.as_ref().is_none_or(|glob| glob.is_match(below));
            admitted.then_some(Ok(path))
        }))
    }
}

/// Without `.` components, and with `..` taken literally, so that a path is shown as it was named.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                if !clean.pop() {
                    clean.push("..");
                }
            }
            other => clean.push(other),
        }
    }
    clean
}
