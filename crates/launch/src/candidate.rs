//! What may be usable for a file or folder: a language server, a debug adapter, an interpreter.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use globset::{Glob, GlobMatcher};

/// Something that is usable where one of its root markers **and** one of its programs is found.
///
/// ```
/// use terret_launch::{Candidate, Marker, Probe, Program, WorkspaceRoot};
///
/// let gopls = Candidate::new("gopls")
///     .marker(Marker::new("go.mod")?)
///     .workspace_root(WorkspaceRoot::Marker(Marker::new("go.work")?))
///     .program(Program::new("gopls").folder("~/go/bin"))
///     .probe(Probe::new(["version"]));
/// # drop(gopls);
/// # Ok::<_, terret_launch::BadMarker>(())
/// ```
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(crate) id: String,
    pub(crate) markers: Vec<Marker>,
    pub(crate) outermost: bool,
    pub(crate) workspace_roots: Vec<WorkspaceRoot>,
    pub(crate) programs: Vec<Program>,
    pub(crate) probe: Option<Probe>,
}

impl Candidate {
    /// One without markers and programs yet. Without a marker the whole workspace is its root; without a program it is
    /// never usable.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            markers: Vec::new(),
            outermost: false,
            workspace_roots: Vec::new(),
            programs: Vec::new(),
            probe: None,
        }
    }

    /// What it is called.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds a marker. Any one will do, and the nearest makes the root.
    #[must_use]
    pub fn marker(mut self, marker: Marker) -> Self {
        self.markers.push(marker);
        self
    }

    /// Lets the farthest marker within the workspace make the root, and not the nearest.
    #[must_use]
    pub fn outermost(mut self) -> Self {
        self.outermost = true;
        self
    }

    /// Lets a folder that holds a whole workspace of packages be the root of all of them: the nearest one, at or above
    /// the root that the markers make. So a package and its workspace do not get a server each.
    #[must_use]
    pub fn workspace_root(mut self, root: WorkspaceRoot) -> Self {
        self.workspace_roots.push(root);
        self
    }

    /// Adds a program. The first that is found is taken.
    #[must_use]
    pub fn program(mut self, program: Program) -> Self {
        self.programs.push(program);
        self
    }

    /// How to find out that a program works, beyond that it is there.
    #[must_use]
    pub fn probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }
}

/// A file or folder that tells where a project begins: a name (`go.mod`), a glob over names (`*.csproj`), or a relative
/// path (`build/compile_commands.json`). That it is there is checked, what it holds is not read.
#[derive(Clone, Debug)]
pub struct Marker {
    text: String,
    kind: MarkerKind,
}

#[derive(Clone, Debug)]
pub(crate) enum MarkerKind {
    Name(OsString),
    Glob(GlobMatcher),
    Path(PathBuf),
}

/// What cannot be a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMarker {
    text: String,
    why: String,
}

impl fmt::Display for BadMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be a root marker: {}", self.text, self.why)
    }
}

impl std::error::Error for BadMarker {}

impl Marker {
    /// From a name, a glob or a relative path.
    ///
    /// ```
    /// use terret_launch::Marker;
    ///
    /// for (text, problem) in [
    ///     ("", "it is empty"),
    ///     ("/etc/passwd", "it must stay below the folder that it is looked for in"),
    ///     ("../x", "it must stay below the folder that it is looked for in"),
    ///     ("a/*.toml", "a glob matches names in one folder, and no paths"),
    /// ] {
    ///     let error = Marker::new(text).unwrap_err();
    ///     assert_eq!(error.to_string(), format!("`{text}` cannot be a root marker: {problem}"));
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If it is none of these.
    pub fn new(text: impl Into<String>) -> Result<Self, BadMarker> {
        let text = text.into();
        let bad = |why: &str| BadMarker {
            text: text.clone(),
            why: why.to_owned(),
        };
        let is_glob = text.contains(['*', '?', '[', '{']);
        let is_path = text.contains('/');
        let path = PathBuf::from(&text);
        let below = path
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let kind = match (is_glob, is_path) {
            _ if text.is_empty() => return Err(bad("it is empty")),
            (true, true) => return Err(bad("a glob matches names in one folder, and no paths")),
            _ if !below => {
                return Err(bad(
                    "it must stay below the folder that it is looked for in",
                ));
            }
            (true, false) => {
                let glob = Glob::new(&text).map_err(|error| bad(&error.kind().to_string()))?;
                MarkerKind::Glob(glob.compile_matcher())
            }
            (false, true) => MarkerKind::Path(path),
            (false, false) => MarkerKind::Name(OsString::from(&text)),
        };
        Ok(Self { text, kind })
    }

    pub(crate) fn kind(&self) -> &MarkerKind {
        &self.kind
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What tells that a folder holds a workspace of packages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkspaceRoot {
    /// That a marker is there: `go.work`, `pnpm-workspace.yaml`.
    Marker(Marker),
    /// A `Cargo.toml` with a `[workspace]` table: the one content that is read.
    Cargo,
}

/// A program by its name, and where to look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) versioned: bool,
    pub(crate) local: bool,
    pub(crate) folders: Vec<PathBuf>,
}

impl Program {
    /// One that is looked for on `PATH`, or the one at an absolute path.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            versioned: false,
            local: false,
            folders: Vec::new(),
        }
    }

    /// Takes names with a version behind a hyphen too (`lldb-dap-19`), the plain name first and then the highest.
    #[must_use]
    pub fn versioned(mut self) -> Self {
        self.versioned = true;
        self
    }

    /// Looks first among what the project itself has installed: in `.venv/bin`, `venv/bin` and `node_modules/.bin`, from
    /// the root of the server up to that of the workspace. Only where that is [trusted](crate::Trust).
    #[must_use]
    pub fn local(mut self) -> Self {
        self.local = true;
        self
    }

    /// Looks in another folder, after `PATH`. `~/` at its start is the user's home.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }
}

/// How to find out that a program works: it is run with these arguments, and has to exit with 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    pub(crate) args: Vec<OsString>,
    pub(crate) says: Vec<String>,
    pub(crate) time: Duration,
}

impl Probe {
    /// With these arguments. It may take 10 seconds.
    #[must_use]
    pub fn new<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            says: Vec::new(),
            time: Duration::from_secs(10),
        }
    }

    /// One of the texts that its output has to hold, for a program that does what is wanted from some version on.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.says.push(text.into());
        self
    }

    /// How long it may take.
    #[must_use]
    pub fn time(mut self, limit: Duration) -> Self {
        self.time = limit;
        self
    }
}
