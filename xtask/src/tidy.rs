//! What no other tool checks: the shape of manifests, first lines, links, and words that must not
//! stay.

mod links;
mod manifests;
mod sources;

use anyhow::Result;

use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let files = workspace.files()?;
    let mut problems = manifests::problems(&files);
    problems.extend(sources::problems(&files));
    problems.extend(links::problems(&files));
    Ok(problems)
}
