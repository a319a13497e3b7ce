//! A running server: its process, and the connection to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use terret_launch::{Child, Command, Enclosure, Environment, Input, Ladder, Output, Usable};

use crate::catalog::Entry;
use crate::client::Client;
use crate::error::{Error, ErrorKind};

/// How much of what it writes to its standard error is kept.
const WORDS: usize = 16 << 10;
/// How many lines of that are told.
const LAST_WORDS: usize = 12;
/// How long to wait for a program whose connection has ended to end itself, so that it can be told how.
const END: Duration = Duration::from_millis(500);

/// What servers are started with.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) environment: Environment,
    pub(crate) enclosure: Option<Arc<dyn Enclosure>>,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    process: u32,
    child: tokio::sync::Mutex<Child>,
}

impl Server {
    /// Starts a server and initializes it. Safe to cancel: the program is killed.
    pub(crate) async fn start(
        entry: &Arc<Entry>,
        usable: &Usable,
        surroundings: &Surroundings,
    ) -> Result<Self, Error> {
        let not_started = |why: String| {
            let server = entry.spec().name.clone();
            Error::new(ErrorKind::NotStarted { server, why })
        };
        let mut command = Command::new(usable.program(), usable.root(), &surroundings.environment)
            .args(&entry.spec().args)
            .stdin(Input::Piped)
            .stdout(Output::Piped)
            .stderr(Output::Drained(WORDS));
        if let Some(enclosure) = &surroundings.enclosure {
            command = command.enclosed_in(Arc::clone(enclosure));
        }
        let spawned = command.spawn().await;
        let mut child = spawned.map_err(|error| not_started(error.to_string()))?;
        let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
            return Err(not_started("it has no pipes".to_owned()));
        };
        let connect = Client::connect(stdout, stdin, Arc::clone(entry), usable.root());
        match connect.await {
            Ok(client) => Ok(Self {
                client,
                process: child.id(),
                child: tokio::sync::Mutex::new(child),
            }),
            // How it ended says more than that its output did.
            Err(error) if error.is_end() => {
                let _ = tokio::time::timeout(END, child.exited()).await;
                let words = child.last_words(LAST_WORDS);
                Err(not_started(words.unwrap_or_else(|| error.to_string())))
            }
            // That it ends now is no cause: its input has just been closed.
            Err(error) => {
                let said = child.stderr_tail().map(|tail| tail.lines(LAST_WORDS));
                Err(match (error.kind(), said.as_deref()) {
                    (ErrorKind::NotStarted { why, .. }, Some(said)) if !said.is_empty() => {
                        not_started(format!("{why}; its last words:\n{said}"))
                    }
                    _ => error,
                })
            }
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// How many bytes of memory it and what it has started hold, if the system tells.
    pub(crate) async fn memory(&self) -> Option<u64> {
        self.child.lock().await.memory()
    }

    /// Why it can answer no more, with its last words; absent while it can.
    pub(crate) async fn ended(&self) -> Option<String> {
        let closed = self.client.closed()?;
        let child = self.child.lock().await;
        let _ = tokio::time::timeout(END, child.exited()).await;
        Some(child.last_words(LAST_WORDS).unwrap_or(closed))
    }

    /// Ends it, politely if it can be.
    pub(crate) async fn stop(&self) {
        let ask = self.client.shut_down();
        // That nothing is left is the promise of the ladder; how it went is of no use to anybody here.
        let _ = self.child.lock().await.stop(ask, &Ladder::default()).await;
    }

    pub(crate) fn root(&self) -> &Path {
        self.client.root()
    }
}
