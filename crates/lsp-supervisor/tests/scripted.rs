//! The tools with a server that does as a script says: what a server may get wrong, and what it may ask.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "scripted/asks.rs"]
mod asks;
#[path = "scripted/documents.rs"]
mod documents;
#[path = "scripted/faults.rs"]
mod faults;
#[path = "scripted/kills.rs"]
mod kills;
#[path = "scripted/places.rs"]
mod places;
#[path = "scripted/renames.rs"]
mod renames;
#[path = "scripted/restarts.rs"]
mod restarts;
#[path = "scripted/shared.rs"]
mod shared;
#[path = "scripted/written.rs"]
mod written;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use terret_launch::Environment;
use terret_lsp_supervisor::catalog::Catalog;
use terret_lsp_supervisor::{Options, Supervisor};
use terret_testkit::language_server::{self, Log};
use terret_testkit::{Mark, Tree, state_of};
use terret_tiers::{AllowUpTo, Request, Surface, Tier, Toolset};

/// The upper bound of every wait.
const SOON: Duration = Duration::from_secs(60);

/// What a test needs to know of an answer: its text, or the error's.
type Answer = Result<String, String>;

/// A project with servers that have scripts.
struct Session {
    tree: Tree,
    supervisor: Supervisor,
    surface: Surface,
    mark: Mark,
}

impl Session {
    /// With files in the folder `project`, and one server.
    fn new(files: &str, script: &Value) -> Self {
        Self::with(files, "", &[("scripted", script)])
    }

    /// The same with several servers, and more to say about each of them.
    fn with(files: &str, more: &str, scripts: &[(&str, &Value)]) -> Self {
        let tree = Tree::new(&files.replace("//- /", "//- /project/"));
        Self::of(tree, "project", more, scripts)
    }

    /// In a folder of a tree.
    fn of(tree: Tree, folder: &str, more: &str, scripts: &[(&str, &Value)]) -> Self {
        let mark = match std::env::var_os(kills::HOST) {
            Some(_) => Mark::inherited(),
            None => Mark::new(),
        };
        let options = options(&tree, &mark, more, scripts);
        let (supervisor, surface) = run(tree.path(folder), options);
        Self {
            tree,
            supervisor,
            surface,
            mark,
        }
    }

    fn log(&self) -> Log {
        self.log_of("scripted")
    }

    fn log_of(&self, id: &str) -> Log {
        Log::beside(&self.tree.path(format!("{id}.json")))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.tree.path(format!("project/{file}"))
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_with(tool, arguments, Request::new("call")).await
    }

    async fn call_with(&self, tool: &str, arguments: Value, request: Request) -> Answer {
        answer(&self.surface, tool, arguments, request).await
    }

    async fn ask(&self, action: &str, line: u32, symbol: &str) -> Answer {
        self.ask_in("a.words", action, line, symbol).await
    }

    async fn ask_in(&self, file: &str, action: &str, line: u32, symbol: &str) -> Answer {
        let at = json!({ "action": action, "file": file, "line": line, "symbol": symbol });
        self.call("lsp", at).await
    }

    async fn hover(&self) -> Answer {
        self.ask("hover", 1, "one").await
    }

    async fn diagnostics(&self) -> Answer {
        self.call("lsp", json!({ "action": "diagnostics", "file": "a.words" }))
            .await
    }

    async fn status(&self) -> String {
        self.call("lsp", json!({ "action": "status" }))
            .await
            .unwrap()
    }

    async fn rename(&self, line: u32, symbol: &str, new_name: &str) -> Answer {
        let at = json!({ "file": "a.words", "line": line, "symbol": symbol, "new_name": new_name });
        self.call("lsp_rename", at).await
    }

    /// Ends the servers: nothing is left of any of them, and none of them had to complain.
    async fn end(self) {
        self.supervisor.reload(None).await;
        self.check_gone();
        assert_eq!(self.log().wrong(), [""; 0]);
    }

    /// None of the servers that were started is there, not even to be collected.
    #[track_caller]
    fn check_gone(&self) {
        self.mark.await_count(0, SOON);
        let end = Instant::now() + SOON;
        for process in self.log().starts() {
            while state_of(process).is_some() {
                assert!(Instant::now() < end, "{process} is left");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// How a run has servers with these scripts, which are written beside the project.
fn options(tree: &Tree, mark: &Mark, more: &str, scripts: &[(&str, &Value)]) -> Options {
    let mut catalog = Catalog::empty();
    for (id, script) in scripts {
        let path = tree.path(format!("{id}.json"));
        std::fs::write(&path, script.to_string()).unwrap();
        let mut entry = toml::Table::new();
        entry.insert("name".to_owned(), (*id).into());
        let program = std::env::current_exe().unwrap().display().to_string();
        entry.insert("programs".to_owned(), vec![program].into());
        entry.insert("args".to_owned(), vec![path.display().to_string()].into());
        entry.insert("install".to_owned(), "it is the test".into());
        catalog.change_table(id, merged(entry, BASE)).unwrap();
        catalog.change(id, more).unwrap();
    }
    let environment = Environment::empty()
        .set(language_server::VARIABLE, "1")
        .set(mark.name(), mark.value());
    Options::default().catalog(catalog).environment(environment)
}

/// A run in a folder.
fn run(folder: PathBuf, options: Options) -> (Supervisor, Surface) {
    let supervisor = Supervisor::new(&folder, options);
    let put = supervisor.wrap(&written::put(folder));
    let tools = Toolset::builder().tools(supervisor.tools()).tools([put]);
    let surface = tools.build().unwrap().surface(Tier::Write);
    let surface = surface.with_gate(Arc::new(AllowUpTo(Tier::Write)));
    (supervisor, surface)
}

/// The clock is so much later at once, for what waits by it; no process is any older.
async fn later(by: Duration) {
    tokio::time::pause();
    tokio::time::advance(by).await;
    tokio::time::resume();
}

/// What all entries have, unless a test says otherwise.
const BASE: &str = "
    languages.words = ['words']
    diagnostics.proof = 'push'
    diagnostics.versioned = true
    diagnostics.settle_ms = 30
";

fn merged(mut table: toml::Table, text: &str) -> toml::Table {
    table.extend(toml::from_str::<toml::Table>(text).unwrap());
    table
}

/// A file with a word that is declared and used.
const ONE: &str = "//- /a.words\ndef one\none\n";
/// What the server of words says about it.
const KNOWN: &str = "the word one";

/// What a run answers, within the bound.
async fn answer(surface: &Surface, tool: &str, arguments: Value, request: Request) -> Answer {
    let answer = surface.call(tool, arguments, request);
    let answer = tokio::time::timeout(SOON, answer).await;
    match answer.expect("nothing hangs") {
        Ok(output) => Ok(output.to_text()),
        Err(error) => Err(error.message),
    }
}

/// What fails within the bound tells why.
#[track_caller]
fn check(what: &str, answer: &Answer, expected: Result<&str, &str>) {
    match (answer, expected) {
        (Ok(text), Ok(part)) | (Err(text), Err(part)) if text.contains(part) => {}
        _ => panic!("{what}: {answer:?}, and not {expected:?}"),
    }
}
