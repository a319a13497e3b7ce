//! All that a server has to say about a version of a document, and how it is known that it is all.
//!
//! Servers differ in this more than in anything else; the proof of each is in its data (`diagnostics.proof`). What is
//! not proven to be all is never taken for "nothing is wrong".

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use crate::catalog::Proof;
use crate::client::{Client, Work};
use crate::diagnostic::Diagnostic;
use crate::documents::Open;
use crate::error::{Error, ErrorKind};
use crate::inbound::State;

/// How long a server may take to read a document.
const READ: Duration = Duration::from_secs(1);
/// The command by which a client may ask tsserver itself.
const TSSERVER: &str = "typescript.tsserverRequest";

/// What a server says about a document.
#[derive(Clone, Debug)]
pub(crate) struct Diagnosed {
    pub(crate) items: Vec<Diagnostic>,
    /// What is not known yet; absent if that is all.
    pub(crate) pending: Option<String>,
}

impl Diagnosed {
    fn complete(items: Vec<Diagnostic>) -> Self {
        Self {
            items,
            pending: None,
        }
    }
}

/// What was known before a document was opened or changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    work: Work,
    /// How often the server has pushed something for the file.
    pushes: u64,
}

impl Client {
    /// What is known now, to be taken before a document is opened or changed.
    pub(crate) fn before(&self, path: &Path) -> Before {
        let work = self.work();
        let state = self.heard().state();
        let published = state.published.get(path);
        Before {
            work,
            pushes: published.map_or(0, |published| published.count),
        }
    }

    /// All that the server has to say about a document as it is open, as far as it says so within the limit. Safe to
    /// cancel.
    pub(crate) async fn diagnose(
        &self,
        path: &Path,
        open: &Open,
        before: Before,
        limit: Duration,
    ) -> Result<Diagnosed, Error> {
        let until = Instant::now() + limit;
        let proof = self.entry().spec().diagnostics.proof;
        if proof == Proof::Pull && self.offers("textDocument/diagnostic") {
            match self.pull(path, open, limit).await {
                // Some declare it and do not have it.
                Err(error) if matches!(error.kind(), ErrorKind::Unsupported { .. }) => {}
                pulled => return pulled,
            }
        }
        if proof == Proof::Tsserver && self.offers_command(TSSERVER) {
            return self.ask_tsserver(path, limit).await;
        }
        if proof == Proof::Progress {
            self.settled(before.work, limit).await;
            let pushed = self.heard().state().pushed(path);
            return Ok(Diagnosed {
                pending: self.task(),
                items: pushed.unwrap_or_default(),
            });
        }
        self.wait_for_push(path, open, before, until).await
    }

    /// Asks about a document that may have been opened just now: some servers answer with nothing until they have read it.
    /// Then it is asked again, once the server has said something about the document by itself, or could have.
    pub(crate) async fn ask_about(
        &self,
        path: &Path,
        open: &Open,
        before: Before,
        (method, params): (&'static str, &Value),
        limit: Duration,
    ) -> Result<Value, Error> {
        let until = Instant::now() + limit;
        self.has_read(open, before, limit).await;
        let answer = self.ask(method, params, limit).await?;
        let is_empty = answer.is_null() || answer.as_array().is_some_and(Vec::is_empty);
        if !is_empty || !open.fresh {
            return Ok(answer);
        }
        let pushed = |state: &State| {
            let published = state.published.get(path)?;
            (published.count > before.pushes).then_some(())
        };
        let read = (Instant::now() + READ).min(until);
        let _ = timeout_at(read, self.heard().until(pushed)).await;
        let left = until.saturating_duration_since(Instant::now());
        self.ask(method, params, left).await
    }

    /// Waits until the server has done what opening or changing a document brings, if it tells.
    pub(crate) async fn has_read(&self, open: &Open, before: Before, limit: Duration) {
        if open.fresh {
            self.settled(before.work, limit).await;
        }
    }

    async fn pull(&self, path: &Path, open: &Open, limit: Duration) -> Result<Diagnosed, Error> {
        let method = "textDocument/diagnostic";
        let mut params = json!({ "textDocument": { "uri": open.uri } });
        let options = self.heard().state().offered.options(method).cloned();
        if let Some(Value::String(identifier)) =
            options.as_ref().map(|options| &options["identifier"])
        {
            params["identifier"] = json!(identifier);
        }
        let answer = self.ask(method, &params, limit).await?;
        let mut diagnosed = Diagnosed::complete(Diagnostic::read_all(&answer["items"]));
        let spec = &self.entry().spec().diagnostics;
        // Some answer with nothing, and push what they find.
        if diagnosed.items.is_empty() && spec.check.is_none() {
            let state = self.heard().state();
            let published = state.published.get(path);
            let of_text = published.filter(|published| {
                published.count > open.pushes
                    && published
                        .version
                        .is_none_or(|version| version >= open.version)
            });
            diagnosed.items = of_text.map_or_else(Vec::new, |published| published.items.clone());
        }
        // What a check on save finds is pushed, by the same server, and tied to the save and not to the text.
        if let Some(check) = &spec.check {
            let state = self.heard().state();
            let pushed = state.pushed(path).unwrap_or_default();
            let is_check = |item: &Diagnostic| {
                let source = item.source.as_ref();
                source.is_some_and(|source| spec.check_sources.contains(source))
            };
            diagnosed.items.extend(pushed.into_iter().filter(is_check));
            diagnosed.pending = state.task_of(check);
        }
        Ok(diagnosed)
    }

    fn offers_command(&self, command: &str) -> bool {
        let state = self.heard().state();
        let options = state.offered.options("workspace/executeCommand");
        let commands = options.and_then(|options| options["commands"].as_array());
        commands.is_some_and(|commands| commands.iter().any(|known| known == command))
    }

    /// Asks tsserver itself, which answers when it knows, also that nothing is wrong: what it pushes has no version, and
    /// it pushes nothing where nothing changes.
    async fn ask_tsserver(&self, path: &Path, limit: Duration) -> Result<Diagnosed, Error> {
        let until = Instant::now() + limit;
        let mut items = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let left = until.saturating_duration_since(Instant::now());
            let arguments = json!([command, { "file": path.to_string_lossy() }]);
            let params = json!({ "command": TSSERVER, "arguments": arguments });
            let answer = self.ask("workspace/executeCommand", &params, left).await?;
            let found = answer["body"].as_array().into_iter().flatten();
            items.extend(found.filter_map(of_tsserver));
        }
        Ok(Diagnosed::complete(items))
    }

    /// Waits for what the server pushes by itself: for the version, where it names one, and then for a silence.
    async fn wait_for_push(
        &self,
        path: &Path,
        open: &Open,
        before: Before,
        until: Instant,
    ) -> Result<Diagnosed, Error> {
        let spec = &self.entry().spec().diagnostics;
        let arrived = |state: &State| {
            let published = state.published.get(path)?;
            let is_of_version = match published.version {
                Some(version) => version >= open.version,
                None => !spec.versioned,
            };
            // What was said of another text is not known of this one.
            (published.count > open.pushes && is_of_version).then_some(published.count)
        };
        let is_known = arrived(&self.heard().state()).is_some();
        if is_known && !open.fresh {
            let pushed = self.heard().state().pushed(path);
            return Ok(Diagnosed::complete(pushed.unwrap_or_default()));
        }
        let name = self.name();
        let mut count = match timeout_at(until, self.hears(arrived)).await {
            Ok(count) => count?,
            Err(_) => {
                return Ok(Diagnosed {
                    items: Vec::new(),
                    pending: Some(format!("{name} has said nothing about this text yet")),
                });
            }
        };
        let cold = spec.cold_settle_ms.filter(|_| before.pushes == 0);
        let settle = Duration::from_millis(cold.unwrap_or(spec.settle_ms));
        loop {
            let more = self
                .heard()
                .until(|state| arrived(state).filter(|now| *now > count));
            match timeout(
                settle.min(until.saturating_duration_since(Instant::now())),
                more,
            )
            .await
            {
                Ok(now) => count = now,
                Err(_) => break,
            }
        }
        let pushed = self.heard().state().pushed(path);
        Ok(Diagnosed::complete(pushed.unwrap_or_default()))
    }
}

/// A diagnostic as tsserver has it, with places from 1.
fn of_tsserver(value: &Value) -> Option<Diagnostic> {
    let place = |place: &Value| {
        let number = |name: &str| place[name].as_u64().map(|number| number.saturating_sub(1));
        json!({ "line": number("line"), "character": number("offset") })
    };
    let severity = match value["category"].as_str() {
        Some("warning") => 2,
        Some("suggestion") => 4,
        Some("message") => 3,
        _ => 1,
    };
    let message = match &value["text"] {
        Value::String(text) => text,
        _ => value["message"].as_str()?,
    };
    Diagnostic::read(&json!({
        "range": { "start": place(&value["start"]), "end": place(&value["end"]) },
        "severity": severity,
        "code": value["code"],
        "source": "typescript",
        "message": message,
    }))
}
