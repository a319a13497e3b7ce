//! One run of a checker, bounded in time and in what is kept of its output.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use terret_launch::{Child, Command, Exit, Input, Output, Stdout};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

use super::Checker;
use super::find::{Applicable, beginning};
use super::parse::{self, Format, Said};
use crate::diagnostic::{Diagnostic, Severity};
use crate::supervisor::Shared;

/// How long a checker may take.
const TIME: Duration = Duration::from_secs(120);
/// How much is kept of what it prints.
const BYTES: usize = 8 << 20;
/// How many lines of it are told when it has failed.
const LAST_WORDS: usize = 12;
/// How many files are looked at where it takes one at a time.
const MOST_FILES: usize = 50;
/// How much of a list of files is read.
const COMMANDS: u64 = 64 << 20;

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) found: Vec<(PathBuf, Diagnostic)>,
    /// Why it cannot have told all.
    pub(super) failed: Option<String>,
    /// What it was about, if that is not the whole project.
    pub(super) of: Option<String>,
}

/// Runs a checker. Safe to cancel: it is killed with all that it has started.
pub(super) async fn run(shared: &Shared, applicable: &Applicable, program: &Path) -> Ran {
    let Applicable { checker, root, .. } = applicable;
    let command = shared.command(program, root).env("NO_COLOR", "1");
    let work = Work {
        checker,
        root,
        until: Instant::now() + TIME,
    };
    if checker.commands.is_empty() {
        let args = arguments(checker, root);
        return work.once(command.args(args), "").await;
    }
    work.each_file(&command).await
}

/// The path of the file that a problem is in.
fn path_of(root: &Path, problem: &parse::Problem) -> PathBuf {
    let from = problem
        .folder
        .as_ref()
        .map_or(root, |folder| Path::new(folder));
    let mut above = from.ancestors().map(|folder| folder.join(&problem.path));
    let there = above.find(|path| path.exists());
    inside(root, there.unwrap_or_else(|| root.join(&problem.path)))
}

/// A path as one below the root as that is spelled, where it leads there: checkers go through links, and steps up.
fn inside(root: &Path, path: PathBuf) -> PathBuf {
    let is_plain = path.components().all(|part| part != Component::ParentDir);
    if is_plain && path.starts_with(root) {
        return path;
    }
    let real = |path: &Path| path.canonicalize().ok();
    let below = real(&path).zip(real(root));
    let below = below.and_then(|(path, root)| Some(path.strip_prefix(root).ok()?.to_owned()));
    below.map_or(path, |below| root.join(below))
}

/// What it is started with in this project.
fn arguments(checker: &Checker, root: &Path) -> Vec<String> {
    let instead = checker.instead.as_ref().filter(|instead| {
        let text = beginning(&root.join(&instead.file));
        text.is_some_and(|text| text.contains(&instead.holds))
    });
    instead
        .map_or(&checker.args, |instead| &instead.args)
        .clone()
}

struct Work<'a> {
    checker: &'a Checker,
    root: &'a Path,
    until: Instant,
}

impl Work<'_> {
    /// Runs it for the whole project, or for one file.
    async fn once(&self, command: Command, file: &str) -> Ran {
        let printed = match print(&command, self.until).await {
            Ok(printed) => printed,
            Err(error) => {
                return Ran {
                    failed: Some(error.to_string()),
                    ..Ran::default()
                };
            }
        };
        let said = Said {
            stdout: &String::from_utf8_lossy(&printed.stdout.kept),
            stderr: &String::from_utf8_lossy(&printed.stderr.kept),
            source: &self.checker.source,
            file,
        };
        let read = parse::read(self.checker.format, said);
        let failed = verdict(self.checker, &printed, &read);
        let place = |problem: parse::Problem| (path_of(self.root, &problem), problem.diagnostic);
        Ran {
            found: read.problems.into_iter().map(place).collect(),
            failed: failed.map(|why| with_last_words(why, self.checker.format, said)),
            of: None,
        }
    }

    /// Runs it for each file of a compilation database, up to a bound.
    async fn each_file(&self, command: &Command) -> Ran {
        let files = match listed(self.checker, self.root).await {
            Ok(files) => files,
            Err(why) => {
                return Ran {
                    failed: Some(why),
                    ..Ran::default()
                };
            }
        };
        let mut ran = Ran::default();
        let mut looked_at = 0;
        for file in files.iter().take(MOST_FILES) {
            let mut check = OsString::from("--check=");
            check.push(file);
            let command = command.clone().arg(check).args(&self.checker.args);
            let one = self.once(command, &file.to_string_lossy()).await;
            looked_at += 1;
            ran.found.extend(one.found);
            if let Some(why) = one.failed {
                let name = file.strip_prefix(self.root).unwrap_or(file).display();
                ran.failed.get_or_insert(format!("{name}: {why}"));
            }
            if Instant::now() >= self.until {
                break;
            }
        }
        ran.of = Some(match looked_at == files.len() {
            true => format!("{looked_at} files"),
            false => format!("{looked_at} of {} files", files.len()),
        });
        ran
    }
}

/// Why a run cannot have told all, if so.
fn verdict(checker: &Checker, printed: &Printed, read: &parse::Read) -> Option<String> {
    let Some(exit) = printed.exit else {
        return Some(format!("it was not done after {} s", TIME.as_secs()));
    };
    if printed.stdout.left_out + printed.stderr.left_out > 0 {
        return Some(format!("it printed more than {} MiB", BYTES >> 20));
    }
    // What ends a build but is no error of a file (a build script, say) has to be told by its own words.
    let explains = |problem: &parse::Problem| {
        checker.format != Format::Cargo || problem.diagnostic.severity == Severity::Error
    };
    let is_explained = match exit.code() {
        Some(0) => true,
        Some(code) => checker.found.contains(&code) && read.problems.iter().any(explains),
        None => false,
    };
    if !is_explained {
        return Some(format!("it {exit}"));
    }
    read.incomplete.map(str::to_owned)
}

fn with_last_words(why: String, format: Format, said: Said<'_>) -> String {
    let is_data = matches!(
        format,
        Format::Cargo | Format::Eslint | Format::Pyright | Format::Ruff
    );
    let mut lines: Vec<&str> = said.stderr.lines().collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        // Data are no words; what is printed in their place is.
        let plain = |line: &&str| !is_data || !line.trim_start().starts_with(['{', '}', '[', '"']);
        lines = said.stdout.lines().filter(plain).collect();
    }
    lines.retain(|line| !line.trim().is_empty());
    let last = &lines[lines.len().saturating_sub(LAST_WORDS)..];
    match last.is_empty() {
        true => why,
        false => format!("{why}; its last words:\n{}", last.join("\n")),
    }
}

/// The files that a compilation database lists, and the headers beside them, which it does not.
async fn listed(checker: &Checker, root: &Path) -> Result<Vec<PathBuf>, String> {
    let databases = checker.commands.iter().map(|name| root.join(name));
    let Some(path) = { databases }.find(|path| path.is_file()) else {
        return Err(format!("no {}", checker.commands.join(" or ")));
    };
    let name = path
        .strip_prefix(root)
        .unwrap_or(&path)
        .display()
        .to_string();
    let bad = |why: String| format!("{name} cannot be read: {why}");
    let file = tokio::fs::File::open(&path).await;
    let mut text = Vec::new();
    let file = file.map_err(|error| bad(error.to_string()))?;
    let read = file.take(COMMANDS).read_to_end(&mut text).await;
    read.map_err(|error| bad(error.to_string()))?;
    let commands: Vec<Value> =
        serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
    let mut files: Vec<PathBuf> = Vec::new();
    let mut known = HashSet::new();
    for command in &commands {
        let folder = command["directory"].as_str().unwrap_or_default();
        let file = command["file"].as_str().unwrap_or_default();
        let file = inside(root, root.join(folder).join(file));
        // What is generated or from elsewhere is not the project's.
        if file.starts_with(root) && known.insert(file.clone()) {
            files.push(file);
        }
    }
    let headers = headers(&files);
    files.extend(headers);
    match files.is_empty() {
        true => Err(format!("{name} lists no file of the project")),
        false => Ok(files),
    }
}

fn headers(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    let entries = folders
        .into_iter()
        .filter_map(|folder| folder.read_dir().ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let is_header = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default();
        ["h", "hh", "hpp", "hxx"]
            .iter()
            .any(|header| ending == *header)
    };
    let mut headers: Vec<PathBuf> = paths.filter(is_header).collect();
    headers.sort();
    headers
}

/// The beginning of a stream.
#[derive(Debug, Default)]
struct Stream {
    kept: Vec<u8>,
    left_out: u64,
}

#[derive(Debug, Default)]
struct Printed {
    /// Absent if it was not done in time.
    exit: Option<Exit>,
    stdout: Stream,
    stderr: Stream,
}

/// Runs a command until it ends or the time has come; what it has printed by then is there either way.
async fn print(command: &Command, until: Instant) -> Result<Printed, terret_launch::Error> {
    let command = command.clone().stdin(Input::Null);
    let command = command.stdout(Output::Piped).stderr(Output::Piped);
    let mut child = command.spawn().await?;
    let mut printed = Printed::default();
    let ended = to_the_end(&mut child, &mut printed.stdout, &mut printed.stderr);
    let exit = timeout_at(until, ended).await.ok();
    printed.exit = exit;
    if printed.exit.is_none() {
        // If it cannot be killed, its guard goes on trying.
        let _ = child.kill().await;
    }
    Ok(printed)
}

async fn to_the_end(child: &mut Child, stdout: &mut Stream, stderr: &mut Stream) -> Exit {
    let (output, errors) = (child.take_stdout(), child.take_stderr());
    // A pipe that is full stops a program, so both are read at once.
    tokio::join!(keep(output, stdout), keep(errors, stderr));
    child.gone().await
}

async fn keep(output: Option<Stdout>, stream: &mut Stream) {
    let Some(mut output) = output else {
        return;
    };
    let mut buffer = vec![0; 64 << 10];
    // An error is taken for the end: the exit tells the rest.
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        let kept = count.min(BYTES - stream.kept.len());
        stream.kept.extend_from_slice(&buffer[..kept]);
        stream.left_out += (count - kept) as u64;
    }
}
