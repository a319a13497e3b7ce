//! What a set looks like as text.

use std::collections::BTreeMap;

use terret_changeset::{ChangeSet, DiffBounds};

use crate::bench::Bench;

/// Applies a unified diff with Git's headers, as strictly as can be.
pub(crate) fn apply(files: &BTreeMap<String, Vec<u8>>, diff: &str) -> BTreeMap<String, Vec<u8>> {
    let mut gone = Vec::new();
    let mut made: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let (a, b) = lines[at]
            .strip_prefix("diff --git a/")
            .unwrap()
            .trim_end()
            .split_once(" b/")
            .unwrap();
        let (mut from, mut to) = (Some(a.to_owned()), Some(b.to_owned()));
        at += 1;
        while at < lines.len() && !lines[at].starts_with("@@ ") && !lines[at].starts_with("diff ") {
            match lines[at] {
                line if line.starts_with("new file") => from = None,
                line if line.starts_with("deleted file") => to = None,
                "--- /dev/null\n" => assert_eq!(from, None),
                "+++ /dev/null\n" => assert_eq!(to, None),
                line => match line.trim_end().split_once(&['/', ' '][..]).unwrap() {
                    ("---", _) => assert_eq!(line, format!("--- a/{a}\n")),
                    ("+++", _) => assert_eq!(line, format!("+++ b/{b}\n")),
                    _ => assert!(
                        line == format!("rename from {a}\n") || line == format!("rename to {b}\n"),
                        "{line}"
                    ),
                },
            }
            at += 1;
        }
        let old = from.as_ref().map_or(&[][..], |name| &files[name]);
        let old: Vec<&[u8]> = old.split_inclusive(|&byte| byte == b'\n').collect();
        let mut new: Vec<u8> = Vec::new();
        let mut next = 0;
        while at < lines.len() && lines[at].starts_with("@@ ") {
            let mut parts = lines[at].split(' ').skip(1).map(|range| {
                let (start, count) = range[1..].split_once(',').unwrap_or((&range[1..], "1"));
                (
                    start.parse::<usize>().unwrap(),
                    count.parse::<usize>().unwrap(),
                )
            });
            let ((start, mut removed), (_, mut added)) =
                (parts.next().unwrap(), parts.next().unwrap());
            let start = if removed == 0 { start } else { start - 1 };
            old[next..start].iter().for_each(|line| new.extend(*line));
            next = start;
            at += 1;
            while removed + added > 0 {
                let (sign, mut line) = lines[at].split_at(1);
                at += 1;
                if at < lines.len() && lines[at].starts_with('\\') {
                    line = &line[..line.len() - 1];
                    at += 1;
                }
                if sign != "+" {
                    assert_eq!(old[next], line.as_bytes());
                    next += 1;
                    removed -= 1;
                }
                if sign != "-" {
                    new.extend(line.as_bytes());
                    added -= 1;
                }
            }
        }
        old[next..].iter().for_each(|line| new.extend(*line));
        gone.extend(from);
        match to {
            Some(to) => assert!(made.insert(to, new).is_none(), "a file is told of twice"),
            None => assert_eq!(new, b""),
        }
    }
    let mut result = files.clone();
    gone.iter().for_each(|name| drop(result.remove(name)));
    result.extend(made);
    result
}

#[test]
fn each_kind_of_change_has_its_headers() {
    let bench = Bench::new(&[
        ("edited", b"1\n2\n3\n4\n5\n6\n"),
        ("gone", b"x\n"),
        ("moved", b"m\n"),
        ("both", b"b\n"),
    ]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.write("edited", *b"1\n2\n3\n4\n5\nsix").unwrap();
    set.delete("gone").unwrap();
    set.create("made", *b"new\n").unwrap();
    set.create("void", *b"").unwrap();
    set.rename("moved", "to/moved").unwrap();
    set.rename("both", "to/both").unwrap();
    set.write("to/both", *b"c\n").unwrap();
    let diff = set.diff(&DiffBounds::default());
    let wanted = "\
diff --git a/edited b/edited
--- a/edited
+++ b/edited
@@ -3,4 +3,4 @@
 3
 4
 5
-6
+six
\\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/made b/made
new file mode 100644
--- /dev/null
+++ b/made
@@ -0,0 +1 @@
+new
diff --git a/both b/to/both
rename from both
rename to to/both
--- a/both
+++ b/to/both
@@ -1 +1 @@
-b
+c
diff --git a/moved b/to/moved
rename from moved
rename to to/moved
diff --git a/void b/void
new file mode 100644
";
    assert_eq!(diff.to_string(), wanted);
    assert_eq!((diff.cut_files(), diff.cut_lines()), (0, 0));
    let counts: Vec<_> = diff
        .files()
        .iter()
        .map(|file| (file.added(), file.removed()))
        .collect();
    assert_eq!(counts, [(1, 1), (0, 1), (1, 0), (1, 1), (0, 0), (0, 0)]);
}

#[test]
fn bounds_hold_and_what_is_cut_is_counted() {
    let long: String = (0..500).map(|n| format!("{n}\n")).collect();
    let files: Vec<_> = ["a", "b", "c", "d"]
        .map(|name| (name, long.as_bytes()))
        .into();
    let bench = Bench::new(&files);
    let mut set = ChangeSet::new(&bench.workspace);
    for name in ["a", "b", "c", "d"] {
        set.write(name, long.replace('\n', "!\n").into_bytes())
            .unwrap();
    }
    let diff = set.diff(&DiffBounds::default().file_lines(10).total_lines(25));
    let shown: Vec<_> = diff
        .files()
        .iter()
        .map(|file| file.text().lines().count())
        .collect();
    // Three headers and the line that tells of the cut come on top.
    assert_eq!(shown, [14, 14, 9]);
    assert_eq!(diff.cut_files(), 1);
    assert_eq!(diff.cut_lines(), 2 * (1001 - 10) + (1001 - 5));
    let text = diff.to_string();
    assert!(
        text.contains("… 991 more lines of this file's diff not shown\n"),
        "{text}"
    );
    assert!(text.ends_with("… 1 more file not shown\n"), "{text}");
    assert_eq!(diff.files()[0].added(), 500, "counted in full");
}

#[test]
fn long_lines_and_odd_bytes_are_shown_within_bounds() {
    let bench = Bench::new(&[
        ("latin", b"caf\xe9\n"),
        ("binary", b"\0\x01"),
        ("long", b"x\n"),
        ("crlf", b"a\r\n"),
    ]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.write("latin", *b"th\xe9\n").unwrap();
    set.write("binary", *b"\0\x01\x02").unwrap();
    set.write("long", "é".repeat(1000).into_bytes()).unwrap();
    set.write("crlf", *b"a\n").unwrap();
    let diff = set.diff(&DiffBounds::default().line_bytes(9));
    let texts: Vec<_> = diff
        .files()
        .iter()
        .map(|file| file.text().split_once("+++ b/").unwrap().1)
        .collect();
    assert_eq!(texts[0], "binary\nBinary file: 2 bytes before, 3 after\n");
    assert_eq!(texts[1], "crlf\n@@ -1 +1 @@\n-a\r\n+a\n");
    assert_eq!(texts[2], "latin\n@@ -1 +1 @@\n-caf\u{fffd}\n+th\u{fffd}\n");
    assert_eq!(
        texts[3],
        "long\n@@ -1 +1 @@\n-x\n+éééé… (2000 bytes)\n\\ No newline at end of file\n"
    );
}

#[test]
fn the_diff_is_made_from_what_was_captured() {
    let bench = Bench::new(&[("a", b"captured\n")]);
    let mut set = ChangeSet::new(&bench.workspace);
    set.write("a", *b"new\n").unwrap();
    std::fs::write(bench.root.join("a"), "later\n").unwrap();
    assert!(
        set.diff(&DiffBounds::default())
            .to_string()
            .contains("-captured\n+new\n")
    );
}
