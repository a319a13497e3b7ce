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
    /// Whether those that match, and what is below them, are left out instead.
    leaves_out: bool,
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
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
                Err(TargetError::NotFound(path.to_owned()))
            }
            Ok(metadata) => Ok(Self {
                root,
                glob: None,
                leaves_out: false,
                is_file: metadata.is_file(),
                listed: None,
            }),
            Err(_) if path.contains(['*', '?', '[', '{']) || leaves_out(path) => {
                Self::glob(workspace, path)
            }
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
            .take_while(|part| !part.contains(['*', '?', '[', '{']) && !part.starts_with('!'))
            .count();
        let base = clean(&workspace.join(components[..plain].join("/")));
        if !base.is_dir() {
            return Err(TargetError::NotFound(pattern.to_owned()));
        }
        let below = components[plain..].join("/");
        let left_out = below.strip_prefix('!');
        let matcher = GlobBuilder::new(left_out.unwrap_or(&below))
            .literal_separator(true)
            .build()
            .map_err(|error| TargetError::Glob(error.to_string()))?
            .compile_matcher();
        Ok(Self {
            root: base,
            glob: Some(matcher),
            leaves_out: left_out.is_some(),
            is_file: false,
            listed: None,
        })
    }

    /// The same target, for some of its files.
    pub(crate) fn with_files(&self, files: Vec<PathBuf>) -> Self {
        Self {
            root: self.root.clone(),
            glob: None,
            leaves_out: false,
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
        let (root, glob, leaves_out) = (self.root.clone(), self.glob.clone(), self.leaves_out);
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
            let admitted = glob.as_ref().is_none_or(|glob| {
                if leaves_out {
                    !below.ancestors().any(|part| glob.is_match(part))
                } else {
                    glob.is_match(below)
                }
            });
            admitted.then_some(Ok(path))
        }))
    }
}

/// Whether a part of the path says what is left out below the parts before it: `src/!gen`.
fn leaves_out(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('!'))
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
    if clean.as_os_str().is_empty() {
        clean.push(".");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_may_be_where_the_process_is() {
        for (path, cleaned) in [
            (".", "."),
            ("./a", "a"),
            ("a/..", "."),
            ("..", ".."),
            ("/a/./b", "/a/b"),
        ] {
            assert_eq!(clean(Path::new(path)), Path::new(cleaned), "{path}");
        }
    }
}
