//! The language servers that are for what is in the workspace.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use ignore::WalkBuilder;
use serde_json::{Value, json};
use terret::lsp::{Choice, Supervisor};
use terret::tiers::{bound, paths};

use crate::host::{self, Calls, Place};

/// How many files are looked at, and for how many of them servers are looked for.
const MOST_FILES: usize = 50_000;
const MOST_SAMPLES: usize = 300;

/// What there is to say about a server.
pub(super) struct Server {
    id: String,
    name: String,
    install: String,
    /// For each folder that could be its root, whether it can be used there; none if nothing here is for it.
    roots: BTreeMap<Option<PathBuf>, Found>,
}

struct Found {
    program: Option<PathBuf>,
    version: Option<String>,
    problem: Option<String>,
}

/// All servers that are known, or none where they are not wanted.
pub(super) fn found(place: &Place) -> Result<Vec<Server>> {
    let Some(options) = place.servers(Calls::One)? else {
        return Ok(Vec::new());
    };
    let supervisor = Supervisor::new(place.workspace(), options);
    let choices = host::runtime()?.block_on(async {
        let mut choices = Vec::new();
        for file in samples(place.workspace()) {
            choices.extend(supervisor.for_file(&file).await);
        }
        choices
    });
    let entries = supervisor.catalog().entries().iter();
    let of = |id: &str| roots(choices.iter().filter(|choice| choice.entry().id() == id));
    let server = |entry: &std::sync::Arc<terret::lsp::catalog::Entry>| Server {
        id: entry.id().to_owned(),
        name: entry.spec().name.clone(),
        install: entry.spec().install.clone(),
        roots: of(entry.id()),
    };
    Ok(entries.map(server).collect())
}

/// A file of each kind in each folder.
fn samples(workspace: &Path) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let files = WalkBuilder::new(workspace)
        .require_git(false)
        // What others have written is not what somebody works on.
        .filter_entry(|entry| entry.file_name() != "node_modules")
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .take(MOST_FILES);
    let is_new = |path: &PathBuf| {
        let kind = path.extension().or(path.file_name());
        seen.insert((
            path.parent().map(Path::to_owned),
            kind.map(ToOwned::to_owned),
        ))
    };
    files
        .map(ignore::DirEntry::into_path)
        .filter(is_new)
        .take(MOST_SAMPLES)
        .collect()
}

fn roots<'a>(choices: impl Iterator<Item = &'a Choice>) -> BTreeMap<Option<PathBuf>, Found> {
    let mut roots = BTreeMap::new();
    for choice in choices {
        // Looked for, and no marker: nothing here is for it.
        if choice.is_looked_for() && choice.marked().is_none() {
            continue;
        }
        roots
            .entry(choice.marked().map(Path::to_owned))
            .or_insert_with(|| Found {
                program: choice.program().map(Path::to_owned),
                version: choice.said().map(str::to_owned),
                problem: choice.problem().map(str::to_owned),
            });
    }
    roots
}

pub(super) fn details(workspace: &Path, servers: &[Server]) -> Vec<Value> {
    let root = |(root, found): (&Option<PathBuf>, &Found)| {
        json!({
            "root": root.as_ref().map(|root| paths::show(workspace, root)),
            "usable": found.problem.is_none(),
            "program": found.program,
            "version": found.version,
            "problem": found.problem,
        })
    };
    let one = |server: &Server| {
        json!({
            "id": server.id,
            "name": server.name,
            "usable": server.roots.values().any(|found| found.problem.is_none()),
            "roots": server.roots.iter().map(root).collect::<Vec<_>>(),
            "install": server.install,
        })
    };
    servers.iter().map(one).collect()
}

pub(super) fn report(workspace: &Path, servers: &[Server]) -> String {
    if servers.is_empty() {
        return "language servers: none is wanted, by `lsp.enabled` in terret.toml\n".to_owned();
    }
    let here: Vec<&Server> = servers
        .iter()
        .filter(|server| !server.roots.is_empty())
        .collect();
    let mut text = "language servers:\n".to_owned();
    for server in &here {
        for (root, found) in &server.roots {
            let line = line(workspace, root.as_deref(), found);
            text.push_str(&format!("  {}: {}\n", server.name, bound::sanitise(&line)));
        }
    }
    let others = servers.len() - here.len();
    text.push_str(&match here.is_empty() {
        true => format!("  {others} are known, and none is for what is here\n"),
        false => format!("  {others} more are known, for what is not here\n"),
    });
    text
}

fn line(workspace: &Path, root: Option<&Path>, found: &Found) -> String {
    if let Some(problem) = &found.problem {
        return problem.replace('\n', "\n    ");
    }
    let program = found.program.as_deref().unwrap_or(Path::new("")).display();
    let mut line = format!("usable, {program}");
    if let Some(version) = &found.version {
        line.push_str(&format!(" ({version})"));
    }
    match root.map(|root| paths::show(workspace, root)) {
        Some(root) if root != "." => format!("{line}, in {root}"),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn found(program: Option<&str>, problem: Option<&str>) -> Found {
        Found {
            program: program.map(PathBuf::from),
            version: program.map(|_| "one 1.2".to_owned()),
            problem: problem.map(str::to_owned),
        }
    }

    fn server(name: &str, roots: Vec<(Option<&str>, Found)>) -> Server {
        let roots = roots.into_iter();
        Server {
            id: name.to_lowercase(),
            name: name.to_owned(),
            install: "ask".to_owned(),
            roots: roots
                .map(|(root, found)| (root.map(PathBuf::from), found))
                .collect(),
        }
    }

    #[test]
    fn what_is_here_is_told_and_the_rest_counted() {
        let servers = [
            server(
                "One",
                vec![
                    (Some("/ws"), found(Some("/bin/one"), None)),
                    (Some("/ws/a"), found(Some("/bin/one"), None)),
                ],
            ),
            server(
                "Two",
                vec![(
                    Some("/ws"),
                    found(None, Some("`two` is not on PATH; to get it: ask")),
                )],
            ),
            server("Three", vec![]),
        ];
        expect![[r#"
            language servers:
              One: usable, /bin/one (one 1.2)
              One: usable, /bin/one (one 1.2), in a
              Two: `two` is not on PATH; to get it: ask
              1 more are known, for what is not here
        "#]]
        .assert_eq(&report(Path::new("/ws"), &servers));
        expect![[r#"
            language servers:
              1 are known, and none is for what is here
        "#]]
        .assert_eq(&report(Path::new("/ws"), &servers[2..]));
        let details = details(Path::new("/ws"), &servers);
        assert_eq!(details[0]["roots"][1]["root"], "a");
        assert_eq!(
            (&details[0]["usable"], &details[1]["usable"]),
            (&json!(true), &json!(false))
        );
    }
}
