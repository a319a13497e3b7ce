//! One run of one command: time, memory, and what it said.

use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use crate::shell;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) wall: Duration,
    /// User and system time, that of its own children included.
    pub(super) cpu: Duration,
    /// The most memory that was resident, in bytes. No command can be seen to use less than this
    /// program does, which the system counts before the command takes its place.
    pub(super) peak: u64,
}

/// Runs it to its end; gives the last line that it wrote, too. Its output goes to a file: a pipe
/// would make the command wait for its reader.
pub(super) fn once(mut command: Command) -> Result<(Sample, String)> {
    let shown = shell::line(&command);
    let mut output = tempfile::tempfile().context("a temporary file")?;
    let errors = output.try_clone().context("a temporary file")?;
    command
        .stdout(output.try_clone().context("a temporary file")?)
        .stderr(Stdio::from(errors));
    let begun = Instant::now();
    let child = command.spawn().with_context(|| shown.clone())?;
    let used = child.wait4().with_context(|| shown.clone())?;
    let wall = begun.elapsed();

    let mut text = Vec::new();
    output
        .rewind()
        .and_then(|()| output.read_to_end(&mut text))
        .context("a temporary file")?;
    let text = String::from_utf8_lossy(&text);
    let answer = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    if !used.status.success() {
        bail!("`{shown}`: {}\n{}", used.status, answer.unwrap_or_default());
    }
    let Some(answer) = answer else {
        bail!("`{shown}` said nothing, so what was measured?")
    };
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok((
        Sample {
            wall,
            cpu,
            peak: used.rusage.maxrss,
        },
        answer.to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Shell;

    fn sh(script: &str) -> Result<(Sample, String)> {
        once(Shell::new(".").command("sh", &["-c", script]))
    }

    #[test]
    fn time_and_memory_are_those_of_the_command() {
        let (busy, answer) = sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i; echo")
            .expect("it runs");
        assert_eq!(answer, "200000");
        assert!(busy.cpu > Duration::from_millis(20), "{busy:?}");
        let (idle, _) = sh("sleep 0.3; echo done").expect("it runs");
        assert!(
            idle.wall >= Duration::from_millis(300) && idle.cpu < busy.cpu,
            "{idle:?}"
        );
        let (large, _) =
            sh("x=$(head -c 50000000 /dev/zero | tr '\\0' x); echo ${#x}").expect("it runs");
        assert!(
            large.peak > 50_000_000 && large.peak < 1_000_000_000,
            "{large:?}"
        );
    }

    #[test]
    fn failure_and_silence_are_errors() {
        let error = sh("echo why >&2; exit 3")
            .expect_err("it fails")
            .to_string();
        assert!(
            error.contains("exit status: 3") && error.contains("why"),
            "{error}"
        );
        assert!(
            sh("true")
                .expect_err("silent")
                .to_string()
                .contains("said nothing")
        );
    }
}
