//! `cargo xtask servers`: installs the real programs that tests talk with, and sees that they work.

mod apt;
mod check;
mod install;
mod listing;
mod table;

use std::collections::BTreeMap;
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

    let mut sets = Sets::new();
    for name in chosen.iter().flat_map(|program| program.sets()) {
        if !sets.contains_key(name) {
            sets.insert(name, get(&table, &installer, name));
        }
    }
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
        save(&folder, &checked)?;
    }
    let there = table.chosen(&[])?.into_iter();
    let there: Vec<_> = there
        .filter(|program| checked.contains_key(&program.name))
        .collect();
    listing::write(&folder, &there)?;
    print!("{}", rows(&chosen, &checked, &sets));
    println!("they are in {}", folder.display());
    Ok(totals(chosen.len(), &missing, options.require))
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

fn get(table: &Table, installer: &Installer<'_>, name: &str) -> Result<Stamp, String> {
    let set = table.set(name).map_err(|error| error.to_string())?;
    installer.get(set).map_err(|error| match set.hint.as_str() {
        "" => format!("{error:#}"),
        hint => format!("{error:#}\n  {hint}"),
    })
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

fn save(folder: &Path, checked: &BTreeMap<String, Checked>) -> Result<()> {
    let half = folder.join("half").join(CHECKED);
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
    let seconds: f64 = all().map(|stamp| stamp.seconds).sum();
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
