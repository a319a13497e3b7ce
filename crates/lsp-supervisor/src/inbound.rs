//! What a server says and asks by itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use terret_wire::{Closed, Failure, Handler, Json, METHOD_NOT_FOUND, Notification, Request};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::capabilities::Offered;
use crate::diagnostic::Diagnostic;
use crate::uri;

/// How many messages of a server are kept.
const MOST_MESSAGES: usize = 20;
/// How many tasks of a server are told of at once.
const MOST_TASKS: usize = 200;
/// How many files of which a server has pushed something are kept.
const MOST_PUBLISHED: usize = 20_000;

/// What a server has said by itself. Whoever waits for something is woken by each message.
#[derive(Debug)]
pub(crate) struct Heard {
    state: Mutex<State>,
    /// How many messages there were.
    count: watch::Sender<u64>,
}

/// What is known by what a server has said.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) offered: Offered,
    /// The tasks that it works on, by their token.
    tasks: HashMap<String, Task>,
    /// How many tasks have begun, and ended.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// How the token of the check begins that it runs on save, if it runs one, and how many of them have begun.
    pub(crate) check: Option<String>,
    pub(crate) checks_begun: u64,
    /// Whether it is at rest, as rust-analyzer tells it.
    pub(crate) quiescent: bool,
    /// Real paths of documents that are open by another one.
    pub(crate) aliases: HashMap<PathBuf, PathBuf>,
    /// What it pushed last for each file.
    pub(crate) published: HashMap<PathBuf, Published>,
    /// How often it pushed at all.
    pub(crate) pushes: u64,
    /// How often it asked that what was pulled be pulled again.
    pub(crate) refreshes: u64,
    /// What it had to say to a person, the last last.
    pub(crate) messages: Vec<String>,
    pub(crate) closed: Option<Closed>,
}

/// What a server pushed for a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    pub(crate) version: Option<i64>,
    pub(crate) items: Arc<[Diagnostic]>,
    /// How often it pushed for the file, and when last.
    pub(crate) count: u64,
    pub(crate) at: Option<Instant>,
}

/// Something that a server works on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    title: String,
    message: String,
    percentage: Option<u64>,
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.title)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        match self.percentage {
            Some(percentage) => write!(f, " ({percentage} %)"),
            None => Ok(()),
        }
    }
}

impl State {
    /// What it works on, in words: one of its tasks, and the same one as long as there are the same.
    pub(crate) fn task(&self) -> Option<String> {
        let oldest = self.tasks.iter().min_by_key(|(token, _)| *token);
        oldest.map(|(_, task)| task.to_string())
    }

    /// The task whose token begins so, in words.
    pub(crate) fn task_of(&self, token: &str) -> Option<String> {
        let mut tasks = self.tasks.iter();
        // The token is kept as the protocol spells it.
        let is_of = |(name, _): &(&String, &Task)| name.trim_matches('"').starts_with(token);
        tasks.find(is_of).map(|(_, task)| task.to_string())
    }

    /// What the server has pushed for a file last; absent if it never has.
    pub(crate) fn pushed(&self, path: &Path) -> Option<Arc<[Diagnostic]>> {
        self.published
            .get(path)
            .map(|published| Arc::clone(&published.items))
    }

    fn progress(&mut self, params: &Value) {
        let token = params["token"].to_string();
        let value = &params["value"];
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        match value["kind"].as_str() {
            Some("begin") => {
                self.begun += 1;
                let is_check = |check: &String| token.trim_matches('"').starts_with(check.as_str());
                self.checks_begun += u64::from(self.check.as_ref().is_some_and(is_check));
                if self.tasks.len() < MOST_TASKS {
                    let task = Task {
                        title: text("title").unwrap_or_default(),
                        message: text("message").unwrap_or_default(),
                        percentage: value["percentage"].as_u64(),
                    };
                    self.tasks.insert(token, task);
                }
            }
            Some("report") => {
                if let Some(task) = self.tasks.get_mut(&token) {
                    task.message = text("message").unwrap_or(std::mem::take(&mut task.message));
                    task.percentage = value["percentage"].as_u64().or(task.percentage);
                }
            }
            Some("end") => {
                self.tasks.remove(&token);
                self.ended += 1;
            }
            _ => {}
        }
    }

    fn publish(&mut self, params: &Value) {
        let Some(path) = params["uri"].as_str().and_then(uri::to_path) else {
            return;
        };
        let path = self.aliases.get(&path).cloned().unwrap_or(path);
        if self.published.len() >= MOST_PUBLISHED && !self.published.contains_key(&path) {
            return;
        }
        let version = params["version"].as_i64();
        let published = self.published.entry(path).or_default();
        // What is said of an older version is overtaken.
        if version.is_some_and(|version| published.version.is_some_and(|known| version < known)) {
            return;
        }
        published.version = version;
        published.items = Diagnostic::read_all(&params["diagnostics"]).into();
        published.count += 1;
        self.pushes += 1;
        published.at = Some(Instant::now());
    }

    fn message(&mut self, params: &Value) {
        if let Some(message) = params["message"].as_str() {
            if self.messages.len() >= MOST_MESSAGES {
                self.messages.remove(0);
            }
            self.messages.push(message.to_owned());
        }
    }
}

impl Heard {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // What is read from a message is read before anything is changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the look gives something; it looks at once, and after each message. Safe to cancel.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut count = self.count.subscribe();
        loop {
            count.borrow_and_update();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            // The sender lives in this value.
            let _ = count.changed().await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.count.send_modify(|count| *count += 1);
    }
}

/// Answers what a server asks, and notes what it says.
pub(crate) struct Inbound {
    pub(crate) heard: Arc<Heard>,
    /// What it is told when it asks for its configuration.
    pub(crate) settings: Value,
    /// The questions to a person that are answered by the first of these words.
    pub(crate) accept: Vec<String>,
    /// The workspace's folders, as the protocol has them.
    pub(crate) folders: Value,
}

impl Inbound {
    /// The answer to a request; absent where the method is not known.
    fn answer(&self, method: &str, params: &Value) -> Option<Value> {
        Some(match method {
            "workspace/configuration" => self.configuration(params),
            "workspace/workspaceFolders" => self.folders.clone(),
            "client/registerCapability" => {
                self.heard.change(|state| state.offered.register(params));
                Value::Null
            }
            "client/unregisterCapability" => {
                self.heard.change(|state| state.offered.unregister(params));
                Value::Null
            }
            "workspace/diagnostic/refresh" => {
                self.heard.change(|state| state.refreshes += 1);
                Value::Null
            }
            "window/workDoneProgress/create"
            | "workspace/semanticTokens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/inlineValue/refresh"
            | "workspace/codeLens/refresh"
            | "workspace/foldingRange/refresh"
            | "workspace/codeAction/refresh" => Value::Null,
            "workspace/applyEdit" => json!({
                "applied": false,
                "failureReason": "files are changed by a rename only",
            }),
            "window/showMessageRequest" => {
                self.heard.change(|state| state.message(params));
                self.choice(params)
            }
            "window/showDocument" => json!({ "success": false }),
            _ => return None,
        })
    }

    /// A value for each section that is asked for, and `null` for one that there is not: an empty object, or a list of
    /// another length, ends some servers.
    fn configuration(&self, params: &Value) -> Value {
        let items = params["items"].as_array().into_iter().flatten();
        let section = |item: &Value| {
            let mut settings = &self.settings;
            let path = item["section"].as_str().unwrap_or_default();
            for name in path.split('.').filter(|name| !name.is_empty()) {
                settings = settings.get(name)?;
            }
            Some(settings.clone())
        };
        items
            .map(|item| section(item).unwrap_or_default())
            .collect()
    }

    fn choice(&self, params: &Value) -> Value {
        let mut actions = params["actions"].as_array().into_iter().flatten();
        let accepted = |action: &&Value| {
            let title = action["title"].as_str().unwrap_or_default();
            self.accept
                .iter()
                .any(|accepted| title.starts_with(accepted.as_str()))
        };
        actions.find(accepted).cloned().unwrap_or_default()
    }
}

impl Handler for Inbound {
    fn request(&mut self, request: Request) {
        let params = value(request.params());
        match self.answer(request.method(), &params) {
            Some(answer) => request.responder().answer(&answer),
            None => {
                let why = format!("`{}` is not known here", request.method());
                request
                    .responder()
                    .fail(Failure::new(METHOD_NOT_FOUND, why));
            }
        }
    }

    fn notification(&mut self, notification: Notification) {
        let params = value(&notification.params);
        self.heard
            .change(|state| match notification.method.as_str() {
                "textDocument/publishDiagnostics" => state.publish(&params),
                "$/progress" => state.progress(&params),
                "experimental/serverStatus" => {
                    state.quiescent = params["quiescent"] == true;
                    if params["health"] != "ok" {
                        state.message(&params);
                    }
                }
                "window/showMessage" => state.message(&params),
                _ => {}
            });
    }

    fn closed(&mut self, why: &Closed) {
        self.heard.change(|state| {
            // Nobody will tell of their end.
            state.tasks.clear();
            state.closed = Some(why.clone());
        });
    }
}

fn value(json: &Json) -> Value {
    json.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbound() -> Inbound {
        Inbound {
            heard: Heard::new(),
            settings: json!({ "python": { "analysis": { "mode": "open" } }, "x": 1 }),
            accept: vec!["Import".to_owned()],
            folders: json!([{ "uri": "file:///a", "name": "a" }]),
        }
    }

    #[test]
    fn all_that_servers_ask_is_answered() {
        let inbound = inbound();
        let items = |sections: Value| json!({ "items": sections });
        let choice =
            json!({ "message": "m", "actions": [{ "title": "No" }, { "title": "Import build" }] });
        let rows = [
            (
                "workspace/configuration",
                items(
                    json!([{ "section": "python.analysis" }, { "section": "none.x" }, { "section": "x" }]),
                ),
                json!([{ "mode": "open" }, null, 1]),
            ),
            (
                "workspace/configuration",
                items(json!([{}])),
                json!([inbound.settings]),
            ),
            ("workspace/configuration", json!(null), json!([])),
            (
                "window/workDoneProgress/create",
                json!({ "token": 1 }),
                json!(null),
            ),
            (
                "workspace/workspaceFolders",
                json!(null),
                inbound.folders.clone(),
            ),
            (
                "window/showMessageRequest",
                choice,
                json!({ "title": "Import build" }),
            ),
            (
                "window/showMessageRequest",
                json!({ "message": "m" }),
                json!(null),
            ),
            (
                "window/showDocument",
                json!({}),
                json!({ "success": false }),
            ),
            ("workspace/diagnostic/refresh", json!(null), json!(null)),
        ];
        for (method, params, answer) in rows {
            assert_eq!(inbound.answer(method, &params), Some(answer), "{method}");
        }
        assert_eq!(
            inbound
                .answer("workspace/applyEdit", &json!({}))
                .expect("answered")["applied"],
            false
        );
        assert_eq!(inbound.answer("their/own", &json!({})), None);
    }

    #[test]
    fn what_is_overtaken_is_dropped() {
        let mut state = State::default();
        let mut publish = |version: Value, message: &str| {
            state.publish(&json!({
                "uri": "file:///a%20b",
                "version": version,
                "diagnostics": [{ "message": message }],
            }));
            let published = &state.published[std::path::Path::new("/a b")];
            (published.items[0].message.clone(), published.count)
        };
        assert_eq!(publish(json!(3), "third"), ("third".to_owned(), 1));
        assert_eq!(publish(json!(2), "second"), ("third".to_owned(), 1));
        assert_eq!(publish(json!(3), "again"), ("again".to_owned(), 2));
        assert_eq!(publish(json!(null), "none"), ("none".to_owned(), 3));
        state.publish(&json!({ "uri": "jdt://x", "diagnostics": [] }));
        assert_eq!(state.published.len(), 1);
    }

    #[test]
    fn tasks_are_told_while_they_go_on() {
        let mut state = State::default();
        let mut progress = |token: Value, value: Value| {
            state.progress(&json!({ "token": token, "value": value }));
            state.task()
        };
        let begin = json!({ "kind": "begin", "title": "Indexing" });
        assert_eq!(progress(json!(1), begin).as_deref(), Some("Indexing"));
        let report = json!({ "kind": "report", "message": "41/97", "percentage": 42 });
        let shown = "Indexing: 41/97 (42 %)";
        assert_eq!(progress(json!(1), report).as_deref(), Some(shown));
        let end = json!({ "kind": "end" });
        assert!(progress(json!("1"), end.clone()).is_some(), "another token");
        assert_eq!(progress(json!(1), end), None);
        assert_eq!((state.begun, state.ended), (1, 2));
    }
}
