//! Keeping text within bounds, and harmless.
//!
//! Whatever reaches a model or a terminal goes through here: what is cut is said exactly, nothing
//! is cut within a character, a grapheme or an ANSI sequence, and control characters from elsewhere
//! are made visible instead of obeyed.

use std::fmt::Write as _;

mod cut;
mod sanitise;

pub use self::sanitise::sanitise;

/// How much text is kept, in bytes and in lines; whichever is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of UTF-8, the notice about what was cut included. Below about 100 there is room
    /// for little else.
    pub bytes: usize,
    /// Most lines, the notice included.
    pub lines: usize,
}

impl Bounds {
    /// These bounds.
    pub const fn new(bytes: usize, lines: usize) -> Bounds {
        Bounds { bytes, lines }
    }

    /// So many bytes in however many lines.
    pub const fn bytes(bytes: usize) -> Bounds {
        Bounds {
            bytes,
            lines: usize::MAX,
        }
    }
}

impl Default for Bounds {
    /// 30 KB in 1,000 lines: what a model reads in one go without losing its thread.
    fn default() -> Bounds {
        Bounds::new(30_000, 1_000)
    }
}

/// Text within its bounds, and what that cost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounded {
    /// The text, with a line that says what was cut where that was.
    pub text: String,
    /// How many lines were cut, parts of lines counted as lines.
    pub cut_lines: usize,
    /// How many bytes were cut.
    pub cut_bytes: usize,
}

impl Bounded {
    /// Whether anything was cut.
    pub fn truncated(&self) -> bool {
        self.cut_bytes > 0
    }
}

/// Room for the longest notice and its line breaks.
const NOTICE_BYTES: usize = 64;

/// Keeps the beginning and the end, half each: "… 1,204 lines (61 KB) cut …" stands between them.
///
/// Cuts at line breaks where there are any, else within a line.
pub fn head_tail(text: &str, bounds: Bounds) -> Bounded {
    keep(text, bounds, Share::Both)
}

/// Keeps the beginning.
pub fn head(text: &str, bounds: Bounds) -> Bounded {
    keep(text, bounds, Share::Head)
}

/// Keeps the end: what is worth reading of a stderr.
pub fn tail(text: &str, bounds: Bounds) -> Bounded {
    keep(text, bounds, Share::Tail)
}

#[derive(Clone, Copy)]
enum Share {
    Head,
    Both,
    Tail,
}

fn keep(text: &str, bounds: Bounds, share: Share) -> Bounded {
    if text.len() <= bounds.bytes
        && (bounds.lines == usize::MAX || text.lines().count() <= bounds.lines)
    {
        return Bounded {
            text: text.to_owned(),
            cut_lines: 0,
            cut_bytes: 0,
        };
    }
    let bytes = bounds.bytes.saturating_sub(NOTICE_BYTES);
    let lines = bounds.lines.saturating_sub(1);
    let ((head_bytes, tail_bytes), (head_lines, tail_lines)) = match share {
        Share::Head => ((bytes, 0), (lines, 0)),
        Share::Both => (
            (bytes / 2, bytes - bytes / 2),
            (lines - lines / 2, lines / 2),
        ),
        Share::Tail => ((0, bytes), (0, lines)),
    };
    let end = cut::head_end(text, head_bytes, head_lines);
    let start = cut::tail_start(text, tail_bytes, tail_lines).max(end);
    let (head, cut, tail) = (&text[..end], &text[end..start], &text[start..]);

    let cut_lines = cut.lines().count();
    let mut bounded = String::with_capacity(head.len() + tail.len() + NOTICE_BYTES);
    bounded.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        bounded.push('\n');
    }
    // A cut within a single line is no count of lines.
    if cut.contains('\n') {
        let noun = if cut_lines == 1 { "line" } else { "lines" };
        let _ = write!(
            bounded,
            "… {} {noun} ({}) cut …",
            thousands(cut_lines),
            size(cut.len())
        );
    } else {
        let _ = write!(bounded, "… {} cut …", size(cut.len()));
    }
    if !tail.is_empty() {
        bounded.push('\n');
        bounded.push_str(tail);
    }
    Bounded {
        text: bounded,
        cut_lines,
        cut_bytes: cut.len(),
    }
}

/// Text as one line of at most `characters` characters (graphemes), and how big it was if it is
/// longer.
///
/// Line breaks become `␊`. Other control characters are kept: what comes from elsewhere goes
/// through [`sanitise`] first.
pub fn line(text: &str, characters: usize) -> String {
    line_of(text, characters, None)
}

/// [`line()`] of a text that may be the beginning of a longer one: `whole` is how big that is.
///
/// ```
/// use terret_tiers::bound::line_of;
///
/// assert_eq!(line_of("the begin", 6, Some(81_204)), "the be… (81 KB in all)");
/// assert_eq!(line_of("the begin", 80, Some(81_204)), "the begin… (81 KB in all)");
/// ```
pub fn line_of(text: &str, characters: usize, whole: Option<usize>) -> String {
    // A character takes at least a byte, so what is surely too long need not be looked at whole.
    let end = cut::graphemes_end(text, characters);
    let mut line = match text[..end].contains(['\n', '\r']) {
        true => text[..end].replace("\r\n", "␊").replace(['\n', '\r'], "␊"),
        false => text[..end].to_owned(),
    };
    if end < text.len() || whole.is_some() {
        let _ = write!(line, "… ({} in all)", size(whole.unwrap_or(text.len())));
    }
    line
}

/// What stands below a list that was cut: "50 of 213 shown; narrow `path`". Nothing if all is
/// shown.
///
/// `how` says how to see the rest.
///
/// ```
/// use terret_tiers::bound::list_note;
///
/// let note = list_note(50, 1213, "narrow `path`");
/// assert_eq!(note.as_deref(), Some("50 of 1,213 shown; narrow `path`"));
/// assert_eq!(list_note(3, 3, "narrow `path`"), None);
/// ```
pub fn list_note(shown: usize, total: usize, how: &str) -> Option<String> {
    (shown < total).then(|| format!("{} of {} shown; {how}", thousands(shown), thousands(total)))
}

/// A list of at most `most` items, one a line, with the [`list_note`] below it; and whether it was
/// cut.
///
/// ```
/// let (text, truncated) = terret_tiers::bound::list(["a", "b", "c"], 2, "narrow `path`");
/// assert_eq!(text, "a\nb\n2 of 3 shown; narrow `path`");
/// assert!(truncated);
/// ```
pub fn list<T: AsRef<str>>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    how: &str,
) -> (String, bool) {
    let mut text = String::new();
    let mut total = 0;
    for item in items {
        total += 1;
        if total <= most {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(item.as_ref());
        }
    }
    let note = list_note(total.min(most), total, how);
    if let Some(note) = &note {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(note);
    }
    (text, note.is_some())
}

/// A number with its thousands apart: 1,204.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes for a reader: "812 bytes", "1.5 KB", "61 KB", "2.0 MB". A KB is 1,000 bytes.
pub fn size(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    if bytes < 1_000 {
        return format!("{bytes} bytes");
    }
    let mut unit = 0;
    let mut scale: u128 = 1_000;
    let bytes = bytes as u128;
    // 999,500 bytes are 1.0 MB and not 1000 KB.
    while unit + 1 < UNITS.len() && (bytes + scale / 2) / scale >= 1_000 {
        scale *= 1_000;
        unit += 1;
    }
    let tenths = (bytes * 10 + scale / 2) / scale;
    if tenths < 100 {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{} {}", (bytes + scale / 2) / scale, UNITS[unit])
    }
}

#[cfg(test)]
mod tests;
