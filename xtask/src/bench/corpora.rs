//! The trees of sources that are searched: a folder each in `target/xtask/corpora`, so that commands
//! name them alike on every machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;
use serde::{Deserialize, Serialize};

use crate::registry::Registry;
use crate::shell;
use crate::workspace::Workspace;

/// Fewer sources of crates than this are not a large tree.
const FEWEST_CRATE_SOURCES: usize = 5_000;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Corpus {
    /// Its folder.
    pub(crate) name: String,
    pub(crate) language: String,
    pub(crate) about: String,
    /// How many files of the language it has, and their bytes.
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

/// The trees, and for each that is not to be had here a sentence.
#[derive(Debug, Default)]
pub(crate) struct Corpora {
    pub(crate) folder: PathBuf,
    pub(crate) found: Vec<Corpus>,
    pub(crate) missing: Vec<String>,
}

/// Name, language, extension, and how to get it.
const SOURCES: &[(&str, &str, &str, Source)] = &[
    ("python", "python", "py", Source::PythonLibrary),
    (
        "pi-coding-agent",
        "typescript",
        "ts",
        Source::Npm("@oh-my-pi/pi-coding-agent", "18.3.4"),
    ),
    ("effect", "typescript", "ts", Source::Npm("effect", "4.1.0")),
    ("crates", "rust", "rs", Source::Crates),
    ("go", "go", "go", Source::GoLibrary),
    (
        "lodash",
        "javascript",
        "js",
        Source::Npm("lodash", "4.17.21"),
    ),
    (
        "webpack",
        "javascript",
        "js",
        Source::Npm("webpack", "5.113.0"),
    ),
    (
        "react-native",
        "kotlin",
        "kt",
        Source::Npm("react-native", "0.88.1"),
    ),
    (
        "react-native-0.72",
        "java",
        "java",
        Source::Npm("react-native", "0.72.17"),
    ),
    (
        "capacitor-ios",
        "swift",
        "swift",
        Source::Npm("@capacitor/ios", "7.0.0"),
    ),
    (
        "ruby",
        "ruby",
        "rb",
        Source::Debian(&["libruby3.1", "libruby3.3"]),
    ),
];

/// The file in an unpacked package that says which it is.
const STAMP: &str = ".package";

/// The trees that are measured; the others are compared only.
pub(crate) const MEASURED: &[&str] = &["python", "pi-coding-agent", "effect", "crates", AT_HAND];
/// The one that is measured only where it is at hand.
pub(crate) const AT_HAND: &str = "go";

enum Source {
    /// The library of the `python3` that is found first, without what is installed into it.
    PythonLibrary,
    /// A package of the npm registry, with its version.
    Npm(&'static str, &'static str),
    /// Whatever crates cargo has unpacked to build this and other workspaces.
    Crates,
    /// That of the `go` that is found first, else of a package of Debian's.
    GoLibrary,
    /// The first of these packages of Debian's that there is, unpacked and not installed.
    Debian(&'static [&'static str]),
}

/// Every tree that is wanted and is to be had; what is there already is taken as it is.
pub(crate) fn get(workspace: &Workspace, wanted: impl Fn(&str) -> bool) -> Result<Corpora> {
    let mut corpora = Corpora {
        folder: workspace.scratch()?.join("corpora"),
        ..Corpora::default()
    };
    fs::create_dir_all(&corpora.folder).context("target/xtask/corpora")?;
    for (name, language, extension, source) in SOURCES {
        if !wanted(name) {
            continue;
        }
        let folder = corpora.folder.join(name);
        let about = match source.get(workspace, &folder, extension) {
            Ok(about) => about,
            Err(error) => {
                corpora.missing.push(format!("{name}: {error:#}"));
                continue;
            }
        };
        let (files, bytes) = size(&folder, extension);
        corpora.found.push(Corpus {
            name: (*name).to_owned(),
            language: (*language).to_owned(),
            about,
            files,
            bytes,
        });
    }
    Ok(corpora)
}

impl Source {
    /// Puts the tree where it is wanted; says what it is.
    fn get(&self, workspace: &Workspace, folder: &Path, extension: &str) -> Result<String> {
        let shell = &workspace.shell;
        match self {
            Source::PythonLibrary => {
                let version = shell::read(shell.command("python3", &["--version"]))?;
                if !folder.exists() {
                    let tell = "import sysconfig; print(sysconfig.get_path('stdlib'))";
                    let library = shell::read(shell.command("python3", &["-c", tell]))?;
                    copy(Path::new(library.trim()), folder, extension)?;
                }
                Ok(format!("the library of {}", version.trim()))
            }
            Source::Npm(package, version) => {
                if !folder.exists() {
                    Registry::Npm.get(package, version, folder)?;
                }
                Ok(format!("`{package}@{version}` of npm"))
            }
            Source::Crates => {
                let crates = registry(workspace)?;
                let (files, _) = size(&crates, extension);
                if files < FEWEST_CRATE_SOURCES {
                    bail!("cargo has unpacked {files} files, {FEWEST_CRATE_SOURCES} are wanted");
                }
                link(&crates, folder)?;
                Ok("the sources of the crates that cargo has unpacked".to_owned())
            }
            Source::GoLibrary => {
                let root = shell::read(shell.command("go", &["env", "GOROOT"]));
                let (Ok(root), false) = (root, folder.join(STAMP).exists()) else {
                    return debian(&["golang-1.19-src", "golang-1.24-src"], folder);
                };
                let version = shell::read(shell.command("go", &["env", "GOVERSION"]))?;
                link(&Path::new(root.trim()).join("src"), folder)?;
                Ok(format!("the sources of {}", version.trim()))
            }
            Source::Debian(packages) => debian(packages, folder),
        }
    }
}

/// Copies the files of this extension. To another name first: half a tree would be taken for it.
fn copy(from: &Path, to: &Path, extension: &str) -> Result<()> {
    let half = to.with_extension("half");
    fn tree(from: &Path, to: &Path, extension: &str) -> Result<()> {
        for item in fs::read_dir(from).with_context(|| from.display().to_string())? {
            let item = item.context("a folder")?;
            let (kind, path) = (item.file_type().context("a file")?, item.path());
            let to = to.join(item.file_name());
            if kind.is_dir() && item.file_name() != "site-packages" {
                tree(&path, &to, extension)?;
            } else if kind.is_file() && path.extension().is_some_and(|found| found == extension) {
                fs::create_dir_all(to.parent().context("it is in a folder")?)?;
                fs::copy(&path, &to).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }
    tree(from, &half, extension)?;
    fs::rename(&half, to).with_context(|| to.display().to_string())
}

/// Unpacks the first of the packages that there is; says which it was, as its folder is named.
fn debian(packages: &[&str], folder: &Path) -> Result<String> {
    let about = |package: &str| format!("the package `{package}` of Debian");
    let stamp = folder.join(STAMP);
    if let Ok(package) = fs::read_to_string(&stamp) {
        return Ok(about(&package));
    }
    _ = fs::remove_dir_all(folder);
    let mut packages_tried = packages.iter();
    let got = packages_tried.find(|package| Registry::Debian.get(package, "", folder).is_ok());
    let Some(package) = got else {
        bail!("apt-get gives none of {}", packages.join(", "));
    };
    fs::write(stamp, package).context("the name of a package")?;
    Ok(about(package))
}

fn link(to: &Path, folder: &Path) -> Result<()> {
    if folder.canonicalize().ok() == Some(to.canonicalize()?) {
        return Ok(());
    }
    _ = fs::remove_file(folder);
    std::os::unix::fs::symlink(to, folder).with_context(|| folder.display().to_string())
}

/// The folder of unpacked sources, by way of any crate of the registry that this is built with.
fn registry(workspace: &Workspace) -> Result<PathBuf> {
    let manifest = workspace.root.join("Cargo.toml");
    let all = MetadataCommand::new()
        .manifest_path(manifest)
        .exec()
        .context("cargo metadata")?;
    let mut others = all
        .packages
        .iter()
        .filter(|package| package.source.is_some());
    let folder = others.find_map(|package| package.manifest_path.parent()?.parent());
    Ok(folder
        .context("nothing is built from a registry")?
        .as_std_path()
        .to_owned())
}

/// How many files of this extension there are, and their bytes.
fn size(folder: &Path, extension: &str) -> (usize, u64) {
    let (mut files, mut bytes) = (0, 0);
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = item.file_type() else { continue };
        let path = item.path();
        if kind.is_dir() {
            let (inner_files, inner_bytes) = size(&path, extension);
            files += inner_files;
            bytes += inner_bytes;
        } else if kind.is_file() && path.extension().is_some_and(|found| found == extension) {
            files += 1;
            bytes += item.metadata().map_or(0, |meta| meta.len());
        }
    }
    (files, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_copied_without_what_was_installed_into_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("from");
        for path in ["a.py", "b/c.py", "b/d.txt", "site-packages/e.py"] {
            let path = from.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "1234").expect("written");
        }
        let to = folder.path().join("to");
        copy(&from, &to, "py").expect("copied");
        assert_eq!(size(&to, "py"), (2, 8));
        assert!(!to.join("b/d.txt").exists());
        link(&from, &folder.path().join("link")).expect("linked");
        link(&from, &folder.path().join("link")).expect("linked again");
        assert_eq!(size(&folder.path().join("link"), "py"), (3, 12));
    }
}
