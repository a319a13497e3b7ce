//! Does what README.md tells its reader to do, in a fresh clone of the committed state.
//!
//! A command is the block after a line that says which it is; GitHub does not show that line:
//!
//! ````markdown
//! <!-- xtask readme: run -->
//! ```sh
//! cargo run --release -- …
//! ```
//! ````
//!
//! The commands are two: `run` shows matches in this repository, `test` runs all tests. The latter
//! is `cargo xtask test`, so this task is no part of that one.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::report::Totals;
use crate::shell::{self, Shell};
use crate::workspace::Workspace;

const PAGE: &str = "README.md";

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let temporary = tempfile::tempdir().context("a temporary folder")?;
    let clone = temporary.path().join("clone");
    clone_into(&workspace.shell, &workspace.root, &clone)?;
    let page = std::fs::read_to_string(clone.join(PAGE)).context(PAGE)?;
    let first = command(&page, "run")?;
    let second = command(&page, "test")?;
    // Nothing that is built already may help.
    let shell = Shell::new(&clone)
        .unset("CARGO_TARGET_DIR")
        .unset("CARGO_BUILD_TARGET_DIR");

    let mut matches = Vec::new();
    timed(&shell, &first, |line| matches.extend(place(line, &clone)))?;
    ensure!(
        !matches.is_empty(),
        "`{first}` showed no `path:line` of this repository"
    );
    println!(
        "\nshowed {} places, the first is {}",
        matches.len(),
        matches[0]
    );

    let mut last = String::new();
    timed(&shell, &second, |line| {
        if !line.trim().is_empty() {
            line.clone_into(&mut last);
        }
    })?;
    let totals: Totals = last.parse().context("the last line of the tests")?;
    ensure!(totals.passed > 0, "`{second}` ran no test");
    println!("\nboth commands of {PAGE} work");
    Ok(())
}

/// Clones what is committed; what is not would be tested by nobody.
fn clone_into(shell: &Shell, root: &Path, clone: &Path) -> Result<()> {
    let changed = shell::read(shell.command("git", &["status", "--porcelain"]))?;
    if let Some(first) = changed.lines().next() {
        let more = changed.lines().count() - 1;
        bail!("commit first: this runs what is committed, but not `{first}` and {more} more");
    }
    let mut command = shell.command("git", &["clone", "--quiet"]);
    command.arg(root).arg(clone);
    shell::pass(command)
}

/// The command in the block after the line that names it.
fn command(page: &str, name: &str) -> Result<String> {
    let mark = format!("<!-- xtask readme: {name} -->");
    let mut after = page.lines().skip_while(|line| line.trim() != mark).skip(1);
    let mut block = after.by_ref().skip_while(|line| line.trim().is_empty());
    ensure!(
        block.next().map(str::trim) == Some("```sh"),
        "{PAGE}: no ```sh block after `{mark}`"
    );
    let lines: Vec<&str> = block
        .take_while(|line| line.trim() != "```")
        .map(str::trim)
        .collect();
    let command = lines.join("\n");
    ensure!(
        !command.trim().is_empty(),
        "{PAGE}: the block after `{mark}` is empty"
    );
    ensure!(
        !after.any(|line| line.trim() == mark),
        "{PAGE}: `{mark}` is there twice"
    );
    Ok(command)
}

/// Runs it as the reader's shell would, shows what it took, and fails if it does.
fn timed(shell: &Shell, command: &str, see: impl FnMut(&str)) -> Result<()> {
    println!("\n$ {command}");
    let begun = Instant::now();
    let status = shell::stream(shell.command("sh", &["-ec", command]), see)?;
    println!("took {:.1} s", begun.elapsed().as_secs_f64());
    ensure!(status.success(), "`{command}`: {status}");
    Ok(())
}

/// A `path:line` whose path is a file of the folder.
fn place(line: &str, folder: &Path) -> Option<String> {
    line.split_whitespace().find_map(|word| {
        let (path, rest) = word.split_once(':')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let there = !digits.is_empty() && !path.is_empty() && folder.join(path).is_file();
        there.then(|| format!("{path}:{digits}"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const README: &str = "# X
Try it:

<!-- xtask readme: run -->
```sh
cargo run --release -- \\
  call
```

<!-- xtask readme: test -->

```sh
cargo xtask test
```
";

    #[test]
    fn commands_are_found_by_their_mark() {
        assert_eq!(
            command(README, "run").expect("there"),
            "cargo run --release -- \\\ncall"
        );
        assert_eq!(command(README, "test").expect("there"), "cargo xtask test");
        let twice = format!("{README}{README}");
        let unmarked = README.replace("xtask readme: run", "");
        let empty = README.replace("cargo xtask test\n", "");
        let other = README.replace("```sh\ncargo x", "```console\ncargo x");
        for (page, name) in [
            (twice, "run"),
            (unmarked, "run"),
            (empty, "test"),
            (other, "test"),
        ] {
            command(&page, name).expect_err(&page);
        }
    }

    #[test]
    fn a_place_is_a_line_of_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.rs"), "").expect("a file");
        let found = |line| place(line, folder.path());
        assert_eq!(found("  a.rs:12: fn f()"), Some("a.rs:12".to_owned()));
        assert_eq!(found("see a.rs:12:4 there"), Some("a.rs:12".to_owned()));
        for line in ["b.rs:12", "a.rs", "a.rs:", "a.rs:x", "12:30", ":12"] {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn only_what_is_committed_is_cloned() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, clone) = (folder.path().join("root"), folder.path().join("clone"));
        fs::create_dir(&root).expect("a folder");
        let shell = Shell::new(&root)
            .set("GIT_CONFIG_GLOBAL", "")
            .set("GIT_CONFIG_SYSTEM", "");
        let git = |words: &str| {
            let who = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
            let words: Vec<&str> = who.into_iter().chain(words.split(' ')).collect();
            shell::read(shell.command("git", &words)).expect("git works")
        };
        git("init -q");
        fs::write(root.join("a"), "one").expect("a file");
        git("add a");
        git("commit -qm a");
        fs::write(root.join("a"), "two").expect("a file");
        let error = clone_into(&shell, &root, &clone)
            .expect_err("it is dirty")
            .to_string();
        assert!(
            error.contains("commit first") && error.contains(" M a"),
            "{error}"
        );
        git("checkout -q a");
        clone_into(&shell, &root, &clone).expect("it is clean");
        assert_eq!(
            fs::read_to_string(clone.join("a")).expect("it is cloned"),
            "one"
        );
    }

    #[test]
    fn a_command_that_fails_is_an_error() {
        let shell = Shell::new(".");
        let mut lines = Vec::new();
        timed(&shell, "echo a\necho b", |line| lines.push(line.to_owned())).expect("both run");
        assert_eq!(lines, ["a", "b"]);
        timed(&shell, "false\ntrue", |_| {}).expect_err("the first fails");
    }
}
