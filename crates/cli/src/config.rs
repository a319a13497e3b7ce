//! `terret.toml`: what the user and the workspace want otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use terret::lsp::catalog::Catalog;
use terret::tiers;

use crate::exit::{self, Usage};
use crate::folders;

/// The name of the file, in the workspace and in the user's folder.
const NAME: &str = "terret.toml";
/// No configuration is longer.
const MOST_BYTES: u64 = 1 << 20;
/// The longest that a write may be told to wait.
const MOST_WAIT: f64 = 600.0;

/// What holds for a workspace.
#[derive(Debug)]
pub(crate) struct Config {
    /// The language servers that are known; absent if none is wanted.
    pub(crate) servers: Option<Catalog>,
    /// How long a write waits for them, if somebody has said.
    pub(crate) write_wait: Option<Duration>,
}

/// One file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    lsp: Lsp,
    #[serde(skip)]
    path: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Lsp {
    enabled: Option<bool>,
    write_wait: Option<f64>,
    disable: Vec<String>,
    servers: BTreeMap<String, toml::Table>,
}

impl Config {
    /// What the user's file says, and the workspace's over it.
    ///
    /// # Errors
    ///
    /// A file that can't be read or says something that is not understood.
    pub(crate) fn load(workspace: &Path, trusted: bool) -> Result<Config> {
        let user = match folders::config() {
            Ok(folder) => File::read(folder.join(NAME))?,
            // Whoever has no home has no configuration there either.
            Err(_) => None,
        };
        let mut own = File::read(workspace.join(NAME))?;
        if let Some(file) = own.as_mut().filter(|_| !trusted) {
            file.restrict(user.as_ref());
        }
        Config::of(user.iter().chain(&own))
    }

    /// What several files say together, the later over the earlier.
    fn of<'a>(files: impl Iterator<Item = &'a File> + Clone) -> Result<Config> {
        let mut catalog = Catalog::shipped();
        let mut config = Config {
            servers: None,
            write_wait: None,
        };
        let mut enabled = true;
        for file in files.clone() {
            enabled = file.lsp.enabled.unwrap_or(enabled);
            config.write_wait = file.write_wait()?.or(config.write_wait);
            file.change(&mut catalog)?;
        }
        // At the end, so that no table brings a server back.
        for file in files {
            file.disable(&mut catalog);
        }
        config.servers = enabled.then_some(catalog);
        Ok(config)
    }
}

impl File {
    /// The file at this path, if there is one.
    fn read(path: PathBuf) -> Result<Option<File>> {
        let text = match text(&path) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(wrong(&path, &error.to_string())),
        };
        File::parse(path, &text).map(Some)
    }

    fn parse(path: PathBuf, text: &str) -> Result<File> {
        match toml::from_str(text) {
            Ok(file) => Ok(File { path, ..file }),
            Err(error) => {
                let line = error.span().map_or(1, |span| {
                    1 + text[..span.start.min(text.len())].matches('\n').count()
                });
                let why = format!("line {line}: {}", with_nearest(error.message()));
                Err(wrong(&path, &why))
            }
        }
    }

    /// Leaves out what the file of a workspace that is not trusted may not say, and tells so where that makes a
    /// difference.
    fn restrict(&mut self, user: Option<&File>) {
        if user.is_some_and(|user| user.lsp.enabled == Some(false)) {
            self.lsp.enabled = None;
        }
        let servers = std::mem::take(&mut self.lsp.servers);
        if let Some(first) = servers.keys().next() {
            exit::note(&format!(
                "note: {}: `[lsp.servers.{first}]` is ignored, because this workspace is not trusted to name programs; \
                 to trust it: terret trust",
                self.path.display()
            ));
        }
        // Those that it adds are unknown then, and nobody else misses them.
        self.lsp.disable.retain(|id| !servers.contains_key(id));
    }

    fn write_wait(&self) -> Result<Option<Duration>> {
        let Some(seconds) = self.lsp.write_wait else {
            return Ok(None);
        };
        match seconds {
            0.0..=MOST_WAIT => Ok(Some(Duration::from_secs_f64(seconds))),
            _ => {
                let why =
                    format!("`lsp.write_wait` is {seconds}; it is seconds, from 0 to {MOST_WAIT}");
                Err(wrong(&self.path, &why))
            }
        }
    }

    /// Makes the changes to the servers, and checks what is disabled.
    fn change(&self, catalog: &mut Catalog) -> Result<()> {
        for (id, table) in &self.lsp.servers {
            let changed = catalog.change_table(id, table.clone());
            changed.map_err(|error| wrong(&self.path, &with_nearest(&error.to_string())))?;
        }
        let known = |id: &str| catalog.get(id).is_some();
        let Some(unknown) = self.lsp.disable.iter().find(|id| !known(id)) else {
            return Ok(());
        };
        let ids = catalog.entries().iter().map(|entry| entry.id());
        let hint = match tiers::nearest(unknown, ids) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`terret doctor --json` lists their ids".to_owned(),
        };
        let why = format!("`lsp.disable` names no known server with `{unknown}`; {hint}");
        Err(wrong(&self.path, &why))
    }

    fn disable(&self, catalog: &mut Catalog) {
        for id in &self.lsp.disable {
            catalog.disable(id);
        }
    }
}

fn text(path: &Path) -> io::Result<String> {
    // Something else than a file might never end, or never begin.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    let length = fs::File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_string(&mut text)?;
    if length as u64 > MOST_BYTES {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn wrong(path: &Path, why: &str) -> anyhow::Error {
    Usage(format!("{}: {why}", path.display())).into()
}

/// The message about an unknown key with the nearest of those that it lists in place of the list.
fn with_nearest(message: &str) -> String {
    const UNKNOWN: &str = "unknown field `";
    let Some((before, rest)) = message.split_once(UNKNOWN) else {
        return message.to_owned();
    };
    let Some((key, known)) = rest.split_once('`') else {
        return message.to_owned();
    };
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let hint = match tiers::nearest(key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are {}", known.join(", ")),
    };
    format!("{before}unknown key `{key}`; {hint}")
}

#[cfg(test)]
mod tests;
