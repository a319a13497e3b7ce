//! A client as small as can be: a thread that reads, and questions that wait.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Case, only};

pub(crate) struct Raw {
    child: Child,
    input: Arc<Mutex<ChildStdin>>,
    answers: Receiver<Value>,
    root: PathBuf,
    language: String,
    next: u64,
}

impl Raw {
    pub(crate) fn start(case: &Case, root: &Path) -> Self {
        let catalog = only(case.id);
        let entry = catalog.get(case.id).unwrap();
        let spec = entry.spec();
        let mut command = Command::new(find(&spec.programs));
        command
            .args(&spec.args)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = Arc::new(Mutex::new(child.stdin.take().unwrap()));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = channel();
        let (replies, settings) = (Arc::clone(&input), spec.settings.clone());
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if message.get("method").is_none() {
                    let _ = sender.send(message);
                } else if let Some(id) = message.get("id") {
                    let result = match message["method"].as_str() {
                        Some("workspace/configuration") => {
                            let items = message["params"]["items"].as_array().unwrap();
                            items
                                .iter()
                                .map(|item| section(settings.as_ref(), item))
                                .collect()
                        }
                        _ => Value::Null,
                    };
                    send(
                        &replies,
                        &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                    );
                }
            }
        });
        let file = |name: &&Path| spec.language_id(&name.to_string_lossy()).map(str::to_owned);
        let names = ["a.rs", "a.go", "a.py", "a.c", "a.ts", "a.dart"].map(Path::new);
        let mut raw = Self {
            child,
            input,
            answers,
            root: root.to_owned(),
            language: names.iter().find_map(file).unwrap(),
            next: 0,
        };
        let folder = format!("file://{}", root.display());
        let params = json!({
            "processId": std::process::id(),
            "rootUri": folder,
            "workspaceFolders": [{ "uri": folder, "name": "shop" }],
            "initializationOptions": spec.initialization,
            "capabilities": {
                "workspace": { "configuration": true, "workspaceFolders": true },
                "window": { "workDoneProgress": true },
                "textDocument": { "hover": { "contentFormat": ["markdown"] } },
            },
        });
        raw.ask("initialize", &params).expect("it starts");
        raw.tell("initialized", &json!({}));
        raw
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}/{file}", self.root.display())
    }

    pub(crate) fn open(&self, file: &str) {
        let text = std::fs::read_to_string(self.root.join(file)).unwrap();
        let document = json!({
            "uri": self.uri(file), "languageId": self.language, "version": 1, "text": text,
        });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// The parameters of a question about a symbol.
    pub(crate) fn position(&self, file: &str, line: usize, symbol: &str) -> Value {
        let text = std::fs::read_to_string(self.root.join(file)).unwrap();
        let text = text.lines().nth(line - 1).unwrap();
        let before = &text[..text.find(symbol).unwrap()];
        json!({
            "textDocument": { "uri": self.uri(file) },
            "position": { "line": line - 1, "character": before.encode_utf16().count() + 1 },
            "context": { "includeDeclaration": true },
        })
    }

    /// Asks until there is an answer with something in it.
    pub(crate) fn until_answered(&mut self, position: &Value) {
        for _ in 0..2000 {
            match self.ask("textDocument/definition", position) {
                Some(Value::Array(found)) if !found.is_empty() => return,
                Some(Value::Object(_)) => return,
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        panic!("there is no answer");
    }

    fn tell(&self, method: &str, params: &Value) {
        send(
            &self.input,
            &json!({ "jsonrpc": "2.0", "method": method, "params": params }),
        );
    }

    /// Asks; nothing if there is no answer in a while.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next += 1;
        let id = self.next;
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        send(&self.input, &question);
        let limit = Duration::from_secs(if method == "initialize" { 60 } else { 2 });
        loop {
            let answer = self.answers.recv_timeout(limit).ok()?;
            if answer["id"] == id {
                return answer.get("result").cloned();
            }
        }
    }

    pub(crate) fn end(mut self) {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        std::thread::sleep(Duration::from_millis(300));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn section(settings: Option<&Value>, item: &Value) -> Value {
    let path = item["section"].as_str().unwrap_or_default();
    let mut found = settings;
    for name in path.split('.') {
        found = found.and_then(|settings| settings.get(name));
    }
    found.cloned().unwrap_or_default()
}

/// Where the first of these programs is on `PATH`.
pub(crate) fn find(programs: &[String]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let all = programs
        .iter()
        .flat_map(|program| std::env::split_paths(&path).map(move |folder| folder.join(program)));
    let found = all.into_iter().find(|program| program.is_file());
    found.unwrap_or_else(|| panic!("none of {programs:?} is installed: cargo xtask servers"))
}

fn send(input: &Mutex<ChildStdin>, message: &Value) {
    let body = message.to_string();
    let mut input = input.lock().unwrap();
    let _ = write!(input, "Content-Length: {}\r\n\r\n{body}", body.len());
    let _ = input.flush();
}

/// The next message, with its length in the header.
pub(crate) fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => {
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
