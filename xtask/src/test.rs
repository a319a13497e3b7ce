//! Everything that continuous integration runs, with one closing line.

use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Artifact, Message, TargetKind};

use crate::libtest::{Reader, Targets};
use crate::report::{Report, Totals};
use crate::shell::{self, Shell};
use crate::workspace::Workspace;
use crate::{boundaries, catalogue, lint, package, servers, soak, tools};

/// What the tests read to know that a missing tool is a failure; the kit has its meaning.
const REQUIRE_TOOLS: &str = "TERRET_REQUIRE_TOOLS";
/// Where the tests note that they skipped themselves.
const SKIP_LOG: &str = "TERRET_SKIP_LOG";

const ALL: [&str; 2] = ["--workspace", "--all-features"];

/// The last runs of every step, whatever went wrong before: one run names all that is wrong.
pub(crate) fn run(mut workspace: Workspace, ci: bool, report: &mut Report) -> Result<()> {
    let folder = workspace.scratch()?.join("tools");
    report.step("tools", || {
        tools::install(&workspace.shell, &folder, tools::Task::Test, ci)
    });
    report.step("servers", || {
        let all = servers::Options {
            names: Vec::new(),
            require: ci,
            check: false,
        };
        servers::run(&workspace, &all)
    });
    let mut path = tools::bins(&folder);
    path.push(servers::bin(&workspace)?);
    let mut shell = workspace.shell.clone().prepend_path(&path)?;
    if ci {
        shell = shell.set(REQUIRE_TOOLS, "1");
    }
    // A part of what `soak self-match` takes apart.
    report.step("sources", || match soak::self_match::files(&workspace) {
        Ok(folder) => {
            shell = soak::self_match::sample(shell.clone(), &folder);
            Ok((Totals::PASSED, String::new()))
        }
        Err(error) if ci => Err(error),
        Err(error) => Ok((Totals::SKIPPED, format!("{error:#}"))),
    });
    workspace.shell = shell;

    let mut targets = None;
    report.step("build the tests", || {
        targets = Some(build(&workspace)?);
        Ok((Totals::PASSED, String::new()))
    });
    if let Some(targets) = targets {
        let mut ran = None;
        report.step("tests", || {
            let (totals, tests) = tests(&workspace, &targets)?;
            ran = Some(tests);
            Ok((totals, totals.to_string().replace(',', " ·")))
        });
        report.step("catalogue", || {
            let ran = ran.context("the tests did not run to their end")?;
            catalogue::step(&workspace, &ran, catalogue::Want::Ran)
        });
    }
    lint::run(&workspace, report);
    report.check("boundaries", || boundaries::run(&workspace));
    report.check("package", || package::run(&workspace, ci));
    Ok(())
}

/// Compiles the tests, so that their time is their own, and learns which binary is whose.
pub(crate) fn build(workspace: &Workspace) -> Result<Targets> {
    let mut command = workspace.shell.cargo(&["test", "--no-run"]);
    command
        .args(ALL)
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped());
    let mut child = command.spawn().context("cargo test")?;
    let messages = BufReader::new(child.stdout.take().context("it was piped")?);

    let mut targets = Targets::default();
    for message in Message::parse_stream(messages) {
        if let Message::CompilerArtifact(artifact) = message.context("a message of cargo")? {
            note(workspace, &artifact, &mut targets);
        }
    }
    let status = child.wait().context("cargo test")?;
    if !status.success() {
        bail!("the tests do not build");
    }
    Ok(targets)
}

fn note(workspace: &Workspace, artifact: &Artifact, targets: &mut Targets) {
    let of_ours = workspace
        .packages()
        .iter()
        .find(|package| package.id == artifact.package_id);
    let Some(package) = of_ours else { return };
    let target = &artifact.target;
    if target.kind.contains(&TargetKind::Lib) {
        targets
            .libraries
            .insert(target.name.replace('-', "_"), package.name.to_string());
    }
    if let (true, Some(binary)) = (artifact.profile.test, &artifact.executable) {
        let prefix = match target.kind.contains(&TargetKind::Test) {
            true => format!("{}::{}", package.name, target.name),
            false => package.name.to_string(),
        };
        targets
            .binaries
            .insert(binary.file_name().unwrap_or_default().to_owned(), prefix);
    }
}

/// Runs the tests; also leaves what ran in `target/xtask/tests.txt`, a test a line.
fn tests(workspace: &Workspace, targets: &Targets) -> Result<(Totals, catalogue::Tests)> {
    let scratch = workspace.scratch()?;
    let log = scratch.join("skipped.txt");
    fs::write(&log, "").with_context(|| log.display().to_string())?;
    let shell = workspace
        .shell
        .clone()
        .set(SKIP_LOG, &log)
        .set("CARGO_TERM_COLOR", "never");

    let mut reader = Reader::new(targets);
    let status = stream(&shell, &["--no-fail-fast"], &mut reader)?;
    reader.skip(&fs::read_to_string(&log).with_context(|| log.display().to_string())?);
    save(&scratch.join("tests.txt"), &reader)?;

    let mut totals = reader.totals;
    // A binary that dies, or a documentation test that does not build, says no result.
    if !status && totals.failed == 0 {
        println!("cargo test failed, though no test did");
        totals.failed += 1;
    }
    let (started, all) = (reader.started(), targets.binaries.len());
    if totals.passed == 0 || started < all {
        println!(
            "{} tests passed, and {started} of {all} binaries ran",
            totals.passed
        );
        totals.failed += usize::from(totals.failed == 0);
    }
    Ok((totals, reader.tests))
}

/// The tests that there are, without running them.
pub(crate) fn list(workspace: &Workspace) -> Result<catalogue::Tests> {
    let targets = build(workspace)?;
    let mut reader = Reader::new(&targets);
    let shell = workspace.shell.clone().set("CARGO_TERM_COLOR", "never");
    match stream(&shell, &["--", "--list"], &mut reader)? {
        true => Ok(reader.tests),
        false => bail!("the tests cannot be listed"),
    }
}

fn stream(shell: &Shell, more: &[&str], reader: &mut Reader<'_>) -> Result<bool> {
    let mut command = shell.cargo(&["test"]);
    command.args(ALL).args(more);
    Ok(shell::stream(command, |line| reader.line(line))?.success())
}

fn save(path: &Path, reader: &Reader<'_>) -> Result<()> {
    let rows = reader
        .tests
        .iter()
        .map(|(id, verdict)| format!("{id} {}\n", verdict.word()));
    fs::write(path, rows.collect::<String>()).with_context(|| path.display().to_string())
}
