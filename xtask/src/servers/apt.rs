//! Packages of a suite of Debian that is not the machine's: a state of apt of its own, which needs no
//! root and leaves that of the machine alone. Nothing is installed; packages are unpacked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{self, Shell};

const ARCHIVE: &str = "http://deb.debian.org/debian/";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const CONFIG: &str = "apt.conf";
/// What nobody reads here.
const WITHOUT: &[&str] = &["./usr/share/doc", "./usr/share/locale", "./usr/share/man"];

pub(super) struct Apt {
    /// In the folder of its state.
    shell: Shell,
}

impl Apt {
    /// Fetches the lists of the suite into this folder.
    pub(super) fn open(folder: &Path, suite: &str) -> Result<Apt> {
        for inner in ["lists/partial", "cache"] {
            fs::create_dir_all(folder.join(inner)).context("the state of apt")?;
        }
        let shell = Shell::new(folder);
        let archive = archive(&shell);
        let source = format!("deb [signed-by={KEYRING}] {archive} {suite} main\n");
        fs::write(folder.join("sources.list"), source).context("the state of apt")?;
        let at = |name: &str| folder.join(name).display().to_string();
        let options = [
            ("Dir::Etc::sourcelist", at("sources.list")),
            ("Dir::Etc::sourceparts", "/dev/null".to_owned()),
            // The machine may prefer another suite.
            ("Dir::Etc::preferences", "/dev/null".to_owned()),
            ("Dir::Etc::preferencesparts", "/dev/null".to_owned()),
            ("Dir::State", at("")),
            ("Dir::State::lists", at("lists")),
            // Nothing is there, so that all that a package depends on comes along.
            ("Dir::State::status", "/dev/null".to_owned()),
            ("Dir::Cache", at("cache")),
            // As root, apt would fetch as a user who may not write here.
            ("APT::Sandbox::User", "root".to_owned()),
            ("Acquire::Languages", "none".to_owned()),
            // Lists that can't be had are a warning else, and what fails is some package later.
            ("APT::Update::Error-Mode", "any".to_owned()),
        ];
        let options = options.map(|(name, value)| format!("{name} \"{value}\";\n"));
        fs::write(folder.join(CONFIG), options.concat()).context("the state of apt")?;
        let apt = Apt { shell };
        shell::read(apt.command(&["update"]))?;
        Ok(apt)
    }

    /// Fetches packages with all that they depend on.
    pub(super) fn fetch(&self, packages: &[String], to: &Path) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(to.join("partial")).context("a folder for packages")?;
        let mut command = self.command(&["--yes", "--no-install-recommends", "--download-only"]);
        command.arg(format!("-oDir::Cache::archives={}", to.display()));
        command.arg("install").args(packages);
        shell::read(command)?;
        let mut found = Vec::new();
        for item in fs::read_dir(to).context("a folder for packages")? {
            let path = item.context("a folder for packages")?.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    fn command(&self, words: &[&str]) -> Command {
        // Read last, so that nothing of the machine's own settings stands above it.
        let mut command = self.shell.command("apt-get", &["-qq", "-c", CONFIG]);
        command.args(words);
        command
    }
}

/// The archive that the machine takes its own packages from, which may be nearer.
fn archive(shell: &Shell) -> String {
    let targets = ["indextargets", "--format", "$(REPO_URI)"];
    let list = shell::read(shell.command("apt-get", &targets)).unwrap_or_default();
    let found = list.lines().find(|uri| uri.ends_with("/debian/"));
    found.unwrap_or(ARCHIVE).to_owned()
}

/// Unpacks a package: of all that is in it, `only` these parts, if any are named.
pub(super) fn unpack(package: &Path, to: &Path, only: &[String], without: &[String]) -> Result<()> {
    let shell = Shell::new(to);
    let mut from = shell.command("dpkg-deb", &["--fsys-tarfile"]);
    let mut from = from
        .arg(package)
        .stdout(Stdio::piped())
        .spawn()
        .context("dpkg-deb")?;
    let mut tar = shell.command("tar", &["--extract", "--no-same-owner", "--wildcards"]);
    let without = without.iter().map(String::as_str);
    for part in WITHOUT.iter().copied().chain(without) {
        tar.arg(format!("--exclude={part}"));
    }
    tar.args(only).stdin(from.stdout.take().context("a pipe")?);
    let unpacked = shell::read(tar);
    // It ends as soon as nobody reads it.
    let status = from.wait().context("dpkg-deb")?;
    unpacked.with_context(|| package.display().to_string())?;
    match status.success() {
        true => Ok(()),
        false => bail!("dpkg-deb: {status}"),
    }
}

/// Which package and version a file is: `gopls_2%3a0.22.0-2_amd64.deb`.
pub(super) fn named(file: &Path) -> Option<(String, String)> {
    let stem = file.file_stem()?.to_str()?;
    let (name, rest) = stem.split_once('_')?;
    let (version, _) = rest.rsplit_once('_')?;
    Some((name.to_owned(), version.replace("%3a", ":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_the_version() {
        for (file, name, version) in [
            ("gopls_2%3a0.22.0+ds-2_amd64.deb", "gopls", "2:0.22.0+ds-2"),
            (
                "T/rust-src_1.97.1+dfsg1-1_all.deb",
                "rust-src",
                "1.97.1+dfsg1-1",
            ),
        ] {
            let found = named(Path::new(file));
            assert_eq!(found, Some((name.to_owned(), version.to_owned())));
        }
        assert_eq!(named(Path::new("lock")), None);
    }
}
