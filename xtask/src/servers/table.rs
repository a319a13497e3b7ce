//! What there is to install and to run: `xtask/servers.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

const TABLE: &str = include_str!("../../servers.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// The suite of Debian.
    pub(super) suite: String,
    #[serde(rename = "set")]
    pub(super) sets: Vec<Set>,
    #[serde(rename = "program")]
    programs: Vec<Program>,
}

/// What is fetched at once, into one folder.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) install: Install,
    /// What a person can do where it is not to be had.
    #[serde(default, skip_serializing)]
    pub(super) hint: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Install {
    PyPI,
    Npm,
    Debian(Debian),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Debian {
    pub(super) packages: Vec<String>,
    /// Programs that are made to run with the libraries unpacked beside them.
    #[serde(default)]
    pub(super) patch: Vec<String>,
    /// The parts that are unpacked; all if none is named.
    #[serde(default)]
    pub(super) only: Vec<String>,
    /// The parts that are not.
    #[serde(default)]
    pub(super) without: Vec<String>,
}

/// What tests start. Its words name the folders of sets: `{SET}/bin/program`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    #[serde(skip_serializing)]
    pub(super) name: String,
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Folders in front of `PATH`.
    #[serde(default)]
    pub(super) path: Vec<String>,
    /// A command that prints its version.
    #[serde(default, skip_serializing)]
    pub(super) version: Vec<String>,
    /// It speaks no protocol.
    #[serde(default, skip_serializing)]
    pub(super) tool: bool,
}

impl Table {
    pub(super) fn open() -> Result<Table> {
        Table::parse(TABLE).context("xtask/servers.toml")
    }

    /// Fails if a program names a set that there is not.
    fn parse(text: &str) -> Result<Table> {
        let table: Table = toml::from_str(text)?;
        for program in &table.programs {
            program.command.first().context("an empty command")?;
            for set in program.sets() {
                table.set(set).with_context(|| program.name.clone())?;
            }
        }
        Ok(table)
    }

    pub(super) fn set(&self, name: &str) -> Result<&Set> {
        let set = self.sets.iter().find(|set| set.name == name);
        set.with_context(|| format!("there is no set `{name}`"))
    }

    /// The programs of these names, or all.
    pub(super) fn chosen(&self, names: &[String]) -> Result<Vec<&Program>> {
        for name in names {
            if !self.programs.iter().any(|program| program.name == *name) {
                let all = self.programs.iter().map(|program| program.name.as_str());
                let all = all.collect::<Vec<_>>().join(", ");
                bail!("there is no `{name}`, but {all}");
            }
        }
        let wanted = |name: &String| names.is_empty() || names.contains(name);
        let programs = self.programs.iter();
        Ok(programs.filter(|program| wanted(&program.name)).collect())
    }
}

impl Program {
    /// The sets that it is made of, the one that it is started from first.
    pub(super) fn sets(&self) -> Vec<&str> {
        let words = self.command.iter().chain(self.env.values());
        let words = words.chain(&self.path).chain(&self.version);
        let mut seen = BTreeSet::new();
        words
            .filter_map(|word| Some(word.strip_prefix('{')?.split_once('}')?.0))
            .filter(|set| seen.insert(*set))
            .collect()
    }

    /// With the folders in place of the names of sets.
    pub(super) fn at(&self, folder: &Path) -> Program {
        let place = |word: &String| match word.strip_prefix('{').and_then(|w| w.split_once('}')) {
            Some((set, rest)) => format!("{}{rest}", folder.join(set).display()),
            None => word.clone(),
        };
        let env = self.env.iter();
        Program {
            name: self.name.clone(),
            command: self.command.iter().map(place).collect(),
            env: env
                .map(|(name, word)| (name.clone(), place(word)))
                .collect(),
            path: self.path.iter().map(place).collect(),
            version: self.version.iter().map(place).collect(),
            tool: self.tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "suite = 's'
        [[set]]\nname = 'a'\ninstall = { from = 'pypi' }
        [[set]]\nname = 'b'\ninstall = { from = 'npm' }
        [[program]]\nname = 'p'\ncommand = ['{a}/bin/p', '--stdio']
        env = { LIB = '{b}/lib', OTHER = 'x' }\nversion = ['{a}/bin/p', '-V']\n";

    #[test]
    fn a_program_is_made_of_the_sets_that_its_row_names() {
        let table = Table::parse(SMALL).expect("a table");
        let program = table.chosen(&["p".to_owned()]).expect("it is there")[0];
        assert_eq!(program.sets(), ["a", "b"]);
        let placed = program.at(Path::new("T"));
        assert_eq!(placed.command, ["T/a/bin/p", "--stdio"]);
        assert_eq!(placed.env["LIB"], "T/b/lib");
        assert_eq!(placed.env["OTHER"], "x");
    }

    #[test]
    fn names_that_there_are_not_are_told() {
        let error = Table::parse(&SMALL.replace("{b}", "{c}"));
        let error = error.err().expect("no set `c`");
        assert_eq!(format!("{error:#}"), "p: there is no set `c`");
        let table = Table::parse(SMALL).expect("a table");
        let error = table.chosen(&["q".to_owned()]).expect_err("no program `q`");
        assert_eq!(error.to_string(), "there is no `q`, but p");
    }

    #[test]
    fn every_set_is_used() {
        let table = Table::open().expect("the table");
        let mut used: BTreeSet<&str> = table.programs.iter().flat_map(Program::sets).collect();
        used.insert(super::super::install::PATCHELF);
        let sets = table.sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(used, sets);
    }
}
