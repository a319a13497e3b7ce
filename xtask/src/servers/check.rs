//! Whether a program that was installed works: it prints its version, and a language server answers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// How long a program may take to start; the first time, on a busy machine, all of it is read from disk.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);
/// How long a server that was told to end may take to.
const PARTING: Duration = Duration::from_secs(5);
/// How much is shown of what a program that failed said last.
const LAST_LINES: usize = 10;

/// A program in a process group of its own, which ends with this.
struct Running {
    child: Child,
    errors: File,
}

impl Running {
    fn start(mut command: Command) -> Result<Running> {
        let errors = tempfile::tempfile().context("a temporary file")?;
        let child = command
            .stderr(errors.try_clone().context("a temporary file")?)
            .process_group(0)
            .spawn()
            .with_context(|| command.get_program().to_string_lossy().into_owned())?;
        Ok(Running { child, errors })
    }

    /// What it said last on standard error.
    fn last_words(&mut self) -> String {
        let mut bytes = Vec::new();
        if self.errors.rewind().is_err() || self.errors.read_to_end(&mut bytes).is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    /// Adds what it said last.
    fn explain<T>(&mut self, result: Result<T>) -> Result<T> {
        result.or_else(|error| match self.last_words().as_str() {
            "" => Err(error),
            words => bail!("{error:#}\n{words}"),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Once it is waited for, its number may be that of another group.
        if let Ok(None) = self.child.try_wait() {
            _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            _ = self.child.wait();
        }
    }
}

/// The version that a command prints.
pub(super) fn version(mut command: Command, deadline: Duration) -> Result<String> {
    let mut output = tempfile::tempfile().context("a temporary file")?;
    command.stdout(output.try_clone().context("a temporary file")?);
    let mut running = Running::start(command)?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = running.child.try_wait().context("a program")? {
            break status;
        }
        if begun.elapsed() > deadline {
            let late = Err(anyhow!("no end after {deadline:?}"));
            return running.explain(late);
        }
        thread::sleep(Duration::from_millis(10));
    };
    if !status.success() {
        return running.explain(Err(anyhow!("{status}")));
    }
    let mut text = String::new();
    output.rewind().context("what it printed")?;
    output
        .read_to_string(&mut text)
        .context("what it printed")?;
    Ok(number(&text).unwrap_or_default().to_owned())
}

/// The first thing in a text that looks like a version.
fn number(text: &str) -> Option<&str> {
    let part = |char: char| char.is_ascii_alphanumeric() || ".-+_".contains(char);
    let words = text.split(|char| !part(char));
    let mut numbers = words.filter_map(|word| {
        let number = &word[word.find(|char: char| char.is_ascii_digit())?..];
        let (first, rest) = number.split_once('.')?;
        let digits = first.bytes().all(|byte| byte.is_ascii_digit());
        (digits && rest.starts_with(|char: char| char.is_ascii_digit())).then_some(number)
    });
    numbers.next()
}

/// Opens and closes a session in this folder; gives the version that the server tells, if it does.
pub(super) fn session(
    mut command: Command,
    folder: &Path,
    deadline: Duration,
) -> Result<Option<String>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = Running::start(command)?;
    let talked = talk(&mut running.child, folder, deadline);
    running.explain(talked)
}

fn talk(child: &mut Child, folder: &Path, deadline: Duration) -> Result<Option<String>> {
    let mut input = child.stdin.take().context("its standard input")?;
    let answers = listen(child.stdout.take().context("its standard output")?);
    let uri = format!("file://{}", folder.display());
    let params = json!({
        "processId": std::process::id(),
        "rootUri": uri,
        "workspaceFolders": [{ "uri": uri, "name": "check" }],
        "capabilities": {},
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    send(&mut input, &request)?;
    let hello = answer(&mut input, &answers, 1, deadline).context("initialize")?;
    send(
        &mut input,
        &json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
    )?;
    // Without parameters: some servers refuse those that are null.
    send(
        &mut input,
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }),
    )?;
    answer(&mut input, &answers, 2, deadline).context("shutdown")?;
    send(&mut input, &json!({ "jsonrpc": "2.0", "method": "exit" }))?;
    drop(input);
    // It may take its time, and is ended if it does; what is wanted is known.
    let parted = Instant::now();
    while let Some(left) = PARTING.checked_sub(parted.elapsed()) {
        match answers.recv_timeout(left) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    let version = hello["serverInfo"]["version"].as_str();
    Ok(version.and_then(number).map(str::to_owned))
}

fn send(input: &mut ChildStdin, message: &Value) -> Result<()> {
    let body = message.to_string();
    let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    input
        .write_all(framed.as_bytes())
        .context("it listens no more")?;
    input.flush().context("it listens no more")
}

/// What it answers to the request of this number. What it asks meanwhile is answered with nothing: some
/// servers wait for that first.
fn answer(
    input: &mut ChildStdin,
    answers: &Receiver<Result<Value>>,
    id: u64,
    deadline: Duration,
) -> Result<Value> {
    let begun = Instant::now();
    loop {
        let left = deadline.saturating_sub(begun.elapsed());
        let message = match answers.recv_timeout(left) {
            Ok(message) => message?,
            Err(RecvTimeoutError::Timeout) => bail!("no answer after {deadline:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("it ended without an answer"),
        };
        match (message.get("id"), message.get("method")) {
            (Some(asked), Some(_)) => {
                let nothing = json!({ "jsonrpc": "2.0", "id": asked, "result": null });
                send(input, &nothing)?;
            }
            (Some(answered), None) if *answered == id => match message.get("error") {
                Some(error) => bail!("{error}"),
                None => return Ok(message["result"].clone()),
            },
            _ => {}
        }
    }
}

/// The messages that come, until the end or something that is none.
fn listen(output: impl Read + Send + 'static) -> Receiver<Result<Value>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let message = match message(&mut output) {
                Ok(None) => return,
                Ok(Some(message)) => Ok(message),
                Err(error) => Err(error),
            };
            let last = message.is_err();
            if send.send(message).is_err() || last {
                return;
            }
        }
    });
    receive
}

fn message(output: &mut impl BufRead) -> Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).context("a header")? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        match line.split_once(':') {
            None if line.is_empty() => break,
            None => bail!("`{line}` is no header"),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().context("the length of a message")?);
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length.context("a message without a length")?];
    output.read_exact(&mut body).context("half a message")?;
    serde_json::from_slice(&body).context("a message").map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Shell;

    fn sh(script: &str) -> Command {
        Shell::new(".").command("sh", &["-c", script])
    }

    /// A server that says these messages, each as soon as something comes.
    fn server(messages: &[&str]) -> Command {
        let mut script = "echo ready >&2\n".to_owned();
        for message in messages {
            let length = message.len();
            script +=
                &format!("read -r line; printf 'Content-Length: {length}\\r\\n\\r\\n{message}'\n");
        }
        sh(&format!("{script}cat > /dev/null"))
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (text, version) in [
            ("pyright 1.1.414\n", Some("1.1.414")),
            ("go version go1.27.3 linux/amd64", Some("1.27.3")),
            ("golang.org/x/tools/gopls v0.22.0", Some("0.22.0")),
            ("ShellCheck - a tool\nversion: 0.11.0\n", Some("0.11.0")),
            ("rust-analyzer 1.97.1 (0123456 2026-01-01)", Some("1.97.1")),
            ("version (devel)", None),
        ] {
            assert_eq!(number(text), version, "{text}");
        }
    }

    #[test]
    fn a_server_that_answers_passes() {
        let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"version":"v1.2"}}}"#;
        let log = r#"{"jsonrpc":"2.0","method":"window/logMessage"}"#;
        let end = r#"{"jsonrpc":"2.0","id":2,"result":null}"#;
        let version = session(server(&[log, hello, end]), Path::new("."), DEADLINE);
        assert_eq!(version.expect("a session").as_deref(), Some("1.2"));
    }

    #[test]
    fn what_fails_has_its_last_words() {
        let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}"#;
        for (command, words) in [
            (
                server(&[refusal]),
                "initialize: {\"message\":\"no\"}\nready",
            ),
            (
                sh("read line; echo why >&2"),
                "ended without an answer\nwhy",
            ),
            (sh("read line; echo hello; cat >&2"), "`hello` is no header"),
        ] {
            let error = session(command, Path::new("."), DEADLINE).expect_err(words);
            let error = format!("{error:#}");
            assert!(error.contains(words), "{error}");
        }
        let error = version(sh("echo why >&2; exit 3"), DEADLINE).expect_err("it ends with 3");
        assert!(error.to_string().contains("exit status: 3\nwhy"), "{error}");
    }

    #[test]
    fn what_is_late_is_ended() {
        let short = Duration::from_millis(50);
        let error = session(sh("cat > /dev/null"), Path::new("."), short).expect_err("it is late");
        assert!(
            format!("{error:#}").contains("no answer after 50ms"),
            "{error:#}"
        );
        let error = version(sh("sleep 60"), short).expect_err("it is late");
        assert!(error.to_string().contains("no end after 50ms"), "{error}");
    }
}
