//! One run of one command: time, memory, and what it said.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use crate::shell;

/// How a command's answer is read, and until when its wall time runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ask {
    /// The last line that it writes.
    LastLine,
    /// How many lines it writes. It ends with 1 if there is none, as `grep` does.
    Lines,
    /// The time until its first byte, not its end.
    FirstByte,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) wall: Duration,
    /// User and system time, that of its own children included.
    pub(super) cpu: Duration,
    /// The most memory that was resident, in bytes. No command can be seen to use less than this
    /// program does, which the system counts before the command takes its place.
    pub(super) peak: u64,
}

/// Runs it to its end; gives its answer, too.
pub(super) fn once(mut command: Command, ask: Ask) -> Result<(Sample, String)> {
    let shown = shell::line(&command);
    let mut errors = tempfile::tempfile().context("a temporary file")?;
    command.stderr(errors.try_clone().context("a temporary file")?);
    // Output goes to a file: a pipe would make the command wait for its reader.
    let mut output = tempfile::tempfile().context("a temporary file")?;
    match ask {
        Ask::FirstByte => command.stdout(Stdio::piped()),
        _ => command.stdout(output.try_clone().context("a temporary file")?),
    };
    let begun = Instant::now();
    let mut child = command.spawn().with_context(|| shown.clone())?;
    let first = match ask {
        Ask::FirstByte => first_byte(&mut child, begun)?,
        _ => None,
    };
    let used = child.wait4().with_context(|| shown.clone())?;
    let wall = first.unwrap_or_else(|| begun.elapsed());

    let (lines, last) = read(&mut output)?;
    let ended = used.status.success() || ask == Ask::Lines && used.status.code() == Some(1);
    if !ended {
        let (_, said) = read(&mut errors)?;
        bail!("`{shown}`: {}\n{said}{last}", used.status);
    }
    let answer = match ask {
        Ask::FirstByte if first.is_some() => "first byte".to_owned(),
        Ask::Lines => format!("{lines} lines"),
        _ if last.is_empty() => bail!("`{shown}` said nothing, so what was measured?"),
        _ => last,
    };
    let cpu = used.rusage.utime + used.rusage.stime;
    let sample = Sample {
        wall,
        cpu,
        peak: used.rusage.maxrss,
    };
    Ok((sample, answer))
}

/// When the first byte came, if one did; the rest is read so that nothing makes the command fail.
fn first_byte(child: &mut Child, begun: Instant) -> Result<Option<Duration>> {
    let mut pipe = child.stdout.take().context("it was piped")?;
    let mut byte = [0];
    let first = (pipe.read(&mut byte).context("its output")? == 1).then(|| begun.elapsed());
    std::io::copy(&mut pipe, &mut std::io::sink()).context("its output")?;
    Ok(first)
}

/// How many lines the file has, and the last that is not empty. Never all of it at once: what this
/// program has in memory hides what the next command needs.
fn read(file: &mut File) -> Result<(usize, String)> {
    file.rewind().context("a temporary file")?;
    let (mut lines, mut last) = (0, Vec::new());
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .context("a temporary file")?
        > 0
    {
        lines += 1;
        if !line.trim_ascii().is_empty() {
            std::mem::swap(&mut last, &mut line);
        }
        line.clear();
    }
    Ok((
        lines,
        String::from_utf8_lossy(last.trim_ascii()).into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Shell;

    fn sh(script: &str, ask: Ask) -> Result<(Sample, String)> {
        once(Shell::new(".").command("sh", &["-c", script]), ask)
    }

    #[test]
    fn time_and_memory_are_those_of_the_command() {
        let counts = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i; echo";
        let (busy, answer) = sh(counts, Ask::LastLine).expect("it runs");
        assert_eq!(answer, "200000");
        assert!(busy.cpu > Duration::from_millis(20), "{busy:?}");
        let (idle, _) = sh("sleep 0.3; echo done", Ask::LastLine).expect("it runs");
        assert!(
            idle.wall >= Duration::from_millis(300) && idle.cpu < busy.cpu,
            "{idle:?}"
        );
        let large = "x=$(head -c 50000000 /dev/zero | tr '\\0' x); echo ${#x}";
        let (large, _) = sh(large, Ask::LastLine).expect("it runs");
        assert!(
            large.peak > 50_000_000 && large.peak < 1_000_000_000,
            "{large:?}"
        );
    }

    #[test]
    fn the_first_byte_comes_before_the_end() {
        let (sample, answer) = sh("echo a; sleep 2; echo b", Ask::FirstByte).expect("it runs");
        assert_eq!(answer, "first byte");
        assert!(sample.wall < Duration::from_secs(2), "{sample:?}");
        assert!(sh("true", Ask::FirstByte).is_err(), "it wrote nothing");
    }

    #[test]
    fn nothing_found_is_an_answer_where_lines_are_counted() {
        let answer = |script| sh(script, Ask::Lines).map(|(_, answer)| answer);
        assert_eq!(answer("echo a; echo b").expect("it runs"), "2 lines");
        assert_eq!(answer("exit 1").expect("it found nothing"), "0 lines");
        assert!(answer("exit 2").is_err());
    }

    #[test]
    fn failure_and_silence_are_errors() {
        let error = sh("echo why >&2; exit 3", Ask::LastLine)
            .expect_err("it fails")
            .to_string();
        assert!(
            error.contains("exit status: 3") && error.contains("why"),
            "{error}"
        );
        assert!(
            sh("true", Ask::LastLine)
                .expect_err("silent")
                .to_string()
                .contains("said nothing")
        );
    }
}
