//! Every piece of code, taken as a pattern, matches where it stands: the files for that proof, which
//! is a test of `terret-structural`, and what came out of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::bench::page;
use crate::registry::Registry;
use crate::shell::{self, Shell};
use crate::workspace::Workspace;

const TABLE: &str = include_str!("../../data/self-match.toml");
const PAGE: &str = "docs/testing.md";
/// How many files a language gives.
const MOST_FILES: usize = 200;
/// Larger files are generated, or say the same over and over.
const MOST_BYTES: u64 = 16 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    package: Vec<Package>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    from: Registry,
    name: String,
    version: String,
    /// For each language the endings of its files, or folders that hold nothing else.
    take: BTreeMap<String, Vec<String>>,
}

/// A folder with a folder of files for each language; the test has the meaning.
const FOLDER: &str = "TERRET_SELF_MATCH";
/// How many of a hundred nodes are tried.
const PERCENT: &str = "TERRET_SELF_MATCH_PERCENT";
/// Where the test writes its figures.
const FIGURES: &str = "TERRET_SELF_MATCH_TABLE";

/// Runs the proof over all nodes of all files; gives whether it holds.
pub(crate) fn run(workspace: &Workspace, save: bool) -> Result<bool> {
    let folder = files(workspace)?;
    let figures = workspace.scratch()?.join("self-match.md");
    let shell = workspace.shell.clone().set(FOLDER, &folder);
    let shell = shell.set(FIGURES, &figures).unset(PERCENT);
    let mut command = shell.cargo(&["test", "--package", "terret-structural"]);
    command.args(["--features", "all-grammars", "--test", "self_match"]);
    // The grammars are optimised anyway, and need not be built again.
    command.args([
        "--config",
        "profile.dev.package.terret-structural.opt-level=3",
    ]);
    command.args(["--", "--nocapture"]);
    let holds = shell::stream(command, |_| {})?.success();
    if save && holds {
        let table = fs::read_to_string(&figures).context("the figures")?;
        page::write(workspace, PAGE, &[("structural: self-match", table)])?;
    }
    Ok(holds)
}

/// Has the test try a part of the files.
pub(crate) fn sample(shell: Shell, folder: &Path) -> Shell {
    shell.set(FOLDER, folder).set(PERCENT, "10")
}

/// The folder with a folder of files for each language; what is there already is taken as it is.
pub(crate) fn files(workspace: &Workspace) -> Result<PathBuf> {
    let table: Table = toml::from_str(TABLE).context("xtask/data/self-match.toml")?;
    let packages = workspace.scratch()?.join("packages");
    let folder = workspace.scratch()?.join("self-match");
    // The table says what is in the folder.
    let stamp = folder.join("table.toml");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == TABLE) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).context("files of another table")?;
    }
    let mut all: BTreeMap<&str, Vec<(PathBuf, String)>> = BTreeMap::new();
    for package in &table.package {
        let (name, version) = (&package.name, &package.version);
        let root = packages.join(format!("{name}-{}", version.replace(':', "_")));
        if !root.exists() {
            println!("fetching {name} {version}");
            package.from.get(name, version, &root)?;
        }
        for (language, wanted) in &package.take {
            let files = all.entry(language).or_default();
            let before = files.len();
            list(&root, &root, wanted, files)?;
            if files.len() == before {
                bail!("{} {} holds no {language}", package.name, package.version);
            }
        }
    }
    for (language, mut files) in all {
        files.sort();
        for (file, shown) in spread(&files) {
            let to = folder.join(language).join(shown);
            fs::create_dir_all(to.parent().context("it is in a folder")?)?;
            fs::copy(file, &to).with_context(|| file.display().to_string())?;
        }
    }
    fs::write(stamp, TABLE).context("the table of the files")?;
    Ok(folder)
}

/// So many of the files, at even distances, so that each part of a package is there.
fn spread<T>(files: &[T]) -> impl Iterator<Item = &T> {
    let count = files.len().min(MOST_FILES);
    (0..count).map(move |at| &files[at * files.len() / count])
}

/// The files of a package that are wanted, each with its path from the package's root.
fn list(
    root: &Path,
    folder: &Path,
    wanted: &[String],
    files: &mut Vec<(PathBuf, String)>,
) -> Result<()> {
    for item in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let item = item.context("a folder")?;
        let (kind, path) = (item.file_type().context("a file")?, item.path());
        if kind.is_dir() {
            list(root, &path, wanted, files)?;
            continue;
        }
        let from_root = path.strip_prefix(root).context("it is inside")?;
        let name = root.file_name().context("a package has a name")?;
        let shown = Path::new(name).join(from_root).display().to_string();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_wanted = |wanted: &String| match wanted.strip_suffix('/') {
            Some(folder) => ending.is_none() && from_root.starts_with(folder),
            None => ending == Some(wanted),
        };
        let fits = kind.is_file() && item.metadata()?.len() <= MOST_BYTES;
        if fits && wanted.iter().any(is_wanted) {
            files.push((path, shown));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_no_version_twice_and_sixteen_languages() {
        let table: Table = toml::from_str(TABLE).expect("a table");
        let mut names: Vec<&String> = table.package.iter().map(|package| &package.name).collect();
        let languages = table.package.iter().flat_map(|package| package.take.keys());
        assert_eq!(
            languages.collect::<std::collections::BTreeSet<_>>().len(),
            16
        );
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.package.len());
    }

    #[test]
    fn files_are_taken_from_everywhere() {
        let all: Vec<usize> = (0..1000).collect();
        assert_eq!(spread(&all).nth(1), Some(&5));
        assert_eq!(spread(&all).count(), MOST_FILES);
        assert_eq!(spread(&all[..7]).count(), 7);
        assert_eq!(spread(&all[..0]).count(), 0);
    }

    #[test]
    fn wanted_files_are_found_by_ending_and_by_folder() {
        let package = tempfile::tempdir().expect("a folder");
        for path in [
            "a.rb",
            "share/done/b",
            "share/done/c.md",
            "share/d",
            "e/f.rb",
        ] {
            let path = package.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "x").expect("written");
        }
        let found = |wanted: &str| {
            let mut files = Vec::new();
            let wanted = [wanted.to_owned()];
            list(package.path(), package.path(), &wanted, &mut files).expect("listed");
            let from_root = |(file, _): &(PathBuf, String)| {
                let path = file.strip_prefix(package.path()).expect("inside");
                path.display().to_string()
            };
            let mut paths: Vec<String> = files.iter().map(from_root).collect();
            paths.sort();
            paths
        };
        assert_eq!(found("rb"), ["a.rb", "e/f.rb"]);
        assert_eq!(found("share/done/"), ["share/done/b"]);
    }
}
