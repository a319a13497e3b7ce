//! The servers of a workspace: which are for a file, started when they are first needed, and again when they died.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terret_launch::{Command, Detector, Enclosure, Environment, Trust, Usable};
use tokio::task::JoinSet;

use crate::catalog::{Catalog, Entry};
use crate::checks::Checkers;
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
    checkers: Checkers,
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

    /// The checkers of whole projects that are known: those that come with Terret if nothing is said.
    #[must_use]
    pub fn checkers(mut self, checkers: Checkers) -> Self {
        self.checkers = checkers;
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
    checkers: Checkers,
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
    /// The folder of the marker, whether the server can be used or not.
    marked: Option<PathBuf>,
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

    /// The folder with the marker that makes it a server for the file, whether it can be used or not.
    #[must_use]
    pub fn marked(&self) -> Option<&Path> {
        self.marked.as_deref()
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
        /// How many bytes of memory it and what it has started hold, if the system tells.
        memory: Option<u64>,
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
                memory,
            } => {
                write!(f, "running, process {process}, documents open: {documents}")?;
                if let Some(memory) = memory {
                    write!(f, ", {} MiB", memory >> 20)?;
                }
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
        let detector = Detector::new(&workspace, environment.clone())
            .trust(options.trust.clone())
            .findings(options.pool.findings());
        Self {
            shared: Arc::new(Shared {
                workspace,
                catalog: options.catalog.unwrap_or_else(Catalog::shipped),
                checkers: options.checkers,
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

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// The servers for a file, the one to ask first first, usable or not. Runs the probes of those that have one.
    pub async fn for_file(&self, path: &Path) -> Vec<Choice> {
        self.shared.for_file(path).await
    }

    /// All servers that are known, as they are for a file in the workspace's folder. Starts none, and runs the probes of
    /// those that have one.
    pub async fn survey(&self) -> Vec<Choice> {
        let entries = self.shared.catalog.entries().iter();
        let file = self.shared.workspace.join("any");
        self.shared.choose(entries, &file).await
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
            let state = match slot.running.try_lock() {
                Err(_) => State::Starting,
                Ok(running) => match &*running {
                    None => State::Down {
                        why: slot.past().last_words.clone().unwrap_or_default(),
                    },
                    Some(server) => {
                        let client = server.client();
                        name = client.name().to_owned();
                        if let Some(version) = client.version() {
                            name += &format!(" {version}");
                        }
                        match server.ended().await {
                            Some(why) => State::Down { why },
                            None => State::Running {
                                process: server.process(),
                                documents: client.open_documents().await,
                                task: client.task(),
                                memory: server.memory().await,
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
            });
        }
        all.sort_by(|a, b| (&a.root, &a.id).cmp(&(&b.root, &b.id)));
        all
    }

    /// The error with the last words of its server, if it is about one that has ended.
    pub(crate) async fn explained(&self, error: Error) -> Error {
        let ErrorKind::Ended { server: name, .. } = error.kind() else {
            return error;
        };
        for (_, slot) in self.shared.all(None) {
            let server = slot.running.lock().await.clone();
            if let Some(server) = server.filter(|server| server.client().name() == name)
                && let Some(why) = server.ended().await
            {
                let server = name.clone();
                return Error::new(ErrorKind::Ended { server, why });
            }
        }
        error
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
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(crate) fn checkers(&self) -> &Checkers {
        &self.checkers
    }

    pub(crate) fn detector(&self) -> &Detector {
        &self.detector
    }

    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// A program, to be run where the servers are.
    pub(crate) fn command(&self, program: &Path, cwd: &Path) -> Command {
        let Surroundings {
            environment,
            enclosure,
        } = &self.surroundings;
        let command = Command::new(program, cwd, environment);
        match enclosure {
            Some(enclosure) => command.enclosed_in(Arc::clone(enclosure)),
            None => command,
        }
    }

    pub(crate) async fn for_file(&self, path: &Path) -> Vec<Choice> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.choose(self.catalog.for_file(&name), path).await
    }

    async fn choose(&self, entries: impl Iterator<Item = &Arc<Entry>>, path: &Path) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        for entry in entries {
            let spec = entry.spec();
            let better = choices.iter().find(|choice| {
                choice.usable.is_ok() && spec.after.iter().any(|id| id == choice.entry.id())
            });
            let mut marked = None;
            let usable = if let Some(better) = better {
                Err(format!("{} serves the file", better.entry.spec().name))
            } else if let Some(marker) = entry.unless().and_then(|unless| {
                let detection = self.detector.detect(unless, path);
                detection.root().map(Path::to_owned)
            }) {
                Err(format!("another server is for {}", marker.display()))
            } else {
                let detection = self.detector.check(entry.candidate(), path).await;
                marked = detection.root().map(Path::to_owned);
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
                marked,
            });
        }
        choices
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
                    let documents = server.client().recent().await;
                    let mut past = slot.past();
                    past.died(words);
                    past.documents = documents;
                    drop(past);
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
                let documents = std::mem::take(&mut slot.past().documents);
                for path in documents.iter().rev() {
                    // A file that is gone meanwhile is not missed.
                    let _ = server.client().open(path).await;
                }
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
