//! A text under composition.

use std::ops::Range;

use super::compose::Place;

/// A text under composition, with the places in it.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) places: Vec<(Place, Range<usize>)>,
}

impl Piece {
    /// Puts a text in at a byte; the places behind it move.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.text.insert_str(at, text);
        for (_, range) in &mut self.places {
            if range.start >= at {
                *range = range.start + text.len()..range.end + text.len();
            }
        }
    }

    pub(super) fn append(&mut self, other: Piece) {
        let base = self.text.len();
        self.text.push_str(&other.text);
        let moved =
            |(place, range): (Place, Range<usize>)| (place, base + range.start..base + range.end);
        self.places.extend(other.places.into_iter().map(moved));
    }

    /// Changes the text line by line; the places follow their bytes.
    pub(super) fn map_lines(&mut self, change: impl Fn(&str) -> String) {
        let changed = change(&self.text);
        if changed == self.text {
            return;
        }
        // Only the white space at line starts changes, so that the n-th other byte stays the n-th.
        let solid = |text: &str| -> Vec<usize> {
            let mut offsets = Vec::with_capacity(text.len());
            let mut at_start = false;
            for (at, byte) in text.bytes().enumerate() {
                match byte {
                    b'\n' => {
                        at_start = true;
                        offsets.push(at);
                    }
                    b' ' | b'\t' if at_start => {}
                    _ => {
                        at_start = false;
                        offsets.push(at);
                    }
                }
            }
            offsets
        };
        let (old, new) = (solid(&self.text), solid(&changed));
        let moved = |at: usize| {
            let index = old.partition_point(|&offset| offset < at);
            new.get(index).copied().unwrap_or(changed.len())
        };
        for (_, range) in &mut self.places {
            let end = if range.end > range.start {
                moved(range.end - 1) + 1
            } else {
                moved(range.end)
            };
            *range = moved(range.start)..end;
        }
        self.text = changed;
    }
}
