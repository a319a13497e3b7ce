//! The run that this process is, and what its calls may do.

mod edit;
mod files;
mod patch;
mod read;
mod tools;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result};
use terret::Run;
use terret::lsp::{Options, Trust};
use terret::tiers::{AllowUpTo, Surface, Tier};
use tokio::runtime::Runtime;

use crate::config::Config;
use crate::exit::Usage;
use crate::trust::Trusted;

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

/// How long a write waits for what it has broken, where the next call is there to tell what comes later.
pub(crate) const IN_A_SESSION: Duration = Duration::from_secs(3);
/// The same where nothing comes later.
pub(crate) const IN_ONE_CALL: Duration = Duration::from_secs(60);

/// The run over a folder, with all that can be wired and this host's own tools.
pub(crate) fn run(workspace: PathBuf, write_wait: Duration) -> Result<Run> {
    let servers = Arc::new(OnceLock::new());
    let builder = Run::builder(&workspace)
        .tools([tools::reader(&workspace, Arc::clone(&servers))])
        .writers(tools::writers(&workspace));
    let run = match lsp(&workspace, write_wait)? {
        Some(options) => builder.lsp(options),
        None => builder,
    };
    let run = run.build().context("the tools do not fit together")?;
    if let Some(supervisor) = run.servers() {
        // It is set once, here.
        let _ = servers.set(supervisor.clone());
    }
    Ok(run)
}

/// The language servers as they are set for a workspace; nothing where they are switched off.
pub(crate) fn lsp(workspace: &Path, write_wait: Duration) -> Result<Option<Options>> {
    let trusted = match Trusted::of_user() {
        Some(trusted) => trusted.holds(workspace)?,
        None => false,
    };
    let config = Config::load(workspace, trusted)?;
    if config.lsp.enabled == Some(false) {
        return Ok(None);
    }
    let trust = match trusted {
        true => Trust::Trusted,
        false => Trust::untrusted("run `terret trust`"),
    };
    let options = Options::default()
        .catalog(config.catalog()?)
        .trust(trust)
        .write_wait(config.write_wait(write_wait)?);
    Ok(Some(options))
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
