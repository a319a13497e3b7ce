//! Standard output: colours where they are wanted, and every failed write an error.

use std::io::{self, Write};

use anstream::AutoStream;

use crate::paint;

/// Prints the text of a result.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never {
        write_line(&mut out, text)
    } else {
        write_line(&mut out, &paint::result(text))
    }
}

/// Prints a JSON value for people and programs: several lines.
pub(crate) fn json(value: &serde_json::Value) -> io::Result<()> {
    write_line(&mut io::stdout().lock(), &format!("{value:#}"))
}

/// Prints a JSON value on a line of its own.
pub(crate) fn json_line(value: &serde_json::Value) -> io::Result<()> {
    write_line(&mut io::stdout().lock(), &value.to_string())
}

fn write_line(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
