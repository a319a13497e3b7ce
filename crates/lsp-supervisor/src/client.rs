//! A connection to a server that has been initialized: questions, and what has to be right before one.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use terret_wire::{ErrorKind as WireError, Framing, JsonRpc, METHOD_NOT_FOUND, Options, Peer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};

use crate::capabilities;
use crate::catalog::{Entry, Proof, Ready};
use crate::documents::{self, Documents, Open, Told};
use crate::error::{Error, ErrorKind};
use crate::inbound::{Heard, Inbound, State};
use crate::position::Encoding;
use crate::uri;

/// The content has changed while the server thought (LSP).
const CONTENT_MODIFIED: i64 = -32801;
/// The server has cancelled, and wants to be asked again (LSP 3.17).
const SERVER_CANCELLED: i64 = -32802;
/// How long to wait before a question is asked again, each time.
const AGAIN: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(150),
    Duration::from_millis(500),
    Duration::from_secs(1),
];
/// How long it may take to prepare its end.
const SHUTDOWN: Duration = Duration::from_secs(2);
/// How long a server that tells of its work has to begin with it.
const GRACE: Duration = Duration::from_millis(500);
/// How long it has to tell of none until it is ready.
const QUIET: Duration = Duration::from_millis(250);

/// A connection to an initialized server.
#[derive(Debug)]
pub(crate) struct Client {
    peer: Peer,
    heard: Arc<Heard>,
    entry: Arc<Entry>,
    root: PathBuf,
    /// What the server calls itself, which its program's name need not tell.
    name: String,
    version: Option<String>,
    encoding: Encoding,
    started: Instant,
    /// Whether it has read its project once.
    was_ready: AtomicBool,
    /// When its program was there, and how long after that it was ready first.
    begun: Instant,
    ready_after: OnceLock<Duration>,
    documents: Mutex<Documents>,
}

/// What happened to a file (LSP, `FileChangeType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEvent {
    Created = 1,
    Changed = 2,
    Deleted = 3,
}

impl Client {
    /// Connects, and initializes the server. Safe to cancel: the connection closes.
    pub(crate) async fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        entry: Arc<Entry>,
        root: &Path,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        let spec = entry.spec();
        let heard = Heard::new();
        let params = capabilities::initialize(&entry, root);
        let inbound = Inbound {
            heard: Arc::clone(&heard),
            settings: spec.settings.clone().unwrap_or_default(),
            accept: spec.accept.clone(),
            folders: params["workspaceFolders"].clone(),
        };
        let dialect = JsonRpc::new().cancel_by("$/cancelRequest", "id");
        let options = Options::new(Framing::ContentLength);
        let peer = Peer::start(reader, writer, dialect, inbound, options);
        let not_started = |why: String| {
            let server = spec.name.clone();
            Error::new(ErrorKind::NotStarted { server, why })
        };
        let answer = peer.request("initialize", &params, spec.start_limit());
        let answer: Value = answer
            .parse()
            .await
            .map_err(|error| not_started(error.to_string()))?;
        let mut state = heard.state();
        state.check.clone_from(&spec.diagnostics.check);
        state.offered.at_start(answer["capabilities"].clone());
        let encoding = state.offered.encoding(&answer);
        drop(state);
        let text = |name: &str| answer["serverInfo"][name].as_str().map(str::to_owned);
        let client = Self {
            name: text("name").unwrap_or_else(|| spec.name.clone()),
            // gopls has a whole document of JSON there.
            version: text("version").filter(|version| version.len() < 60),
            root: root.to_owned(),
            started: Instant::now(),
            was_ready: AtomicBool::new(false),
            begun,
            ready_after: OnceLock::new(),
            documents: Mutex::default(),
            encoding,
            entry,
            heard,
            peer,
        };
        client.notify("initialized", &json!({}))?;
        let params = json!({ "settings": client.entry.spec().settings });
        client.notify("workspace/didChangeConfiguration", &params)?;
        Ok(client)
    }

    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// Whether it has to be asked what is wrong with a document, and does not tell by itself.
    pub(crate) fn is_asked(&self) -> bool {
        match self.entry.spec().diagnostics.proof {
            Proof::Pull => self.offers("textDocument/diagnostic"),
            Proof::Tsserver => true,
            _ => false,
        }
    }

    /// How often it has pushed something for each file.
    pub(crate) fn pushes(&self) -> HashMap<PathBuf, u64> {
        let state = self.heard.state();
        let all = state.published.iter();
        all.map(|(path, published)| (path.clone(), published.count))
            .collect()
    }

    /// Waits until it has pushed something for a file more often than that, and no longer than this.
    pub(crate) async fn pushed_more(&self, path: &Path, count: u64, until: Instant) {
        let more = |state: &State| (state.published.get(path)?.count > count).then_some(());
        let _ = timeout_at(until, self.heard.until(more)).await;
    }

    /// Whether it offers a method.
    pub(crate) fn offers(&self, method: &str) -> bool {
        self.heard.state().offered.options(method).is_some()
    }

    /// Asks it to end. The connection is of no use then.
    pub(crate) fn shut_down(&self) -> impl Future<Output = ()> + Send + use<> {
        let peer = self.peer.clone();
        async move {
            let asked = peer.request("shutdown", &(), SHUTDOWN).await;
            if asked.is_ok() {
                // It may have ended already.
                let _ = peer.notify("exit", &());
                peer.finish().await;
            }
        }
    }

    /// How many documents it has open.
    pub(crate) async fn open_documents(&self) -> usize {
        self.documents.lock().await.len()
    }

    /// Why the connection has closed, if it has.
    pub(crate) fn closed(&self) -> Option<String> {
        let status = self.peer.status();
        status.closed.map(|closed| closed.to_string())
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) -> Result<(), Error> {
        self.peer
            .notify(method, params)
            .map_err(|error| self.failed(error))
    }

    /// Asks something that changes nothing, again where the server wants it. Safe to cancel: so is the question.
    ///
    /// # Errors
    ///
    /// Without asking, if the server does not offer it.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, Error> {
        if !self.offers(method) {
            return Err(self.unsupported(method));
        }
        let until = Instant::now() + limit;
        let mut waits = AGAIN.into_iter();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let error = match self.peer.request(method, params, left).parse().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let again = match error.kind() {
                WireError::Failed(failure) if failure.code == CONTENT_MODIFIED => true,
                WireError::Failed(failure) if failure.code == SERVER_CANCELLED => {
                    let data: Value = failure.data.parse().unwrap_or_default();
                    data["retriggerRequest"] != false
                }
                _ => false,
            };
            match waits.next().filter(|_| again) {
                Some(wait) if Instant::now() + wait < until => sleep(wait).await,
                _ => return Err(self.failed(error)),
            }
        }
    }

    /// What it says to a method that it does not offer.
    pub(crate) fn unsupported(&self, method: &str) -> Error {
        let state = self.heard.state();
        let offers = state.offered.methods().map(|method| format!("`{method}`"));
        Error::new(ErrorKind::Unsupported {
            server: self.name.clone(),
            method: method.to_owned(),
            offers: offers.collect(),
        })
    }

    fn failed(&self, error: terret_wire::Error) -> Error {
        let server = self.name.clone();
        Error::new(match error.kind() {
            WireError::Failed(failure) if failure.code == METHOD_NOT_FOUND => {
                return self.unsupported(error.method());
            }
            WireError::Failed(failure) => ErrorKind::Refused {
                server,
                why: failure.message.clone(),
            },
            WireError::TimedOut { after } => ErrorKind::TimedOut {
                server,
                method: error.method().to_owned(),
                after: *after,
                task: self.task(),
            },
            WireError::Closed(closed) => ErrorKind::Ended {
                server,
                why: closed.to_string(),
            },
            _ => ErrorKind::Refused {
                server,
                why: error.to_string(),
            },
        })
    }

    /// What it works on, if it tells.
    pub(crate) fn task(&self) -> Option<String> {
        self.heard.state().task()
    }

    /// Opens the document of a file, or brings it up to date; gives it as the server has it.
    pub(crate) async fn open(&self, path: &Path) -> Result<Open, Error> {
        let text = documents::read(path).await?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let language = self.entry.spec().language_id(&name).unwrap_or("plaintext");
        let sync = self.heard.state().offered.sync();
        let mut documents = self.documents.lock().await;
        let how = (sync, self.encoding);
        let (notices, open) = documents.sync(path, language, text, how, self.told(path));
        // With the lock held, so that the server hears of them in the order of their versions.
        for (method, params) in notices {
            self.notify(method, &params)?;
        }
        Ok(open)
    }

    /// What the server has said until now.
    fn told(&self, path: &Path) -> Told {
        let state = self.heard.state();
        let published = state.published.get(path);
        Told {
            at: Instant::now(),
            begun: state.begun,
            pushes: published.map_or(0, |published| published.count),
            checks: state.checks_begun,
        }
    }

    /// Tells the server that a document as it is open is what its file holds, if it was not told yet and wants to hear.
    pub(crate) async fn save(&self, path: &Path, open: Open) -> Result<Open, Error> {
        let sync = self.heard.state().offered.sync();
        let mut documents = self.documents.lock().await;
        let (notice, saved) = documents.save(path, sync, self.told(path));
        if let Some((method, params)) = notice {
            self.notify(method, &params)?;
        }
        Ok(Open { saved, ..open })
    }

    /// Sends a document again as it is, so that a server that looks at a document only when it changes looks at it.
    pub(crate) async fn touch(&self, path: &Path, open: Open) -> Result<Open, Error> {
        let mut documents = self.documents.lock().await;
        let told = self.told(path);
        let Some((version, (method, params))) = documents.touch(path, told) else {
            return Ok(open);
        };
        self.notify(method, &params)?;
        Ok(Open {
            version,
            told,
            ..open
        })
    }

    /// Closes the document of a file that is no more, if it is open.
    pub(crate) async fn close(&self, path: &Path) -> Result<(), Error> {
        let mut documents = self.documents.lock().await;
        match documents.close(path) {
            Some((method, params)) => self.notify(method, &params),
            None => Ok(()),
        }
    }

    /// The files that it has open, the one that was used last first.
    pub(crate) async fn recent(&self) -> Vec<PathBuf> {
        self.documents.lock().await.recent()
    }

    /// Brings all open documents up to date with their files; those whose files are gone are closed.
    pub(crate) async fn refresh(&self) -> Result<(), Error> {
        let documents = self.documents.lock().await;
        let paths: Vec<PathBuf> = documents.paths().map(Path::to_owned).collect();
        drop(documents);
        for path in paths {
            if self.open(&path).await.is_err() {
                let closed = self.documents.lock().await.close(&path);
                if let Some((method, params)) = closed {
                    self.notify(method, &params)?;
                }
            }
        }
        Ok(())
    }

    /// Tells that files are new, have other contents, or are gone.
    pub(crate) fn files_changed(&self, changes: &[(&Path, FileEvent)]) -> Result<(), Error> {
        let one = |(path, event): &(&Path, FileEvent)| json!({ "uri": uri::of_path(path), "type": *event as u8 });
        let changes: Vec<Value> = changes.iter().map(one).collect();
        let params = json!({ "changes": changes });
        self.notify("workspace/didChangeWatchedFiles", &params)
    }

    /// The versions of the documents that it has open.
    pub(crate) async fn versions(&self) -> HashMap<PathBuf, i64> {
        let documents = self.documents.lock().await;
        let all = documents.versions();
        all.map(|(path, version)| (path.to_owned(), version))
            .collect()
    }

    /// Waits until the server has read its project, as far as it tells, and no longer than this; says whether it has.
    /// `progress` hears what it is at. Safe to cancel.
    pub(crate) async fn ready(&self, limit: Duration, progress: &(dyn Fn(&str) + Sync)) -> bool {
        let is_ready = self.become_ready(limit, progress).await;
        if is_ready {
            self.ready_after.get_or_init(|| self.begun.elapsed());
        }
        is_ready
    }

    /// How long after its start it was ready to be asked, if it is.
    pub(crate) fn ready_after(&self) -> Option<Duration> {
        self.ready_after.get().copied()
    }

    async fn become_ready(&self, limit: Duration, progress: &(dyn Fn(&str) + Sync)) -> bool {
        let until = Instant::now() + limit;
        match self.entry.spec().diagnostics.ready {
            Ready::Initialized => true,
            Ready::ServerStatus => {
                let quiescent = |state: &State| {
                    let is_over = state.quiescent || state.closed.is_some();
                    is_over.then_some(state.closed.is_none())
                };
                self.watching(until, progress, self.heard.until(quiescent))
                    .await
                    .unwrap_or(false)
            }
            Ready::Progress => {
                // Once it has read the project, it is only what it tells of that is waited for.
                let was_ready = self.was_ready.load(Ordering::Relaxed);
                if was_ready && self.task().is_none() {
                    return true;
                }
                let begun = self.heard.until(|state| (state.begun > 0).then_some(()));
                let grace = (self.started + GRACE).min(until);
                let is_ready = match timeout_at(grace, begun).await {
                    Err(_) => self.task().is_none(),
                    Ok(()) => self.watching(until, progress, self.quiet()).await.is_some(),
                };
                self.was_ready.fetch_or(is_ready, Ordering::Relaxed);
                is_ready
            }
        }
    }

    /// Waits until a server that tells of its work has done what an opened or changed document brings, and no longer than
    /// this. Asked meanwhile, Dart's never answers.
    pub(crate) async fn settled(&self, open: &Open, limit: Duration) {
        if self.entry.spec().diagnostics.ready != Ready::Progress {
            return;
        }
        let until = Instant::now() + limit;
        let begun = |state: &State| (state.begun > open.told.begun).then_some(());
        let grace = (open.told.at + GRACE).min(until);
        if timeout_at(grace, self.heard.until(begun)).await.is_ok() {
            let over = |state: &State| state.task().is_none().then_some(());
            let _ = timeout_at(until, self.heard.until(over)).await;
        }
    }

    /// Waits until it has told of no work for a while.
    async fn quiet(&self) {
        loop {
            self.heard
                .until(|state| (state.task().is_none()).then_some(()))
                .await;
            let busy = self
                .heard
                .until(|state| state.task().is_some().then_some(()));
            if tokio::time::timeout(QUIET, busy).await.is_err() {
                return;
            }
        }
    }

    /// Waits for something until a time, and tells meanwhile what the server is at.
    async fn watching<T>(
        &self,
        until: Instant,
        progress: &(dyn Fn(&str) + Sync),
        wanted: impl Future<Output = T>,
    ) -> Option<T> {
        let mut wanted = std::pin::pin!(wanted);
        let mut told = None;
        loop {
            let next = self
                .heard
                .until(|state| state.task().filter(|task| Some(task) != told.as_ref()));
            tokio::select! {
                found = &mut wanted => return Some(found),
                task = next => {
                    progress(&task);
                    told = Some(task);
                }
                () = tokio::time::sleep_until(until) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use terret_testkit::{Format, Scripted, Tree};

    use super::*;
    use crate::catalog::Catalog;

    fn entry(id: &str) -> Arc<Entry> {
        Arc::clone(Catalog::shipped().get(id).expect("it is shipped"))
    }

    /// A client of a scripted server that can do this.
    async fn connected(id: &str, root: &Path, capabilities: Value) -> (Scripted, Client) {
        let (mut server, stream) = Scripted::in_memory(Format::ContentLength);
        let (reader, writer) = tokio::io::split(stream);
        let serve = async {
            let request = server.receive().await;
            let info = json!({ "name": "scripted", "version": "1" });
            let answer = json!({ "capabilities": capabilities, "serverInfo": info });
            server.answer(&request, answer).await;
            for method in ["initialized", "workspace/didChangeConfiguration"] {
                assert_eq!(server.receive().await["method"], method);
            }
            server
        };
        let (server, client) =
            tokio::join!(serve, Client::connect(reader, writer, entry(id), root));
        (server, client.expect("it is initialized"))
    }

    const SOON: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn questions_are_asked_again_where_the_server_wants_it() {
        let can = json!({ "hoverProvider": true });
        let (mut server, client) = connected("clangd", Path::new("/r"), can).await;
        let serve = async {
            for (code, data) in [
                (CONTENT_MODIFIED, json!(null)),
                (SERVER_CANCELLED, json!({ "retriggerRequest": true })),
            ] {
                let request = server.receive().await;
                let error = json!({ "code": code, "message": "changed", "data": data });
                server
                    .send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                    .await;
            }
            let request = server.receive().await;
            server.answer(&request, json!("at last")).await;
        };
        let params = json!({});
        let (answer, ()) = tokio::join!(client.ask("textDocument/hover", &params, SOON), serve);
        assert_eq!(answer.expect("an answer"), json!("at last"));
        // What it does not offer is not asked: some servers end then.
        let error = client
            .ask("textDocument/references", &json!({}), SOON)
            .await;
        assert_eq!(
            error.expect_err("unsupported").to_string(),
            "scripted does not offer `textDocument/references`; it offers `textDocument/hover`"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_has_a_bound_and_tells_what_the_server_is_at() {
        let can = json!({ "hoverProvider": true });
        let (mut server, client) = connected("clangd", Path::new("/r"), can).await;
        let begin = json!({ "kind": "begin", "title": "Loading", "message": "3/9" });
        let params = json!({ "token": 1, "value": begin });
        let progress = json!({ "jsonrpc": "2.0", "method": "$/progress", "params": params });
        server.send(&progress).await;
        client.heard().until(|state| state.task()).await;
        let error = client
            .ask("textDocument/hover", &json!({}), Duration::from_secs(5))
            .await;
        assert_eq!(
            error.expect_err("late").to_string(),
            "scripted did not answer `textDocument/hover` within 5.0s; it is at work on Loading: 3/9: ask \
             again later"
        );
        let request = server.receive().await;
        assert_eq!(request["method"], "textDocument/hover");
        let cancelled = server.receive().await;
        assert_eq!(cancelled["method"], "$/cancelRequest");
        assert_eq!(cancelled["params"]["id"], request["id"]);
        drop(server);
        let error = client.ask("textDocument/hover", &json!({}), SOON).await;
        assert!(matches!(
            error.expect_err("it is gone").kind(),
            ErrorKind::Ended { .. }
        ));
    }

    #[tokio::test]
    async fn documents_are_opened_and_follow_the_disk() {
        let tree = Tree::new("//- /a.c\nint a;\n//- /b.bin\n");
        let can = json!({ "textDocumentSync": { "openClose": true, "change": 1, "save": true } });
        let (mut server, client) = connected("clangd", &tree.root(), can).await;
        let path = tree.root().join("a.c");
        let open = client.open(&path).await.expect("it is opened");
        let told = server.receive().await;
        assert_eq!(told["params"]["textDocument"]["languageId"], "c");
        assert_eq!(told["params"]["textDocument"]["text"], "int a;\n");
        assert_eq!(open.version, 1);
        std::fs::write(&path, "int b;\n").expect("written");
        assert_eq!(client.open(&path).await.expect("it is open").version, 2);
        let told = server.receive().await;
        assert_eq!(told["params"]["contentChanges"][0]["text"], "int b;\n");
        std::fs::remove_file(&path).expect("removed");
        client.refresh().await.expect("told");
        assert_eq!(server.receive().await["method"], "textDocument/didClose");
        assert_eq!(client.open_documents().await, 0);
        let error = client.open(&path).await.expect_err("there is none");
        assert!(matches!(error.kind(), ErrorKind::File { .. }), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_ready_when_its_work_has_ended() {
        let (mut server, client) = connected("metals", Path::new("/r"), json!({})).await;
        let progress = |kind: &str, token: u8| {
            let value = json!({ "kind": kind, "title": "Indexing" });
            let params = json!({ "token": token, "value": value });
            json!({ "jsonrpc": "2.0", "method": "$/progress", "params": params })
        };
        server.send(&progress("begin", 1)).await;
        client.heard().until(|state| state.task()).await;
        let told = std::sync::Mutex::new(Vec::new());
        let note = |text: &str| {
            let mut told = told
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            told.push(text.to_owned());
        };
        assert!(
            !client.ready(Duration::from_secs(2), &note).await,
            "it is at work"
        );
        let serve = async {
            server.send(&progress("begin", 2)).await;
            server.send(&progress("end", 1)).await;
            sleep(Duration::from_secs(1)).await;
            server.send(&progress("end", 2)).await;
        };
        let begun = Instant::now();
        let (ready, ()) = tokio::join!(client.ready(SOON, &note), serve);
        assert!(ready && begun.elapsed() >= Duration::from_secs(1));
        assert_eq!(told.lock().expect("unpoisoned")[0], "Indexing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_nothing_does_not_start() {
        let (_server, stream) = Scripted::in_memory(Format::ContentLength);
        let (reader, writer) = tokio::io::split(stream);
        let error = Client::connect(reader, writer, entry("clangd"), Path::new("/r")).await;
        assert_eq!(
            error.expect_err("silence").to_string(),
            "clangd did not start: `initialize` was not answered after 45.0s"
        );
    }
}
