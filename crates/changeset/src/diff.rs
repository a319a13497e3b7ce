//! A set of changes as text.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::change::{Change, ChangeSet, Described, FileChange};
use crate::error::count;

/// How much of a diff is made.
#[derive(Clone, Debug)]
pub struct DiffBounds {
    context: usize,
    file_lines: usize,
    total_lines: usize,
    line_bytes: usize,
}

impl Default for DiffBounds {
    /// 3 lines of context, at most 120 lines a file and 600 in all, at most 400 bytes a line.
    fn default() -> Self {
        Self {
            context: 3,
            file_lines: 120,
            total_lines: 600,
            line_bytes: 400,
        }
    }
}

impl DiffBounds {
    /// 3 lines of context, and everything: a diff that can be applied, unless a file is not UTF-8.
    #[must_use]
    pub fn unbounded() -> Self {
        Self {
            context: 3,
            file_lines: usize::MAX,
            total_lines: usize::MAX,
            line_bytes: usize::MAX,
        }
    }

    /// How many unchanged lines to show around a change.
    #[must_use]
    pub fn context(mut self, lines: usize) -> Self {
        self.context = lines;
        self
    }

    /// The most lines for one file, headers not counted.
    #[must_use]
    pub fn file_lines(mut self, lines: usize) -> Self {
        self.file_lines = lines;
        self
    }

    /// The most lines for all files together, headers not counted. A file for which none are left is counted, not
    /// shown.
    #[must_use]
    pub fn total_lines(mut self, lines: usize) -> Self {
        self.total_lines = lines;
        self
    }

    /// The most bytes of one line.
    #[must_use]
    pub fn line_bytes(mut self, bytes: usize) -> Self {
        self.line_bytes = bytes;
        self
    }
}

/// A unified diff of a set, with Git's headers, cut to bounds.
///
/// Its `Display` is the diff, in which each cut is told by a line of its own that begins with `…`. Lines end where the
/// file has a line feed; a carriage return before it is part of the line, as it is of the file. Bytes that are not
/// UTF-8 are shown as `\u{fffd}`, and files with a zero byte only by their sizes.
#[derive(Clone, Debug)]
pub struct Diff {
    files: Vec<FileDiff>,
    cut_files: usize,
    cut_lines: usize,
}

impl Diff {
    /// The files that are shown, in the order of [`ChangeSet::files`].
    #[must_use]
    pub fn files(&self) -> &[FileDiff] {
        &self.files
    }

    /// How many more files there are that are not shown at all.
    #[must_use]
    pub fn cut_files(&self) -> usize {
        self.cut_files
    }

    /// How many lines of the shown files are not shown.
    #[must_use]
    pub fn cut_lines(&self) -> usize {
        self.cut_lines
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            f.write_str(&file.text)?;
        }
        if self.cut_files > 0 {
            writeln!(f, "… {} not shown", count(self.cut_files, "more file"))?;
        }
        Ok(())
    }
}

/// The diff of one file.
#[derive(Clone, Debug)]
pub struct FileDiff {
    change: FileChange,
    text: String,
    added: usize,
    removed: usize,
    cut_lines: usize,
}

impl FileDiff {
    /// Which file, and what happens to it.
    #[must_use]
    pub fn change(&self) -> &FileChange {
        &self.change
    }

    /// The diff with its headers, cut to the bounds; ends with a line feed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many lines are added, shown or not.
    #[must_use]
    pub fn added(&self) -> usize {
        self.added
    }

    /// How many lines are removed, shown or not.
    #[must_use]
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// How many lines of the diff are not shown.
    #[must_use]
    pub fn cut_lines(&self) -> usize {
        self.cut_lines
    }
}

/// How long to look for a small diff of one file before a larger one will do.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far to look for a zero byte, which text does not have. The same as Git's.
const BINARY_PROBE: usize = 8000;

impl ChangeSet {
    /// The set as a unified diff between the captured files and what they would be.
    ///
    /// Made from memory: what is on disk by now plays no part. The text is bounded; the time is by the size of the
    /// files, of which each is compared for a second at most before the diff gets coarser.
    #[must_use]
    pub fn diff(&self, bounds: &DiffBounds) -> Diff {
        let mut diff = Diff {
            files: Vec::new(),
            cut_files: 0,
            cut_lines: 0,
        };
        let mut room = bounds.total_lines;
        for (real, slot) in self.changed() {
            let Some(described) = self.describe(real, slot) else {
                continue;
            };
            if room == 0 {
                diff.cut_files += 1;
                continue;
            }
            let (file, used) = diff_file(described, bounds, room);
            room -= used;
            diff.cut_lines += file.cut_lines;
            diff.files.push(file);
        }
        diff
    }
}

/// The diff of one file in at most `room` lines, and how many it took.
fn diff_file(described: Described<'_>, bounds: &DiffBounds, room: usize) -> (FileDiff, usize) {
    let mut text = String::new();
    header(&mut text, &described);
    let Described {
        change, old, new, ..
    } = described;
    let mut file = FileDiff {
        change,
        text,
        added: 0,
        removed: 0,
        cut_lines: 0,
    };
    if [old, new]
        .iter()
        .any(|bytes| bytes[..bytes.len().min(BINARY_PROBE)].contains(&0))
    {
        if old != new {
            push(
                &mut file.text,
                format_args!(
                    "Binary file: {} bytes before, {} after\n",
                    old.len(),
                    new.len()
                ),
            );
        }
        return (file, 1);
    }
    let (old, new) = (lines(old), lines(new));
    let ops = capture_diff_slices_deadline(
        Algorithm::Myers,
        &old,
        &new,
        Some(Instant::now() + PATIENCE),
    );
    for op in &ops {
        if op.tag() != DiffTag::Equal {
            file.removed += op.old_range().len();
            file.added += op.new_range().len();
        }
    }
    let mut out = Out {
        text: file.text,
        room: room.min(bounds.file_lines),
        used: 0,
        cut: 0,
        line_bytes: bounds.line_bytes,
    };
    for hunk in group_diff_ops(ops, bounds.context) {
        out.hunk(&hunk, &old, &new);
    }
    file.text = out.text;
    file.cut_lines = out.cut;
    if out.cut > 0 {
        let more = count(out.cut, "more line");
        push(
            &mut file.text,
            format_args!("… {more} of this file's diff not shown\n"),
        );
    }
    // A file without lines takes room too: a thousand renames are as long as any other diff.
    (file, out.used.max(1))
}

/// The bytes of each line, its line feed included.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Git's headers, which tell of what lines can't: a file that is renamed, or empty.
fn header(text: &mut String, described: &Described<'_>) {
    let path = described.change.path();
    let mode = if described.executable {
        "100755"
    } else {
        "100644"
    };
    let (before, after) = match described.change.change() {
        Change::Renamed { from, .. } => (&**from, path),
        _ => (path, path),
    };
    let (a, b) = (Path::new("a").join(before), Path::new("b").join(after));
    push(
        text,
        format_args!("diff --git {} {}\n", a.display(), b.display()),
    );
    let (before, after) = match described.change.change() {
        Change::Edited => (&*a, &*b),
        Change::Created => {
            push(text, format_args!("new file mode {mode}\n"));
            (Path::new("/dev/null"), &*b)
        }
        Change::Deleted => {
            push(text, format_args!("deleted file mode {mode}\n"));
            (&*a, Path::new("/dev/null"))
        }
        Change::Renamed { from, .. } => {
            push(
                text,
                format_args!(
                    "rename from {}\nrename to {}\n",
                    from.display(),
                    path.display()
                ),
            );
            (&*a, &*b)
        }
    };
    if described.old != described.new {
        push(
            text,
            format_args!("--- {}\n+++ {}\n", before.display(), after.display()),
        );
    }
}

fn push(text: &mut String, what: fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("a string takes whatever is written to it");
}

/// The text of hunks, as far as there is room.
struct Out {
    text: String,
    room: usize,
    used: usize,
    cut: usize,
    line_bytes: usize,
}

impl Out {
    fn hunk(&mut self, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
        let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
            return;
        };
        let from = first.old_range().start..last.old_range().end;
        let to = first.new_range().start..last.new_range().end;
        if self.take() {
            push(
                &mut self.text,
                format_args!("@@ -{} +{} @@\n", place(&from), place(&to)),
            );
        }
        for op in ops {
            let (removed, added) = match op.tag() {
                DiffTag::Equal => {
                    self.lines(' ', &old[op.old_range()]);
                    continue;
                }
                _ => (op.old_range(), op.new_range()),
            };
            self.lines('-', &old[removed]);
            self.lines('+', &new[added]);
        }
    }

    /// Whether there is room for one more line.
    fn take(&mut self) -> bool {
        let fits = self.used < self.room;
        if fits {
            self.used += 1;
        } else {
            self.cut += 1;
        }
        fits
    }

    fn lines(&mut self, sign: char, lines: &[&[u8]]) {
        for line in lines {
            if !self.take() {
                continue;
            }
            let (content, ended) = match line.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (*line, false),
            };
            self.text.push(sign);
            if content.len() > self.line_bytes {
                let shown =
                    String::from_utf8_lossy(&content[..char_start(content, self.line_bytes)]);
                push(
                    &mut self.text,
                    format_args!("{shown}… ({} bytes)\n", content.len()),
                );
            } else {
                push(
                    &mut self.text,
                    format_args!("{}\n", String::from_utf8_lossy(content)),
                );
            }
            if !ended {
                self.text.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

/// The last place, up to `at`, where a character begins.
fn char_start(bytes: &[u8], at: usize) -> usize {
    // A character has four bytes at most; bytes that are not UTF-8 need not be looked at further.
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| bytes[at] & 0xc0 != 0x80)
        .unwrap_or(at)
}

/// `line,count` as in a hunk's header, where an empty range is named by the line before it.
fn place(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}
