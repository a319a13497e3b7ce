//! Packs every crate that may be published, and builds it from its package.

use anyhow::Result;

use crate::shell;
use crate::workspace::{Workspace, published};

/// A clean tree is wanted where nobody is at work: there a file that differs is one that a test
/// has changed, or one that was not committed.
pub(crate) fn run(workspace: &Workspace, clean: bool) -> Result<Vec<String>> {
    let mut command = workspace
        .shell
        .cargo(&["package", "--workspace", "--locked"]);
    if !clean {
        command.arg("--allow-dirty");
    }
    for package in workspace
        .packages()
        .iter()
        .filter(|package| !published(package))
    {
        command.args(["--exclude", &package.name]);
    }
    shell::pass(command)?;
    Ok(Vec::new())
}
