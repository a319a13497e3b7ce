//! `terret doctor`: what is usable here, and how to get what is not.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use terret::grammars::{GrammarSource, Shipped};
use terret::lsp::{Choice, Supervisor};

use crate::args::DoctorArgs;
use crate::{host, out};

/// A language that Terret knows.
struct Language<'a> {
    id: &'a str,
    /// The cargo feature that brings its grammar.
    feature: &'a str,
    compiled_in: bool,
}

/// A language server, as it is for the workspace.
struct Server {
    id: String,
    name: String,
    /// The folder that it serves.
    root: Option<String>,
    /// What keeps it from that, with how to get it.
    problem: Option<String>,
}

pub(crate) fn run(workspace: &Path, args: &DoctorArgs) -> Result<ExitCode> {
    let servers = servers(workspace)?;
    let compiled_in = Shipped.ids();
    let languages: Vec<Language<'_>> = Shipped::known()
        .into_iter()
        .map(|(id, feature)| Language {
            id,
            feature,
            compiled_in: compiled_in.contains(&id),
        })
        .collect();
    if args.json {
        out::json(&details(&languages, &servers))?;
    } else {
        out::text(&(report(&languages) + &report_servers(&servers)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The servers whose projects are in the workspace's folder, and how many are known.
fn servers(workspace: &Path) -> Result<(Vec<Server>, usize)> {
    let Some(options) = host::lsp(workspace, host::IN_ONE_CALL)? else {
        return Ok((Vec::new(), 0));
    };
    let supervisor = Supervisor::new(workspace, options);
    let all = host::runtime()?.block_on(supervisor.survey());
    let here = all.iter().filter(|choice| {
        // What has no marker is for any workspace, and tells something only where it is there.
        let is_marked = !choice.entry().spec().markers.is_empty() && choice.marked().is_some();
        is_marked || choice.problem().is_none()
    });
    let one = |choice: &Choice| Server {
        id: choice.entry().id().to_owned(),
        name: choice.entry().spec().name.clone(),
        root: choice.root().map(|root| root.display().to_string()),
        problem: choice.problem().map(str::to_owned),
    };
    Ok((here.map(one).collect(), all.len()))
}

fn report_servers((servers, known): &(Vec<Server>, usize)) -> String {
    let mut text = match (servers.len(), known) {
        (_, 0) => return "language servers: switched off by terret.toml\n".to_owned(),
        (0, known) => {
            format!("language servers: none of the {known} that are known is for this folder\n")
        }
        (here, known) => {
            format!("language servers: {here} of {known} that are known are for this folder\n")
        }
    };
    for Server {
        id,
        name,
        root,
        problem,
    } in servers
    {
        let said = match (root, problem) {
            (_, Some(problem)) => problem.clone(),
            (Some(root), None) => format!("usable, for {root}"),
            (None, None) => "usable".to_owned(),
        };
        text.push_str(&format!("  {id} ({name}): {said}\n"));
    }
    text
}

fn details(languages: &[Language<'_>], (servers, _): &(Vec<Server>, usize)) -> Value {
    let one = |language: &Language<'_>| {
        json!({
            "language": language.id,
            "compiled_in": language.compiled_in,
            "feature": language.feature,
        })
    };
    let server = |server: &Server| {
        json!({
            "id": server.id,
            "name": server.name,
            "root": server.root,
            "problem": server.problem,
        })
    };
    json!({
        "grammars": languages.iter().map(one).collect::<Vec<_>>(),
        "language_servers": servers.iter().map(server).collect::<Vec<_>>(),
    })
}

fn report(languages: &[Language<'_>]) -> String {
    let (here, missing): (Vec<_>, Vec<_>) =
        languages.iter().partition(|language| language.compiled_in);
    let ids = here
        .iter()
        .map(|language| language.id)
        .collect::<Vec<_>>()
        .join(", ");
    let mut text = match here.len() {
        0 => "grammars: none is compiled in, so there is no structural search\n".to_owned(),
        count => format!("grammars: {count} compiled in: {ids}\n"),
    };
    for Language { id, feature, .. } in &missing {
        text.push_str(&format!(
            "  {id}: not compiled in; brought by the feature `{feature}` of terret-grammars\n"
        ));
    }
    if !missing.is_empty() {
        text.push_str("all of them: cargo install terret-cli --features all-grammars\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_is_missing_comes_with_how_to_get_it() {
        let language = |id, feature, compiled_in| Language {
            id,
            feature,
            compiled_in,
        };
        let languages = [
            language("dart", "dart", true),
            language("kotlin", "kotlin", false),
            language("tsx", "typescript", true),
        ];
        expect![[r#"
            grammars: 2 compiled in: dart, tsx
              kotlin: not compiled in; brought by the feature `kotlin` of terret-grammars
            all of them: cargo install terret-cli --features all-grammars
        "#]]
        .assert_eq(&report(&languages));
        expect!["grammars: 1 compiled in: dart\n"].assert_eq(&report(&languages[..1]));
        expect![[r#"
            grammars: none is compiled in, so there is no structural search
              kotlin: not compiled in; brought by the feature `kotlin` of terret-grammars
            all of them: cargo install terret-cli --features all-grammars
        "#]]
        .assert_eq(&report(&languages[1..2]));
    }
}
