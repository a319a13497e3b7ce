//! How tests find what is installed: `env.json` has the command of each program, and `bin` a file for each
//! that does the same, for tests that look programs up in `PATH`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, Result};

use super::table::Program;
use crate::shell::quote;

/// Tells of these programs, which work, and of no others. A file is made in `half` first, so that a test
/// that runs meanwhile always finds a whole one.
pub(super) fn write(folder: &Path, half: &Path, programs: &[&Program]) -> Result<()> {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).context("bin")?;
    let mut names = BTreeSet::new();
    for program in programs.iter().map(|program| program.at(folder)) {
        for (name, file) in files(&program) {
            let half = half.join(&name);
            match script(&program, &file) {
                None => symlink(&file, &half).with_context(|| name.clone())?,
                Some(script) => {
                    fs::write(&half, script).with_context(|| name.clone())?;
                    let mode = fs::Permissions::from_mode(0o755);
                    fs::set_permissions(&half, mode).with_context(|| name.clone())?;
                }
            }
            fs::rename(&half, bin.join(&name)).with_context(|| name.clone())?;
            names.insert(name);
        }
    }
    for item in fs::read_dir(&bin).context("bin")? {
        let item = item.context("bin")?;
        if !names.contains(&*item.file_name().to_string_lossy()) {
            fs::remove_file(item.path()).context("bin")?;
        }
    }
    let half = half.join("env.json");
    fs::write(&half, listing(folder, programs)?).context("env.json")?;
    fs::rename(half, folder.join("env.json")).context("env.json")
}

/// Each program with its command, what is set for it, and the folders in front of its `PATH`.
fn listing(folder: &Path, programs: &[&Program]) -> Result<String> {
    let programs = programs.iter().map(|program| program.at(folder));
    let all: BTreeMap<_, _> = programs
        .map(|program| (program.name.clone(), program))
        .collect();
    Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
}

/// The files that a program is started from, by name.
fn files(program: &Program) -> BTreeMap<String, String> {
    let starts = program
        .command
        .first()
        .into_iter()
        .chain(program.version.first());
    starts
        .filter_map(|file| Some((Path::new(file).file_name()?, file)))
        .map(|(name, file)| (name.to_string_lossy().into_owned(), file.clone()))
        .collect()
}

/// What starts it with what is set for it; nothing if nothing is.
fn script(program: &Program, file: &str) -> Option<String> {
    if program.env.is_empty() && program.path.is_empty() {
        return None;
    }
    let mut script = "#!/bin/sh\n".to_owned();
    for (name, value) in &program.env {
        script += &format!("export {name}={}\n", quote(value));
    }
    for folder in &program.path {
        script += &format!("export PATH={}:\"$PATH\"\n", quote(folder));
    }
    script += &format!("exec {} \"$@\"\n", quote(file));
    Some(script)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::table::Table;
    use super::*;

    fn programs(table: &Table) -> Vec<&Program> {
        table.chosen(&[]).expect("all")
    }

    #[test]
    fn no_two_programs_have_a_file_of_one_name() {
        let table = Table::open().expect("the table");
        let mut seen = BTreeMap::new();
        for program in programs(&table) {
            for (name, file) in files(program) {
                assert_eq!(seen.entry(name).or_insert(file.clone()), &file);
            }
        }
    }

    #[test]
    fn what_is_listed_is_there_and_what_is_gone_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let table = Table::open().expect("the table");
        let all = programs(&table);
        let named = |wanted: &str| {
            *all.iter()
                .find(|found| found.name == wanted)
                .expect("a row")
        };
        let names = || {
            let list = fs::read_dir(folder.join("bin")).expect("listed").flatten();
            let mut names: Vec<_> = list.map(|item| item.file_name()).collect();
            names.sort();
            names
        };
        let half = folder.join("half");
        fs::create_dir(&half).expect("made");
        write(folder, &half, &all).expect("written");
        assert!(names().len() > all.len() - 2);
        write(folder, &half, &[named("gopls"), named("pyright")]).expect("written");
        assert_eq!(names(), ["gopls", "pyright", "pyright-langserver"]);
        let text = |name: &str| {
            let text = fs::read_to_string(folder.join(name)).expect("it is there");
            text.replace(&*folder.to_string_lossy(), "T")
        };
        expect![[r##"
            #!/bin/sh
            export GOPROXY=off
            export GOTOOLCHAIN=local
            export PATH=T/go/go/bin:"$PATH"
            exec T/gopls/usr/bin/gopls "$@"
        "##]]
        .assert_eq(&text("bin/gopls"));
        expect![[r#"
            {
              "gopls": {
                "command": [
                  "T/gopls/usr/bin/gopls"
                ],
                "env": {
                  "GOPROXY": "off",
                  "GOTOOLCHAIN": "local"
                },
                "path": [
                  "T/go/go/bin"
                ]
              },
              "pyright": {
                "command": [
                  "T/pyright/node_modules/.bin/pyright-langserver",
                  "--stdio"
                ],
                "env": {},
                "path": []
              }
            }
        "#]]
        .assert_eq(&text("env.json"));
    }
}
