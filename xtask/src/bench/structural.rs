//! `terret call ast_grep` over the Rust sources that cargo has unpacked: a large tree that every
//! machine which builds this has.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use serde_json::json;

use super::{Case, Suite};
use crate::shell;
use crate::workspace::Workspace;

/// More than there are, so that no search stops early.
const ALL: usize = 10_000_000;

/// Name, pattern, and after how many results the search may stop.
const CASES: &[(&str, &str, usize)] = &[
    // A literal that few files hold: what counts is how fast the others are passed over.
    ("selective", "Box::leak($X)", ALL),
    // Every file has to be parsed.
    ("unselective", "$F($$$A)?", ALL),
    // As people use it.
    ("first 50", "$F($$$A)?", 50),
];

pub(super) fn suite(workspace: &Workspace) -> Result<Suite> {
    shell::pass(
        workspace
            .shell
            .cargo(&["build", "--release", "--package", "terret-cli"]),
    )?;
    let program = workspace.target().join("release").join("terret");
    let corpus = registry(workspace)?;
    let (files, bytes) = size(&corpus);
    let corpus = corpus.to_str().context("a path that is not text")?;
    let case = |&(name, pattern, most): &(&str, &str, usize)| {
        let arguments = json!({ "pattern": pattern, "language": "rust", "max_results": most });
        let args = ["-C", corpus, "call", "ast_grep"].map(str::to_owned);
        Case {
            name: name.to_owned(),
            program: program.clone().into(),
            args: args.into_iter().chain([arguments.to_string()]).collect(),
        }
    };
    Ok(Suite {
        corpus: format!(
            "{files} Rust files of cargo's registry, {} MiB",
            bytes / 1048576
        ),
        cases: CASES.iter().map(case).collect(),
    })
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

/// How many Rust files there are, and their bytes.
fn size(folder: &Path) -> (usize, u64) {
    let (mut files, mut bytes) = (0, 0);
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = item.file_type() else { continue };
        let path = item.path();
        if kind.is_dir() {
            let (inner_files, inner_bytes) = size(&path);
            files += inner_files;
            bytes += inner_bytes;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files += 1;
            bytes += item.metadata().map_or(0, |meta| meta.len());
        }
    }
    (files, bytes)
}
