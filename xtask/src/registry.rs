//! Packages of public registries, unpacked and not installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell::{self, Shell};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Registry {
    Crates,
    /// Whose release the machine runs decides the version.
    Debian,
    Npm,
    /// A wheel.
    PyPI,
}

impl Registry {
    /// Fetches a package and unpacks it to this folder, which is there whole or not at all.
    pub(crate) fn get(self, name: &str, version: &str, folder: &Path) -> Result<()> {
        let half = folder.with_extension("half");
        _ = fs::remove_dir_all(&half);
        fs::create_dir_all(&half).context("a folder for a package")?;
        let moved = self.unpack(name, version, &half).and_then(|unpacked| {
            fs::rename(unpacked, folder).with_context(|| folder.display().to_string())
        });
        fs::remove_dir_all(&half).context("a folder for a package")?;
        moved.with_context(|| format!("{name} {version}"))
    }

    /// Puts it below this folder; gives where.
    fn unpack(self, name: &str, version: &str, at: &Path) -> Result<PathBuf> {
        let here = Shell::new(at);
        match self {
            Self::Npm => {
                let package = format!("{name}@{version}");
                let archive = shell::read(here.command("npm", &["pack", "--silent", &package]))?;
                shell::pass(here.command("tar", &["xzf", archive.trim()]))?;
                Ok(at.join("package"))
            }
            Self::PyPI => {
                let package = format!("{name}=={version}");
                let mut fetch = vec!["-m", "pip", "download", "--quiet", "--no-deps"];
                fetch.extend(["--only-binary", ":all:", &package]);
                shell::pass(here.command("python3", &fetch))?;
                let wheel = find(at, |found| found.ends_with(".whl"))?;
                let unpack = ["-m", "zipfile", "-e", &wheel, "wheel"];
                shell::pass(here.command("python3", &unpack))?;
                Ok(at.join("wheel"))
            }
            Self::Debian => {
                let fetch = || here.command("apt-get", &["download", "--quiet", name]);
                if shell::read(fetch()).is_err() {
                    shell::pass(here.command("apt-get", &["update", "--quiet"]))?;
                    shell::read(fetch())?;
                }
                let package = find(at, |found| found.ends_with(".deb"))?;
                shell::pass(here.command("dpkg-deb", &["--extract", &package, "deb"]))?;
                Ok(at.join("deb"))
            }
            Self::Crates => {
                fs::create_dir(at.join("src")).context("a crate")?;
                fs::write(at.join("src/lib.rs"), "").context("a crate")?;
                let manifest = format!(
                    "[package]\nname = \"fetched\"\nedition = \"2024\"\n[workspace]\n\
                     [dependencies]\n{name} = \"={version}\"\n"
                );
                fs::write(at.join("Cargo.toml"), manifest).context("a crate")?;
                // What it needs comes along.
                let vendor = ["vendor", "--quiet", "--versioned-dirs"];
                shell::read(here.cargo(&vendor))?;
                let crates = at.join("vendor");
                // A version may go on with what it wraps: `1.2.3+4.5.6`.
                let start = format!("{name}-{version}");
                let found = find(&crates, |found| found.starts_with(&start))?;
                Ok(crates.join(found))
            }
        }
    }
}

/// The name in the folder that is wanted.
fn find(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<String> {
    for item in fs::read_dir(folder).context("a folder for a package")? {
        let name = item.context("a folder for a package")?.file_name();
        let name = name.to_string_lossy();
        if wanted(&name) {
            return Ok(name.into_owned());
        }
    }
    bail!("it was not fetched")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_to_be_had_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().join("package");
        // A name that no registry allows, so that none is asked.
        let error = Registry::Npm
            .get("-", "1.0.0", &to)
            .expect_err("no package");
        assert!(error.to_string().contains("- 1.0.0"), "{error:#}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }
}
