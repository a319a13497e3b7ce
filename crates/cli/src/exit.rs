//! How the process ends: exit codes, and the line that says why.

use std::fmt;
use std::io;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use terret::tiers::ErrorKind;

/// What a wrong command line ends with.
const USAGE: u8 = 2;
/// What a second interrupt ends with: 128 and the number of the signal, as of a shell.
const INTERRUPTED: u8 = 130;

/// The exit codes, for `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
    0  the call gave a result
    1  the result could not be read or written
    2  the command line is wrong
   10  invalid_arguments: the arguments do not fit the tool
   11  not_found: a file, an edit, a tool … is not there
   12  ambiguous: more than one thing fits
   13  unavailable: what the call needs is not to be had here
   14  refused: not allowed, or it would do harm
   15  timed_out: a deadline passed first
   16  cancelled: interrupted once
   17  failed: the resource itself failed
  130  interrupted twice";

/// What a call that failed in this way ends with.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidArguments => 10,
        ErrorKind::NotFound => 11,
        ErrorKind::Ambiguous => 12,
        ErrorKind::Unavailable => 13,
        ErrorKind::Refused => 14,
        ErrorKind::TimedOut => 15,
        ErrorKind::Cancelled => 16,
        ErrorKind::Failed => 17,
    }
}

/// A wrong command line.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The person does not want to wait any longer.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// The exit code of a command, after saying what went wrong.
pub(crate) fn of(done: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match done {
        Ok(code) => return code,
        Err(error) => error,
    };
    if error.is::<Interrupted>() {
        return INTERRUPTED.into();
    }
    // Whoever read the output has had enough of it, which is no error.
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    if error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(closed)
    {
        return ExitCode::SUCCESS;
    }
    say("error", &format!("{error:#}"));
    if error.is::<Usage>() {
        USAGE.into()
    } else {
        ExitCode::FAILURE
    }
}

/// Says on standard error what went wrong.
pub(crate) fn say(heading: &str, message: &str) {
    const RED: Style = AnsiColor::Red.on_default().bold();
    note(&format!("{RED}{heading}{RED:#}: {}", message.trim_end()));
}

/// Writes a line to standard error. When that is gone too there is nobody to tell.
pub(crate) fn note(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own_that_help_tells() {
        let mut codes: Vec<u8> = ErrorKind::ALL.map(code).to_vec();
        for kind in ErrorKind::ALL {
            let code = code(kind);
            assert!(HELP.contains(&format!("\n   {code}  {kind}:")), "{kind}");
        }
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
    }
}
