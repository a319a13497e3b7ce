//! First lines, unfinished code, tests that do not run, and paths of one machine.

use crate::workspace::Files;

/// Folders whose files are data for tests: they may hold anything but paths of a machine.
const DATA: &[&str] = &["corpus", "data", "fixtures", "golden", "snapshots"];

/// Put together here, so that this file does not name what it looks for.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME")];
const MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimpl", "emented!")];

/// Folders that are somewhere else on the next machine.
const FOLDERS: &[&str] = &[concat!("/", "work"), concat!("/", "root")];
/// What is in these is.
const PARENTS: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "tmp/"),
    concat!("/", "Users/"),
];

pub(super) fn problems(files: &Files) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in files {
        let rust = path.ends_with(".rs") && !is_data(path);
        if rust && !text.starts_with("//!") {
            problems.push(format!(
                "{path}:1: the first line says what the file is for (`//! …`)"
            ));
        }
        for (number, line) in (1..).zip(text.lines()) {
            let mut problem = |what: String| problems.push(format!("{path}:{number}: {what}"));
            if let Some(found) = machine_path(line) {
                problem(format!("`{found}` is a path of one machine"));
            }
            if is_data(path) {
                continue;
            }
            if let Some(word) = UNFINISHED.iter().find(|word| has_word(line, word)) {
                problem(format!("{word}: do it, or file an issue"));
            }
            if rust && ignored(line) {
                problem("a test that is ignored is run by nobody".to_owned());
            }
            if rust && let Some(name) = MACROS.iter().find(|name| calls(line, name)) {
                problem(format!("`{name}` panics when it is reached"));
            }
        }
    }
    problems
}

/// Whether the file is read by tests rather than compiled.
pub(super) fn is_data(path: &str) -> bool {
    path.split('/').any(|part| DATA.contains(&part))
}

fn machine_path(line: &str) -> Option<String> {
    let name = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    // In a URL or a longer path it is something else.
    let starts = |at: usize| !line[..at].ends_with(|char| name(char) || "/$}>)*~".contains(char));
    for folder in FOLDERS {
        for (at, _) in line.match_indices(folder) {
            let rest = &line[at + folder.len()..];
            if starts(at) && !rest.starts_with(name) {
                return Some((*folder).to_owned());
            }
        }
    }
    for parent in PARENTS {
        for (at, _) in line.match_indices(parent) {
            let rest = &line[at + parent.len()..];
            let end = rest.find(|char| !name(char)).unwrap_or(rest.len());
            if starts(at) && end > 0 {
                return Some(format!("{parent}{}", &rest[..end]));
            }
        }
    }
    None
}

fn has_word(line: &str, word: &str) -> bool {
    let part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// An attribute, or a block of documentation that is compiled by nobody.
fn ignored(line: &str) -> bool {
    let line = line.trim_start();
    let attribute = line.strip_prefix("#[").is_some_and(|attribute| {
        attribute.starts_with("ignore")
            || (attribute.starts_with("cfg_attr") && has_word(attribute, "ignore"))
    });
    let doc = line
        .strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"));
    let block = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
    attribute || block.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == "ignore"))
}

/// Whether the macro stands in code; in a string or a comment it is only spoken of.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = &line[..at];
        let quoted = before.matches('"').count() % 2 == 1;
        let inner = before.ends_with(|char: char| char.is_alphanumeric() || char == '_');
        !quoted && !inner && !before.contains("//")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of one line in a Rust file, after a good first one.
    fn of_line(line: &str) -> Vec<String> {
        let files = [("src/a.rs".to_owned(), format!("//! A.\n{line}\n"))].into();
        let strip = |problem: String| problem.replace("src/a.rs:2: ", "");
        problems(&files).into_iter().map(strip).collect()
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let [work, root] = [FOLDERS[0], FOLDERS[1]];
        let [home, tmp, _] = [PARENTS[0], PARENTS[1], PARENTS[2]];
        for (line, found) in [
            (format!("let a = \"{work}/a.rs\";"), true),
            (format!("// in {root}"), true),
            (format!("`{home}someone/x`"), true),
            (format!("{tmp}x.sock"), true),
            (format!("cd {work}"), true),
            (format!("https://example.org{work}/a"), false),
            (format!("crates{work}/a"), false),
            (format!("{work}space"), false),
            (format!("`{tmp}`"), false),
            (format!("`{home}<name>`"), false),
            (format!("file://{root}/a"), false),
        ] {
            assert_eq!(of_line(&line).len(), usize::from(found), "{line}");
        }
    }

    #[test]
    fn unfinished_code_is_found() {
        let [todo, unimplemented] = [MACROS[0], MACROS[1]];
        for (line, found) in [
            (format!("    {todo}()"), true),
            (format!("x => {unimplemented}(\"later\"),"), true),
            (format!("// {}: later", UNFINISHED[0]), true),
            (format!("let text = \"{todo}()\";"), false),
            (format!("/// Never {todo} here."), false),
            (format!("my_{todo}()"), false),
            (format!("{}ED", UNFINISHED[0]), false),
        ] {
            assert_eq!(of_line(&line).len(), usize::from(found), "{line}");
        }
    }

    #[test]
    fn ignored_tests_are_found() {
        for (line, found) in [
            ("    #[ignore]", true),
            ("#[ignore = \"slow\"]", true),
            ("#[cfg_attr(windows, ignore)]", true),
            ("/// ```ignore", true),
            ("//! ```rust,ignore", true),
            ("/// ```no_run", false),
            ("let text = \"#[ignore]\";", false),
            ("use ignore::Walk;", false),
        ] {
            assert_eq!(of_line(line).len(), usize::from(found), "{line}");
        }
    }

    #[test]
    fn a_first_line_is_wanted_of_code_and_not_of_data() {
        let bare = |path: &str| [(path.to_owned(), "fn f() {}\n".to_owned())].into();
        assert_eq!(problems(&bare("crates/a/src/lib.rs")).len(), 1);
        assert_eq!(problems(&bare("crates/a/tests/fixtures/x.rs")).len(), 0);
        assert_eq!(problems(&bare("crates/a/src/x.py")).len(), 0);
    }
}
