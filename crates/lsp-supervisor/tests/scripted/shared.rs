//! Runs that have one pool share servers, and nothing else.

use std::path::PathBuf;

use serde_json::{Value, json};
use terret_launch::{Environment, Trust};
use terret_lsp_supervisor::{Options, Pool, State, Supervisor};
use terret_testkit::language_server::{self, Log};
use terret_testkit::{Mark, Tree};
use terret_tiers::{Request, Surface};

use super::{Answer, KNOWN, ONE, SOON, answer, check};

/// A project that several runs are in.
struct Project {
    tree: Tree,
    mark: Mark,
    script: Value,
}

/// One of them.
struct Run {
    supervisor: Supervisor,
    surface: Surface,
}

impl Project {
    fn new(script: Value) -> Self {
        Self {
            tree: Tree::new(&ONE.replace("//- /", "//- /project/")),
            mark: Mark::new(),
            script,
        }
    }

    fn path(&self) -> PathBuf {
        self.tree.path("project")
    }

    fn log(&self) -> Log {
        Log::beside(&self.tree.path("scripted.json"))
    }

    fn options(&self, more: &str) -> Options {
        let scripts = [("scripted", &self.script)];
        super::options(&self.tree, &self.mark, more, &scripts)
    }

    fn environment(&self) -> Environment {
        Environment::empty()
            .set(language_server::VARIABLE, "1")
            .set(self.mark.name(), self.mark.value())
    }

    fn run(&self, options: Options) -> Run {
        let (supervisor, surface) = super::run(self.path(), options);
        Run {
            supervisor,
            surface,
        }
    }

    /// Two runs that have a pool, and all alike.
    fn two(&self) -> [Run; 2] {
        let pool = Pool::new();
        [(); 2].map(|()| self.run(self.options("").pool(pool.clone())))
    }
}

impl Run {
    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        answer(&self.surface, tool, arguments, Request::new("call")).await
    }

    async fn hover(&self) -> Answer {
        let at = json!({ "action": "hover", "file": "a.words", "line": 1, "symbol": "one" });
        self.call("lsp", at).await
    }

    /// Writes the file, and gives how often it is told that something is wrong.
    async fn write(&self, text: &str) -> usize {
        let told = self.call("put", json!({ "path": "a.words", "text": text }));
        told.await.unwrap().matches("this is wrong").count()
    }

    /// The processes that it has.
    async fn processes(&self) -> Vec<u32> {
        let all = self.supervisor.status().await.into_iter();
        let process = all.filter_map(|status| match status.state {
            State::Running { process, .. } => Some(process),
            _ => None,
        });
        process.collect()
    }
}

#[tokio::test]
async fn a_shared_server_ends_with_the_last_run() {
    for polite in [false, true] {
        let project = Project::new(json!({}));
        let runs = project.two();
        let (one, other) = tokio::join!(runs[0].hover(), runs[1].hover());
        check("one", &one, Ok(KNOWN));
        check("the other", &other, Ok(KNOWN));
        let starts = project.log().starts();
        assert_eq!(starts.len(), 1);
        for run in &runs {
            assert_eq!(run.processes().await, starts);
        }
        let [first, last] = runs;
        if polite {
            first.supervisor.shut_down().await;
        }
        drop(first);
        check("the last one", &last.hover().await, Ok(KNOWN));
        assert_eq!(last.processes().await, starts);
        assert_eq!(project.log().got("shutdown").len(), 0);
        if polite {
            last.supervisor.shut_down().await;
            assert_eq!(project.log().got("exit").len(), 1);
        }
        drop(last);
        project.mark.await_count(0, SOON);
        assert_eq!(project.log().wrong(), [""; 0]);
    }
}

#[tokio::test]
async fn who_comes_when_all_are_gone_starts_anew() {
    let project = Project::new(json!({}));
    let pool = Pool::new();
    for starts in 1..=3 {
        let run = project.run(project.options("").pool(pool.clone()));
        check("a run", &run.hover().await, Ok(KNOWN));
        assert_eq!(project.log().starts().len(), starts);
        drop(run);
        project.mark.await_count(0, SOON);
    }
}

#[tokio::test]
async fn what_is_not_alike_is_not_shared() {
    let project = Project::new(json!({}));
    let script = project.tree.path("scripted.json").display().to_string();
    let args = format!("args = ['{script}', 'more']");
    let plain = || project.options("");
    let environment = || project.environment().set("MORE", "1");
    let others = [
        ("settings", project.options("settings.words.mode = 3")),
        ("initialization", project.options("initialization.mode = 3")),
        ("arguments", project.options(&args)),
        ("environment", plain().environment(environment())),
        ("trust", plain().trust(Trust::untrusted("say so"))),
    ];
    let pool = Pool::new();
    let mut runs = vec![project.run(plain().pool(pool.clone()))];
    check("plain", &runs[0].hover().await, Ok(KNOWN));
    for (what, options) in others {
        let run = project.run(options.pool(pool.clone()));
        check(what, &run.hover().await, Ok(KNOWN));
        let processes = run.processes().await;
        for other in &runs {
            assert_ne!(other.processes().await, processes, "{what}");
        }
        runs.push(run);
    }
    let log = project.log();
    assert_eq!(log.starts().len(), runs.len());
    // Each has been told what is its own.
    let mode = |message: &Value| message["params"]["initializationOptions"]["mode"] == 3;
    assert_eq!(
        log.got("initialize").iter().filter(|it| mode(it)).count(),
        1
    );
    let mode = |message: &Value| message["params"]["settings"]["words"]["mode"] == 3;
    let told = log.got("workspace/didChangeConfiguration");
    assert_eq!(told.iter().filter(|it| mode(it)).count(), 1);
    // One that is like the first has the first one's; without the pool it has its own.
    let like = project.run(plain().pool(pool));
    check("alike", &like.hover().await, Ok(KNOWN));
    assert_eq!(like.processes().await, runs[0].processes().await);
    let alone = project.run(plain());
    check("alone", &alone.hover().await, Ok(KNOWN));
    assert_ne!(alone.processes().await, runs[0].processes().await);
    drop((runs, like, alone));
    project.mark.await_count(0, SOON);
}

#[tokio::test]
async fn a_shared_server_that_dies_is_replaced_once() {
    let project = Project::new(json!([{ "on": { "textDocument/hover": ["die"] } }, {}]));
    let runs = project.two();
    for _ in 0..2 {
        let (one, other) = tokio::join!(runs[0].hover(), runs[1].hover());
        check("one", &one, Ok(KNOWN));
        check("the other", &other, Ok(KNOWN));
    }
    assert_eq!(project.log().starts().len(), 2);
    // A reload is for all who share it.
    assert_eq!(runs[1].supervisor.reload(None).await, 1);
    check("reloaded", &runs[0].hover().await, Ok(KNOWN));
    check("the same", &runs[1].hover().await, Ok(KNOWN));
    assert_eq!(project.log().starts().len(), 3);
    assert_eq!(runs[0].processes().await, runs[1].processes().await);
    drop(runs);
    project.mark.await_count(0, SOON);
}

#[tokio::test]
async fn what_one_run_was_told_is_no_news_of_the_other() {
    let project = Project::new(json!({}));
    let runs = project.two();
    check("it runs", &runs[0].hover().await, Ok(KNOWN));
    assert_eq!(runs[0].write("def one\nwrong\n").await, 1, "its own");
    assert_eq!(runs[1].write("def one\n\nwrong\n").await, 0, "another's");
    assert_eq!(runs[0].write("def one\n\n\nwrong\n").await, 0, "told");
    // Each run counts by itself: what is new for it is told, though the other one knows it.
    assert_eq!(runs[1].write("def one\nwrong wrong\n").await, 1);
    assert_eq!(project.log().starts().len(), 1);
    assert_eq!(project.log().wrong(), [""; 0]);
    drop(runs);
    project.mark.await_count(0, SOON);
}
