//! The workspace as the checks see it: what cargo says of it, and the text of its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::shell::{self, Shell};

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) shell: Shell,
    metadata: Metadata,
}

/// The text files of a repository by their path from its root, with `/` in it.
pub(crate) type Files = BTreeMap<String, String>;

impl Workspace {
    /// The one that this crate is part of.
    pub(crate) fn open() -> Result<Workspace> {
        // Asked for at run time first: a target folder that several checkouts share holds the
        // program of one of them.
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest)
            .parent()
            .context("xtask has no parent")?;
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cargo metadata")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let shell = Shell::new(&root);
        Ok(Workspace {
            root,
            shell,
            metadata,
        })
    }

    /// Its own crates.
    pub(crate) fn packages(&self) -> &[Package] {
        &self.metadata.packages
    }

    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// A folder for what the tasks write, made if need be.
    pub(crate) fn scratch(&self) -> Result<PathBuf> {
        let folder = self.target().join("xtask");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// The files that are tracked or about to be; what is ignored, removed or not text is left out.
    pub(crate) fn files(&self) -> Result<Files> {
        let args = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let list = shell::read(self.shell.command("git", &args))?;
        let mut files = Files::new();
        for path in list.split_terminator('\0') {
            if let Ok(text) = fs::read_to_string(self.root.join(path)) {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(files)
    }
}

/// Whether anyone may publish the crate.
pub(crate) fn published(package: &Package) -> bool {
    package
        .publish
        .as_ref()
        .is_none_or(|registries| !registries.is_empty())
}
