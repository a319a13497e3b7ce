//! `terret trust`: which workspaces may run what they bring.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::TrustArgs;
use crate::{config, out};

/// The folders that the user trusts, each with all that is in it.
#[derive(Debug)]
pub(crate) struct Trusted {
    file: PathBuf,
}

impl Trusted {
    /// Those of the user; nothing if no home folder is known.
    pub(crate) fn of_user() -> Option<Self> {
        let folder = config::folder("XDG_STATE_HOME", ".local/state")?;
        Some(Self {
            file: folder.join("trusted.json"),
        })
    }

    /// Whether a folder, or one above it, is among them.
    pub(crate) fn holds(&self, folder: &Path) -> Result<bool> {
        let folders = self.folders()?;
        Ok(folders.iter().any(|trusted| folder.starts_with(trusted)))
    }

    fn folders(&self) -> Result<Vec<PathBuf>> {
        match fs::read_to_string(&self.file) {
            Ok(text) => {
                serde_json::from_str(&text).with_context(|| self.file.display().to_string())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| self.file.display().to_string()),
        }
    }

    /// Changes the list, one after the other where several do at once.
    fn change(&self, change: impl FnOnce(&mut Vec<PathBuf>)) -> Result<()> {
        let folder = self.file.parent().context("it is in a folder")?;
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let lock = File::create(self.file.with_extension("lock"))?;
        lock.lock().context("the list of trusted folders")?;
        let mut folders = self.folders()?;
        change(&mut folders);
        folders.sort();
        folders.dedup();
        // With the mode of a temporary file: for the user alone.
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all((serde_json::to_string_pretty(&folders)? + "\n").as_bytes())?;
        new.persist(&self.file)
            .with_context(|| self.file.display().to_string())?;
        Ok(())
    }
}

pub(crate) fn run(workspace: &Path, args: &TrustArgs) -> Result<ExitCode> {
    let trusted = Trusted::of_user().context("no home folder is known")?;
    if args.list {
        let folders = trusted.folders()?;
        let lines: Vec<String> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        let text = match lines.is_empty() {
            true => "no folder is trusted".to_owned(),
            false => lines.join("\n"),
        };
        out::text(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = workspace.display();
    if !args.revoke {
        trusted.change(|folders| folders.push(workspace.to_owned()))?;
        out::text(&format!(
            "{shown} may run what it brings: its programs, its build scripts, the servers of its terret.toml"
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    trusted.change(|folders| folders.retain(|folder| folder != workspace))?;
    let text = match trusted.holds(workspace)? {
        true => {
            format!("{shown} is trusted still, by a folder above it; `terret trust --list` tells")
        }
        false => format!("{shown} may not run what it brings any more"),
    };
    out::text(&text)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_trusted_with_all_that_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted {
            file: folder.path().join("state/trusted.json"),
        };
        assert!(!trusted.holds(Path::new("/p/a")).unwrap());
        std::thread::scope(|scope| {
            for name in ["/p", "/q", "/r"] {
                let trusted = &trusted;
                scope.spawn(move || trusted.change(|folders| folders.push(name.into())).unwrap());
            }
        });
        assert_eq!(trusted.folders().unwrap().len(), 3, "none is lost");
        assert!(trusted.holds(Path::new("/p/a")).unwrap());
        assert!(!trusted.holds(Path::new("/pa")).unwrap());
        trusted.change(|folders| folders.clear()).unwrap();
        assert!(!trusted.holds(Path::new("/p")).unwrap());
    }
}
