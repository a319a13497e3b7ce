//! The run that this process is, and what its calls may do.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use terret::Run;
use terret::tiers::{AllowUpTo, Surface, Tier};
use tokio::runtime::Runtime;

use crate::exit::Usage;

/// The folder that the command works in.
pub(crate) fn workspace(directory: Option<PathBuf>) -> Result<PathBuf> {
    let folder = directory.unwrap_or_else(|| ".".into());
    // Links are resolved once, here, so that every path inside is seen to be inside.
    let found = folder.canonicalize().and_then(|path| match path.is_dir() {
        true => Ok(path),
        false => Err(std::io::ErrorKind::NotADirectory.into()),
    });
    found.map_err(|error| Usage(format!("-C {}: {error}", folder.display())).into())
}

/// The run over a folder, with all that can be wired.
pub(crate) fn run(workspace: PathBuf) -> Result<Run> {
    Run::builder(workspace)
        .lsp(terret::lsp::Options::default())
        .build()
        .context("the tools do not fit together")
}

/// The tools that may be called. Whoever typed the command has decided that the call is made, so
/// nobody is asked again.
pub(crate) fn surface(run: &Run, cap: Tier) -> Surface {
    run.surface(cap).with_gate(Arc::new(AllowUpTo(cap)))
}

/// The runtime for calls: this thread, and none besides.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime")
}
