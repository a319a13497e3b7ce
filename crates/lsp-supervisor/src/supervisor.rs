//! The servers of a workspace: which are for a file, started when they are first needed, and again when they died.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terret_launch::{Detector, Enclosure, Environment, Trust, Usable};
use tokio::time::Instant;

use crate::catalog::{Catalog, Entry};
use crate::error::{Error, ErrorKind};
use crate::server::{Server, Surroundings};

/// So many deaths in [`SHORT`] are too many.
const MOST_DEATHS: usize = 5;
/// The time in which deaths count.
const SHORT: Duration = Duration::from_secs(180);
/// How long it takes until a server that died is started again: so long, and twice as long each time.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// How a supervisor works; the defaults suit a library whose host has opened a workspace of its own.
#[derive(Clone, Debug, Default)]
pub struct Options {
    catalog: Option<Catalog>,
    environment: Option<Environment>,
    trust: Trust,
    enclosure: Option<Arc<dyn Enclosure>>,
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
}

/// The servers of a workspace. Cheap to clone; the last clone that is dropped kills them.
#[derive(Clone, Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    workspace: PathBuf,
    catalog: Catalog,
    detector: Detector,
    trust: Trust,
    surroundings: Surroundings,
    slots: Mutex<HashMap<SlotKey, Arc<Slot>>>,
}

type SlotKey = (String, PathBuf);

/// The place of a server: at most one runs there.
#[derive(Debug)]
struct Slot {
    /// Held while it is started, so that all who want it wait for one start.
    running: tokio::sync::Mutex<Option<Arc<Server>>>,
    past: Mutex<Past>,
}

/// What became of the servers that ran in a slot.
#[derive(Debug, Default)]
struct Past {
    deaths: Vec<Instant>,
    /// It died too often, and is not started again by itself.
    stays_down: bool,
    starts: usize,
    last_words: Option<String>,
    /// What the last one had open.
    documents: Vec<PathBuf>,
}

/// A server that is for a file, if it can be.
#[derive(Clone, Debug)]
pub struct Choice {
    entry: Arc<Entry>,
    usable: Result<Usable, String>,
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
        Self {
            shared: Arc::new(Shared {
                workspace,
                catalog: options.catalog.unwrap_or_else(Catalog::shipped),
                detector,
                trust: options.trust,
                surroundings: Surroundings {
                    environment,
                    enclosure: options.enclosure,
                },
                slots: Mutex::default(),
            }),
        }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.shared.workspace
    }

    /// The servers that are for a file, the one to ask first first, usable or not. Runs the probes of those that have one.
    pub async fn for_file(&self, path: &Path) -> Vec<Choice> {
        let shared = &*self.shared;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut choices: Vec<Choice> = Vec::new();
        for entry in shared.catalog.for_file(&name) {
            let spec = entry.spec();
            let better = choices.iter().find(|choice| {
                choice.usable.is_ok() && spec.after.iter().any(|id| id == choice.entry.id())
            });
            let usable = if let Some(better) = better {
                Err(format!("{} serves the file", better.entry.spec().name))
            } else if let Some(marker) = entry.unless().and_then(|unless| {
                shared
                    .detector
                    .detect(unless, path)
                    .root()
                    .map(Path::to_owned)
            }) {
                Err(format!("another server is for {}", marker.display()))
            } else {
                let detection = shared.detector.check(entry.candidate(), path).await;
                let what = format!(
                    "{}, which runs code of the project, is not started",
                    spec.name
                );
                match (detection.usable(), shared.trust.check(what)) {
                    (Some(_), Err(untrusted)) if spec.trusted => Err(untrusted.to_string()),
                    (Some(usable), _) => Ok(usable),
                    (None, _) => Err(format!("{detection}; to get it: {}", spec.install)),
                }
            };
            let entry = Arc::new(entry.clone());
            choices.push(Choice { entry, usable });
        }
        choices
    }

    /// The server, started if it does not run. All who want it at once wait for one start. Safe to cancel: a start that
    /// nobody waits for ends.
    ///
    /// # Errors
    ///
    /// If it cannot be used, does not start, or has died too often.
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
        let key = (entry.id().to_owned(), usable.root().to_owned());
        let slot = Arc::clone(self.slots().entry(key).or_insert_with(|| {
            Arc::new(Slot {
                running: tokio::sync::Mutex::default(),
                past: Mutex::default(),
            })
        }));
        let mut running = slot.running.lock().await;
        if let Some(server) = &*running {
            match server.ended().await {
                None => return Ok(Arc::clone(server)),
                Some(words) => {
                    let documents = server.client().documents().await;
                    let mut past = slot.past();
                    past.died(words);
                    past.documents = documents;
                    *running = None;
                }
            }
        }
        // With the slot held, so that all who want it wait for the same start.
        let wait = slot.past().wait().map_err(not_started)?;
        tokio::time::sleep(wait).await;
        slot.past().starts += 1;
        match Server::start(entry, usable, &self.shared.surroundings).await {
            Ok(server) => {
                let server = Arc::new(server);
                *running = Some(Arc::clone(&server));
                let documents = std::mem::take(&mut slot.past().documents);
                for path in documents {
                    // A file that is gone meanwhile is not missed.
                    let _ = server.client().open(&path).await;
                }
                Ok(server)
            }
            Err(error) => {
                slot.past().died(error.to_string());
                Err(error)
            }
        }
    }

    /// What there is to say about each server that was started. Starts nothing.
    pub async fn status(&self) -> Vec<Status> {
        let slots: Vec<(SlotKey, Arc<Slot>)> = self
            .slots()
            .iter()
            .map(|(key, slot)| (key.clone(), Arc::clone(slot)))
            .collect();
        let mut all = Vec::new();
        for ((id, root), slot) in slots {
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
        let slots: Vec<Arc<Slot>> = self.slots().values().map(Arc::clone).collect();
        for slot in slots {
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
        let slots: Vec<Arc<Slot>> = self.slots().values().map(Arc::clone).collect();
        let mut all = Vec::new();
        for slot in slots {
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

    /// Ends the servers of a root, or all, and forgets how often they died and what was detected. They start again when
    /// they are needed. Gives how many ended.
    pub async fn reload(&self, root: Option<&Path>) -> usize {
        self.shared.detector.reload();
        let chosen: Vec<Arc<Slot>> = {
            let mut slots = self.slots();
            let wanted = |key: &SlotKey| root.is_none_or(|root| key.1 == root);
            let keys: Vec<SlotKey> = slots.keys().filter(|key| wanted(key)).cloned().collect();
            keys.iter().filter_map(|key| slots.remove(key)).collect()
        };
        let mut ended = 0;
        for slot in chosen {
            let Some(server) = slot.running.lock().await.take() else {
                continue;
            };
            ended += 1;
            match Arc::try_unwrap(server) {
                Ok(server) => server.stop().await,
                // Whoever asks it something right now is told that it has ended, and it is killed when they all are.
                Err(server) => server.client().close(),
            }
        }
        ended
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SlotKey, Arc<Slot>>> {
        let slots = self.shared.slots.lock();
        slots.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Past {
    fn died(&mut self, words: String) {
        self.deaths.retain(|death| death.elapsed() < SHORT);
        self.deaths.push(Instant::now());
        self.last_words = Some(words);
        self.stays_down |= self.deaths.len() >= MOST_DEATHS;
    }

    /// How long to wait until it is started again: not at all for the first time, and then longer each time.
    ///
    /// # Errors
    ///
    /// If it stays down: why.
    fn wait(&self) -> Result<Duration, String> {
        if self.stays_down {
            let minutes = SHORT.as_secs() / 60;
            let words = self.last_words.as_deref().unwrap_or_default();
            return Err(format!(
                "it died {MOST_DEATHS} times in {minutes} minutes and stays down until `reload`: {words}"
            ));
        }
        let count = u32::try_from(self.deaths.len()).unwrap_or(u32::MAX);
        Ok(match (self.deaths.last(), count.checked_sub(2)) {
            (Some(last), Some(more)) => {
                let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(more));
                delay.saturating_sub(last.elapsed())
            }
            _ => Duration::ZERO,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_dies_again_and_again_stays_down() {
        let mut past = Past::default();
        let seconds = |past: &Past| past.wait().map(|wait| wait.as_secs());
        assert_eq!(seconds(&past), Ok(0));
        past.died("boom".to_owned());
        assert_eq!(seconds(&past), Ok(0), "once at once");
        for wait in [1, 2, 4] {
            past.died("boom".to_owned());
            assert_eq!(seconds(&past), Ok(wait));
            tokio::time::advance(Duration::from_secs(wait)).await;
            assert_eq!(seconds(&past), Ok(0));
        }
        past.died("boom".to_owned());
        assert_eq!(
            past.wait().expect_err("too often"),
            "it died 5 times in 3 minutes and stays down until `reload`: boom"
        );
        tokio::time::advance(SHORT * 2).await;
        assert!(past.wait().is_err(), "until somebody says so");
        // Deaths that are long ago count for nothing.
        let mut past = Past::default();
        for _ in 0..MOST_DEATHS * 2 {
            past.died("boom".to_owned());
            tokio::time::advance(SHORT / 2).await;
        }
        assert_eq!(seconds(&past), Ok(0));
    }
}
