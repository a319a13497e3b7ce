//! Which crate may depend on which.
//!
//! The list is the architecture: nothing points back, no family of tools knows another, and what
//! only reads code never comes near what starts processes.

mod features;
mod graph;

use anyhow::Result;

use crate::workspace::Workspace;
use graph::{Graph, Kind};

/// Each crate, and the crates of this workspace that it may use to be built and to run.
const ALLOWED: &[(&str, &[&str])] = &[
    ("terret-cli", &["terret"]),
    (
        "terret",
        &[
            "terret-ask",
            "terret-changeset",
            "terret-dap-driver",
            "terret-grammars",
            "terret-kernel",
            "terret-lsp-supervisor",
            "terret-structural",
            "terret-tiers",
            "terret-vibe",
        ],
    ),
    (
        "terret-lsp-supervisor",
        &[
            "terret-changeset",
            "terret-launch",
            "terret-tiers",
            "terret-wire",
        ],
    ),
    (
        "terret-dap-driver",
        &["terret-launch", "terret-tiers", "terret-wire"],
    ),
    (
        "terret-kernel",
        &["terret-launch", "terret-tiers", "terret-wire"],
    ),
    (
        "terret-vibe",
        &["terret-launch", "terret-tiers", "terret-wire"],
    ),
    (
        "terret-structural",
        &["terret-changeset", "terret-grammars", "terret-tiers"],
    ),
    ("terret-language-pack", &["terret-grammars"]),
    ("terret-ask", &["terret-tiers"]),
    ("terret-changeset", &[]),
    ("terret-grammars", &[]),
    ("terret-launch", &[]),
    ("terret-tiers", &[]),
    ("terret-wire", &[]),
    ("terret-testkit", &[]),
    ("xtask", &[]),
];

/// What every crate may use for its tests as well.
const FOR_TESTS: &str = "terret-testkit";

/// Never published, so nothing published may need them.
const INTERNAL: &[&str] = &["terret-testkit", "xtask"];

/// These start processes …
const SPAWNING: &[&str] = &[
    "terret-dap-driver",
    "terret-kernel",
    "terret-launch",
    "terret-lsp-supervisor",
    "terret-vibe",
];

/// … and these must not be able to, by however many steps.
const QUIET: &[&str] = &[
    "terret-ask",
    "terret-changeset",
    "terret-grammars",
    "terret-structural",
    "terret-tiers",
    "terret-wire",
];

/// What belongs to programs: a library's errors and options are its own.
const FOR_PROGRAMS: &[&str] = &["anyhow", "clap"];
const PROGRAMS: &[&str] = &["terret-cli", "xtask"];

/// The problems of this workspace.
pub(crate) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let graph = Graph::of(workspace.packages());
    let mut problems = problems(&graph);
    problems.extend(features::run(workspace)?);
    Ok(problems)
}

fn problems(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    for node in &graph.nodes {
        let name = node.name.as_str();
        let Some((_, allowed)) = ALLOWED.iter().find(|(listed, _)| *listed == name) else {
            problems.push(format!(
                "{name} is not in the list of crates: add it to ALLOWED in xtask/src/boundaries.rs \
                 with what it may use"
            ));
            continue;
        };
        for edge in node.edges.iter().filter(|edge| graph.has(&edge.to)) {
            let to = edge.to.as_str();
            let for_tests = edge.kind == Kind::Dev && to == FOR_TESTS;
            if !allowed.contains(&to) && !for_tests {
                let kind = edge.kind.word();
                problems.push(format!("{name} must not depend on {to} ({kind})"));
            }
        }
        if INTERNAL.contains(&name) && node.published {
            problems.push(format!("{name} must have `publish = false`"));
        }
        for edge in node
            .edges
            .iter()
            .filter(|edge| FOR_PROGRAMS.contains(&edge.to.as_str()))
        {
            if !PROGRAMS.contains(&name) {
                problems.push(format!(
                    "{name} must not use {}: it is for programs",
                    edge.to
                ));
            }
        }
    }
    for quiet in QUIET {
        for spawning in SPAWNING {
            if let Some(path) = graph.path(quiet, spawning) {
                problems.push(format!("{quiet} can start processes: {}", path.join(" → ")));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(edges: &str, expected: Expect) {
        let problems = problems(&Graph::made_up(edges));
        expected.assert_eq(
            &problems
                .iter()
                .map(|problem| format!("{problem}\n"))
                .collect::<String>(),
        );
    }

    #[test]
    fn what_is_listed_is_fine() {
        check(
            "
            terret-cli: terret, anyhow, clap, dev terret-testkit
            terret: terret-structural, terret-tiers, terret-kernel
            terret-structural: terret-changeset, terret-tiers, dev terret-testkit, serde
            terret-kernel: terret-launch
            terret-launch: build cc
            terret-tiers:
            terret-changeset:
            private terret-testkit: tempfile
            private xtask: anyhow
            ",
            expect![""],
        );
    }

    #[test]
    fn a_forbidden_edge_is_reported() {
        check(
            "
            terret-structural: terret-changeset
            terret-changeset: build terret-tiers
            terret-kernel: terret-vibe, dev terret-structural
            terret-vibe:
            terret-tiers: terret
            terret: terret-cli
            terret-cli: terret-tiers
            ",
            expect![[r#"
                terret-changeset must not depend on terret-tiers (build)
                terret-kernel must not depend on terret-vibe (normal)
                terret-kernel must not depend on terret-structural (dev)
                terret-tiers must not depend on terret (normal)
                terret must not depend on terret-cli (normal)
                terret-cli must not depend on terret-tiers (normal)
            "#]],
        );
    }

    #[test]
    fn an_unknown_crate_says_where_to_add_it() {
        check(
            "terret-new:",
            expect![[r#"
                terret-new is not in the list of crates: add it to ALLOWED in xtask/src/boundaries.rs with what it may use
            "#]],
        );
    }

    #[test]
    fn what_is_internal_stays_so() {
        check(
            "
            terret-tiers: terret-testkit
            terret-ask: dev xtask
            xtask:
            private terret-testkit:
            ",
            expect![[r#"
                terret-tiers must not depend on terret-testkit (normal)
                terret-ask must not depend on xtask (dev)
                xtask must have `publish = false`
            "#]],
        );
    }

    #[test]
    fn no_reader_of_code_reaches_a_process() {
        check(
            "
            terret-structural: terret-changeset
            terret-changeset: terret-launch
            terret-launch:
            ",
            expect![[r#"
                terret-changeset must not depend on terret-launch (normal)
                terret-changeset can start processes: terret-changeset → terret-launch
                terret-structural can start processes: terret-structural → terret-changeset → terret-launch
            "#]],
        );
    }

    #[test]
    fn libraries_keep_their_errors_and_options_to_themselves() {
        check(
            "
            terret-tiers: anyhow
            terret-ask: dev clap
            ",
            expect![[r#"
                terret-tiers must not use anyhow: it is for programs
                terret-ask must not use clap: it is for programs
            "#]],
        );
    }
}
