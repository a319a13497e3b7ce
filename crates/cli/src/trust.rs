//! `terret trust`: which workspaces may run what they bring.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use terret::lsp::Trust;

use crate::args::TrustArgs;
use crate::{folders, out};

/// How a person grants it.
pub(crate) const GRANT: &str = "run `terret trust`";

pub(crate) fn run(workspace: &Path, args: &TrustArgs) -> Result<ExitCode> {
    let store = Store::of_user()?;
    let shown = workspace.display();
    let said = if args.list {
        let all = store.read()?.workspaces;
        all.into_iter().map(|path| path + "\n").collect()
    } else if args.revoke {
        let name = name(workspace)?;
        let was = store.change(|trusted| trusted.workspaces.remove(name))?;
        if let Some(above) = store.read()?.covering(workspace) {
            let above = above.display();
            bail!(
                "{shown} is trusted still, since {above} is; to end that: terret -C {above} trust --revoke"
            );
        }
        match was {
            true => format!("{shown} is not trusted any more"),
            false => format!("{shown} was not trusted"),
        }
    } else {
        let name = name(workspace)?.to_owned();
        store.change(|trusted| trusted.workspaces.insert(name))?;
        format!(
            "{shown} is trusted, with all below it: its terret.toml may name language servers, its own programs are \
             used, and servers may run its build scripts and macros; to end that: terret trust --revoke"
        )
    };
    // An empty list is no line.
    if !said.is_empty() {
        out::text(&said)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the workspace may run what it brings. What cannot be found out is not trusted.
pub(crate) fn of(workspace: &Path) -> Result<Trust> {
    // Whoever has no folder for it has granted nothing.
    let Ok(store) = Store::of_user() else {
        return Ok(Trust::untrusted(GRANT));
    };
    Ok(match store.read()?.covering(workspace) {
        Some(_) => Trust::Trusted,
        None => Trust::untrusted(GRANT),
    })
}

/// The list is text, so that a person can read it.
fn name(workspace: &Path) -> Result<&str> {
    let name = workspace.to_str();
    name.with_context(|| format!("{} is not UTF-8 and cannot be trusted", workspace.display()))
}

/// What is trusted, by canonical paths.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Trusted {
    workspaces: BTreeSet<String>,
}

impl Trusted {
    /// The folder by which this one is trusted: itself, or one above it.
    fn covering<'a>(&self, workspace: &'a Path) -> Option<&'a Path> {
        workspace.ancestors().find(|folder| {
            folder
                .to_str()
                .is_some_and(|name| self.workspaces.contains(name))
        })
    }
}

/// The file that the list is kept in.
#[derive(Debug)]
struct Store {
    folder: PathBuf,
}

impl Store {
    fn of_user() -> Result<Store> {
        folders::state().map(|folder| Store { folder })
    }

    fn path(&self) -> PathBuf {
        self.folder.join("trust.json")
    }

    fn read(&self) -> Result<Trusted> {
        let path = self.path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Trusted::default()),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        serde_json::from_str(&text).with_context(|| {
            format!(
                "{} is damaged; delete it, and trust anew what you trust",
                path.display()
            )
        })
    }

    /// Changes the list, with all others who want to kept out, so that no change is lost.
    fn change<T>(&self, change: impl FnOnce(&mut Trusted) -> T) -> Result<T> {
        let what = || format!("the list of trusted folders in {}", self.folder.display());
        let lock = self.lock().with_context(what)?;
        let mut trusted = self.read()?;
        let result = change(&mut trusted);
        self.write(&trusted).with_context(what)?;
        drop(lock);
        Ok(result)
    }

    fn lock(&self) -> io::Result<File> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let lock = File::create(self.folder.join("trust.lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Puts a whole new file in place, which only its owner may read.
    fn write(&self, trusted: &Trusted) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut file, trusted)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.path())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn store(folder: &tempfile::TempDir) -> Store {
        let folder = folder.path().join("state/terret");
        Store { folder }
    }

    #[test]
    fn a_folder_is_trusted_with_what_is_below_it_and_nothing_else() {
        let trusted = Trusted {
            workspaces: ["/a/b".to_owned()].into(),
        };
        let rows = [
            ("/a/b", true),
            ("/a/b/c/d", true),
            ("/a", false),
            ("/a/bc", false),
            ("/", false),
        ];
        for (path, expected) in rows {
            assert_eq!(
                trusted.covering(Path::new(path)).is_some(),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn many_at_once_lose_nothing_and_nobody_else_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..20 {
                let store = store(&folder);
                scope.spawn(move || {
                    let add = |trusted: &mut Trusted| trusted.workspaces.insert(number.to_string());
                    assert!(store.change(add).unwrap());
                });
            }
        });
        let store = store(&folder);
        assert_eq!(store.read().unwrap().workspaces.len(), 20);
        let mode = fs::metadata(store.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let names = fs::read_dir(&store.folder).unwrap();
        assert_eq!(names.count(), 2, "the list and its lock");
    }

    #[test]
    fn a_damaged_list_is_no_trust() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        fs::create_dir_all(&store.folder).unwrap();
        fs::write(store.path(), "{").unwrap();
        let error = format!("{:#}", store.read().unwrap_err());
        assert!(
            error.contains("trust.json is damaged; delete it"),
            "{error}"
        );
    }
}
