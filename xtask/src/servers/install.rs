//! Installs sets: each has a folder, which is there whole or not at all, and in it a stamp that says
//! what it was made from.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::apt::{self, Apt};
use super::table::{Debian, Install, Set, Table};
use crate::shell::{self, Shell};

/// The set that programs of Debian's are patched with.
pub(super) const PATCHELF: &str = "patchelf";
const STAMP: &str = ".stamp.json";

/// What a set was made from, and what came of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Stamp {
    /// The row of the table, the place, and the files that pin versions: another makes it anew.
    of: String,
    /// The registry.
    from: String,
    /// Packages and their versions.
    packages: Vec<(String, String)>,
    pub(super) at: SystemTime,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
}

impl Stamp {
    /// Where it is from, for a person.
    pub(super) fn origin(&self) -> String {
        let packages = self.packages.iter();
        let packages = packages.map(|(name, version)| format!("{name} {version}"));
        format!("{}: {}", self.from, packages.collect::<Vec<_>>().join(", "))
    }

    pub(super) fn version(&self) -> &str {
        self.packages.first().map_or("", |(_, version)| version)
    }
}

pub(super) struct Installer<'a> {
    table: &'a Table,
    /// Where the sets are.
    folder: &'a Path,
    /// The files that pin versions.
    data: PathBuf,
    /// What is not whole yet.
    half: TempDir,
    apt: OnceCell<Result<Apt, String>>,
}

impl<'a> Installer<'a> {
    /// Throws away what another run did not get to its end; the folder has to be locked.
    pub(super) fn new(table: &'a Table, folder: &'a Path, data: PathBuf) -> Result<Installer<'a>> {
        let halves = folder.join("half");
        // A child of a run that was killed may still write there; the next run throws that away.
        _ = fs::remove_dir_all(&halves);
        fs::create_dir_all(&halves).context("a folder for what is not whole yet")?;
        Ok(Installer {
            table,
            folder,
            data,
            // A name of its own, for the same reason.
            half: TempDir::new_in(&halves).context("a folder for what is not whole yet")?,
            apt: OnceCell::new(),
        })
    }

    /// A folder beside the sets for what is not whole yet, which goes with this.
    pub(super) fn half(&self) -> &Path {
        self.half.path()
    }

    /// The set as it is there, or is now.
    pub(super) fn get(&self, set: &Set) -> Result<Stamp> {
        let of = self.origin(set)?;
        let folder = self.folder.join(&set.name);
        if let Some(stamp) = read(&folder).filter(|stamp| stamp.of == of) {
            return Ok(stamp);
        }
        println!("installing {}", set.name);
        let begun = Instant::now();
        let half = self.half.path().join(&set.name);
        if half.exists() {
            fs::remove_dir_all(&half).with_context(|| set.name.clone())?;
        }
        fs::create_dir(&half).with_context(|| set.name.clone())?;
        let (from, packages) = self.fill(set, &half)?;
        let stamp = Stamp {
            of,
            from,
            packages,
            at: SystemTime::now(),
            bytes: bytes(&half)?,
            seconds: begun.elapsed().as_secs_f64(),
        };
        fs::write(half.join(STAMP), serde_json::to_vec_pretty(&stamp)?).context("a stamp")?;
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        fs::rename(&half, &folder).with_context(|| folder.display().to_string())?;
        Ok(stamp)
    }

    /// All that decides what is installed. Also where: patched programs know where their libraries are.
    fn origin(&self, set: &Set) -> Result<String> {
        let mut text = format!("{}\n", serde_json::to_string(set)?);
        text += &format!("{}\n", self.folder.display());
        match &set.install {
            Install::PyPI => text += &self.pinned(&format!("{}.txt", set.name))?,
            Install::Npm => {
                text += &self.pinned(&format!("{}/package.json", set.name))?;
                text += &self.pinned(&format!("{}/package-lock.json", set.name))?;
            }
            Install::Debian(_) => text += &self.table.suite,
        }
        Ok(text)
    }

    fn pinned(&self, name: &str) -> Result<String> {
        let path = self.data.join(name);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// Puts all of a set into this folder; says from where it is, and the versions.
    fn fill(&self, set: &Set, half: &Path) -> Result<(String, Vec<(String, String)>)> {
        let shell = Shell::new(half);
        match &set.install {
            Install::PyPI => {
                let mut pip = shell.command("python3", &["-m", "pip", "install", "--quiet"]);
                pip.args(["--disable-pip-version-check", "--no-compile"])
                    .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
                    .args(["--target", ".", "--requirement"])
                    .arg(self.data.join(format!("{}.txt", set.name)));
                shell::read(pip)?;
                let text = self.pinned(&format!("{}.txt", set.name))?;
                Ok(("PyPI".to_owned(), required(&text)))
            }
            Install::Npm => {
                for name in ["package.json", "package-lock.json"] {
                    let text = self.pinned(&format!("{}/{name}", set.name))?;
                    fs::write(half.join(name), text).with_context(|| name.to_owned())?;
                }
                let ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
                shell::read(shell.command("npm", &ci))?;
                let manifest = self.pinned(&format!("{}/package.json", set.name))?;
                Ok(("npm".to_owned(), depended(&manifest)?))
            }
            Install::Debian(debian) => {
                let from = format!("Debian {}", self.table.suite);
                Ok((from, self.unpack(set, debian, half)?))
            }
        }
    }

    fn unpack(&self, set: &Set, debian: &Debian, half: &Path) -> Result<Vec<(String, String)>> {
        let state = self.half.path().join("apt");
        let apt = self.apt.get_or_init(|| {
            Apt::open(&state, &self.table.suite).map_err(|error| format!("{error:#}"))
        });
        let apt = apt.as_ref().map_err(|error| anyhow!("{error}"))?;
        let packages = half.with_extension("debs");
        let files = apt.fetch(&debian.packages, &packages)?;
        for file in &files {
            apt::unpack(file, half, &debian.only, &debian.without)?;
        }
        fs::remove_dir_all(&packages).context("packages that are unpacked")?;
        if !debian.patch.is_empty() {
            self.get(self.table.set(PATCHELF)?)?;
            let patchelf = self.folder.join(PATCHELF).join("bin/patchelf");
            patch(&patchelf, &debian.patch, half, &self.folder.join(&set.name))?;
        }
        let named = files.iter().filter_map(|file| apt::named(file));
        Ok(named
            .filter(|(name, _)| debian.packages.contains(name))
            .collect())
    }
}

/// Makes programs run with the loader and the libraries of the folder that `half` will be.
///
/// The loader can't be asked to start them in place of that: rust-analyzer runs its own executable
/// again, and that would be the loader.
fn patch(patchelf: &Path, programs: &[String], half: &Path, folder: &Path) -> Result<()> {
    let arch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let libraries = Path::new("usr/lib").join(&arch);
    let listed = fs::read_dir(half.join(&libraries)).context("libraries")?;
    let mut names = listed.flatten().map(|item| item.file_name());
    let loader = names.find(|name| name.to_string_lossy().starts_with("ld-linux"));
    let Some(loader) = loader else {
        bail!("no loader among the libraries");
    };
    // LLVM's library looks for others in `../lib`, seen from its own folder.
    let lib = half.join("usr/lib/lib");
    std::os::unix::fs::symlink(&arch, lib).context("a link")?;
    let libraries = folder.join(libraries);
    let shell = Shell::new(half);
    for program in programs {
        let mut command = shell.command(patchelf, &["--set-interpreter"]);
        command.arg(libraries.join(&loader));
        // The other kind of path is not handed on to the libraries that a library needs.
        command.args(["--force-rpath", "--set-rpath"]);
        command.arg(&libraries).arg(program);
        shell::read(command)?;
    }
    Ok(())
}

fn read(folder: &Path) -> Option<Stamp> {
    serde_json::from_slice(&fs::read(folder.join(STAMP)).ok()?).ok()
}

/// The packages of pip's requirements, of which each starts a line.
fn required(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.split_once("=="));
    lines
        .map(|(name, rest)| {
            let version = rest.split_whitespace().next().unwrap_or_default();
            (name.to_owned(), version.to_owned())
        })
        .collect()
}

/// The packages that an npm manifest depends on.
fn depended(manifest: &str) -> Result<Vec<(String, String)>> {
    #[derive(Deserialize)]
    struct Manifest {
        dependencies: serde_json::Map<String, serde_json::Value>,
    }
    let manifest: Manifest = serde_json::from_str(manifest).context("package.json")?;
    let packages = manifest.dependencies.into_iter();
    Ok(packages
        .map(|(name, version)| (name, version.as_str().unwrap_or_default().to_owned()))
        .collect())
}

/// How many bytes the files below a folder have.
fn bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for item in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let item = item.context("a folder")?;
        let meta = item.metadata().context("a file")?;
        sum += match meta.is_dir() {
            true => bytes(&item.path())?,
            false => meta.len(),
        };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/servers")
    }

    #[test]
    fn what_is_pinned_is_exact_and_has_hashes() {
        let table = Table::open().expect("the table");
        for set in &table.sets {
            let read = |name: &str| {
                let path = data().join(name.replace("NAME", &set.name));
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
            };
            let packages = match &set.install {
                Install::PyPI => {
                    let text = read("NAME.txt");
                    assert!(text.contains("--hash=sha256:"), "{}", set.name);
                    required(&text)
                }
                Install::Npm => {
                    let packages = depended(&read("NAME/package.json")).expect("a manifest");
                    let lock: serde_json::Value =
                        serde_json::from_str(&read("NAME/package-lock.json")).expect("a lockfile");
                    for (name, version) in &packages {
                        let locked = &lock["packages"][format!("node_modules/{name}")];
                        assert_eq!(locked["version"], version.as_str());
                        assert!(locked["integrity"].is_string(), "{name}");
                    }
                    packages
                }
                Install::Debian(debian) => {
                    assert!(!debian.packages.is_empty());
                    continue;
                }
            };
            assert!(!packages.is_empty(), "{}", set.name);
            for (name, version) in packages {
                let exact = version.starts_with(|char: char| char.is_ascii_digit());
                assert!(exact, "{name} {version}");
            }
        }
    }

    /// A table with one set of npm's, whose folder is there as if it had been installed.
    #[test]
    fn what_is_there_is_taken_until_its_row_or_its_versions_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, to) = (folder.path().join("data"), folder.path().join("to"));
        for made in [data.join("a"), to.join("a"), to.join("half/of-another-run")] {
            fs::create_dir_all(made).expect("made");
        }
        let pin = |version: &str| {
            let manifest = format!("{{\"dependencies\": {{\"-\": \"{version}\"}}}}");
            fs::write(data.join("a/package.json"), manifest).expect("written");
        };
        pin("1.0.0");
        fs::write(data.join("a/package-lock.json"), "{}").expect("written");
        let table = |install: &str| -> Table {
            let set = format!("[[set]]\nname = 'a'\ninstall = {install}\n");
            toml::from_str(&format!("suite = ''\nprogram = []\n{set}")).expect("a table")
        };
        let old = table("{ from = 'npm' }");
        let new = table("{ from = 'debian', packages = ['-'] }");
        let installer = Installer::new(&old, &to, data.clone()).expect("a folder");
        assert!(!to.join("half/of-another-run").exists());
        let stamp = Stamp {
            of: installer.origin(&old.sets[0]).expect("the files are there"),
            from: "npm".to_owned(),
            packages: vec![("-".to_owned(), "1.0.0".to_owned())],
            at: SystemTime::UNIX_EPOCH,
            bytes: 1,
            seconds: 2.0,
        };
        let text = serde_json::to_vec(&stamp).expect("JSON");
        fs::write(to.join("a").join(STAMP), text).expect("written");
        let found = installer.get(&old.sets[0]).expect("it is there");
        assert_eq!(found.origin(), "npm: - 1.0.0");
        assert_eq!(found.version(), "1.0.0");

        assert_ne!(installer.origin(&new.sets[0]).expect("a text"), stamp.of);
        pin("2.0.0");
        assert_ne!(installer.origin(&old.sets[0]).expect("a text"), stamp.of);
        // The lockfile is none, so that npm asks no registry.
        installer.get(&old.sets[0]).expect_err("npm refuses it");
        assert!(read(&to.join("a")).is_some(), "the old one stays");
    }
}
