//! `cargo xtask soak`: proofs of which `cargo xtask test` runs a part or nothing, each to its end.

pub(crate) mod self_match;

use anyhow::Result;
use clap::ValueEnum;

use crate::report::{Report, Totals};
use crate::workspace::Workspace;
use crate::{diff, servers, shell};

/// How many cases of each property `fuzz` tries; a test run tries 400.
const FUZZ_CASES: &str = "15000";

/// How many times a language server is killed; a test run does so 40 times.
const KILLS: &str = "1000";

/// How many edits of each server's project `replay` makes; a test run makes 20.
const EDITS: &str = "200";

/// What can be run to its end.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Proof {
    /// Many patterns by Terret and by `ast-grep` over real trees, each difference with its reason
    Diff,
    /// Every piece of code of real files, taken as a pattern, at its own place
    SelfMatch,
    /// Patterns, sources and rewrites made at random, in all languages
    Fuzz,
    /// A language server killed at a moment of each of many seeds
    Kills,
    /// Many edits in a row with each real server, each compared with a fresh check of the project
    Replay,
}

/// Runs these proofs, or all when none is named; `save` writes the figures of those that have some.
pub(crate) fn run(workspace: &Workspace, proofs: &[Proof], save: bool, report: &mut Report) {
    let all = Proof::value_variants();
    let chosen = if proofs.is_empty() { all } else { proofs };
    for proof in all.iter().filter(|proof| chosen.contains(proof)) {
        report.step(proof.name(), || {
            let problems = match proof {
                Proof::Diff => diff(workspace, save)?,
                Proof::SelfMatch => usize::from(!self_match::run(workspace, save)?),
                Proof::Fuzz => fuzz(workspace)?,
                Proof::Kills => kills(workspace)?,
                Proof::Replay => replay(workspace)?,
            };
            Ok(match problems {
                0 => (Totals::PASSED, String::new()),
                count => (Totals::FAILED, format!("{count} problems")),
            })
        });
    }
}

impl Proof {
    fn name(self) -> &'static str {
        match self {
            Proof::Diff => "diff",
            Proof::SelfMatch => "self-match",
            Proof::Fuzz => "fuzz",
            Proof::Kills => "kills",
            Proof::Replay => "replay",
        }
    }
}

fn diff(workspace: &Workspace, save: bool) -> Result<usize> {
    let options = diff::Options {
        save,
        ..diff::Options::default()
    };
    let unexplained = diff::run(workspace, &options)?;
    diff::show(&unexplained);
    Ok(unexplained.len())
}

fn fuzz(workspace: &Workspace) -> Result<usize> {
    let shell = workspace.shell.clone().set("PROPTEST_CASES", FUZZ_CASES);
    let what = ["test", "--package", "terret-structural", "--test", "fuzz"];
    shell::pass(shell.cargo(&[&what[..], &["--features", "all-grammars"]].concat()))?;
    Ok(0)
}

fn kills(workspace: &Workspace) -> Result<usize> {
    let shell = workspace.shell.clone().set("TERRET_TEST_KILLS", KILLS);
    let what = [
        "test",
        "--package",
        "terret-lsp-supervisor",
        "--test",
        "scripted",
    ];
    let which = ["--", "kills::a_server_may_be_killed_at_any_moment"];
    shell::pass(shell.cargo(&[&what[..], &which].concat()))?;
    Ok(0)
}

/// With the servers that are installed; one that is not there skips itself, as in a test run.
fn replay(workspace: &Workspace) -> Result<usize> {
    let shell = workspace.shell.clone().set("TERRET_REPLAY", EDITS);
    let shell = shell.prepend_path(&[servers::bin(workspace)?])?;
    let what = [
        "test",
        "--package",
        "terret-lsp-supervisor",
        "--test",
        "real",
    ];
    shell::pass(shell.cargo(&[&what[..], &["--", "replay::"]].concat()))?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_called_as_it_is_named() {
        for proof in Proof::value_variants() {
            let value = proof.to_possible_value().expect("it can be named");
            assert_eq!(value.get_name(), proof.name());
        }
    }
}
