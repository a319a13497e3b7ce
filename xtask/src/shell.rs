//! Runs other programs; the only place in this crate that does.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long the output of a program that has ended may stay open.
const GRACE: Duration = Duration::from_secs(5);

/// Where programs run, and what is set for them.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    folder: PathBuf,
    env: Vec<(OsString, Option<OsString>)>,
}

impl Shell {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Shell {
        Shell {
            folder: folder.into(),
            env: Vec::new(),
        }
    }

    /// Where programs run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets a variable for everything that is run from now on.
    pub(crate) fn set(mut self, name: &str, value: impl Into<OsString>) -> Shell {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Keeps a variable of our own from what is run.
    pub(crate) fn unset(mut self, name: &str) -> Shell {
        self.env.push((name.into(), None));
        self
    }

    /// Puts folders in front of `PATH`.
    pub(crate) fn prepend_path(self, folders: &[PathBuf]) -> Result<Shell> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = folders.iter().cloned().chain(env::split_paths(&path));
        let path = env::join_paths(folders).context("a folder that cannot stand in PATH")?;
        Ok(self.set("PATH", path))
    }

    /// The cargo that runs this.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        self.command(env::var_os("CARGO").unwrap_or("cargo".into()), args)
    }

    /// A program that gets no input of ours.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one door for the programs of the tasks"
    )]
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

/// Runs it with our own output as its; fails if it does.
pub(crate) fn pass(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| line(&command))?;
    match status.success() {
        true => Ok(()),
        false => bail!("`{}`: {status}", line(&command)),
    }
}

/// Its standard output; fails if it does, with what it said.
pub(crate) fn read(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| line(&command))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}`: {}\n{}", line(&command), output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{}`", line(&command)))
}

/// Runs it, prints what it prints, and shows each line to `see` too. Standard output and standard
/// error go through one pipe: the order of their lines says which test belongs to which binary.
///
/// Fails if a process that it started outlives it and holds that pipe: waiting for it could take
/// for ever, and not waiting would hide that tests leave processes behind.
pub(crate) fn stream(mut command: Command, mut see: impl FnMut(&str)) -> Result<ExitStatus> {
    let (reader, writer) = io::pipe().context("a pipe")?;
    let shown = line(&command);
    command
        .stdout(writer.try_clone().context("a pipe")?)
        .stderr(writer);
    let mut child = command.spawn().with_context(|| shown.clone())?;
    // Our own ends of the pipe go with the command, or it would never close.
    drop(command);

    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
            if send
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
        }
    });
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => {
                println!("{line}");
                see(&line);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return child.wait().with_context(|| shown.clone());
            }
            Err(RecvTimeoutError::Timeout) => match ended {
                None => {
                    let status = child.try_wait().with_context(|| shown.clone())?;
                    ended = status.map(|status| (status, Instant::now()));
                }
                Some((_, at)) if at.elapsed() < GRACE => {}
                Some((status, _)) => {
                    bail!("`{shown}` ended ({status}), but a process that it started did not")
                }
            },
        }
    }
}

/// The first of `folders` that has the program, as a shell would find it.
pub(crate) fn on_path(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().cloned().chain(env::split_paths(&path));
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// A command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(program).chain(command.get_args());
    words
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A word as a shell reads it.
pub(crate) fn quote(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_=./:,@%+".contains(char);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        Shell::new(".").command("sh", &["-c", script])
    }

    #[test]
    fn both_outputs_come_in_order() {
        let mut lines = Vec::new();
        let script = "echo 1; echo 2 >&2; echo 3; echo 4 >&2; printf 5";
        let status = stream(sh(script), |line| lines.push(line.to_owned())).expect("it runs");
        assert!(status.success());
        assert_eq!(lines, ["1", "2", "3", "4", "5"]);
    }

    #[test]
    fn a_process_left_behind_is_a_failure() {
        let error = stream(sh("sleep 12 & echo done"), |_| {}).expect_err("the sleep holds on");
        assert!(error.to_string().contains("did not"), "{error}");
    }

    #[test]
    fn failures_say_what_failed() {
        let error = read(sh("echo why >&2; exit 4")).expect_err("it ends with 4");
        let error = format!("{error:#}");
        assert!(
            error.contains("why") && error.contains("exit status: 4"),
            "{error}"
        );
        let error = pass(sh("exit 4")).expect_err("it ends with 4").to_string();
        assert!(error.contains("`sh -c 'exit 4'`"), "{error}");
    }

    #[test]
    fn variables_are_set_and_kept() {
        let shell = Shell::new(".").set("GIVEN", "a b").unset("CARGO");
        let text = read(shell.command("sh", &["-c", "echo $GIVEN ${CARGO-none}"]));
        assert_eq!(text.expect("it runs"), "a b none\n");
    }
}
