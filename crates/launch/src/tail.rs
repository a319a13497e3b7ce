//! The last of what a program wrote where nobody reads.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tail of a stream: a ring that keeps the last bytes, for an error to quote. Cheap to clone; clones share the ring.
///
/// ```
/// use terret_launch::Tail;
///
/// let tail = Tail::new(8);
/// tail.push(b"one\ntwo\nthree\n");
/// assert_eq!(tail.bytes(), b"o\nthree\n");
/// assert_eq!(tail.lines(2), "three"); // `o` is what is left of a line
/// assert_eq!(tail.total(), 14);
/// ```
#[derive(Clone, Debug)]
pub struct Tail {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug)]
struct Ring {
    bytes: VecDeque<u8>,
    limit: usize,
    total: u64,
}

/// What a line of a tail is cut to when it is quoted, in characters.
const LINE: usize = 400;

impl Tail {
    /// Keeps the last `limit` bytes. The memory is taken as they come.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let ring = Ring {
            bytes: VecDeque::new(),
            limit,
            total: 0,
        };
        Self {
            ring: Arc::new(Mutex::new(ring)),
        }
    }

    /// Adds to the end; what is too much goes from the front.
    pub fn push(&self, bytes: &[u8]) {
        let mut ring = self.ring();
        ring.total = ring.total.saturating_add(bytes.len() as u64);
        let keep = &bytes[bytes.len().saturating_sub(ring.limit)..];
        let excess = (ring.bytes.len() + keep.len()).saturating_sub(ring.limit);
        ring.bytes.drain(..excess);
        ring.bytes.extend(keep);
    }

    /// What is kept.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.ring().bytes.iter().copied().collect()
    }

    /// How many bytes there were in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.ring().total
    }

    /// The last `count` lines that are not blank, as text for a person: invalid UTF-8 replaced, escape sequences and
    /// control characters left out, long lines cut, and no line of which the beginning is lost.
    #[must_use]
    pub fn lines(&self, count: usize) -> String {
        let (bytes, cut) = {
            let ring = self.ring();
            let cut = ring.total > ring.bytes.len() as u64;
            (ring.bytes.iter().copied().collect::<Vec<u8>>(), cut)
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = text
            .lines()
            .skip(usize::from(cut && text.contains('\n')))
            .map(plain)
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines.drain(..lines.len().saturating_sub(count));
        lines.join("\n")
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Nothing panics while it is held; and were it so, the bytes would still be bytes.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line without what would colour or move on a terminal.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut length = 0;
    let mut chars = line.trim_end().chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\t' => plain.push(' '),
            char if char.is_control() => {}
            _ if length == LINE => {
                plain.push('…');
                break;
            }
            char => {
                plain.push(char);
                length += 1;
            }
        }
    }
    plain
}

/// The rest of an escape sequence (ECMA-48): a control sequence up to its final byte, a control string up to its
/// terminator, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            let _ = chars.find(|char| ('@'..='~').contains(char));
        }
        Some(' '..='/') => {
            let _ = chars.find(|char| ('0'..='~').contains(char));
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(char) = chars.next() {
                if char == '\u{7}' || (char == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_for_people() {
        for (written, count, lines) in [
            (&b""[..], 3, ""),
            (b"one\ntwo", 3, "one\ntwo"),
            (b"one\n\n  \ntwo\r\nthree\n\n", 2, "two\nthree"),
            (b"\x1b[1;31merror\x1b[0m: x\n", 3, "error: x"),
            (b"\x1b]0;title\x07a\x1b]8;;u\x1b\\b\n", 3, "ab"),
            (b"\x1b(Bx\x00\x08y\n", 3, "xy"),
            (b"caf\xc3\xa9 \xff\n", 3, "café \u{fffd}"),
        ] {
            let tail = Tail::new(100);
            tail.push(written);
            assert_eq!(tail.lines(count), lines, "{}", written.escape_ascii());
        }
        let tail = Tail::new(1000);
        tail.push(&[b'x'; 500]);
        assert_eq!(tail.lines(1).chars().count(), LINE + 1);
    }

    proptest! {
        #[test]
        fn it_is_the_tail_of_all_that_was_pushed(
            limit in 0_usize..40,
            pushed in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..10),
        ) {
            let tail = Tail::new(limit);
            for bytes in &pushed {
                tail.push(bytes);
            }
            let all = pushed.concat();
            prop_assert_eq!(tail.total(), all.len() as u64);
            prop_assert_eq!(tail.bytes(), &all[all.len().saturating_sub(limit)..]);
            let _ = tail.lines(5);
        }
    }
}
