//! Layout, clippy, documentation, and what no other tool checks.

use anyhow::Result;

use crate::bench;
use crate::report::Report;
use crate::shell::{self, Shell};
use crate::tidy;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let shell = &workspace.shell;
    report.check("rustfmt", || cargo(shell, &["fmt", "--all", "--check"]));
    report.check("clippy", || {
        let what = ["clippy", "--workspace", "--all-targets", "--all-features"];
        cargo(shell, &[&what[..], &["--", "-D", "warnings"]].concat())
    });
    report.check("rustdoc", || {
        // Libraries only: the binary `terret` has the name of the facade and would overwrite its
        // pages.
        let shell = shell.clone().set("RUSTDOCFLAGS", "-D warnings");
        cargo(
            &shell,
            &["doc", "--workspace", "--lib", "--no-deps", "--all-features"],
        )
    });
    report.check("tidy", || tidy::run(workspace));
    report.check("benchmarks", || bench::check(workspace));
}

/// Cargo has said what is wrong: its failure is the one problem.
fn cargo(shell: &Shell, args: &[&str]) -> Result<Vec<String>> {
    shell::pass(shell.cargo(args))?;
    Ok(Vec::new())
}
