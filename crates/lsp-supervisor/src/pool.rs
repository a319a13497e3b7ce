//! The places of servers: at most one server runs in each, and several runs can share it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use terret_launch::{Environment, Findings, Usable};
use tokio::time::Instant;

use crate::catalog::Entry;
use crate::server::{Server, Surroundings};

/// So many deaths in [`SHORT`] are too many.
const MOST_DEATHS: usize = 5;
/// The time in which deaths count.
const SHORT: Duration = Duration::from_secs(180);
/// How long it takes until a server that died is started again: so long, and twice as long each time.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// A server that nobody has asked anything for so long is ended.
const IDLE: Duration = Duration::from_secs(20 * 60);

/// Servers that several runs share: a value that a host makes and gives to each of them
/// ([`Options::pool`](crate::Options::pool)).
///
/// Two runs have the same server where program, arguments, root, environment, settings and trust are the same. It dies
/// with the last of the runs that have it; the pool itself keeps none alive. Cheap to clone; a clone is the same pool.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    slots: Arc<Mutex<HashMap<Key, Weak<Slot>>>>,
    findings: Findings,
}

/// What two runs have to have alike to share a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    program: PathBuf,
    args: Vec<String>,
    root: PathBuf,
    environment: Environment,
    /// The initialization options and the settings.
    settings: String,
    trusted: bool,
    /// Servers in different enclosures are not the same.
    enclosure: Option<usize>,
}

impl Pool {
    /// No servers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is installed, and where markers are: what one run has found another need not look for.
    pub(crate) fn findings(&self) -> Findings {
        self.findings.clone()
    }

    /// The place of a server, which is that of another run where all is the same.
    pub(crate) fn slot(
        &self,
        entry: &Entry,
        usable: &Usable,
        surroundings: &Surroundings,
        trusted: bool,
    ) -> Arc<Slot> {
        let spec = entry.spec();
        let settings = serde_json::json!([entry.id(), spec.initialization, spec.settings]);
        let enclosure = surroundings.enclosure.as_ref();
        let key = Key {
            program: usable.program().to_owned(),
            args: spec.args.clone(),
            root: usable.root().to_owned(),
            environment: surroundings.environment.clone(),
            settings: settings.to_string(),
            trusted,
            enclosure: enclosure.map(|enclosure| Arc::as_ptr(enclosure).addr()),
        };
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(&key).and_then(Weak::upgrade) {
            return slot;
        }
        slots.retain(|_, slot| slot.strong_count() > 0);
        let slot = Arc::new(Slot::default());
        slots.insert(key, Arc::downgrade(&slot));
        slot
    }
}

/// The place of a server: at most one runs there.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Held while it is started, so that all who want it wait for one start.
    pub(crate) running: tokio::sync::Mutex<Option<Arc<Server>>>,
    past: Mutex<Past>,
    used: Mutex<Option<Instant>>,
}

/// What became of the servers that ran in a slot.
#[derive(Debug, Default)]
pub(crate) struct Past {
    deaths: Vec<Instant>,
    /// It died too often, and is not started again by itself.
    stays_down: bool,
    pub(crate) starts: usize,
    pub(crate) last_words: Option<String>,
    /// What the last one had open.
    pub(crate) documents: Vec<PathBuf>,
}

impl Slot {
    pub(crate) fn use_now(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn used(&self) -> Option<Instant> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server, which has just started, once nobody has asked it anything for long.
    pub(crate) fn end_when_idle(self: &Arc<Self>) {
        let slot = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut wait = IDLE;
            loop {
                tokio::time::sleep(wait).await;
                let Some(slot) = slot.upgrade() else { return };
                let idle = slot.used().map_or(IDLE, |used| used.elapsed());
                wait = IDLE.saturating_sub(idle);
                if !wait.is_zero() {
                    continue;
                }
                let mut running = slot.running.lock().await;
                match running.take() {
                    // Somebody has it in hand still.
                    Some(server) if Arc::strong_count(&server) > 1 => {
                        *running = Some(server);
                        wait = IDLE;
                    }
                    Some(server) => return server.stop().await,
                    None => return,
                }
            }
        });
    }

    pub(crate) fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Past {
    pub(crate) fn died(&mut self, words: String) {
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
    pub(crate) fn wait(&self) -> Result<Duration, String> {
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
