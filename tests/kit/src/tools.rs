//! The gate for tests that need a real tool.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, thread};

/// The one switch: where this variable is `1`, a test whose tool is missing fails.
pub const REQUIRE_TOOLS: &str = "TERRET_REQUIRE_TOOLS";

/// Names the file to which every skipped test adds its line, `package TAB test TAB tool`. The
/// harness takes a skipped test for a passed one, so this is how `cargo xtask test` knows.
pub const SKIP_LOG: &str = "TERRET_SKIP_LOG";

/// Where `name` is on `PATH`; a test that gets `None` returns at once, and is counted as skipped.
///
/// ```
/// # fn a_real_server_answers() {
/// let Some(analyzer) = terret_testkit::require_tool("rust-analyzer") else { return };
/// # drop(analyzer);
/// # }
/// ```
///
/// # Panics
///
/// If it is not there and the variable [`REQUIRE_TOOLS`] is `1`. Continuous integration sets it,
/// so that a missing tool is never taken for a passed test there.
#[must_use]
#[track_caller]
pub fn require_tool(name: &str) -> Option<PathBuf> {
    let found = find(name, &env::var_os("PATH").unwrap_or_default());
    if found.is_none() {
        let required = env::var_os(REQUIRE_TOOLS).is_some_and(|value| value == "1");
        assert!(
            !required,
            "needs {name}, which is not on PATH, and {REQUIRE_TOOLS} is 1"
        );
        let current = thread::current();
        let test = current.name().unwrap_or("?");
        let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
        // Not `eprintln!`: the harness keeps that to itself when the test passes.
        let _ = writeln!(io::stderr(), "skipped: {package} {test} needs {name}");
        if let Some(log) = env::var_os(SKIP_LOG) {
            note(Path::new(&log), &format!("{package}\t{test}\t{name}\n"));
        }
    }
    found
}

/// Tests run at the same time, in several processes too: one short append each.
fn note(log: &Path, line: &str) {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("{}: {error}", log.display()));
}

fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    let runs = |file: &PathBuf| {
        file.metadata()
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(runs)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Tree;

    #[test]
    fn finds_the_first_that_can_run() {
        let tree = Tree::new(
            "
            //- /a/tool
            not one to run
            //- /b/tool mode=755
            //- /c/tool mode=755
            //- /a/folder dir
            ",
        );
        let path = env::join_paths(["a", "b", "c"].map(|folder| tree.path(folder))).expect("joins");
        assert_eq!(find("tool", &path), Some(tree.path("b/tool")));
        assert_eq!(find("folder", &path), None);
        assert_eq!(find("other", &path), None);
        assert_eq!(find("tool", OsStr::new("")), None);
    }

    #[test]
    fn skipped_tests_add_up() {
        let tree = Tree::new("");
        let log = tree.path("skipped");
        note(&log, "one\n");
        note(&log, "two\n");
        assert_eq!(
            fs::read_to_string(log).expect("it was written"),
            "one\ntwo\n"
        );
    }
}
