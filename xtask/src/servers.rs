//! `cargo xtask servers`: installs the real programs that tests talk with, and sees that they work.

mod apt;
mod check;
mod install;
mod listing;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use self::install::{Installer, Stamp};
use self::table::{Program, Table};
use crate::report::Totals;
use crate::shell::Shell;
use crate::workspace::Workspace;

/// Where they are, if not in `target/xtask/servers`; tests find them by it, too.
const FOLDER: &str = "TERRET_SERVERS";
const CHECKED: &str = "checked.json";

pub(crate) struct Options {
    /// The programs that are wanted; all if none is named.
    pub(crate) names: Vec<String>,
    /// One that can't be had is a failure.
    pub(crate) require: bool,
    /// Checks those too that have been found to work.
    pub(crate) check: bool,
}

/// How a program was found to work.
#[derive(Deserialize, Serialize)]
struct Checked {
    /// What was checked: another has to be checked anew.
    of: String,
    version: String,
}

/// What is known of each set so far.
type Sets<'a> = BTreeMap<&'a str, Result<Stamp, String>>;

/// Installs what is missing, and prints what is there.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<(Totals, String)> {
    let table = Table::open()?;
    let chosen = table.chosen(&options.names)?;
    let folder = folder(workspace)?;
    let lock = File::create(folder.join(".lock")).context("a lock")?;
    lock.lock().context("a lock")?;
    let data = workspace.root.join("xtask/data/servers");
    let installer = Installer::new(&table, &folder, data)?;

    let sets = install(&table, &installer, &chosen);
    let mut checked = read(&folder);
    let mut missing = Vec::new();
    for program in &chosen {
        let known = checked.remove(&program.name);
        let known = known.filter(|_| !options.check);
        match see(program, &sets, &folder, known) {
            Ok(seen) => drop(checked.insert(program.name.clone(), seen)),
            Err(error) => {
                println!("{} can't be had: {error:#}", program.name);
                missing.push(program.name.as_str());
            }
        }
        save(&folder, installer.half(), &checked)?;
    }
    let mut there = table.chosen(&[])?;
    there.retain(|program| checked.contains_key(&program.name));
    listing::write(&folder, installer.half(), &there)?;
    print!("{}", rows(&chosen, &checked, &sets));
    println!("they are in {}", folder.display());
    Ok(totals(chosen.len(), &missing, options.require))
}

/// Where their programs are, to go in front of `PATH`.
pub(crate) fn bin(workspace: &Workspace) -> Result<PathBuf> {
    Ok(folder(workspace)?.join("bin"))
}

/// An absolute path: what is installed knows where it is.
fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = match std::env::var_os(FOLDER) {
        Some(folder) => std::path::absolute(folder).context(FOLDER)?,
        None => workspace.scratch()?.join("servers"),
    };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// All sets of these programs; one that can't be had stops no other.
fn install<'a>(table: &Table, installer: &Installer<'_>, programs: &[&'a Program]) -> Sets<'a> {
    let names: BTreeSet<_> = programs.iter().flat_map(|program| program.sets()).collect();
    let get = |name: &str| {
        let set = table.set(name).map_err(|error| error.to_string())?;
        installer.get(set).map_err(|error| match set.hint.as_str() {
            "" => format!("{error:#}"),
            hint => format!("{error:#}\n  {hint}"),
        })
    };
    names.into_iter().map(|name| (name, get(name))).collect()
}

/// Sees whether a program works, unless just this one is known to.
fn see(
    program: &Program,
    sets: &Sets<'_>,
    folder: &Path,
    known: Option<Checked>,
) -> Result<Checked> {
    let mut of = format!("{program:?}");
    for set in program.sets() {
        match &sets[set] {
            Ok(stamp) => of += &format!(" {set} {:?}", stamp.at),
            Err(error) => bail!("{error}"),
        }
    }
    if let Some(known) = known.filter(|known| known.of == of) {
        return Ok(known);
    }
    let begun = Instant::now();
    let version = try_out(&program.at(folder))?;
    let took = begun.elapsed().as_secs_f64();
    println!("{} works, as seen in {took:.1} s", program.name);
    Ok(Checked { of, version })
}

/// The version that it tells; fails if it does not work.
fn try_out(program: &Program) -> Result<String> {
    let home = tempfile::tempdir().context("a home for a program")?;
    // Servers keep caches and notes at home, which is not theirs for being tried out.
    let mut shell = Shell::new(home.path()).set("HOME", home.path());
    for name in [
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    ] {
        shell = shell.unset(name);
    }
    for (name, value) in &program.env {
        shell = shell.set(name, value);
    }
    let path: Vec<PathBuf> = program.path.iter().map(PathBuf::from).collect();
    let shell = shell.prepend_path(&path)?;
    let printed = match program.version.as_slice() {
        [] => None,
        words => Some(check::version(command(&shell, words)?, check::DEADLINE)?),
    };
    if program.tool {
        return Ok(printed.unwrap_or_default());
    }
    let start = command(&shell, &program.command)?;
    let told = check::session(start, home.path(), check::DEADLINE)?;
    let printed = printed.filter(|version| !version.is_empty());
    Ok(printed.or(told).unwrap_or_default())
}

fn command(shell: &Shell, words: &[String]) -> Result<Command> {
    let (program, args) = words.split_first().context("an empty command")?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Ok(shell.command(program, &args))
}

fn read(folder: &Path) -> BTreeMap<String, Checked> {
    let text = fs::read(folder.join(CHECKED)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn save(folder: &Path, half: &Path, checked: &BTreeMap<String, Checked>) -> Result<()> {
    let half = half.join(CHECKED);
    fs::write(&half, serde_json::to_vec_pretty(checked)?).context(CHECKED)?;
    fs::rename(&half, folder.join(CHECKED)).context(CHECKED)
}

/// A row for each program that works, and for each set that none is started from. A set that several are
/// started from counts in the first row.
fn rows(programs: &[&Program], checked: &BTreeMap<String, Checked>, sets: &Sets<'_>) -> String {
    let mut left: BTreeMap<&str, &Stamp> = sets
        .iter()
        .filter_map(|(name, stamp)| Some((*name, stamp.as_ref().ok()?)))
        .collect();
    let row = |name: &str, version: &str, origin: &str, stamp: Option<&Stamp>| {
        let [size, seconds] = match stamp {
            Some(stamp) => [stamp.bytes as f64 / 1e6, stamp.seconds].map(|n| format!("{n:.1}")),
            None => ["", ""].map(str::to_owned),
        };
        format!("{name:<27} {version:<15} {size:>7} {seconds:>6}  {origin}\n")
    };
    let mut text = format!(
        "{:<27} {:<15} {:>7} {:>6}  from\n",
        "name", "version", "MB", "s"
    );
    for program in programs {
        let set = program.sets()[0];
        if let (Some(checked), Ok(stamp)) = (checked.get(&program.name), &sets[set]) {
            let version = match checked.version.as_str() {
                "" => format!("({})", stamp.version()),
                version => version.to_owned(),
            };
            text += &row(&program.name, &version, &stamp.origin(), left.remove(set));
        }
    }
    for (name, stamp) in left {
        text += &row(name, stamp.version(), &stamp.origin(), Some(stamp));
    }
    let all = || sets.values().flatten();
    let size: u64 = all().map(|stamp| stamp.bytes).sum();
    let seconds = all().fold(0.0, |sum, stamp| sum + stamp.seconds);
    text += &format!(
        "{:<27} {:<15} {:>7.1} {seconds:>6.1}\n",
        "all",
        "",
        size as f64 / 1e6
    );
    text
}

fn totals(all: usize, missing: &[&str], require: bool) -> (Totals, String) {
    let passed = all - missing.len();
    let note = match missing {
        [] => String::new(),
        missing => format!("missing: {}", missing.join(", ")),
    };
    let (failed, skipped) = match require {
        true => (missing.len(), 0),
        false => (0, missing.len()),
    };
    let totals = Totals {
        passed,
        failed,
        skipped,
    };
    (totals, note)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn program(name: &str) -> Program {
        Program {
            name: name.to_owned(),
            command: vec![format!("{{a}}/{name}")],
            env: BTreeMap::new(),
            path: Vec::new(),
            version: vec!["{a}/it".to_owned()],
            tool: true,
        }
    }

    fn stamp(at: u64) -> Stamp {
        let text = format!(
            "{{\"of\": \"\", \"from\": \"npm\", \"packages\": [[\"a\", \"1.0\"]], \
             \"at\": {{\"secs_since_epoch\": {at}, \"nanos_since_epoch\": 0}}, \
             \"bytes\": 1234567, \"seconds\": 2.0}}"
        );
        serde_json::from_str(&text).expect("a stamp")
    }

    #[test]
    fn a_program_is_checked_once_an_installation() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a/it");
        fs::create_dir(folder.path().join("a")).expect("made");
        std::os::unix::fs::symlink("/bin/sh", &file).expect("linked");
        let mut sets = Sets::from([("a", Ok(stamp(1)))]);
        let see = |sets: &Sets<'_>, known| see(&program("it"), sets, folder.path(), known);
        let seen = see(&sets, None).expect("it works");
        fs::remove_file(&file).expect("removed");
        let seen = see(&sets, Some(seen)).expect("it is known to work");
        sets.insert("a", Ok(stamp(2)));
        see(&sets, Some(seen))
            .err()
            .expect("another, which is gone");
        sets.insert("a", Err("no network".to_owned()));
        let error = see(&sets, None).err().expect("no set");
        assert_eq!(error.to_string(), "no network");
    }

    #[test]
    fn a_set_counts_once() {
        let (one, two) = (program("one"), program("two"));
        let checked = |version: &str| Checked {
            of: String::new(),
            version: version.to_owned(),
        };
        let all = [("one", ""), ("two", "2.0")];
        let all = all.map(|(name, version)| (name.to_owned(), checked(version)));
        let missing = program("three");
        let sets = Sets::from([
            ("a", Ok(stamp(1))),
            ("b", Ok(stamp(1))),
            ("c", Err(String::new())),
        ]);
        expect![[r#"
            name                        version              MB      s  from
            one                         (1.0)               1.2    2.0  npm: a 1.0
            two                         2.0                             npm: a 1.0
            b                           1.0                 1.2    2.0  npm: a 1.0
            all                                             2.5    4.0
        "#]]
        .assert_eq(&rows(&[&one, &two, &missing], &all.into(), &sets));
    }

    #[test]
    fn what_is_missing_is_a_failure_where_it_is_required() {
        for (require, totals_of_one) in [(true, Totals::FAILED), (false, Totals::SKIPPED)] {
            let (found, note) = totals(1, &["a"], require);
            assert_eq!(found, totals_of_one);
            assert_eq!(note, "missing: a");
        }
        assert_eq!(totals(1, &[], true), (Totals::PASSED, String::new()));
    }
}
