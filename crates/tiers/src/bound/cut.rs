//! Where text may be cut: not within a grapheme (and so not within a character or a CRLF), not
//! within an ANSI sequence.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Longest ANSI sequence that is taken for one. An escape that goes on for longer is just an
/// escape.
const LONGEST_SEQUENCE: usize = 4_096;

/// The end of the part to keep at the beginning: at most `bytes` and `lines`.
pub(super) fn head_end(text: &str, bytes: usize, lines: usize) -> usize {
    if bytes == 0 || lines == 0 {
        return 0;
    }
    let by_lines = newline_after(text, lines).unwrap_or(text.len());
    if by_lines <= bytes {
        return by_lines;
    }
    let end = at_or_before(text, bytes);
    // Whole lines, if that keeps at least half of what fits.
    match text[..end].rfind('\n') {
        Some(newline) if newline + 1 >= end / 2 => newline + 1,
        _ => end,
    }
}

/// The start of the part to keep at the end: at most `bytes` and `lines`.
pub(super) fn tail_start(text: &str, bytes: usize, lines: usize) -> usize {
    if bytes == 0 || lines == 0 {
        return text.len();
    }
    let by_lines = newlines_before(text, lines);
    if text.len() - by_lines <= bytes {
        return by_lines;
    }
    let start = at_or_after(text, text.len().saturating_sub(bytes));
    match text[start..].find('\n') {
        Some(newline) if newline < (text.len() - start) / 2 => start + newline + 1,
        _ => start,
    }
}

/// The end of the first `count` graphemes.
pub(super) fn graphemes_end(text: &str, count: usize) -> usize {
    if text.len() <= count {
        return text.len();
    }
    let end = text
        .grapheme_indices(true)
        .nth(count)
        .map_or(text.len(), |(index, _)| index);
    match enclosing(text, end) {
        Some((start, _)) => start,
        None => end,
    }
}

/// The last place to cut that is not after `index`.
fn at_or_before(text: &str, index: usize) -> usize {
    let index = text.floor_char_boundary(index);
    if let Some((start, _)) = enclosing(text, index) {
        return start;
    }
    let mut cursor = GraphemeCursor::new(index, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => index,
        // With the whole text at hand the cursor never asks for more of it.
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

/// The first place to cut that is not before `index`.
fn at_or_after(text: &str, index: usize) -> usize {
    let index = text.ceil_char_boundary(index);
    if let Some((_, end)) = enclosing(text, index) {
        return end;
    }
    let mut cursor = GraphemeCursor::new(index, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => index,
        _ => cursor
            .next_boundary(text, 0)
            .ok()
            .flatten()
            .unwrap_or(text.len()),
    }
}

/// The ANSI sequence within which `index` lies, if it does.
fn enclosing(text: &str, index: usize) -> Option<(usize, usize)> {
    let from = text.floor_char_boundary(index.saturating_sub(LONGEST_SEQUENCE));
    // The earliest escape whose sequence reaches over the index: a later one is part of it.
    text[from..index]
        .match_indices('\u{1b}')
        .find_map(|(offset, _)| {
            let start = from + offset;
            let end = start + sequence(&text[start..])?;
            (end > index).then_some((start, end))
        })
}

/// The length of the ANSI sequence at the beginning of `text`, which begins with an escape; `None`
/// if it is broken off, malformed or too long.
pub(super) fn sequence(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let bytes = &bytes[..bytes.len().min(LONGEST_SEQUENCE)];
    match *bytes.get(1)? {
        // CSI: parameters, intermediates, one final byte.
        b'[' => {
            let end = 2 + bytes[2..]
                .iter()
                .position(|byte| !(0x20..=0x3f).contains(byte))?;
            (0x40..=0x7e).contains(&bytes[end]).then_some(end + 1)
        }
        // OSC, DCS, SOS, PM, APC: up to BEL or ESC \. None of them holds a line break.
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let end = 2 + bytes[2..]
                .iter()
                .position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'))?;
            match bytes[end] {
                0x07 => Some(end + 1),
                0x1b if bytes.get(end + 1) == Some(&b'\\') => Some(end + 2),
                _ => None,
            }
        }
        // Two or three bytes: a charset, say.
        0x20..=0x2f => bytes
            .get(2)
            .filter(|byte| (0x30..=0x7e).contains(*byte))
            .map(|_| 3),
        0x30..=0x7e => Some(2),
        _ => None,
    }
}

/// The index after the `count`-th line break.
fn newline_after(text: &str, count: usize) -> Option<usize> {
    if count == usize::MAX {
        return None;
    }
    text.match_indices('\n')
        .nth(count - 1)
        .map(|(index, _)| index + 1)
}

/// The start of the last `count` lines.
fn newlines_before(text: &str, count: usize) -> usize {
    // A line break at the end begins no line.
    let body = text.strip_suffix('\n').unwrap_or(text);
    if count > body.len() {
        return 0;
    }
    body.rmatch_indices('\n')
        .nth(count - 1)
        .map_or(0, |(index, _)| index + 1)
}
