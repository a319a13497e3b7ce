//! The lines of standard input, read beside the runtime.

use std::io::{self, BufRead, Read};

use tokio::sync::mpsc::{self, Receiver};

/// The longest line that is read whole.
const LONGEST: u64 = 64 << 20;

/// A line, or what keeps it from being one.
pub(super) type Line = Result<String, String>;

/// The lines of standard input, until its end; an error is the last.
///
/// A thread of its own waits for them, since a read of standard input can't be given up: it would
/// keep a runtime from ending.
pub(super) fn of_stdin() -> io::Result<Receiver<io::Result<Line>>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let mut stdin = io::stdin().lock();
            while let Some(line) = next(&mut stdin, LONGEST).transpose() {
                let last = line.is_err();
                if sender.blocking_send(line).is_err() || last {
                    return;
                }
            }
        })?;
    Ok(lines)
}

/// The next line without its end. One that is longer than `longest` bytes is read over.
fn next(input: &mut impl BufRead, longest: u64) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let read = input
        .by_ref()
        .take(longest + 1)
        .read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if read as u64 > longest && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(format!("it is longer than {longest} bytes"))));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(Some(
        String::from_utf8(line).map_err(|error| format!("it is no UTF-8: {error}")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_broken_lines_end_where_they_end() {
        let mut input: &[u8] = b"one\n\ntoo long\n\xff\nexact\nlast";
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input, 5).unwrap() {
            lines.push(line.unwrap_or_else(|why| format!("({why})")));
        }
        assert_eq!(
            lines,
            [
                "one",
                "",
                "(it is longer than 5 bytes)",
                "(it is no UTF-8: invalid utf-8 sequence of 1 bytes from index 0)",
                "exact",
                "last",
            ]
        );
    }
}
