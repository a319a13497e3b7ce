//! Packs every crate that may be published, and builds it from its package.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell;
use crate::workspace::{Workspace, published};

/// A clean tree is wanted where nobody is at work: there a file that differs is one that a test
/// has changed, or one that was not committed.
pub(crate) fn run(workspace: &Workspace, clean: bool) -> Result<Vec<String>> {
    forget(workspace)?;
    let mut command = workspace
        .shell
        .cargo(&["package", "--workspace", "--locked"]);
    if !clean {
        command.arg("--allow-dirty");
    }
    for package in workspace
        .packages()
        .iter()
        .filter(|package| !published(package))
    {
        command.args(["--exclude", &package.name]);
    }
    shell::pass(command)?;
    Ok(Vec::new())
}

/// Forgets what an earlier run unpacked and built: cargo takes a version of a registry for what it
/// was when it was seen first, and these change under the same version.
fn forget(workspace: &Workspace) -> Result<()> {
    let published: Vec<_> = workspace
        .packages()
        .iter()
        .filter(|package| published(package))
        .collect();
    let unpacked = cargo_home()?.join("registry").join("src");
    for package in &published {
        forget_unpacked(&unpacked, &format!("{}-{}", package.name, package.version))?;
    }
    let mut clean = workspace.shell.cargo(&["clean", "--locked"]);
    for package in &published {
        clean.args(["--package", &package.name]);
    }
    shell::pass(clean)
}

fn cargo_home() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .context("neither CARGO_HOME nor a home folder")
}

/// The registry that `cargo package` makes for the crates that it packs has no host in its name.
fn forget_unpacked(registries: &Path, package: &str) -> Result<()> {
    let Ok(entries) = fs::read_dir(registries) else {
        return Ok(());
    };
    for entry in entries {
        let registry = entry.context("a folder of cargo's registry")?;
        let folder = registry.path().join(package);
        if registry.file_name().to_string_lossy().starts_with('-') && folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_local_registry_unpacked_is_forgotten() {
        let home = tempfile::tempdir().expect("a folder");
        for folder in [
            "-abc/mine-0.1.0",
            "-abc/other-0.1.0",
            "index.crates.io-1/mine-0.1.0",
        ] {
            fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        forget_unpacked(home.path(), "mine-0.1.0").expect("it is there");
        assert!(!home.path().join("-abc/mine-0.1.0").exists());
        assert!(home.path().join("-abc/other-0.1.0").exists());
        assert!(home.path().join("index.crates.io-1/mine-0.1.0").exists());
    }
}
