//! Marker ∩ binary: which candidates are usable for a file or folder, and why the others are not.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::candidate::{Candidate, Marker, MarkerKind, Probe, Program, WorkspaceRoot};
use crate::command::{Command, Input};
use crate::environment::Environment;
use crate::error::ErrorKind;
use crate::listings::{Listings, Look};
use crate::run::Limits;
use crate::trust::{Trust, Untrusted};

/// Where a project keeps programs of its own.
const LOCAL: [&str; 3] = [".venv/bin", "venv/bin", "node_modules/.bin"];

/// Says which [candidates](Candidate) are usable in a workspace.
///
/// What was found is remembered until a folder that was looked at changes. Nothing is started but the probes of
/// [`check`](Self::check).
///
/// ```
/// use terret_launch::{Candidate, Detector, Environment, Marker, Program};
///
/// # let tree = terret_testkit::Tree::new("//- /app/pubspec.yaml\n//- /cmd/main.go\n");
/// # let workspace = tree.root();
/// let detector = Detector::new(workspace, Environment::empty().set("PATH", "/usr/bin:/bin"));
/// let dart = Candidate::new("dart").marker(Marker::new("pubspec.yaml")?).program(Program::new("dart-x"));
/// let gopls = Candidate::new("gopls").marker(Marker::new("go.mod")?).program(Program::new("sh"));
///
/// let found = detector.detect(&dart, "app/lib/a.dart");
/// assert_eq!(found.to_string(), "`pubspec.yaml` found in app/, `dart-x` is not on PATH");
/// let found = detector.detect(&gopls, "cmd/main.go");
/// assert_eq!(found.to_string(), "`sh` found, no go.mod at or above cmd/");
/// assert_eq!(found.usable(), None);
/// # Ok::<_, terret_launch::BadMarker>(())
/// ```
#[derive(Debug)]
pub struct Detector {
    workspace: PathBuf,
    environment: Environment,
    trust: Trust,
    listings: Mutex<Listings>,
    probes: Mutex<HashMap<Probed, Result<String, String>>>,
}

/// What a probe was run on.
type Probed = (PathBuf, Option<SystemTime>, Probe, PathBuf);

/// How many outcomes of probes are remembered.
const MOST_PROBES: usize = 1024;

/// How many programs one check tries, were somebody to write new ones all the time.
const MOST_PROGRAMS: usize = 32;

/// What was found of a candidate.
#[derive(Clone, Debug)]
pub struct Detection {
    id: String,
    /// Where it was looked for, as it is shown: relative to the workspace, with a slash at its end.
    at: String,
    root: Result<Root, NoRoot>,
    program: Result<PathBuf, NoProgram>,
    said: Option<String>,
}

#[derive(Clone, Debug)]
struct Root {
    folder: PathBuf,
    shown: String,
    marker: Option<String>,
}

#[derive(Clone, Debug)]
enum NoRoot {
    /// No marker of these.
    Missing(Vec<String>),
    Outside,
}

#[derive(Clone, Debug)]
enum NoProgram {
    Missing(Vec<String>),
    Untrusted(Untrusted),
    Broken { program: PathBuf, why: String },
}

/// What can be started: the root to start it for, and the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usable {
    root: PathBuf,
    program: PathBuf,
}

impl Usable {
    /// The folder that its markers make its root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of its program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Detection {
    /// The candidate's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What to start, if it is usable as far as is known. That its probe has not been run yet does not count.
    #[must_use]
    pub fn usable(&self) -> Option<Usable> {
        match (&self.root, &self.program) {
            (Ok(root), Ok(program)) => Some(Usable {
                root: root.folder.clone(),
                program: program.clone(),
            }),
            _ => None,
        }
    }

    /// The folder that a marker makes its root, whether there is a program or not.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_ref().ok().map(|root| root.folder.as_path())
    }

    /// Its program, whether there is a marker or not.
    #[must_use]
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref().ok()
    }

    /// What its program has said to its probe, in a line, if that was run by [`check`](Detector::check).
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }
}

/// Usable, or why not: half a sentence for a list.
impl fmt::Display for Detection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |names: &[String]| names.join(" or ");
        match &self.root {
            Ok(Root {
                shown,
                marker: Some(marker),
                ..
            }) => write!(f, "`{marker}` found in {shown}, ")?,
            Ok(_) => {}
            Err(_) => {
                if let Ok(program) = &self.program {
                    let name = program.file_name().unwrap_or_default();
                    write!(f, "`{}` found, ", name.display())?;
                }
                match &self.root {
                    Err(NoRoot::Missing(markers)) => {
                        write!(f, "no {} at or above {}", or(markers), self.at)?
                    }
                    _ => write!(f, "{} is outside of the workspace", self.at)?,
                }
                match &self.program {
                    Ok(_) => return Ok(()),
                    Err(_) => f.write_str(", and ")?,
                }
            }
        }
        match &self.program {
            Ok(program) => write!(f, "{}", program.display()),
            Err(NoProgram::Missing(names)) if names.is_empty() => {
                f.write_str("it names no program")
            }
            Err(NoProgram::Missing(names)) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let (verb, place) = match names.len() {
                    1 if names[0].starts_with("`/") => ("is", "there"),
                    1 => ("is", "on PATH"),
                    _ => ("are", "on PATH"),
                };
                write!(f, "{} {verb} not {place}", or(&names))
            }
            Err(NoProgram::Untrusted(untrusted)) => untrusted.fmt(f),
            Err(NoProgram::Broken { program, why }) => {
                write!(f, "{} does not work: {why}", program.display())
            }
        }
    }
}

impl Detector {
    /// For a workspace, and with the `PATH` and `HOME` of an environment. Trusted.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>, environment: Environment) -> Self {
        Self {
            workspace: workspace.into(),
            environment,
            trust: Trust::default(),
            listings: Mutex::default(),
            probes: Mutex::default(),
        }
    }

    /// Whether programs of the project's own are taken.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Forgets what was found, and how probes went.
    pub fn reload(&self) {
        lock(&self.listings).clear();
        lock(&self.probes).clear();
    }

    /// What there is of a candidate for a file or folder, by its path in the workspace or an absolute one. Starts
    /// nothing: of its probe it tells what is remembered.
    #[must_use]
    pub fn detect(&self, candidate: &Candidate, at: impl AsRef<Path>) -> Detection {
        let mut listings = lock(&self.listings);
        let (detection, _) = self.look(&mut listings.look(), candidate, at.as_ref());
        detection
    }

    /// The same for many candidates at once, in their order. Cheaper than one by one.
    #[must_use]
    pub fn detect_all<'a>(
        &self,
        candidates: impl IntoIterator<Item = &'a Candidate>,
        at: impl AsRef<Path>,
    ) -> Vec<Detection> {
        let mut listings = lock(&self.listings);
        let mut look = listings.look();
        let candidates = candidates.into_iter();
        let detect = |candidate| self.look(&mut look, candidate, at.as_ref()).0;
        candidates.map(detect).collect()
    }

    /// What there is of a candidate, with its probe run where it has one and the outcome is not remembered: of several
    /// programs, the first that works is taken. The outcome is remembered until the program's file changes.
    ///
    /// A probe runs in the candidate's root where the workspace is trusted, and in `/` where it is not, since a folder can
    /// choose what an interpreter loads. It is bounded by its own time. Safe to cancel: the probe is killed.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time.
    pub async fn check(&self, candidate: &Candidate, at: impl AsRef<Path>) -> Detection {
        let look = || {
            let mut listings = lock(&self.listings);
            self.look(&mut listings.look(), candidate, at.as_ref())
        };
        for _ in 0..MOST_PROGRAMS {
            let (mut detection, unknown) = look();
            let Some(probed) = unknown else {
                detection.said = self.said(&detection);
                return detection;
            };
            let outcome = self.probe(&probed).await;
            let mut probes = lock(&self.probes);
            if probes.len() >= MOST_PROBES {
                probes.clear();
            }
            probes.insert(probed, outcome);
        }
        look().0
    }

    fn said(&self, detection: &Detection) -> Option<String> {
        let program = detection.program()?;
        let probes = lock(&self.probes);
        let mut of_program = probes.iter().filter(|(probed, _)| probed.0 == program);
        let said = of_program.find_map(|(_, outcome)| outcome.clone().ok())?;
        (!said.is_empty()).then_some(said)
    }

    async fn probe(&self, (program, _, probe, cwd): &Probed) -> Result<String, String> {
        let Probe { args, says, time } = probe;
        let command = Command::new(program, cwd, &self.environment)
            .args(args)
            .stdin(Input::Null);
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        let args = args.join(" ");
        match command.run(&Limits::default().time(*time)).await {
            Ok(printed) if printed.exit().success() => {
                let said = String::from_utf8_lossy(printed.stdout());
                let fits = |text: &String| said.contains(text.as_str());
                match says.is_empty() || says.iter().any(fits) {
                    true => Ok(first_line(&said)),
                    false => Err(format!("with `{args}` it says `{}`", first_line(&said))),
                }
            }
            Ok(printed) => Err(match printed.stderr() {
                "" => format!("with `{args}` it {}", printed.exit()),
                said => format!("with `{args}` it {}: {said}", printed.exit()),
            }),
            Err(error) => Err(match error.kind() {
                ErrorKind::TimedOut { .. } => {
                    format!("with `{args}` it was not done after {time:?}")
                }
                _ => error.to_string(),
            }),
        }
    }

    /// What there is, and which probe has to be run to know more.
    fn look(
        &self,
        look: &mut Look<'_>,
        candidate: &Candidate,
        at: &Path,
    ) -> (Detection, Option<Probed>) {
        let at = self.workspace.join(at);
        let folder = match at.is_dir() {
            true => at.as_path(),
            false => at.parent().unwrap_or(&at),
        };
        let folders = self.up_from(folder);
        let root = match &folders {
            Some(folders) => self.root(look, candidate, folders),
            None => Err(NoRoot::Outside),
        };
        // Without a root, its programs are still told of.
        let start = root
            .as_ref()
            .map_or(self.workspace.as_path(), |root| &root.folder);
        let (program, unknown) = self.program(look, candidate, start);
        // One without the other starts nothing.
        let unknown = unknown.filter(|_| root.is_ok());
        let detection = Detection {
            id: candidate.id.clone(),
            at: self.shown(folder),
            root,
            program,
            said: None,
        };
        (detection, unknown)
    }

    /// The folders from `folder` up to the workspace; `None` if it is outside.
    fn up_from(&self, folder: &Path) -> Option<Vec<PathBuf>> {
        let up = |folder: &Path, top: &Path| {
            let inside = folder
                .ancestors()
                .take_while(|above| above.starts_with(top));
            let folders: Vec<PathBuf> = inside.map(Path::to_owned).collect();
            (!folders.is_empty()).then_some(folders)
        };
        // With a step up in it, a path leads out of what it starts with.
        let plain = !folder.components().any(|part| part == Component::ParentDir);
        let as_written = plain.then(|| up(folder, &self.workspace)).flatten();
        as_written.or_else(|| {
            // One of the two goes through a link, maybe. The file itself need not exist yet.
            let real = folder.ancestors().find_map(|above| {
                let rest = folder.strip_prefix(above).ok()?;
                Some(fs::canonicalize(above).ok()?.join(rest))
            })?;
            up(&real, &fs::canonicalize(&self.workspace).ok()?)
        })
    }

    fn shown(&self, folder: &Path) -> String {
        let inside = folder.strip_prefix(&self.workspace).unwrap_or(folder);
        match inside.to_string_lossy().as_ref() {
            "" => "./".to_owned(),
            inside => format!("{inside}/"),
        }
    }

    fn root(
        &self,
        look: &mut Look<'_>,
        candidate: &Candidate,
        folders: &[PathBuf],
    ) -> Result<Root, NoRoot> {
        let root = |folder: &PathBuf, marker: Option<String>| Root {
            folder: folder.clone(),
            shown: self.shown(folder),
            marker,
        };
        if candidate.markers.is_empty() {
            return Ok(root(&self.workspace, None));
        }
        let mut found = folders.iter().enumerate().filter_map(|(place, folder)| {
            let name = candidate
                .markers
                .iter()
                .find_map(|marker| present(look, folder, marker))?;
            Some((place, name))
        });
        let found = match candidate.outermost {
            true => found.last(),
            false => found.next(),
        };
        let Some((place, marker)) = found else {
            return Err(NoRoot::Missing(
                candidate.markers.iter().map(Marker::to_string).collect(),
            ));
        };
        let whole = folders[place..].iter().find_map(|folder| {
            let roots = candidate.workspace_roots.iter();
            let name = roots
                .map(|root| whole_workspace(look, folder, root))
                .find_map(|name| name)?;
            Some(root(folder, Some(name)))
        });
        Ok(whole.unwrap_or_else(|| root(&folders[place], Some(marker))))
    }

    fn program(
        &self,
        look: &mut Look<'_>,
        candidate: &Candidate,
        root: &Path,
    ) -> (Result<PathBuf, NoProgram>, Option<Probed>) {
        let mut refused = None;
        let mut broken = None;
        let cwd = if self.trust.is_trusted() {
            root
        } else {
            Path::new("/")
        };
        for program in &candidate.programs {
            for found in self.programs(look, program, root, &mut refused) {
                let Some(probe) = &candidate.probe else {
                    return (Ok(found), None);
                };
                let changed = fs::metadata(&found)
                    .and_then(|metadata| metadata.modified())
                    .ok();
                let probed = (found, changed, probe.clone(), cwd.to_owned());
                match lock(&self.probes).get(&probed) {
                    Some(Ok(_)) => return (Ok(probed.0), None),
                    Some(Err(why)) => {
                        let why = why.clone();
                        broken.get_or_insert(NoProgram::Broken {
                            program: probed.0,
                            why,
                        });
                    }
                    None => return (Ok(probed.0.clone()), Some(probed)),
                }
            }
        }
        let missing = || {
            let names = candidate
                .programs
                .iter()
                .map(|program| program.name.clone());
            NoProgram::Missing(names.collect())
        };
        (Err(broken.or(refused).unwrap_or_else(missing)), None)
    }

    /// All files that a program may be, the preferred first. One that is not taken for want of trust goes to `refused`.
    fn programs(
        &self,
        look: &mut Look<'_>,
        program: &Program,
        root: &Path,
        refused: &mut Option<NoProgram>,
    ) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if Path::new(&program.name).is_absolute() {
            found.extend(executable(Path::new(&program.name)));
            return found;
        }
        let up = self.up_from(root).unwrap_or_default();
        let local = up
            .iter()
            .flat_map(|folder| LOCAL.map(|local| folder.join(local)));
        for folder in local.filter(|_| program.local) {
            let here = in_folder(look, &folder, program);
            let Some(first) = here.first().filter(|_| !self.trust.is_trusted()) else {
                found.extend(here);
                continue;
            };
            let inside = first.strip_prefix(&self.workspace).unwrap_or(first);
            let what = format!("`{}` is not used", inside.display());
            if let Err(untrusted) = self.trust.check(what) {
                refused.get_or_insert(NoProgram::Untrusted(untrusted));
            }
        }
        let home = self.environment.get("HOME").map(Path::new);
        let more = program
            .folders
            .iter()
            .filter_map(|folder| match folder.strip_prefix("~") {
                Ok(below) => Some(home?.join(below)),
                Err(_) => Some(folder.clone()),
            });
        for folder in self.environment.path().into_iter().chain(more) {
            found.extend(in_folder(look, &folder, program));
        }
        found
    }
}

/// The beginning of what a program printed.
fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(100)
        .collect()
}

/// Nothing that is left half done is held by either lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name by which a marker is in `folder`.
fn present(look: &mut Look<'_>, folder: &Path, marker: &Marker) -> Option<String> {
    match marker.kind() {
        MarkerKind::Name(name) => look.has(folder, name).then(|| marker.to_string()),
        MarkerKind::Path(path) => folder.join(path).exists().then(|| marker.to_string()),
        MarkerKind::Glob(glob) => {
            let names = look.names(folder);
            // The set has no order, and the answer should not change from call to call.
            let first = names.iter().filter(|name| glob.is_match(name)).min()?;
            Some(first.to_string_lossy().into_owned())
        }
    }
}

fn whole_workspace(look: &mut Look<'_>, folder: &Path, root: &WorkspaceRoot) -> Option<String> {
    match root {
        WorkspaceRoot::Marker(marker) => present(look, folder, marker),
        WorkspaceRoot::Cargo => {
            let name = "Cargo.toml";
            let there = look.has(folder, OsStr::new(name));
            (there && is_cargo_workspace(&folder.join(name)).unwrap_or(false))
                .then(|| name.to_owned())
        }
    }
}

/// How much of a manifest is read. They are written by hand.
const MANIFEST: u64 = 1 << 20;

/// Whether the manifest has a `[workspace]` table, or one below it, which implies it. By its lines: a header stands on a
/// line of its own, and a whole parser for TOML would have to be as lenient as cargo's.
fn is_cargo_workspace(manifest: &Path) -> io::Result<bool> {
    let mut text = Vec::new();
    fs::File::open(manifest)?
        .take(MANIFEST)
        .read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().any(|line| {
        let header = line.trim_start().strip_prefix('[').map(str::trim_start);
        let rest = header.and_then(|header| header.strip_prefix("workspace"));
        rest.is_some_and(|rest| rest.trim_start().starts_with([']', '.']))
    }))
}

/// The files in `folder` that the program may be, the preferred first.
fn in_folder(look: &mut Look<'_>, folder: &Path, program: &Program) -> Vec<PathBuf> {
    let names = look.names(folder);
    let mut found = Vec::new();
    if names.contains(OsStr::new(&program.name)) {
        found.extend(executable(&folder.join(&program.name)));
    }
    if program.versioned {
        let mut versioned: Vec<(Vec<u64>, &OsString)> = names
            .iter()
            .filter_map(|name| {
                let version = name
                    .to_str()?
                    .strip_prefix(&program.name)?
                    .strip_prefix('-')?;
                let numbers = version.split('.').map(|number| number.parse().ok());
                Some((numbers.collect::<Option<Vec<u64>>>()?, name))
            })
            .collect();
        versioned.sort();
        let highest_first = versioned.into_iter().rev();
        found.extend(highest_first.filter_map(|(_, name)| executable(&folder.join(name))));
    }
    found
}

/// The path, if it is one of a file that may be executed.
fn executable(path: &Path) -> Option<PathBuf> {
    which::which_in(path, None::<&OsStr>, "/").ok()
}

#[cfg(test)]
mod tests {
    use terret_testkit::Tree;

    use super::*;

    #[test]
    fn a_workspace_is_told_by_its_header() {
        for (manifest, whole) in [
            ("[workspace]\n", true),
            ("[package]\nname = \"x\"\n\n  [ workspace ] # all\n", true),
            ("[workspace.package]\nedition = \"2024\"\n", true),
            ("[package]\nedition.workspace = true\n", false),
            ("[workspaces]\n", false),
            ("# [workspace]\n", false),
            ("[lints]\nworkspace = true\n", false),
            ("", false),
        ] {
            let tree = Tree::new("//- /Cargo.toml\n");
            let manifest_path = tree.root().join("Cargo.toml");
            fs::write(&manifest_path, manifest).unwrap();
            assert_eq!(
                is_cargo_workspace(&manifest_path).unwrap(),
                whole,
                "{manifest}"
            );
        }
    }
}
