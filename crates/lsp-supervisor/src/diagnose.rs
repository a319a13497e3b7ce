//! All that a server has to say about a version of a document, and how it is known that it is all.
//!
//! Servers differ in this more than in anything else; the proof of each is in its data (`diagnostics.proof`). What is
//! not proven to be all is never taken for "nothing is wrong".

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::catalog::Proof;
use crate::client::Client;
use crate::diagnostic::Diagnostic;
use crate::documents::Open;
use crate::error::{Error, ErrorKind};
use crate::inbound::State;

/// How long a server may take to read a document.
const READ: Duration = Duration::from_secs(1);
/// How long a server that is to be asked has to say that it can be.
const REGISTER: Duration = Duration::from_secs(5);
/// How long a check has to begin once a document is saved.
const GRACE: Duration = Duration::from_millis(500);
/// The command by which a client may ask tsserver itself.
const TSSERVER: &str = "typescript.tsserverRequest";

/// What one voice of a server says about a document. A check that a server runs on save is a voice of its own: it is
/// done later, and says what the server itself does not know.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The voice, which a ledger tells apart: the id of the server, or that of its check.
    pub(crate) by: String,
    pub(crate) items: Vec<Diagnostic>,
    /// What is not known yet; absent if that is all.
    pub(crate) pending: Option<String>,
}

impl Client {
    /// All that the server itself has to say about a document as it is open, as far as it says so within the limit. Safe
    /// to cancel.
    pub(crate) async fn diagnose(
        &self,
        path: &Path,
        open: &Open,
        limit: Duration,
    ) -> Result<Said, Error> {
        let until = Instant::now() + limit;
        let proof = self.entry().spec().diagnostics.proof;
        if proof == Proof::Pull && self.offers_to_be_asked(open, until).await {
            match self.pull(path, open, limit).await {
                // Some declare it and do not have it.
                Err(error) if matches!(error.kind(), ErrorKind::Unsupported { .. }) => {}
                pulled => return Ok(self.said(pulled?, None)),
            }
        }
        if proof == Proof::Tsserver && self.offers_command(TSSERVER) {
            return Ok(self.said(self.ask_tsserver(path, limit).await?, None));
        }
        if proof == Proof::Progress {
            self.settled(open, limit).await;
            // Work that was begun for an older text may have ended there; the answer to a question about this one comes once
            // its own has begun.
            loop {
                let begun = self.heard().state().begun;
                self.barrier(open, until).await;
                let over = |state: &State| state.task().is_none().then_some(());
                let _ = timeout_at(until, self.hears(over)).await;
                if self.heard().state().begun == begun || Instant::now() >= until {
                    break;
                }
            }
            let pushed = self.heard().state().pushed(path);
            return Ok(self.said(pushed.unwrap_or_default().to_vec(), self.task()));
        }
        self.wait_for_push(path, open, until).await
    }

    /// What the check that the server runs on save has found in a document, once it has ended; absent where there is
    /// none. Safe to cancel.
    pub(crate) async fn checked(&self, path: &Path, open: &Open, limit: Duration) -> Option<Said> {
        let spec = &self.entry().spec().diagnostics;
        let token = spec.check.as_deref()?;
        let until = Instant::now() + limit;
        let begins = |state: &State| {
            let is_saved = open
                .saved
                .is_some_and(|told| state.checks_begun == told.checks);
            let is_due = is_saved || state.checks_begun == 0;
            (!is_due || state.closed.is_some()).then_some(())
        };
        // One that has nothing to look at does not begin.
        let since = open.saved.map_or(open.told.at, |told| told.at);
        let _ = timeout_at((since + GRACE).min(until), self.heard().until(begins)).await;
        let ends = |state: &State| {
            let is_over = state.task_of(token).is_none() || state.closed.is_some();
            is_over.then_some(state.checks_begun)
        };
        // What it found may be on its way still, and a check that was asked for while another ran begins after that: the
        // answer to a question comes behind both.
        while let Ok(begun) = timeout_at(until, self.heard().until(ends)).await {
            self.barrier(open, until).await;
            let state = self.heard().state();
            if state.task_of(token).is_none() && state.checks_begun == begun {
                break;
            }
        }
        let state = self.heard().state();
        let is_check = |item: &Diagnostic| {
            let source = item.source.as_ref();
            source.is_some_and(|source| spec.check_sources.contains(source))
        };
        let pushed = state.pushed(path).unwrap_or_default();
        Some(Said {
            by: format!("{} {token}", self.entry().id()),
            items: pushed
                .iter()
                .filter(|item| is_check(item))
                .cloned()
                .collect(),
            pending: state.task_of(token),
        })
    }

    /// Asks something cheap, whose answer comes behind all that the server is about to send.
    pub(crate) async fn barrier(&self, open: &Open, until: Instant) {
        let params = json!({ "textDocument": { "uri": open.uri } });
        let methods = ["textDocument/diagnostic", "textDocument/documentSymbol"];
        if let Some(method) = methods.into_iter().find(|method| self.offers(method)) {
            let left = until.saturating_duration_since(Instant::now()).min(READ);
            let _ = self.ask(method, &params, left).await;
        }
    }

    fn said(&self, items: Vec<Diagnostic>, pending: Option<String>) -> Said {
        let by = self.entry().id().to_owned();
        Said { by, items, pending }
    }

    /// Asks about a document that may have been opened just now: some servers answer with nothing until they have read it.
    /// Then it is asked again, once the server has said something about the document by itself, or could have.
    pub(crate) async fn ask_about(
        &self,
        path: &Path,
        open: &Open,
        (method, params): (&'static str, &Value),
        limit: Duration,
    ) -> Result<Value, Error> {
        let until = Instant::now() + limit;
        self.settled(open, limit).await;
        let asked = Instant::now();
        let answer = self.ask(method, params, limit).await?;
        let is_empty = answer.is_null() || answer.as_array().is_some_and(Vec::is_empty);
        let read = (open.told.at + READ).min(until);
        if !is_empty || asked > read {
            return Ok(answer);
        }
        let pushed = |state: &State| {
            let published = state.published.get(path)?;
            (published.count > open.told.pushes).then_some(())
        };
        let _ = timeout_at(read, self.heard().until(pushed)).await;
        let left = until.saturating_duration_since(Instant::now());
        self.ask(method, params, left).await
    }

    /// Whether it can be asked what is wrong; some say so only after their start.
    async fn offers_to_be_asked(&self, open: &Open, until: Instant) -> bool {
        let method = "textDocument/diagnostic";
        let offers = |state: &State| state.offered.options(method).map(|_| ());
        let registered = (open.told.at + REGISTER).min(until);
        timeout_at(registered, self.heard().until(offers))
            .await
            .is_ok()
    }

    async fn pull(
        &self,
        path: &Path,
        open: &Open,
        limit: Duration,
    ) -> Result<Vec<Diagnostic>, Error> {
        let method = "textDocument/diagnostic";
        let mut params = json!({ "textDocument": { "uri": open.uri } });
        let options = self.heard().state().offered.options(method).cloned();
        if let Some(Value::String(identifier)) =
            options.as_ref().map(|options| &options["identifier"])
        {
            params["identifier"] = json!(identifier);
        }
        let answer = self.ask(method, &params, limit).await?;
        let items = Diagnostic::read_all(&answer["items"]);
        if !items.is_empty() || self.entry().spec().diagnostics.check.is_some() {
            return Ok(items);
        }
        // Some answer with nothing, and push what they find.
        let state = self.heard().state();
        let pushed = state.published.get(path).filter(|published| {
            let version = published.version;
            published.count > open.told.pushes
                && version.is_none_or(|version| version >= open.wanted)
        });
        Ok(pushed.map_or_else(Vec::new, |published| published.items.to_vec()))
    }

    fn offers_command(&self, command: &str) -> bool {
        let state = self.heard().state();
        let options = state.offered.options("workspace/executeCommand");
        let commands = options.and_then(|options| options["commands"].as_array());
        commands.is_some_and(|commands| commands.iter().any(|known| known == command))
    }

    /// Asks tsserver itself, which answers when it knows, also that nothing is wrong: what it pushes has no version, and
    /// it pushes nothing where nothing changes.
    async fn ask_tsserver(&self, path: &Path, limit: Duration) -> Result<Vec<Diagnostic>, Error> {
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
        Ok(items)
    }

    /// Waits for what the server pushes by itself: for the version, where it names one, and then for a silence.
    async fn wait_for_push(&self, path: &Path, open: &Open, until: Instant) -> Result<Said, Error> {
        let spec = &self.entry().spec().diagnostics;
        let cold = spec.cold_settle_ms.filter(|_| open.told.pushes == 0);
        let settle = Duration::from_millis(cold.unwrap_or(spec.settle_ms));
        let mut seen = 0;
        let mut quiet = until;
        loop {
            let more = |state: &State| {
                let published = state.published.get(path)?;
                let is_of_version = match published.version {
                    Some(version) => version >= open.wanted,
                    None => !spec.versioned && published.count > open.told.pushes,
                };
                let is_more = is_of_version && published.count > seen;
                is_more.then_some((published.count, published.at?))
            };
            let Ok(told) = timeout_at(quiet, self.hears(more)).await else {
                break;
            };
            let (count, at) = told?;
            seen = count;
            quiet = (at + settle).min(until);
        }
        if seen == 0 {
            let name = self.name();
            let pending = format!("{name} has said nothing about this text yet");
            return Ok(self.said(Vec::new(), Some(pending)));
        }
        let pushed = self.heard().state().pushed(path);
        Ok(self.said(pushed.unwrap_or_default().to_vec(), None))
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
