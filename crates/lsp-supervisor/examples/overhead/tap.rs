//! Stands between a client and a server, and notes when the server's diagnostics are on the wire.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use terret_lsp_supervisor::catalog::Catalog;

use crate::{only, raw};

/// The time of the machine's monotonic clock, which all processes share, in nanoseconds.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap();
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
}

/// The catalog with one server, which this program stands before.
pub(crate) fn between(id: &str, log: &Path) -> Catalog {
    let mut catalog = only(id);
    let spec = catalog.get(id).unwrap().spec().clone();
    let me = std::env::current_exe().unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let mut args = vec![
        "tap".to_owned(),
        text(log),
        text(&raw::find(&spec.programs)),
    ];
    args.extend(spec.args);
    let words = |words: &[String]| {
        words
            .iter()
            .cloned()
            .map(toml::Value::from)
            .collect::<Vec<_>>()
    };
    let mut table = toml::Table::new();
    let folder = text(me.parent().unwrap());
    let name = me.file_name().unwrap().to_str().unwrap().to_owned();
    table.insert("programs".to_owned(), words(&[name]).into());
    table.insert("folders".to_owned(), words(&[folder]).into());
    table.insert("args".to_owned(), words(&args).into());
    for empty in ["probe", "probe_says"] {
        table.insert(empty.to_owned(), toml::Value::Array(Vec::new()));
    }
    for off in ["local", "versioned"] {
        table.insert(off.to_owned(), false.into());
    }
    catalog.change_table(id, table).unwrap();
    catalog
}

/// When the server's last word before a time was on the wire.
pub(crate) fn last_before(log: &Path, since: u64, until: u64) -> Option<u64> {
    let text = std::fs::read_to_string(log).ok()?;
    let times = text.lines().filter_map(|line| line.parse::<u64>().ok());
    times.filter(|time| (since..=until).contains(time)).max()
}

pub(crate) fn run(log: &Path, program: &str, args: &[String]) {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut input);
    });
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    let output = Noted {
        inner: child.stdout.take().unwrap(),
        out: std::io::stdout(),
        read: 0,
    };
    note(output, log);
    let _ = child.wait();
}

/// What is read of the server is on the wire to the client at once, and looked at afterwards.
struct Noted<R> {
    inner: R,
    out: std::io::Stdout,
    /// When it was read.
    read: u64,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read = now();
        self.out.write_all(&buffer[..count])?;
        self.out.flush()?;
        Ok(count)
    }
}

fn note(output: Noted<impl Read>, mut log: File) {
    let mut output = BufReader::new(output);
    while let Some(message) = raw::read(&mut output) {
        if tells(&message) {
            let _ = writeln!(log, "{}", output.get_ref().read);
        }
    }
}

/// Whether a message says what is wrong with a document, or that a check of it has ended.
fn tells(message: &Value) -> bool {
    let pushed = message["method"] == "textDocument/publishDiagnostics";
    let ended = message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end";
    let pulled = message["result"]["items"].is_array() || message["result"]["body"].is_array();
    pushed || ended || pulled
}
