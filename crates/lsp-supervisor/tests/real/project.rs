//! A small project of a language, with one real server.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::projects::{Marks, marked};
use async_trait::async_trait;
use serde_json::{Value, json};
use terret_lsp_supervisor::catalog::Catalog;
use terret_lsp_supervisor::{Options, Supervisor};
use terret_testkit::{Tree, require_tool};
use terret_tiers::wrapper::Writer;
use terret_tiers::{
    AllowUpTo, CallContext, Output, Request, Surface, Tier, Tool, ToolError, ToolSpec, Toolset,
};

/// What is asked, about which symbol of which marked line, and the marked lines of the answer.
pub(crate) type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// A host's tool that writes a file.
struct Write {
    spec: ToolSpec,
    root: PathBuf,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is for the schema")]
struct WriteArgs {
    /// The file.
    path: String,
    /// What it holds then; it is deleted if there is nothing.
    text: Option<String>,
}

impl Write {
    fn new(root: PathBuf) -> Self {
        let spec = ToolSpec::new("write", Tier::Write, "Writes a file.").parameters::<WriteArgs>();
        Self { spec, root }
    }
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        let path = self.root.join(arguments["path"].as_str().unwrap());
        match arguments["text"].as_str() {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        Ok(Output::text("written").with_details(arguments))
    }
}

fn path(of: &Value) -> Vec<PathBuf> {
    of["path"].as_str().map(PathBuf::from).into_iter().collect()
}

/// A project with one server.
pub(crate) struct Project {
    pub(crate) tree: Tree,
    /// The file and the line of each mark.
    marks: Marks,
    surface: Surface,
    /// How many problems the writes have told of.
    pub(crate) told: Cell<u64>,
    pub(crate) supervisor: Supervisor,
}

impl Project {
    pub(crate) fn new(program: &str, id: &str, project: &str) -> Option<Self> {
        require_tool(program)?;
        let (plain, marks) = marked(project);
        let tree = Tree::new(&plain);
        let commands = tree.path("shop/compile_commands.json");
        if let Ok(text) = std::fs::read_to_string(&commands) {
            let root = tree.root().join("shop").display().to_string();
            tree.write("shop/compile_commands.json", text.replace("ROOT", &root));
        }
        let mut catalog = Catalog::shipped();
        let ids: Vec<String> = catalog
            .entries()
            .iter()
            .map(|entry| entry.id().to_owned())
            .collect();
        for other in ids.iter().filter(|other| *other != id) {
            catalog.disable(other);
        }
        let options = Options::default()
            .catalog(catalog)
            .write_wait(Duration::from_secs(60));
        // Go looks into no folder whose name begins with a dot, as those of temporary files do.
        let supervisor = Supervisor::new(tree.root().join("shop"), options);
        let writer = Writer::new(
            Arc::new(Write::new(tree.root().join("shop"))),
            |arguments, _| Box::pin(async move { path(arguments) }),
            path,
        );
        let toolset = Toolset::builder()
            .tools(supervisor.tools())
            .tools([supervisor.wrap(&writer)])
            .build()
            .unwrap();
        Some(Self {
            tree,
            marks,
            surface: toolset
                .surface(Tier::Write)
                .with_gate(Arc::new(AllowUpTo(Tier::Write))),
            told: Cell::new(0),
            supervisor,
        })
    }

    pub(crate) async fn call(&self, arguments: Value) -> Result<Output, ToolError> {
        self.surface
            .call("lsp", arguments, Request::new("call"))
            .await
    }

    /// Asks about a symbol on a marked line.
    pub(crate) async fn ask(
        &self,
        action: &str,
        mark: &str,
        symbol: &str,
    ) -> Result<Output, ToolError> {
        let (file, line) = &self.marks[mark];
        let place = json!({ "action": action, "file": file, "line": line, "symbol": symbol });
        self.call(place).await
    }

    pub(crate) async fn check(&self, rows: &[Row]) {
        let mut wrong = Vec::new();
        for (action, mark, symbol, expected) in rows {
            let output = match self.ask(action, mark, symbol).await {
                Ok(output) => output,
                Err(error) => {
                    wrong.push(format!(
                        "{action} of `{symbol}` at {mark}: {}",
                        error.message
                    ));
                    continue;
                }
            };
            if *action == "hover" {
                let text = output.to_text();
                let missing = expected.iter().filter(|part| !text.contains(*part));
                wrong.extend(
                    missing.map(|part| format!("hover of `{symbol}`: no {part:?} in {text}")),
                );
                continue;
            }
            let mut found: Vec<String> = Vec::new();
            for place in output.details["places"].as_array().unwrap() {
                let at = (
                    place["path"].as_str().unwrap_or_default().to_owned(),
                    usize::try_from(place["line"].as_u64().unwrap()).unwrap(),
                );
                let mark = self.marks.iter().find(|(_, known)| **known == at);
                found.push(mark.map_or_else(|| format!("{at:?}"), |(name, _)| name.clone()));
            }
            found.sort();
            let mut expected: Vec<&str> = expected.to_vec();
            expected.sort_unstable();
            if found != expected {
                wrong.push(format!(
                    "{action} of `{symbol}` at {mark}: {found:?}, not {expected:?}"
                ));
            }
        }
        assert!(
            wrong.is_empty(),
            "{}\n{:#?}",
            wrong.join("\n"),
            self.supervisor.status().await
        );
    }

    /// The errors of a file as `LINE SEVERITY`, with nothing left pending.
    pub(crate) async fn diagnostics(&self, file: &str) -> Vec<String> {
        let output = self
            .call(json!({ "action": "diagnostics", "file": file }))
            .await;
        let output = output.unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(output.details["pending"], json!([]), "{}", output.to_text());
        let all = output.details["diagnostics"].as_array().unwrap();
        let one =
            |found: &Value| format!("{} {}", found["line"], found["severity"].as_str().unwrap());
        all.iter()
            .map(one)
            .filter(|found| found.ends_with("error"))
            .collect()
    }

    /// A file is clean, is broken, changes without getting better, and is mended: each is told as it is.
    pub(crate) async fn check_diagnostics(&self, file: &str, broken: &str) {
        let clean = String::from_utf8(self.tree.read(format!("shop/{file}"))).unwrap();
        let comment = if file.ends_with(".py") {
            "# why\n"
        } else {
            "// why\n"
        };
        let lines = clean.lines().count();
        assert_eq!(self.diagnostics(file).await, [""; 0], "clean");
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{broken}"));
        assert_eq!(
            self.diagnostics(file).await,
            [format!("{} error", lines + 1)],
            "broken"
        );
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{comment}{broken}"));
        assert_eq!(
            self.diagnostics(file).await,
            [format!("{} error", lines + 2)],
            "moved"
        );
        self.tree.write(format!("shop/{file}"), &clean);
        assert_eq!(self.diagnostics(file).await, [""; 0], "mended");
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{comment}"));
        assert_eq!(self.diagnostics(file).await, [""; 0], "clean still");
    }

    /// Renames the symbol of a marked line in these files, which are sound afterwards, and as before once it is renamed back.
    pub(crate) async fn check_rename(&self, mark: &str, old: &str, new: &str, files: &[&str]) {
        let (file, line) = &self.marks[mark];
        let text = |file: &str| String::from_utf8(self.tree.read(format!("shop/{file}"))).unwrap();
        let before: Vec<String> = files.iter().map(|file| text(file)).collect();
        for (from, to) in [(old, new), (new, old)] {
            let arguments = json!({ "file": file, "line": line, "symbol": from, "new_name": to });
            let output = self
                .surface
                .call("lsp_rename", arguments, Request::new("call"))
                .await;
            let output = output.unwrap_or_else(|error| panic!("{}", error.message));
            let changed = output.details["files"].as_array().unwrap();
            let mut changed: Vec<&str> = changed
                .iter()
                .map(|file| file["path"].as_str().unwrap())
                .collect();
            changed.sort_unstable();
            assert_eq!(changed, files, "{}", output.to_text());
            for (file, before) in files.iter().zip(&before) {
                let expected = match to == new {
                    true => before.replace(old, new),
                    false => before.clone(),
                };
                assert_eq!(text(file), expected);
                assert_eq!(self.diagnostics(file).await, [""; 0], "{file}");
            }
        }
        let arguments = json!({ "file": file, "line": line, "symbol": old, "new_name": old });
        let same = self
            .surface
            .call("lsp_rename", arguments, Request::new("call"))
            .await;
        let error = same.unwrap_err();
        assert_eq!(error.message, format!("`{old}` is its name already"));
    }

    /// Writes a file by the wrapped tool: what it tells of it, as `PATH:LINE error`, and how many problems are gone.
    pub(crate) async fn write(&self, file: &str, text: &str) -> (Vec<String>, u64) {
        self.change(json!({ "path": file, "text": text })).await
    }

    /// Deletes a file by the wrapped tool, likewise.
    pub(crate) async fn delete(&self, file: &str) -> (Vec<String>, u64) {
        self.change(json!({ "path": file })).await
    }

    async fn change(&self, arguments: Value) -> (Vec<String>, u64) {
        let written = self
            .surface
            .call("write", arguments, Request::new("call"))
            .await;
        let output = written.unwrap_or_else(|error| panic!("{}", error.message));
        let told = &output.details["diagnostics"];
        assert_eq!(told["pending"], json!([]), "{}", output.to_text());
        assert_eq!(told["failed"], json!([]), "{}", output.to_text());
        let all = told["new"].as_array().unwrap();
        // What more a type checker has to say about a mistake is its own affair.
        let errors = all.iter().filter(|found| found["severity"] == "error");
        let new = errors.map(|found| {
            let text = |name: &str| found[name].as_str().unwrap();
            format!("{}:{} error", text("path"), found["line"])
        });
        self.told.set(self.told.get() + all.len() as u64);
        let (new, fixed) = (new.collect::<Vec<_>>(), told["fixed"].as_u64().unwrap());
        if all.is_empty() && fixed == 0 {
            assert_eq!(output.to_text(), "written");
        }
        (new, fixed)
    }

    /// The text of a file.
    pub(crate) fn text(&self, file: &str) -> String {
        String::from_utf8(self.tree.read(format!("shop/{file}"))).unwrap()
    }

    /// The names of the symbols of a file.
    pub(crate) async fn symbols(&self, file: &str) -> Vec<String> {
        let output = self
            .call(json!({ "action": "symbols", "file": file }))
            .await;
        let output = output.unwrap_or_else(|error| panic!("{}", error.message));
        let all = output.details["symbols"].as_array().unwrap();
        let names = all.iter().filter_map(|symbol| symbol["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// Ends the server: nothing of it is left.
    pub(crate) async fn end(self) {
        assert_eq!(self.supervisor.reload(None).await, 1);
        drop(self.tree);
    }
}
