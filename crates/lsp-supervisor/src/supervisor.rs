//! The servers of a workspace: which are for a file, started when they are first needed, and again when they died.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terret_launch::{Detection, Detector, Enclosure, Environment, Trust, Usable};
use tokio::task::JoinSet;

use crate::catalog::{Catalog, Entry, ServerSpec};
use crate::error::{Error, ErrorKind};
use crate::ledger::Ledger;
use crate::ops::written::Late;
use crate::pool::{Past, Pool, Slot};
use crate::server::{Server, Surroundings};

/// How long a wrapped call may wait for language servers.
const WRITE_WAIT: Duration = Duration::from_secs(3);

/// How a supervisor works; the defaults suit a library whose host has opened a workspace of its own.
#[derive(Clone, Debug, Default)]
pub struct Options {
    catalog: Option<Catalog>,
    environment: Option<Environment>,
    trust: Trust,
    enclosure: Option<Arc<dyn Enclosure>>,
    pool: Pool,
    write_wait: Option<Duration>,
}

impl Options {
    /// The servers that are known: those that come with Terret if nothing is said.
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// What servers find in their environment: what a host has, without its secrets, if nothing is said.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Whether code that the workspace brings may be run.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Where servers run, if not on the host.
    #[must_use]
    pub fn enclosure(mut self, enclosure: Arc<dyn Enclosure>) -> Self {
        self.enclosure = Some(enclosure);
        self
    }

    /// The servers that are shared with the other runs that a host gives a clone of this pool; if nothing is said, the run
    /// shares with nobody.
    #[must_use]
    pub fn pool(mut self, pool: Pool) -> Self {
        self.pool = pool;
        self
    }

    /// How long a [wrapped](Supervisor::wrap) call may wait for language servers, before and after together; 3 s if nothing
    /// is said. What comes later comes with the next call.
    #[must_use]
    pub fn write_wait(mut self, wait: Duration) -> Self {
        self.write_wait = Some(wait);
        self
    }
}

/// The servers of a run over a workspace. Cheap to clone; when the last clone is dropped, those servers die that no other
/// run has.
#[derive(Clone, Debug)]
pub struct Supervisor {
    pub(crate) shared: Arc<Shared>,
    /// What goes on beside the calls; the last clone that is dropped stops it.
    background: Arc<Background>,
}

/// What the supervisor is for those who work beside the calls, too.
#[derive(Debug)]
pub(crate) struct Shared {
    workspace: PathBuf,
    catalog: Catalog,
    detector: Detector,
    trust: Trust,
    surroundings: Surroundings,
    pool: Pool,
    slots: Mutex<HashMap<SlotKey, Arc<Slot>>>,
    /// What this run was told about its files.
    pub(crate) ledger: Ledger,
    /// What is on its way about files that were written.
    pub(crate) late: Mutex<Vec<Late>>,
    pub(crate) write_wait: Duration,
}

type SlotKey = (String, PathBuf);

/// Tasks that end with the supervisor.
#[derive(Debug, Default)]
struct Background {
    tasks: Mutex<JoinSet<()>>,
}

impl Background {
    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that is for a file, if it can be.
#[derive(Clone, Debug)]
pub struct Choice {
    entry: Arc<Entry>,
    usable: Result<Usable, String>,
    /// What was found of it, where that was looked for.
    found: Option<Detection>,
}

impl Choice {
    /// What is known of it.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The folder that it would serve.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.usable.as_ref().ok().map(Usable::root)
    }

    /// Whether it was looked for: not where another server goes before it, or where something keeps it away.
    #[must_use]
    pub fn is_looked_for(&self) -> bool {
        self.found.is_some()
    }

    /// The folder that a marker makes its root, whether it can be used or not; absent where nothing was looked for.
    #[must_use]
    pub fn marked(&self) -> Option<&Path> {
        self.found.as_ref()?.root()
    }

    /// Its program, whether it can be used or not; absent where nothing was looked for.
    #[must_use]
    pub fn program(&self) -> Option<&Path> {
        self.found.as_ref()?.program()
    }

    /// What its program has said to its probe, in a line: its version, mostly.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        self.found.as_ref()?.said()
    }

    /// Why it cannot be used, if so.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.usable.as_ref().err().map(String::as_str)
    }
}

/// What there is to say about a server.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its id in the catalog.
    pub id: String,
    /// What it calls itself, and its version.
    pub name: String,
    /// The folder that it serves.
    pub root: PathBuf,
    /// How it is.
    pub state: State,
    /// How often it was started.
    pub starts: usize,
    /// How long after its start it was ready to be asked, if it is.
    pub ready_after: Option<Duration>,
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is being started.
    Starting,
    /// It runs.
    Running {
        /// The number of its process.
        process: u32,
        /// How many documents it has open.
        documents: usize,
        /// What it works on, if it tells.
        task: Option<String>,
    },
    /// It runs no more.
    Down {
        /// Why, with its last words.
        why: String,
    },
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => f.write_str("starting"),
            Self::Running {
                process,
                documents,
                task,
            } => {
                write!(f, "running, process {process}, documents open: {documents}")?;
                match task {
                    Some(task) => write!(f, ", at work on {task}"),
                    None => Ok(()),
                }
            }
            Self::Down { why } => write!(f, "down: {why}"),
        }
    }
}

impl Supervisor {
    /// For a workspace: an absolute path. Starts nothing.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>, options: Options) -> Self {
        let workspace = workspace.into();
        let environment = options.environment.unwrap_or_else(Environment::inherited);
        let detector = Detector::new(&workspace, environment.clone()).trust(options.trust.clone());
        let mut catalog = options.catalog.unwrap_or_else(Catalog::shipped);
        if !options.trust.is_trusted() {
            catalog = catalog.untrusted();
        }
        Self {
            shared: Arc::new(Shared {
                workspace,
                catalog,
                detector,
                trust: options.trust,
                surroundings: Surroundings {
                    environment,
                    enclosure: options.enclosure,
                },
                pool: options.pool,
                slots: Mutex::default(),
                ledger: Ledger::default(),
                late: Mutex::default(),
                write_wait: options.write_wait.unwrap_or(WRITE_WAIT),
            }),
            background: Arc::default(),
        }
    }

    /// The servers that are known, as they are used here.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// The servers for a file, the one to ask first first, usable or not. Runs the probes of those that have one.
    pub async fn for_file(&self, path: &Path) -> Vec<Choice> {
        self.shared.for_file(path).await
    }

    /// The server, started if it does not run. All who want it at once wait for one start. Safe to cancel: a start that
    /// nobody waits for ends.
    ///
    /// # Errors
    ///
    /// If it cannot be used, does not start, or has died too often.
    pub(crate) async fn server(&self, choice: &Choice) -> Result<Arc<Server>, Error> {
        self.shared.server(choice).await
    }

    /// Does something beside the calls, until the supervisor is dropped.
    pub(crate) fn beside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.background.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// What there is to say about each server that was started. Starts nothing.
    pub async fn status(&self) -> Vec<Status> {
        let mut all = Vec::new();
        for ((id, root), slot) in self.shared.all(None) {
            let mut name = id.clone();
            let mut ready_after = None;
            let state = match slot.running.try_lock() {
                Err(_) => State::Starting,
                Ok(running) => match &*running {
                    None => State::Down {
                        why: slot.past().last_words.clone().unwrap_or_default(),
                    },
                    Some(server) => {
                        let client = server.client();
                        name = client.name().to_owned();
                        ready_after = client.ready_after();
                        if let Some(version) = client.version() {
                            name += &format!(" {version}");
                        }
                        match server.ended().await {
                            Some(why) => State::Down { why },
                            None => State::Running {
                                process: server.process(),
                                documents: client.open_documents().await,
                                task: client.task(),
                            },
                        }
                    }
                },
            };
            let starts = slot.past().starts;
            all.push(Status {
                id,
                name,
                root,
                state,
                starts,
                ready_after,
            });
        }
        all.sort_by(|a, b| (&a.root, &a.id).cmp(&(&b.root, &b.id)));
        all
    }

    /// The servers that run.
    pub(crate) async fn running(&self) -> Vec<Arc<Server>> {
        let mut all = Vec::new();
        for (_, slot) in self.shared.all(None) {
            let server = slot.running.lock().await.clone();
            if let Some(server) = server
                && server.client().closed().is_none()
            {
                all.push(server);
            }
        }
        all.sort_by(|a, b| a.root().cmp(b.root()));
        all
    }

    /// Ends the servers of a root, or all, for all runs that share them, and forgets how often they died and what was
    /// detected. They start again when they are needed. Gives how many ended.
    pub async fn reload(&self, root: Option<&Path>) -> usize {
        self.shared.detector.reload();
        let mut ended = 0;
        for (_, slot) in self.shared.all(root) {
            let server = slot.running.lock().await.take();
            *slot.past() = Past::default();
            // Whoever asks it something right now is told that it has ended.
            if let Some(server) = server {
                server.stop().await;
                ended += 1;
            }
        }
        ended
    }
}

impl Supervisor {
    /// Ends the servers that no other run has, politely, and waits for that. Whatever else goes on in this run's name ends
    /// as well.
    pub async fn shut_down(&self) {
        let mut tasks = std::mem::take(&mut *self.background.tasks());
        tasks.shutdown().await;
        let slots: Vec<Arc<Slot>> = self.shared.slots().drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            if let Some(slot) = Arc::into_inner(slot)
                && let Some(server) = slot.running.into_inner()
            {
                server.stop().await;
            }
        }
    }
}

impl Shared {
    pub(crate) async fn for_file(&self, path: &Path) -> Vec<Choice> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut choices: Vec<Choice> = Vec::new();
        for entry in self.catalog.for_file(&name) {
            let spec = entry.spec();
            let better = choices.iter().find(|choice| {
                choice.usable.is_ok() && spec.after.iter().any(|id| id == choice.entry.id())
            });
            let mut found = None;
            let usable = if let Some(better) = better {
                Err(format!("{} serves the file", better.entry.spec().name))
            } else if let Some(marker) = entry.unless().and_then(|unless| {
                let detection = self.detector.detect(unless, path);
                let marked = detection.root().map(Path::to_owned);
                marked.or_else(|| self.marked_above(spec))
            }) {
                Err(self.kept_away(spec, &marker))
            } else {
                let detection = self.detector.check(entry.candidate(), path).await;
                found = Some(detection.clone());
                let what = format!(
                    "{}, which runs code of the project, is not started",
                    spec.name
                );
                match (detection.usable(), self.trust.check(what)) {
                    (Some(_), Err(untrusted)) if spec.trusted => Err(untrusted.to_string()),
                    (Some(usable), _) => Ok(usable),
                    (None, _) => Err(format!("{detection}; to get it: {}", spec.install)),
                }
            };
            let entry = Arc::clone(entry);
            choices.push(Choice {
                entry,
                usable,
                found,
            });
        }
        choices
    }

    /// A folder above the workspace with something in it that keeps a server away where there is no trust: the workspace
    /// may be a part of a checkout. What is in the user's home is the user's.
    fn marked_above(&self, spec: &ServerSpec) -> Option<PathBuf> {
        if self.trust.is_trusted() || spec.untrusted.is_none() {
            return None;
        }
        let home = self.surroundings.environment.get("HOME").map(Path::new);
        let mut above = self.workspace.ancestors().skip(1);
        let has_any = |folder: &Path| spec.unless.iter().any(|name| folder.join(name).exists());
        let found = above.find(|folder| Some(*folder) != home && has_any(folder));
        found.map(Path::to_owned)
    }

    /// Why a server is not for a file below a folder with a marker that keeps it away.
    fn kept_away(&self, spec: &ServerSpec, folder: &Path) -> String {
        let marked = folder.display();
        if spec.untrusted.is_none() {
            return format!("another server is for {marked}");
        }
        let what = format!(
            "{} is not started where {marked} has any of {}",
            spec.name,
            spec.unless.join(", ")
        );
        match self.trust.check(what) {
            Err(untrusted) => untrusted.to_string(),
            Ok(()) => format!("another server is for {marked}"),
        }
    }

    pub(crate) async fn server(&self, choice: &Choice) -> Result<Arc<Server>, Error> {
        let entry = &choice.entry;
        let not_started = |why: String| {
            let server = entry.spec().name.clone();
            Error::new(ErrorKind::NotStarted { server, why })
        };
        let usable = choice
            .usable
            .as_ref()
            .map_err(|why| not_started(why.clone()))?;
        let slot = self.slot(entry, usable);
        let mut running = slot.running.lock().await;
        if let Some(server) = &*running {
            match server.ended().await {
                None => {
                    slot.use_now();
                    return Ok(Arc::clone(server));
                }
                Some(words) => {
                    slot.past().died(words);
                    *running = None;
                }
            }
        }
        // With the slot held, so that all who want it wait for the same start.
        let wait = slot.past().wait().map_err(not_started)?;
        tokio::time::sleep(wait).await;
        slot.past().starts += 1;
        match Server::start(entry, usable, &self.surroundings).await {
            Ok(server) => {
                let server = Arc::new(server);
                *running = Some(Arc::clone(&server));
                slot.use_now();
                slot.end_when_idle();
                Ok(server)
            }
            Err(error) => {
                slot.past().died(error.to_string());
                Err(error)
            }
        }
    }

    /// The server, if it runs and is not just being started.
    pub(crate) fn running(&self, choice: &Choice) -> Option<Arc<Server>> {
        let usable = choice.usable.as_ref().ok()?;
        let slot = self.slot(&choice.entry, usable);
        let running = slot.running.try_lock().ok()?.clone();
        running.filter(|server| server.client().closed().is_none())
    }

    fn slot(&self, entry: &Arc<Entry>, usable: &Usable) -> Arc<Slot> {
        let key = (entry.id().to_owned(), usable.root().to_owned());
        let mut slots = self.slots();
        let slot = slots.entry(key).or_insert_with(|| {
            let trusted = self.trust.is_trusted();
            self.pool.slot(entry, usable, &self.surroundings, trusted)
        });
        Arc::clone(slot)
    }

    /// The places of the servers that this run has asked for.
    fn all(&self, root: Option<&Path>) -> Vec<(SlotKey, Arc<Slot>)> {
        let slots = self.slots();
        let wanted = slots
            .iter()
            .filter(|(key, _)| root.is_none_or(|root| key.1 == root));
        wanted
            .map(|(key, slot)| (key.clone(), Arc::clone(slot)))
            .collect()
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SlotKey, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
