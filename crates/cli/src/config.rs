//! `terret.toml`: what a user, and a workspace, have set.
//!
//! The file of the workspace goes over that of the user. It can never name programs to run unless the user trusts the
//! workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use terret::lsp::catalog::Catalog;
use terret::tiers::nearest;

use crate::exit::{self, Usage};

const NAME: &str = "terret.toml";

/// What is set, with nothing filled in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    pub(crate) lsp: Lsp,
}

/// Language servers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Lsp {
    /// Whether there are the tools `lsp` and `lsp_rename`, and diagnostics on write.
    pub(crate) enabled: Option<bool>,
    /// How long a write waits for what it has broken, in seconds.
    write_wait: Option<f64>,
    /// The servers that are not used.
    disable: Vec<String>,
    /// Servers that are changed, or added.
    servers: BTreeMap<String, toml::Table>,
}

/// The keys of each table. Those of a server are checked with its entry.
const KEYS: [(&str, &[&str]); 2] = [
    ("", &["lsp"]),
    ("lsp", &["enabled", "write_wait", "disable", "servers"]),
];

impl Config {
    /// What the user and the workspace have set.
    pub(crate) fn load(workspace: &Path, trusted: bool) -> Result<Self> {
        let mut config = Self::default();
        if let Some(folder) = folder("XDG_CONFIG_HOME", ".config") {
            config.take(Self::read(&folder.join(NAME))?);
        }
        let file = workspace.join(NAME);
        let mut of_workspace = Self::read(&file)?;
        if !trusted && !of_workspace.lsp.servers.is_empty() {
            of_workspace.lsp.servers.clear();
            exit::note(&format!(
                "note: the servers of {NAME} are left out, because this workspace is not trusted: run `terret trust`"
            ));
        }
        config.take(of_workspace);
        Ok(config)
    }

    fn read(file: &Path) -> Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Usage(format!("{}: {error}", file.display())).into()),
        };
        Self::parse(&text).map_err(|why| Usage(format!("{}: {why}", file.display())).into())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
        for (name, known) in KEYS {
            let found = match name {
                "" => Some(&table),
                name => table.get(name).and_then(toml::Value::as_table),
            };
            for key in found.into_iter().flat_map(toml::Table::keys) {
                check_key(name, key, known)?;
            }
        }
        table
            .try_into()
            .map_err(|error: toml::de::Error| error.to_string())
    }

    fn take(&mut self, over: Self) {
        let Lsp {
            enabled,
            write_wait,
            disable,
            servers,
        } = over.lsp;
        self.lsp.enabled = enabled.or(self.lsp.enabled);
        self.lsp.write_wait = write_wait.or(self.lsp.write_wait);
        self.lsp.disable.extend(disable);
        self.lsp.servers.extend(servers);
    }

    /// How long a write waits for what it has broken.
    pub(crate) fn write_wait(&self, otherwise: Duration) -> Result<Duration> {
        let Some(seconds) = self.lsp.write_wait else {
            return Ok(otherwise);
        };
        let wait = Duration::try_from_secs_f64(seconds);
        let wrong = |_| {
            Usage(format!(
                "{NAME}: `write_wait` is {seconds}, which is no number of seconds"
            ))
        };
        Ok(wait.map_err(wrong)?)
    }

    /// The servers that are known then.
    pub(crate) fn catalog(&self) -> Result<Catalog> {
        let mut catalog = Catalog::shipped();
        for (id, table) in &self.lsp.servers {
            let changed = catalog.change_table(id, table.clone());
            changed.map_err(|error| Usage(format!("{NAME}: {error}")))?;
        }
        for id in &self.lsp.disable {
            if !catalog.disable(id) {
                let ids = catalog.entries().iter().map(|entry| entry.id());
                let hint = nearest(id, ids)
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(
                    Usage(format!("{NAME}: `disable` names no server `{id}`{hint}")).into(),
                );
            }
        }
        Ok(catalog)
    }
}

fn check_key(table: &str, key: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&key) {
        return Ok(());
    }
    let place = match table {
        "" => String::new(),
        table => format!(" in [{table}]"),
    };
    let hint = match nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are {}", known.join(", ")),
    };
    Err(format!("unknown key `{key}`{place}; {hint}"))
}

/// The folder of this program's in one of the user's folders: that of the variable, or else this one of the home folder.
pub(crate) fn folder(variable: &str, of_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    let base = set
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(of_home)))?;
    Some(base.join("terret"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example documents every key, each in a comment.
    #[test]
    fn the_example_is_sound() {
        let example = include_str!("../../../docs/terret.toml");
        let keys = example.lines().filter_map(|line| line.strip_prefix("#: "));
        let text: Vec<&str> = keys.collect();
        let config = Config::parse(&text.join("\n")).unwrap();
        assert_eq!(config.lsp.enabled, Some(true));
        assert_eq!(
            config.write_wait(Duration::ZERO).unwrap(),
            Duration::from_secs(3)
        );
        let catalog = config.catalog().unwrap();
        assert!(catalog.get("eslint").is_none() && catalog.get("mine").is_some());
        for (_, keys) in KEYS {
            for key in keys {
                assert!(example.contains(key), "{key} is not documented");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let rows = [
            ("[lps]", "unknown key `lps`; did you mean `lsp`?"),
            (
                "[lsp]\nwrite_weit = 1",
                "unknown key `write_weit` in [lsp]; did you mean `write_wait`?",
            ),
            ("x = 1", "unknown key `x`; the keys are lsp"),
        ];
        for (text, expected) in rows {
            assert_eq!(Config::parse(text).unwrap_err(), expected);
        }
        let error = |text: &str| {
            Config::parse(text)
                .unwrap()
                .catalog()
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("[lsp]\ndisable = ['gople']"),
            "terret.toml: `disable` names no server `gople`; did you mean `gopls`?"
        );
        let bad = error("[lsp.servers.gopls]\nsetings = {}");
        assert!(
            bad.contains("`gopls`") && bad.contains("`setings`"),
            "{bad}"
        );
        assert!(
            Config::parse("[lsp]\nenabled = 3")
                .unwrap_err()
                .contains("enabled")
        );
    }

    #[test]
    fn the_workspace_goes_over_the_user() {
        let mut config = Config::parse("[lsp]\nenabled = true\nwrite_wait = 9").unwrap();
        config.take(Config::parse("[lsp]\nenabled = false\ndisable = ['ruff']").unwrap());
        assert_eq!(config.lsp.enabled, Some(false));
        assert_eq!(config.lsp.write_wait, Some(9.0));
        assert_eq!(config.lsp.disable, ["ruff"]);
    }
}
