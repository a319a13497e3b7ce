//! `cargo xtask diff-structural`: runs many patterns by Terret and by `ast-grep` over the same trees.
//! Every difference is of a kind that is known, or the task fails.
//!
//! What came out last is kept in `docs/benchmarks/structural-diff.json`; the tables of
//! `docs/benchmarks.md` are made from it.

mod figures;
mod patterns;
mod rules;
mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{self, corpora, page};
use crate::shell::{self, Shell};
use crate::tools;
use crate::workspace::Workspace;
use figures::{Figures, Row, Tree};
use patterns::Pattern;
use rules::{Difference, Facts, RULES, Side};

const PAGE: &str = "docs/benchmarks.md";
const JSON: &str = "docs/benchmarks/structural-diff.json";
/// The place on the page.
const BLOCK: &str = "structural: differential";
/// How many differences without a reason are printed.
const SHOWN: usize = 40;
/// For each pattern and reason so many differences are written to a file, to be read by somebody.
const EXAMPLES: usize = 5;

/// A place: its file, and its bytes.
type Place = (String, usize, usize);

/// What to run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// About so much of each tree; all of it when absent.
    pub(crate) mib: Option<u64>,
    /// Only these languages; all of them when empty.
    pub(crate) languages: Vec<String>,
    /// Only the patterns that had differences without a reason when the figures were saved last.
    pub(crate) open: bool,
    /// Write the figures to docs; those of what was not run stay.
    pub(crate) save: bool,
}

struct Programs {
    shell: Shell,
    path: Vec<PathBuf>,
}

/// Compares; gives the differences without a reason.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<Vec<String>> {
    let scratch = workspace.scratch()?;
    let folder = scratch.join("tools");
    let (_, problem) = tools::install(&workspace.shell, &folder, tools::Task::Bench, true)?;
    if !problem.is_empty() {
        println!("{problem}");
    }
    let mut path = vec![bench::build(workspace, &scratch.join("diff"))?];
    path.extend(tools::bins(&folder));
    let languages = patterns::read()?;
    if let Some(unknown) = options
        .languages
        .iter()
        .find(|name| !languages.contains_key(*name))
    {
        bail!("no patterns of {unknown}");
    }
    let saved = saved(workspace)?;
    let open: Vec<(&str, &str)> = saved.iter().flat_map(Figures::open).collect();
    let is_wanted =
        |name: &str, pattern: &Pattern| !options.open || open.contains(&(name, pattern.text()));
    let chosen: Vec<_> = languages
        .iter()
        .filter(|(name, _)| options.languages.is_empty() || options.languages.contains(name))
        .filter(|(name, language)| {
            language
                .patterns
                .iter()
                .any(|pattern| is_wanted(name, pattern))
        })
        .collect();
    let trees: BTreeSet<&str> = chosen
        .iter()
        .flat_map(|(_, language)| language.trees.iter().map(String::as_str))
        .collect();
    let corpora = corpora::get(workspace, |name| trees.contains(name))?;
    for missing in &corpora.missing {
        println!("{missing}");
    }

    let version = Programs {
        shell: Shell::new(&scratch),
        path: path.clone(),
    };
    let version = shell::read(version.command("ast-grep", &["--version"])?)?;
    let mut figures = Figures::new(options.mib, version.trim());
    let mut unexplained = Vec::new();
    let examples_file = scratch.join("diff-structural.txt");
    let mut examples = fs::File::create(&examples_file).context("the examples")?;
    for (name, language) in chosen {
        let begun = Instant::now();
        let samples = scratch.join("samples").join(name);
        _ = fs::remove_dir_all(&samples);
        let patterns = language.patterns.iter();
        let patterns: Vec<&Pattern> = patterns
            .filter(|pattern| is_wanted(name, pattern))
            .collect();
        let mut rows: Vec<Row> = patterns
            .iter()
            .map(|pattern| Row::new(name, pattern.text()))
            .collect();
        for corpus in &corpora.found {
            if !language.trees.contains(&corpus.name) {
                continue;
            }
            let to = samples.join(&corpus.name);
            let from = corpora.folder.join(&corpus.name);
            let (files, bytes) = sample::take(&from, &to, &language.files, options.mib)?;
            figures.trees.push(Tree {
                language: name.clone(),
                name: corpus.name.clone(),
                about: corpus.about.clone(),
                files,
                bytes,
            });
            let programs = Programs {
                shell: Shell::new(&to),
                path: path.clone(),
            };
            for (pattern, row) in patterns.iter().copied().zip(&mut rows) {
                eprintln!("{name}, {}: {:?}", corpus.name, pattern.text());
                let differences = compare(&programs, name, pattern, row)?;
                unexplained.extend(differences.unexplained);
                for (key, lines) in differences.examples {
                    let pattern = pattern.text();
                    write!(
                        examples,
                        "
{name} {pattern:?}, {key}
{}",
                        lines.concat()
                    )
                    .context("the examples")?;
                }
            }
        }
        figures.rows.extend(rows);
        // A part of the patterns does not tell how long all take.
        let known = saved.as_ref().and_then(|saved| saved.seconds.get(name));
        let seconds = begun.elapsed().as_secs();
        let seconds = known.filter(|_| options.open).copied().unwrap_or(seconds);
        figures.seconds.insert(name.clone(), seconds);
        fs::remove_dir_all(&samples).context("the samples")?;
    }
    if options.save {
        let file = workspace.root.join(JSON);
        if let Some(saved) = saved {
            figures.keep(saved, &languages);
        }
        fs::create_dir_all(file.parent().context("it is in a folder")?)?;
        let text = serde_json::to_string_pretty(&figures)? + "\n";
        fs::write(&file, text).context(JSON)?;
        page::write(workspace, PAGE, &[(BLOCK, figures.tables())])?;
    } else {
        println!("{}", figures.tables());
    }
    println!("{}", figures.by_pattern());
    println!(
        "differences with their reasons, some of each: {}",
        examples_file.display()
    );
    Ok(unexplained)
}

/// The figures that were saved last, if any were.
fn saved(workspace: &Workspace) -> Result<Option<Figures>> {
    match fs::read_to_string(workspace.root.join(JSON)) {
        Ok(text) => Ok(Some(serde_json::from_str(&text).context(JSON)?)),
        Err(_) => Ok(None),
    }
}

/// What is wrong with the tables in docs; it runs nothing.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let figures = saved(workspace)?.context(JSON)?;
    let mut problems = figures.problems(&patterns::read()?);
    problems.extend(page::problems(
        workspace,
        PAGE,
        &[(BLOCK, figures.tables())],
    )?);
    Ok(problems)
}

/// The differences of one pattern.
#[derive(Default)]
struct Differences {
    /// For each reason, and what it depends on, some lines.
    examples: BTreeMap<String, Vec<String>>,
    unexplained: Vec<String>,
}

/// Runs one pattern on both sides and finds the reason of each difference.
fn compare(
    programs: &Programs,
    language: &str,
    pattern: &Pattern,
    row: &mut Row,
) -> Result<Differences> {
    let text = pattern.text();
    let (ours, unfinished) = programs.terret(language, text)?;
    let theirs = programs.ast_grep(language, pattern)?;
    row.terret += ours.len();
    row.ast_grep += theirs.len();
    let same = ours.intersection(&theirs).count();
    row.same += same;
    let mut differences = Differences::default();
    let mut reading = None;
    for (side, here, there) in [
        (Side::Terret, &ours, &theirs),
        (Side::AstGrep, &theirs, &ours),
    ] {
        let only: Vec<&Place> = here.difference(there).collect();
        if only.is_empty() {
            continue;
        }
        let reading = match &reading {
            Some(reading) => reading,
            None => reading.insert(programs.reading(language, pattern)?),
        };
        let facts = programs.facts(language, text, &only, there)?;
        if facts.len() != only.len() {
            bail!("{} places, facts of {}", only.len(), facts.len());
        }
        for facts in &facts {
            let class = rules::classify(&Difference {
                side,
                pattern: text,
                facts,
                other_reading: reading,
                same,
                unfinished: unfinished.contains(&facts.path),
            });
            let line = format!(
                "{side:?} {}:{}..{}: {:?}",
                facts.path, facts.start, facts.end, facts.text
            );
            let key = match class {
                Some(rule) => {
                    row.explained[rule][usize::from(side == Side::AstGrep)] += 1;
                    let near = facts.near.as_deref().unwrap_or_default();
                    format!("{}: {side:?} {near}", RULES[rule].name)
                }
                None => {
                    row.unexplained += 1;
                    differences
                        .unexplained
                        .push(format!("{language} {text:?}: only {line}"));
                    let near = facts.near.as_deref().unwrap_or_default();
                    format!("UNCLASSIFIED: {side:?} {near}")
                }
            };
            let lines = differences.examples.entry(key).or_default();
            if lines.len() < EXAMPLES {
                lines.push(format!("  {line}\n"));
            }
        }
    }
    Ok(differences)
}

/// Where the other side's match ends that begins at the same place, the nearest if there are several.
fn other_end(place: &Place, there: &BTreeSet<Place>) -> Option<usize> {
    let (path, start, end) = place;
    let all = (path.clone(), *start, 0)..=(path.clone(), *start, usize::MAX);
    let ends = there.range(all).map(|(_, _, other)| *other);
    ends.min_by_key(|other| other.abs_diff(*end))
}

impl Programs {
    fn command(&self, program: &str, args: &[&str]) -> Result<std::process::Command> {
        bench::find(&self.shell, &self.path, program, args)
    }

    /// Its matches, and the files that it did not search to their end.
    fn terret(&self, language: &str, pattern: &str) -> Result<(BTreeSet<Place>, BTreeSet<String>)> {
        let text = shell::read(self.command("measure", &["ranges", ".", language, pattern])?)?;
        let mut places = BTreeSet::new();
        let mut unfinished = BTreeSet::new();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let line: Value = serde_json::from_str(line).context("what measure says")?;
            match line["skipped"].as_str() {
                Some(path) => _ = unfinished.insert(path.to_owned()),
                None => _ = places.insert(place(&line, &line["path"])?),
            }
        }
        Ok((places, unfinished))
    }

    fn ast_grep(&self, language: &str, pattern: &Pattern) -> Result<BTreeSet<Place>> {
        let mut places = BTreeSet::new();
        for arguments in pattern.arguments() {
            let all = [
                &["run", "-l", language][..],
                &arguments[..],
                &["--json=stream", "."],
            ];
            let output = self
                .command("ast-grep", &all.concat())?
                .output()
                .context("ast-grep")?;
            // A pattern that it can't read is an error to it, and nothing found is one, too.
            let said = String::from_utf8_lossy(&output.stderr);
            if !pattern.is_alone() && !said.trim().is_empty() {
                bail!("ast-grep, {arguments:?}: {said}");
            }
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let line: Value = serde_json::from_str(line).context("what ast-grep says")?;
                places.insert(place(&line["range"]["byteOffset"], &line["file"])?);
            }
        }
        Ok(places)
    }

    /// The kinds of the nodes that are all of the pattern to `ast-grep`; none if it can't read it.
    fn reading(&self, language: &str, pattern: &Pattern) -> Result<BTreeSet<String>> {
        let empty = tempfile::tempdir().context("a folder")?;
        let at = empty.path().to_str().context("a path that is not text")?;
        let mut kinds = BTreeSet::new();
        for arguments in pattern.arguments() {
            let all = [
                &["run", "-l", language][..],
                &arguments[..],
                &["--debug-query=pattern", at],
            ];
            let output = self
                .command("ast-grep", &all.concat())?
                .output()
                .context("ast-grep")?;
            let said = [output.stdout, output.stderr].concat();
            kinds.extend(all_of_it(&String::from_utf8_lossy(&said)));
        }
        Ok(kinds)
    }

    fn facts(
        &self,
        language: &str,
        pattern: &str,
        places: &[&Place],
        there: &BTreeSet<Place>,
    ) -> Result<Vec<Facts>> {
        let mut input = tempfile::tempfile().context("a temporary file")?;
        for place in places {
            let (path, start, end) = place;
            let other_end = other_end(place, there);
            let line = serde_json::json!({ "path": path, "start": start, "end": end, "other_end": other_end });
            writeln!(input, "{line}").context("a temporary file")?;
        }
        std::io::Seek::rewind(&mut input).context("a temporary file")?;
        let mut command = self.command("measure", &["facts", ".", language, pattern])?;
        command.stdin(Stdio::from(input));
        let text = shell::read(command)?;
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).context("what measure says"))
            .collect()
    }
}

fn place(range: &Value, path: &Value) -> Result<Place> {
    let number = |name: &str| {
        let number = range[name]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        number.with_context(|| format!("no {name} in {range}"))
    };
    let path = path.as_str().context("no path")?;
    let path = path.strip_prefix("./").unwrap_or(path);
    Ok((path.to_owned(), number("start")?, number("end")?))
}

/// Of a printed pattern (a node a line with its kind first, two spaces a level) the kinds from the
/// root down as long as a node has one child.
fn all_of_it(said: &str) -> BTreeSet<String> {
    let Some((_, tree)) = said.split_once("Debug Pattern:\n") else {
        return BTreeSet::new();
    };
    let nodes: Vec<(usize, &str)> = tree
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let node = line.trim_start();
            let kind = node.split(' ').next().unwrap_or_default();
            ((line.len() - node.len()) / 2, kind)
        })
        .collect();
    let alone =
        |(level, _): &&(usize, &str)| nodes.iter().filter(|(at, _)| at == level).count() == 1;
    let spine = nodes
        .iter()
        .enumerate()
        .take_while(|(at, (level, _))| at == level);
    spine
        .map(|(_, node)| node)
        .take_while(alone)
        .map(|(_, kind)| (*kind).to_owned())
        .collect()
}

/// Prints the first differences without a reason.
pub(crate) fn show(unexplained: &[String]) {
    println!("{} differences without a reason", unexplained.len());
    unexplained
        .iter()
        .take(SHOWN)
        .for_each(|line| println!("  {line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_what_covers_all_of_it() {
        let said = "warning\nDebug Pattern:\nstatement\n  call\n    MetaVar $F\n    arguments\n      (\n\n";
        assert_eq!(
            all_of_it(said),
            ["statement".to_owned(), "call".to_owned()].into()
        );
        assert!(all_of_it("Error: cannot parse").is_empty());
    }

    #[test]
    fn the_nearest_end_of_the_same_start_counts() {
        let place = |start, end| ("a".to_owned(), start, end);
        let there = [place(1, 9), place(1, 20), place(2, 10)].into();
        assert_eq!(other_end(&place(1, 11), &there), Some(9));
        assert_eq!(other_end(&place(3, 11), &there), None);
    }
}
