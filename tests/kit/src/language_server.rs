//! A language server that does as it is told, for tests of whatever talks with one.
//!
//! Like [`misbehave`](crate::misbehave) it is no file of its own: it is the test that is running, started again. Where
//! [`VARIABLE`] is set, the first argument is the path of a script, and `main` is never reached.
//!
//! `tower-lsp-server` serves the protocol, over documents of plain words: `def WORD` declares one, every other
//! place of it is a use, and `wrong` is an error. What no proper library does goes around it: between it and the client
//! stands a relay that has the script.
//!
//! # The script
//!
//! A JSON object, or a list of them, one for each time that the program is started; the last one counts from then on.
//!
//! | member | what it is |
//! | --- | --- |
//! | `name` | what it calls itself; `scripted` otherwise |
//! | `capabilities` | members to add to its capabilities, or to take out of them by `null` |
//! | `answers` | by method, `{"result": …}` or `{"error": …}` in place of its own answer; of a list, one each time, the last from then on |
//! | `never` | methods that it never answers, and what it does not say by itself |
//! | `twice` | methods that it answers twice |
//! | `on` | by method, what it does when such a message comes, before it answers; `start` is the beginning, and `exit` replaces the end |
//! | `after` | the same once it has answered |
//! | `die_at_message` | it kills itself when so many messages have come |
//! | `die_at_byte` | it kills itself when it has written so many bytes |
//! | `stubborn` | neither `exit` nor the end of its input nor a signal that can be ignored ends it |
//!
//! What is done is one of these; `${uri}`, `${root}` and `${id}` in a text stand for what the message has, and
//! `"${version}"` for the version of its document:
//!
//! | action | what it does |
//! | --- | --- |
//! | `{"send": MESSAGE}` | a message, be it a request, a notification or an answer |
//! | `{"raw": TEXT}` | these bytes on standard output |
//! | `{"complain": N}` | N bytes on standard error |
//! | `{"mourn": TEXT}` | a line on standard error |
//! | `{"write": [PATH, TEXT]}` | a file, as if somebody else did |
//! | `{"exit": N}` | ends |
//! | `"die"` | kills itself |
//! | `"deafen"` | reads nothing any more, and says nothing |
//! | `"close"` | closes its standard output, and lives on |
//!
//! # The log
//!
//! Beside the script, with `.log` behind its name, a JSON value a line: `{"start": PROCESS}`, `{"got": MESSAGE}`,
//! `{"sent": MESSAGE}`, and `{"wrong": TEXT}` for what the client must not do with a document. [`Log`] reads it.

mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, io, process, thread};

use rustix::process::{Signal, getpid, kill_process};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream, Join, Sink, Stdin};
use tower_lsp_server::{LspService, Server};

use crate::{Format, Scripted};

/// Where it is set to `1`, the program is this one.
pub const VARIABLE: &str = "TERRET_TEST_LANGUAGE_SERVER";

/// The upper bound of every wait.
const SOON: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Script {
    name: Option<String>,
    capabilities: serde_json::Map<String, Value>,
    answers: BTreeMap<String, Value>,
    never: HashSet<String>,
    twice: HashSet<String>,
    on: BTreeMap<String, Vec<Value>>,
    after: BTreeMap<String, Vec<Value>>,
    die_at_message: Option<usize>,
    die_at_byte: Option<usize>,
    stubborn: bool,
}

#[ctor::ctor(unsafe)]
fn instead_of_main() {
    if env::var_os(VARIABLE).is_none_or(|value| value != "1") {
        return;
    }
    let path = PathBuf::from(env::args_os().nth(1).expect("the path of a script"));
    let log = Log::beside(&path);
    let text = fs::read(&path).expect("a script");
    let lives = match serde_json::from_slice(&text).expect("JSON") {
        Value::Array(lives) => lives,
        life => vec![life],
    };
    let life = log.starts().len().min(lives.len() - 1);
    let script = Script::deserialize(&lives[life]).expect("a script");
    log.add(&json!({ "start": process::id() }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(serve(script, log));
    process::exit(0);
}

async fn serve(script: Script, log: Log) {
    if script.stubborn {
        crate::misbehave::ignore("term");
        crate::misbehave::ignore("int");
    }
    let (name, capabilities) = (script.name.clone(), script.capabilities.clone());
    let words = log.clone();
    let (service, socket) =
        LspService::new(move |client| words::Words::new(client, name, capabilities, words));
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    // One at a time, so that a question comes after the change before it.
    let server = Server::new(reader, writer, socket).concurrency_level(1);
    let client = tokio::io::join(tokio::io::stdin(), tokio::io::sink());
    let relay = Relay {
        script,
        log,
        client: Scripted::over(client, Format::ContentLength),
        library: Scripted::over(ours, Format::ContentLength),
        asked: HashMap::new(),
        answered: HashMap::new(),
        root: String::new(),
        versions: HashMap::new(),
        received: 0,
        written: 0,
    };
    tokio::select! {
        () = relay.run() => {}
        () = server.serve(service) => {}
    }
}

/// Stands between the client and the library.
struct Relay {
    script: Script,
    log: Log,
    client: Scripted<Join<Stdin, Sink>>,
    library: Scripted<DuplexStream>,
    /// The method of each request that has not been answered, with the request.
    asked: HashMap<String, Value>,
    /// How many of the answers of the script were given, by method.
    answered: HashMap<String, usize>,
    root: String,
    versions: HashMap<String, Value>,
    received: usize,
    written: usize,
}

impl Relay {
    async fn run(mut self) {
        self.act("start", &json!({ "method": "start" })).await;
        loop {
            tokio::select! {
                biased;
                message = self.library.next() => match message {
                    Some(message) => self.said(message).await,
                    None => return self.end(),
                },
                message = self.client.next() => match message {
                    Some(message) => self.heard(message).await,
                    None => return self.end(),
                },
            }
        }
    }

    fn end(&self) {
        if self.script.stubborn {
            hang();
        }
    }

    /// A message of the client.
    async fn heard(&mut self, message: Value) {
        self.log.add(&json!({ "got": message }));
        self.received += 1;
        if self.script.die_at_message == Some(self.received) {
            die();
        }
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            // The library's own requests have numbers.
            if message["id"].is_number() {
                self.library.send(&message).await;
            }
            return;
        };
        let document = &message["params"]["textDocument"];
        if method == "initialize" {
            self.root = text(&message["params"]["rootUri"]).to_owned();
        } else if document["version"].is_number() {
            self.versions.insert(
                text(&document["uri"]).to_owned(),
                document["version"].clone(),
            );
        }
        self.act(&method, &message).await;
        if method == "exit" && self.script.stubborn {
            return;
        }
        if self.script.never.contains(&method) {
            return;
        }
        if message.get("id").is_none() {
            self.library.send(&message).await;
            return self.then(&message).await;
        }
        self.asked
            .insert(message["id"].to_string(), message.clone());
        let Some(answers) = self.script.answers.get(&method) else {
            return self.library.send(&message).await;
        };
        let given = self.answered.entry(method).or_default();
        let answer = match answers {
            Value::Array(all) => &all[(*given).min(all.len() - 1)],
            answer => answer,
        };
        *given += 1;
        let mut answer = self.filled(answer, &message);
        answer["id"] = message["id"].clone();
        self.said(answer).await;
    }

    /// A message of the library, or an answer of the script.
    async fn said(&mut self, message: Value) {
        if self.script.never.contains(text(&message["method"])) {
            return;
        }
        let asked = match message.get("method") {
            None => self.asked.remove(&message["id"].to_string()),
            Some(_) => None,
        };
        self.send(&message).await;
        if let Some(asked) = asked {
            if self.script.twice.contains(text(&asked["method"])) {
                self.send(&message).await;
            }
            self.then(&asked).await;
        }
    }

    async fn act(&mut self, method: &str, message: &Value) {
        let actions = self.script.on.get(method).cloned();
        self.all(actions, message).await;
    }

    async fn then(&mut self, message: &Value) {
        let actions = self.script.after.get(text(&message["method"])).cloned();
        self.all(actions, message).await;
    }

    async fn all(&mut self, actions: Option<Vec<Value>>, message: &Value) {
        for action in actions.into_iter().flatten() {
            let action = self.filled(&action, message);
            match action.as_str() {
                Some("die") => die(),
                Some("deafen") => hang(),
                Some("close") => drop(rustix::stdio::dup2_stdout(
                    fs::File::open("/dev/null").expect("a null device"),
                )),
                Some(other) => panic!("there is no `{other}`"),
                None => {
                    let (name, value) = action
                        .as_object()
                        .and_then(|action| action.iter().next())
                        .expect("one member");
                    match name.as_str() {
                        "send" => self.send(value).await,
                        "raw" => self.write(text(value).as_bytes()).await,
                        "complain" => {
                            let count = usize::try_from(value.as_u64().expect("a number"));
                            let mut bytes = vec![b'.'; count.expect("memory for it")];
                            bytes.push(b'\n');
                            let _ = io::stderr().write_all(&bytes);
                        }
                        "mourn" => {
                            let _ = io::stderr().write_all(format!("{}\n", text(value)).as_bytes());
                        }
                        "write" => fs::write(text(&value[0]), text(&value[1]))
                            .expect("a file that can be written"),
                        "exit" => {
                            let code = value.as_i64().map(i32::try_from);
                            process::exit(code.expect("a number").expect("a small one"))
                        }
                        other => panic!("there is no `{other}`"),
                    }
                }
            }
        }
    }

    async fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.log.add(&json!({ "sent": message }));
        let body = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .await;
    }

    /// Whoever reads may be gone: then so is the reason to go on.
    async fn write(&mut self, bytes: &[u8]) {
        let left = self.script.die_at_byte.map(|at| at - self.written);
        let cut = left.unwrap_or(usize::MAX).min(bytes.len());
        let mut stdout = tokio::io::stdout();
        let written = stdout.write_all(&bytes[..cut]).await;
        let flushed = stdout.flush().await;
        self.written += cut;
        if self.script.die_at_byte == Some(self.written) {
            die();
        }
        if written.is_err() || flushed.is_err() {
            process::exit(1);
        }
    }

    /// The value with what the message has in place of the names.
    fn filled(&self, value: &Value, message: &Value) -> Value {
        let uri = text(&message["params"]["textDocument"]["uri"]);
        match value {
            Value::String(text) if text == "${version}" => {
                self.versions.get(uri).cloned().unwrap_or_default()
            }
            Value::String(text) if text == "${id}" => message["id"].clone(),
            Value::String(text) => {
                json!(text.replace("${uri}", uri).replace("${root}", &self.root))
            }
            Value::Array(all) => all.iter().map(|one| self.filled(one, message)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| {
                    let name = name.replace("${uri}", uri).replace("${root}", &self.root);
                    (name, self.filled(value, message))
                })
                .collect(),
            other => other.clone(),
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn die() -> ! {
    kill_process(getpid(), Signal::KILL).expect("oneself");
    hang()
}

fn hang() -> ! {
    loop {
        thread::park();
    }
}

/// What a server has heard and said.
#[derive(Clone, Debug)]
pub struct Log(PathBuf);

impl Log {
    /// The log of the servers with this script.
    #[must_use]
    pub fn beside(script: &Path) -> Log {
        let mut path = script.as_os_str().to_owned();
        path.push(".log");
        Log(path.into())
    }

    /// All of it.
    ///
    /// # Panics
    ///
    /// If it holds anything else than JSON.
    #[must_use]
    pub fn read(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        // The last line may be in the making.
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("a value a line")
    }

    /// The processes that were started, in order.
    #[must_use]
    pub fn starts(&self) -> Vec<u32> {
        let lines = self.read().into_iter();
        let numbers = lines.filter_map(|line| u32::try_from(line["start"].as_u64()?).ok());
        numbers.collect()
    }

    /// The messages of the client with this method.
    #[must_use]
    pub fn got(&self, method: &str) -> Vec<Value> {
        let lines = self.read().into_iter();
        let messages = lines.filter_map(|mut line| line.get_mut("got").map(Value::take));
        messages
            .filter(|message| message["method"] == method)
            .collect()
    }

    /// The answer of the client to the request with this id, once it is there.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn answer_to(&self, id: &Value) -> Value {
        self.until(|line| {
            let message = &line["got"];
            let is_answer = message.get("method").is_none() && message["id"] == *id;
            is_answer.then(|| message.clone())
        })
        .await
    }

    /// The first line of which this gives something, once it is there.
    ///
    /// # Panics
    ///
    /// If it does not come.
    pub async fn until<T>(&self, look: impl Fn(&Value) -> Option<T>) -> T {
        let end = Instant::now() + SOON;
        loop {
            let lines = self.read();
            if let Some(found) = lines.iter().find_map(&look) {
                return found;
            }
            assert!(Instant::now() < end, "in vain, but: {lines:#?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// What the client did wrong.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let lines = self.read().into_iter();
        let texts = lines.filter_map(|line| line["wrong"].as_str().map(str::to_owned));
        texts.collect()
    }

    fn add(&self, line: &Value) {
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).append(true).open(&self.0);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .expect("a log beside the script");
    }
}
