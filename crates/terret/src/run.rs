//! One execution of a harness over one working directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terret_tiers::wrapper::Writer;
use terret_tiers::{
    CancellationToken, Request, RunScope, Surface, Tier, Tool, Toolset, ToolsetError, WORKSPACE,
};

/// One execution of a harness over one working directory, with the tools whose resources are wired.
///
/// It is cheap: no thread, no process and no file until a tool needs one, so that hundreds of runs
/// live in one process. Nothing is shared between two of them. Dropping it stops the calls made
/// with its [`request`](Run::request)s; [`shutdown`](Run::shutdown) also waits for what must not be
/// torn.
pub struct Run {
    workspace: PathBuf,
    toolset: Toolset,
    cancel: CancellationToken,
    #[cfg(feature = "lsp")]
    servers: Option<terret_lsp_supervisor::Supervisor>,
}

impl Run {
    /// A run over a working directory, to which further resources are wired. The path is best absolute: a
    /// relative one means another place once the process changes its directory.
    pub fn builder(workspace: impl Into<PathBuf>) -> RunBuilder {
        RunBuilder {
            workspace: workspace.into(),
            id: None,
            #[cfg(feature = "structural")]
            structural: terret_structural::Options::default(),
            #[cfg(feature = "lsp")]
            lsp: None,
            tools: Vec::new(),
            writers: Vec::new(),
        }
    }

    /// The working directory.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The tools whose resources are wired, for a registry of the harness's own.
    #[must_use]
    pub fn toolset(&self) -> &Toolset {
        &self.toolset
    }

    /// The tools up to a tier, and the way to call them. What changes files or starts processes is
    /// refused until the surface is given a gate.
    #[must_use]
    pub fn surface(&self, cap: Tier) -> Surface {
        self.toolset.surface(cap)
    }

    /// The language servers, if they are wired.
    #[cfg(feature = "lsp")]
    #[must_use]
    pub fn servers(&self) -> Option<&terret_lsp_supervisor::Supervisor> {
        self.servers.as_ref()
    }

    /// A tool of the harness's own that writes files, so that its results tell what the writes have broken; the tool as it
    /// is if no language servers are wired. For a registry of the harness's own: those that were given to the
    /// [builder](RunBuilder::writers) are wrapped already.
    #[must_use]
    pub fn wrap(&self, writer: &Writer) -> Arc<dyn Tool> {
        #[cfg(feature = "lsp")]
        if let Some(servers) = &self.servers {
            return servers.wrap(writer);
        }
        Arc::clone(writer.tool())
    }

    /// The request for a call of this run's, which ends with it. Its
    /// [`cancel`](Request::cancel) stops this call alone.
    pub fn request(&self, call: impl Into<String>) -> Request {
        Request::new(call).with_cancel(self.cancel.child_token())
    }

    /// Stops the calls made with this run's requests, and waits for what changes files to come to
    /// its end: a change that was being written has landed whole by then, or not at all. What the
    /// run has started is asked to end, and killed if it does not.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the wait; the calls are stopped all the same.
    pub async fn shutdown(self) {
        self.cancel.cancel();
        // A request without a token and a deadline fails only from within a call, which this is not.
        let _ = self
            .toolset
            .run()
            .hold(WORKSPACE, "shutdown", &Request::new("shutdown"))
            .await;
        #[cfg(feature = "lsp")]
        if let Some(servers) = &self.servers {
            servers.shut_down().await;
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("workspace", &self.workspace)
            .field("toolset", &self.toolset)
            .finish_non_exhaustive()
    }
}

/// Builds a [`Run`]: each resource that is wired brings its tools.
#[must_use]
pub struct RunBuilder {
    workspace: PathBuf,
    id: Option<String>,
    #[cfg(feature = "structural")]
    structural: terret_structural::Options,
    #[cfg(feature = "lsp")]
    lsp: Option<terret_lsp_supervisor::Options>,
    tools: Vec<Arc<dyn Tool>>,
    writers: Vec<Writer>,
}

impl RunBuilder {
    /// The harness's id for the run, which gates and tools are told; `run` if not said.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// How `ast_grep`, `ast_edit` and `resolve` work. They need nothing but the working directory
    /// and a grammar, so that they are there without being asked for; a source without grammars
    /// leaves them out.
    #[cfg(feature = "structural")]
    pub fn structural(mut self, options: terret_structural::Options) -> Self {
        self.structural = options;
        self
    }

    /// Wires language servers: `lsp`, `lsp_rename`, and what a write has broken in the results of all that write files.
    /// None is started until it is needed. Calls need a runtime of tokio with I/O and time.
    #[cfg(feature = "lsp")]
    pub fn lsp(mut self, options: terret_lsp_supervisor::Options) -> Self {
        self.lsp = Some(options);
        self
    }

    /// Adds tools of the harness's own that write files. They stand beside Terret's as those of [`tools`](Self::tools) do,
    /// and with language servers wired their results tell what the writes have broken.
    pub fn writers(mut self, writers: impl IntoIterator<Item = Writer>) -> Self {
        self.writers.extend(writers);
        self
    }

    /// Adds tools of the harness's own, which stand beside Terret's on every surface.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// The run.
    ///
    /// # Errors
    ///
    /// A tool of the harness's own whose name is not valid or is taken.
    pub fn build(self) -> Result<Run, ToolsetError> {
        let scope = self.id.map_or_else(RunScope::default, RunScope::new);
        #[cfg(feature = "lsp")]
        let servers = self
            .lsp
            .map(|options| terret_lsp_supervisor::Supervisor::new(&self.workspace, options));
        let wrap = |writer: &Writer| -> Arc<dyn Tool> {
            #[cfg(feature = "lsp")]
            if let Some(servers) = &servers {
                return servers.wrap(writer);
            }
            Arc::clone(writer.tool())
        };
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        #[cfg(feature = "lsp")]
        tools.extend(servers.iter().flat_map(|servers| servers.tools()));
        #[cfg(feature = "structural")]
        {
            let structural =
                terret_structural::Structural::with_options(&self.workspace, self.structural);
            let resolve = structural.resolve_writer();
            let name = resolve.tool().spec().name.clone();
            tools.extend(structural.tools().into_iter().map(|tool| {
                if tool.spec().name == name {
                    wrap(&resolve)
                } else {
                    tool
                }
            }));
        }
        tools.extend(self.writers.iter().map(wrap));
        tools.extend(self.tools);
        let toolset = Toolset::builder().run(scope).tools(tools).build()?;
        Ok(Run {
            workspace: self.workspace,
            toolset,
            cancel: CancellationToken::new(),
            #[cfg(feature = "lsp")]
            servers,
        })
    }
}

impl fmt::Debug for RunBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunBuilder")
            .field("workspace", &self.workspace)
            .field(
                "tools",
                &self
                    .tools
                    .iter()
                    .map(|tool| &tool.spec().name)
                    .collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}
