//! The programs that the tests need, and how to get each: `xtask/tools.toml`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::report::Totals;
use crate::shell::{self, Shell};

const TABLE: &str = include_str!("../tools.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    tool: Vec<Tool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    /// The program that has to be found.
    name: String,
    #[serde(default)]
    task: Task,
    /// With these arguments it ends with 0 if it works.
    check: Vec<String>,
    /// What is not done without it.
    why: String,
    install: Install,
}

/// What a tool is needed for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    #[default]
    Test,
    /// Measurements, and comparisons with another program.
    Bench,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
enum Install {
    Crates {
        package: String,
        version: String,
    },
    PyPI {
        package: String,
        version: String,
    },
    Npm {
        package: String,
        version: String,
    },
    /// For everyone on the machine, so only as root.
    Debian {
        packages: Vec<String>,
    },
    /// A person has to do it.
    Hand {
        hint: String,
    },
}

/// Where the tools that are installed for this checkout only put their programs.
pub(crate) fn bins(folder: &Path) -> Vec<PathBuf> {
    // ripgrep's package has a package of its own for each platform, and the program is there.
    let ripgrep = format!(
        "npm/node_modules/@vscode/ripgrep-{}-{}/bin",
        std::env::consts::OS.replace("macos", "darwin"),
        match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        }
    );
    let bins = ["bin", "python/bin", "npm/node_modules/.bin", &ripgrep];
    bins.iter().map(|path| folder.join(path)).collect()
}

/// Looks for every tool of the table for this task and installs what is missing. What can't be had is a failure
/// if `required`, and a sentence otherwise: the tests that need it skip themselves.
pub(crate) fn install(
    shell: &Shell,
    folder: &Path,
    task: Task,
    required: bool,
) -> Result<(Totals, String)> {
    let table: Table = toml::from_str(TABLE).context("xtask/tools.toml")?;
    let root = shell::read(shell.command("id", &["-u"])).is_ok_and(|user| user.trim() == "0");
    let mut missing = Vec::new();
    for tool in table.tool.iter().filter(|tool| tool.task == task) {
        if works(tool, shell, folder) {
            continue;
        }
        match tool.install.plan(folder, root) {
            Ok(commands) => {
                println!("installing {}, which {}", tool.name, tool.why);
                let done = commands.iter().try_for_each(|words| run(shell, words));
                if let Err(error) = done {
                    println!("{error:#}");
                }
            }
            Err(hint) => println!("{} is missing, which {}: {hint}", tool.name, tool.why),
        }
        if !works(tool, shell, folder) {
            missing.push(tool.name.as_str());
        }
    }
    Ok(match (missing.is_empty(), required) {
        (true, _) => (Totals::PASSED, String::new()),
        (false, true) => (Totals::FAILED, format!("missing: {}", missing.join(", "))),
        (false, false) => (Totals::SKIPPED, format!("missing: {}", missing.join(", "))),
    })
}

fn run(shell: &Shell, words: &[String]) -> Result<()> {
    let (program, args) = words.split_first().context("an empty command")?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    shell::pass(shell.command(program, &args))
}

fn works(tool: &Tool, shell: &Shell, folder: &Path) -> bool {
    let Some(program) = shell::on_path(&tool.name, &bins(folder)) else {
        return false;
    };
    let args: Vec<&str> = tool.check.iter().map(String::as_str).collect();
    shell::read(shell.command(program, &args)).is_ok()
}

impl Install {
    /// The commands that install it, or what a person has to do.
    fn plan(&self, folder: &Path, root: bool) -> Result<Vec<Vec<String>>, String> {
        let at = |path: &str| folder.join(path).to_string_lossy().into_owned();
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        Ok(match self {
            Install::Crates { package, version } => {
                let root = at("");
                vec![words(&[
                    "cargo",
                    "install",
                    "--locked",
                    "--root",
                    &root,
                    "--version",
                    version,
                    package,
                ])]
            }
            Install::PyPI { package, version } => vec![
                words(&["python3", "-m", "venv", &at("python")]),
                words(&[
                    &at("python/bin/pip"),
                    "install",
                    "--quiet",
                    &format!("{package}=={version}"),
                ]),
            ],
            Install::Npm { package, version } => {
                let package = format!("{package}@{version}");
                vec![words(&[
                    "npm",
                    "install",
                    "--no-fund",
                    "--no-audit",
                    "--prefix",
                    &at("npm"),
                    &package,
                ])]
            }
            Install::Debian { packages } => {
                let list = packages.join(" ");
                if !root {
                    return Err(format!("sudo apt-get install {list}"));
                }
                let mut install = words(&["apt-get", "install", "-y", "--no-install-recommends"]);
                install.extend(packages.iter().cloned());
                vec![words(&["apt-get", "update", "-q"]), install]
            }
            Install::Hand { hint } => return Err(hint.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn tools(text: &str) -> Vec<Tool> {
        toml::from_str::<Table>(text).expect("a table").tool
    }

    fn row(install: &str) -> Install {
        let text = format!("[[tool]]\nname = 'x'\ncheck = []\nwhy = ''\ninstall = {install}\n");
        tools(&text).remove(0).install
    }

    #[test]
    fn each_registry_has_its_plan() {
        let rows = [
            "{ from = 'crates', package = 'a', version = '1.0.0' }",
            "{ from = 'pypi', package = 'a', version = '1.0.0' }",
            "{ from = 'npm', package = 'a', version = '1.0.0' }",
            "{ from = 'debian', packages = ['a', 'b'] }",
            "{ from = 'hand', hint = 'ask someone' }",
        ];
        let mut text = String::new();
        for install in rows.map(row) {
            for root in [true, false] {
                match install.plan(Path::new("T"), root) {
                    Ok(plan) => plan
                        .iter()
                        .for_each(|line| text += &format!("{}\n", line.join(" "))),
                    Err(hint) => text += &format!("by hand: {hint}\n"),
                }
            }
        }
        expect![[r#"
            cargo install --locked --root T/ --version 1.0.0 a
            cargo install --locked --root T/ --version 1.0.0 a
            python3 -m venv T/python
            T/python/bin/pip install --quiet a==1.0.0
            python3 -m venv T/python
            T/python/bin/pip install --quiet a==1.0.0
            npm install --no-fund --no-audit --prefix T/npm a@1.0.0
            npm install --no-fund --no-audit --prefix T/npm a@1.0.0
            apt-get update -q
            apt-get install -y --no-install-recommends a b
            by hand: sudo apt-get install a b
            by hand: ask someone
            by hand: ask someone
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_tool_works_only_if_its_check_does() {
        let rows = tools(
            "[[tool]]\nname = 'sh'\ncheck = ['-c', 'exit 0']\nwhy = ''\ninstall = { from = 'hand', hint = '' }\n
             [[tool]]\nname = 'sh'\ncheck = ['-c', 'exit 1']\nwhy = ''\ninstall = { from = 'hand', hint = '' }\n
             [[tool]]\nname = 'no-such-tool'\ncheck = []\nwhy = ''\ninstall = { from = 'hand', hint = '' }\n",
        );
        let found = rows
            .iter()
            .map(|tool| works(tool, &Shell::new("."), Path::new("T")));
        assert_eq!(found.collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn the_table_can_be_read() {
        assert!(!tools(TABLE).is_empty());
    }
}
