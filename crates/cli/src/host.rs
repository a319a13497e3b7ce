//! The run that this process is, the tools that it brings of its own, and what its calls may do.

mod apply_patch;
mod edit;
mod files;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result};
use terret::Run;
use terret::lsp::{self, Supervisor, Trust};
use terret::tiers::wrapper::Writer;
use terret::tiers::{AllowUpTo, Surface, Tier, Tool};
use tokio::runtime::Runtime;

use crate::config::Config;
use crate::exit::Usage;
use crate::trust;

/// How long a write of a single call waits for what it has broken: no later call will tell.
const SINGLE_WRITE_WAIT: Duration = Duration::from_secs(60);

/// Where the command works.
#[derive(Debug)]
pub(crate) struct Place {
    workspace: PathBuf,
    /// Trusted for this run, whatever the user has said for good.
    trusted_now: bool,
}

/// How many calls a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// One, so that nothing is worth preparing for another, and none tells what came late.
    One,
    /// As many as come.
    Many,
}

impl Place {
    /// The folder of `-C`, or the current one.
    pub(crate) fn new(directory: Option<PathBuf>, trusted_now: bool) -> Result<Place> {
        let folder = directory.unwrap_or_else(|| ".".into());
        // Links are resolved once, here, so that every path inside is seen to be inside.
        let found = folder.canonicalize().and_then(|path| match path.is_dir() {
            true => Ok(path),
            false => Err(std::io::ErrorKind::NotADirectory.into()),
        });
        let workspace =
            found.map_err(|error| Usage(format!("-C {}: {error}", folder.display())))?;
        Ok(Place {
            workspace,
            trusted_now,
        })
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Whether the workspace may run what it brings.
    pub(crate) fn trust(&self) -> Result<Trust> {
        match self.trusted_now {
            true => Ok(Trust::Trusted),
            false => trust::of(&self.workspace),
        }
    }

    /// How language servers are used here; absent if they are not.
    pub(crate) fn servers(&self, calls: Calls) -> Result<Option<lsp::Options>> {
        let trust = self.trust()?;
        let config = Config::load(&self.workspace, trust.is_trusted())?;
        let Some(catalog) = config.servers else {
            return Ok(None);
        };
        let single = (calls == Calls::One).then_some(SINGLE_WRITE_WAIT);
        let options = lsp::Options::default().catalog(catalog).trust(trust);
        Ok(Some(match config.write_wait.or(single) {
            Some(wait) => options.write_wait(wait),
            None => options,
        }))
    }

    /// The run over this folder, with all that can be wired.
    pub(crate) fn run(&self, calls: Calls) -> Result<Run> {
        let warm = Warm::default();
        let mut builder = Run::builder(&self.workspace)
            .writers(writers(&self.workspace))
            .tools([Arc::new(read::Read::new(&self.workspace, warm.clone())) as Arc<dyn Tool>]);
        if let Some(options) = self.servers(calls)? {
            builder = builder.lsp(options);
        }
        let run = builder.build().context("the tools do not fit together")?;
        if let Some(servers) = run.servers().filter(|_| calls == Calls::Many) {
            warm.with(servers);
        }
        Ok(run)
    }
}

/// The host's own tools that write.
fn writers(workspace: &Path) -> Vec<Writer> {
    vec![
        write::writer(workspace),
        edit::writer(workspace),
        apply_patch::writer(workspace),
    ]
}

/// Lets language servers read what the host reads, once they are there: the next call may write it.
#[derive(Clone, Debug, Default)]
struct Warm {
    servers: Arc<OnceLock<Supervisor>>,
}

impl Warm {
    fn with(&self, servers: &Supervisor) {
        // A run has one supervisor.
        let _ = self.servers.set(servers.clone());
    }

    fn touch(&self, path: &Path) {
        if let Some(servers) = self.servers.get() {
            servers.touch(path);
        }
    }
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
