//! Positions as the protocol counts them, and the bytes that they stand for.
//!
//! A server counts the characters of a line in code units of the encoding that it chose (LSP 3.17,
//! `PositionEncodingKind`). Everything in Terret counts bytes, and this is the one place that converts.

use std::ops;

use serde::{Deserialize, Serialize};

/// In what a server counts the characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Code units of UTF-16: what counts where a server says nothing.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// All of them, the one first that needs no counting.
    pub const ALL: [Self; 3] = [Self::Utf8, Self::Utf16, Self::Utf32];

    /// Its name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|encoding| encoding.name() == name)
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// How many units a text has.
    fn units(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            _ => text.chars().map(|character| self.width(character)).sum(),
        }
    }

    /// How many bytes of the text so many units are: at most all of it, and no part of a character.
    fn bytes(self, text: &str, units: usize) -> Offset {
        let mut left = units;
        for (at, character) in text.char_indices() {
            match left.checked_sub(self.width(character)) {
                _ if left == 0 => return Offset::At(at),
                Some(rest) => left = rest,
                None => return Offset::Inside(at),
            }
        }
        match left {
            0 => Offset::At(text.len()),
            _ => Offset::Behind(text.len()),
        }
    }
}

/// A place between two characters, as the protocol has it: both numbers from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The unit of the line, in the server's encoding.
    pub character: u32,
}

/// From a place up to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Range {
    /// Where it begins.
    pub start: Position,
    /// Behind its last character.
    pub end: Position,
}

/// What became of a place that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// Here it is.
    At(usize),
    /// It is behind the end of its line, or of the text: here that ends. To an edit this is the end, as the
    /// protocol has it.
    Behind(usize),
    /// It is inside a character, which begins here.
    Inside(usize),
}

impl Offset {
    /// The place, or the nearest one before it.
    #[must_use]
    pub fn floor(self) -> usize {
        match self {
            Self::At(at) | Self::Behind(at) | Self::Inside(at) => at,
        }
    }
}

/// A text with its lines, which end as the protocol has it: at `\n`, `\r\n` or `\r`, and at nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Text {
    /// Finds the lines of a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// All of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many lines there are: one more than line ends.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a line, counted from 0, without its end.
    #[must_use]
    pub fn line_range(&self, line: usize) -> Option<ops::Range<usize>> {
        let start = *self.starts.get(line)?;
        let end = self
            .starts
            .get(line + 1)
            .map_or(self.text.len(), |next| *next);
        let text = self.text[start..end].trim_end_matches(['\n', '\r']);
        Some(start..start + text.len())
    }

    /// A line, counted from 0, without its end.
    #[must_use]
    pub fn line(&self, line: usize) -> Option<&str> {
        self.line_range(line).map(|range| &self.text[range])
    }

    /// The line of a byte, counted from 0.
    #[must_use]
    pub fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }

    /// The position of a byte that begins a character, or ends the text.
    #[must_use]
    pub fn position(&self, byte: usize, encoding: Encoding) -> Position {
        let line = self.line_of(byte);
        let before = &self.text[self.starts[line]..byte];
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position {
            line: number(line),
            character: number(encoding.units(before)),
        }
    }

    /// The byte of a position.
    #[must_use]
    pub fn offset(&self, position: Position, encoding: Encoding) -> Offset {
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let Some(line) = self.line_range(index(position.line)) else {
            return Offset::Behind(self.text.len());
        };
        let start = line.start;
        match encoding.bytes(&self.text[line], index(position.character)) {
            Offset::At(at) => Offset::At(start + at),
            Offset::Behind(at) => Offset::Behind(start + at),
            Offset::Inside(at) => Offset::Inside(start + at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_end_where_the_protocol_says() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[""]),
            ("a", &["a"]),
            ("a\n", &["a", ""]),
            ("a\r\nb\rc\nd", &["a", "b", "c", "d"]),
            ("\r\r\n\n", &["", "", "", ""]),
            // Some editors end lines here, too; the protocol does not.
            ("a\u{2028}b\u{85}c\u{c}d", &["a\u{2028}b\u{85}c\u{c}d"]),
        ];
        for (text, lines) in rows {
            let text = Text::new(*text);
            let found: Vec<&str> = (0..text.lines()).filter_map(|at| text.line(at)).collect();
            assert_eq!(found, *lines, "{:?}", text.as_str());
        }
    }

    #[test]
    fn places_are_the_same_in_each_encoding() {
        // An emoji of one character, one of several, a combining mark, CJK and a tab.
        let text = Text::new("x\n\t😀👩‍💻e\u{301}漢 foo\n");
        let byte = text.as_str().find("foo").unwrap_or_default();
        for (encoding, character) in [
            (Encoding::Utf8, 1 + 4 + 11 + 3 + 3 + 1),
            (Encoding::Utf16, 1 + 2 + 5 + 2 + 1 + 1),
            (Encoding::Utf32, 1 + 1 + 3 + 2 + 1 + 1),
        ] {
            let position = Position { line: 1, character };
            assert_eq!(text.position(byte, encoding), position, "{encoding:?}");
            assert_eq!(
                text.offset(position, encoding),
                Offset::At(byte),
                "{encoding:?}"
            );
        }
    }

    #[test]
    fn places_that_are_none() {
        let text = Text::new("a😀b\r\nc");
        let at = |line, character| text.offset(Position { line, character }, Encoding::Utf16);
        assert_eq!(at(0, 2), Offset::Inside(1));
        assert_eq!(at(0, 4), Offset::At(6));
        // The line's end is before its terminator.
        assert_eq!(at(0, 5), Offset::Behind(6));
        assert_eq!(at(0, u32::MAX), Offset::Behind(6));
        assert_eq!(at(1, 1), Offset::At(9));
        assert_eq!(at(2, 0), Offset::Behind(9));
        assert_eq!(at(u32::MAX, 0), Offset::Behind(9));
    }

    #[test]
    fn encodings_have_the_names_of_the_protocol() {
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::of_name(encoding.name()), Some(encoding));
        }
        assert_eq!(Encoding::of_name("latin-1"), None);
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a\u{e9}\u{6f22}\u{1f600}\u{301}\t\r\n]{0,40}") {
            let text = Text::new(text);
            for (byte, _) in text.as_str().char_indices() {
                // Between the two bytes of a line end there is no place.
                if text.as_str()[..byte].ends_with('\r') && text.as_str()[byte..].starts_with('\n') {
                    continue;
                }
                for encoding in Encoding::ALL {
                    let position = text.position(byte, encoding);
                    prop_assert_eq!(text.offset(position, encoding), Offset::At(byte));
                }
            }
        }
    }
}
