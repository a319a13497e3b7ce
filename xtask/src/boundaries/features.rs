//! What a crate gets of others when it is built alone: `tiers` is for hosts with any runtime, so it
//! must not bring tokio's.

use anyhow::Result;

use crate::shell;
use crate::workspace::Workspace;

const CRATE: &str = "terret-tiers";
const RUNTIME: &[&str] = &["rt", "rt-multi-thread", "process", "net"];

/// Asks for this crate alone: in the whole workspace, the features of all crates are added up.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let args = [
        "tree",
        "--package",
        CRATE,
        "--all-features",
        "--edges",
        "normal",
    ];
    let mut command = workspace.shell.cargo(&args);
    command.args(["--prefix", "none", "--format", "{p}|{f}", "--locked"]);
    Ok(problems(&shell::read(command)?))
}

fn problems(tree: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for line in tree.lines() {
        let Some((package, features)) = line.split_once('|') else {
            continue;
        };
        let name = package.split(' ').next().unwrap_or_default();
        if name != "tokio" && name != "tokio-util" {
            continue;
        }
        let features = features.trim_end_matches(" (*)").split(',');
        for feature in features.filter(|feature| RUNTIME.contains(feature)) {
            let problem = format!("{CRATE} brings a runtime: feature `{feature}` of {name}");
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_runtime_feature_is_reported() {
        let tree = "terret-tiers v0.1.0 (/here)|default,schemars
tokio v1.54.0|default,rt,sync
tokio-util v0.7.20|
tokio v1.54.0|default,rt,sync (*)
other v1.0.0|rt";
        expect![[r#"
            [
                "terret-tiers brings a runtime: feature `rt` of tokio",
            ]
        "#]]
        .assert_debug_eq(&problems(tree));
    }

    #[test]
    fn locks_and_channels_are_fine() {
        assert!(problems("tokio v1.54.0|sync,macros,time").is_empty());
    }
}
