//! `cargo xtask diff-structural`: runs many patterns by Terret and by `ast-grep` over the same trees.
//! Every difference is of a kind that is known, or the task fails.

mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{self, corpora, page};
use crate::shell::{self, Shell};
use crate::tools;
use crate::workspace::Workspace;
use rules::{Difference, Facts, RULES, Side};

const PATTERNS: &str = include_str!("../data/diff-structural.toml");
const PAGE: &str = "docs/benchmarks.md";
/// How many differences without a reason are printed.
const SHOWN: usize = 20;
/// Generated sources of many megabytes say the same over and over.
const MOST_BYTES: u64 = 1024 * 1024;

/// A place: its file, and its bytes.
type Place = (String, usize, usize);

struct Programs {
    shell: Shell,
    path: Vec<PathBuf>,
}

/// What came out for one language.
#[derive(Default)]
struct Figures {
    trees: BTreeSet<String>,
    files: usize,
    bytes: u64,
    patterns: BTreeSet<String>,
    same: usize,
    /// For each rule how many differences it explains, those of Terret first.
    explained: Vec<[usize; 2]>,
    unexplained: Vec<String>,
}

/// Compares; gives the differences without a reason. `mib` is how much of each tree is taken, every
/// so many files one; all of it when it is absent.
pub(crate) fn run(workspace: &Workspace, mib: Option<u64>, save: bool) -> Result<Vec<String>> {
    let scratch = workspace.scratch()?;
    let folder = scratch.join("tools");
    let (_, problem) = tools::install(&workspace.shell, &folder, tools::Task::Bench, true)?;
    if !problem.is_empty() {
        println!("{problem}");
    }
    let mut path = vec![bench::build(workspace, &scratch.join("diff"))?];
    path.extend(tools::bins(&folder));
    let patterns: BTreeMap<String, Vec<String>> =
        toml::from_str(PATTERNS).context("xtask/data/diff-structural.toml")?;
    let corpora = corpora::get(workspace)?;
    corpora
        .missing
        .iter()
        .for_each(|missing| println!("{missing}"));

    let samples = scratch.join("samples");
    _ = fs::remove_dir_all(&samples);
    let mut all: BTreeMap<String, Figures> = BTreeMap::new();
    for (language, patterns) in &patterns {
        let extensions: &[&str] = match language.as_str() {
            "c" => &["c", "h"],
            "python" => &["py"],
            "typescript" => &["ts"],
            "rust" => &["rs"],
            "go" => &["go"],
            other => bail!("which files are {other}?"),
        };
        // The sources of crates hold C, too.
        let tree_language = if language == "c" { "rust" } else { language };
        let figures = all.entry(language.clone()).or_default();
        figures.explained = vec![[0, 0]; RULES.len()];
        for corpus in corpora
            .found
            .iter()
            .filter(|corpus| corpus.language == tree_language)
        {
            let from = corpora.folder.join(&corpus.name);
            let to = samples.join(language).join(&corpus.name);
            let (files, bytes) = sample(&from, &to, extensions, mib)?;
            figures.files += files;
            figures.bytes += bytes;
            figures.trees.insert(corpus.name.clone());
            let programs = Programs {
                shell: Shell::new(&to),
                path: path.clone(),
            };
            for pattern in patterns {
                eprintln!("{language}, {}: {pattern:?}", corpus.name);
                compare(&programs, language, pattern, figures)?;
            }
        }
    }
    let text = table(&all, mib);
    match save {
        true => page::write(workspace, PAGE, &[("structural: differential", text)])?,
        false => println!("{text}"),
    }
    Ok(all
        .into_values()
        .flat_map(|figures| figures.unexplained)
        .collect())
}

/// Copies every so many files, in the order of their paths, so that it comes to about `mib`.
fn sample(from: &Path, to: &Path, extensions: &[&str], mib: Option<u64>) -> Result<(usize, u64)> {
    let mut files = Vec::new();
    list(from, extensions, &mut files)?;
    files.sort();
    let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let step = mib.map_or(1, |mib| all.div_ceil(mib * 1024 * 1024).max(1));
    let step = usize::try_from(step).context("a huge tree")?;
    let (mut count, mut total) = (0, 0);
    for (file, bytes) in files.iter().skip(step / 2).step_by(step) {
        let target = to.join(file.strip_prefix(from).context("it is inside")?);
        fs::create_dir_all(target.parent().context("it is in a folder")?)?;
        fs::copy(file, &target).with_context(|| file.display().to_string())?;
        count += 1;
        total += bytes;
    }
    fs::create_dir_all(to)?;
    Ok((count, total))
}

fn list(folder: &Path, extensions: &[&str], files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for item in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let item = item.context("a folder")?;
        let (kind, path) = (item.file_type().context("a file")?, item.path());
        let extension = path.extension().and_then(|extension| extension.to_str());
        if kind.is_dir() {
            list(&path, extensions, files)?;
        } else if kind.is_file() && extension.is_some_and(|found| extensions.contains(&found)) {
            let bytes = item.metadata().context("a file")?.len();
            files.extend((bytes <= MOST_BYTES).then_some((path, bytes)));
        }
    }
    Ok(())
}

/// Runs one pattern on both sides and finds the reason of each difference.
fn compare(
    programs: &Programs,
    language: &str,
    pattern: &str,
    figures: &mut Figures,
) -> Result<()> {
    figures.patterns.insert(pattern.to_owned());
    let (ours, unfinished) = programs.terret(language, pattern)?;
    let theirs = programs.ast_grep(language, pattern)?;
    figures.same += ours.intersection(&theirs).count();
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
        let facts = programs.facts(language, pattern, &only)?;
        if facts.len() != only.len() {
            bail!("{} places, facts of {}", only.len(), facts.len());
        }
        for facts in &facts {
            let tail = tail(programs, facts, there)?;
            let class = rules::classify(&Difference {
                side,
                pattern,
                facts,
                other_reading: reading,
                tail: tail.as_deref(),
                unfinished: unfinished.contains(&facts.path),
            });
            match class {
                Some(rule) => figures.explained[rule][usize::from(side == Side::AstGrep)] += 1,
                None => figures.unexplained.push(format!(
                    "{language} {pattern:?}: only {side:?} finds {}:{}..{}: {:?}",
                    facts.path, facts.start, facts.end, facts.text
                )),
            }
        }
    }
    Ok(())
}

/// What lies between the end of this match and that of the other side's that begins with it.
fn tail(programs: &Programs, facts: &Facts, there: &BTreeSet<Place>) -> Result<Option<String>> {
    let of_place =
        (facts.path.clone(), facts.start, 0)..=(facts.path.clone(), facts.start, usize::MAX);
    let Some((_, _, end)) = there
        .range(of_place)
        .min_by_key(|(_, _, end)| end.abs_diff(facts.end))
    else {
        return Ok(None);
    };
    let source = fs::read(programs.shell.folder().join(&facts.path)).context("a sample")?;
    let tail = source.get(facts.end.min(*end)..facts.end.max(*end));
    Ok(tail.map(|tail| String::from_utf8_lossy(tail).into_owned()))
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

    fn ast_grep(&self, language: &str, pattern: &str) -> Result<BTreeSet<Place>> {
        let args = ["run", "-l", language, "-p", pattern, "--json=stream", "."];
        let output = self
            .command("ast-grep", &args)?
            .output()
            .context("ast-grep")?;
        // A pattern that it can't read is an error to it, and nothing found is one, too.
        let text = String::from_utf8_lossy(&output.stdout);
        let places = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).context("what ast-grep says")?;
            place(&line["range"]["byteOffset"], &line["file"])
        });
        places.collect()
    }

    /// The kinds of the nodes that are all of the pattern to `ast-grep`; none if it can't read it.
    fn reading(&self, language: &str, pattern: &str) -> Result<BTreeSet<String>> {
        let empty = tempfile::tempdir().context("a folder")?;
        let at = empty.path().to_str().context("a path that is not text")?;
        let args = [
            "run",
            "-l",
            language,
            "-p",
            pattern,
            "--debug-query=ast",
            at,
        ];
        let output = self
            .command("ast-grep", &args)?
            .output()
            .context("ast-grep")?;
        let said = [output.stdout, output.stderr].concat();
        Ok(all_of_it(&String::from_utf8_lossy(&said)))
    }

    fn facts(&self, language: &str, pattern: &str, places: &[&Place]) -> Result<Vec<Facts>> {
        let mut input = tempfile::tempfile().context("a temporary file")?;
        for (path, start, end) in places {
            let line = serde_json::json!({ "path": path, "start": start, "end": end });
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

/// Of a printed tree (`  kind (0,0)-(0,9)`, two spaces a level) the kinds from the first line down as
/// long as they cover the same text.
fn all_of_it(tree: &str) -> BTreeSet<String> {
    let nodes = tree.lines().filter_map(|line| {
        let (kind, range) = line.trim().rsplit_once(' ')?;
        let kind = kind.rsplit(' ').next()?;
        range.starts_with('(').then_some((kind, range))
    });
    let mut kinds = BTreeSet::new();
    let mut whole = None;
    for (kind, range) in nodes {
        if *whole.get_or_insert(range) != range {
            break;
        }
        kinds.insert(kind.to_owned());
    }
    kinds
}

fn table(all: &BTreeMap<String, Figures>, mib: Option<u64>) -> String {
    let part = match mib {
        Some(mib) => {
            format!("`cargo xtask diff-structural --mib {mib}`: about {mib} MiB of each tree")
        }
        None => "`cargo xtask diff-structural`: the whole trees".to_owned(),
    };
    let mut text = format!(
        "{part}, without files of more than {} MiB.\n\n",
        MOST_BYTES / 1024 / 1024
    );
    text += "| language | trees | files | MiB | patterns | matches of both | only Terret | only `ast-grep` | unexplained |\n";
    text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (language, figures) in all {
        let sum = |side: usize| {
            figures
                .explained
                .iter()
                .map(|counts| counts[side])
                .sum::<usize>()
        };
        let trees: Vec<&str> = figures.trees.iter().map(String::as_str).collect();
        text += &format!(
            "| {language} | {} | {} | {:.1} | {} | {} | {} | {} | {} |\n",
            trees.join(", "),
            figures.files,
            figures.bytes as f64 / 1048576.0,
            figures.patterns.len(),
            figures.same,
            sum(0),
            sum(1),
            figures.unexplained.len()
        );
    }
    text +=
        "\n| why | only Terret | only `ast-grep` | what it means |\n| --- | ---: | ---: | --- |\n";
    for (index, (name, means, _)) in RULES.iter().enumerate() {
        let sum = |side: usize| {
            all.values()
                .map(|figures| figures.explained[index][side])
                .sum::<usize>()
        };
        text += &format!("| {name} | {} | {} | {means} |\n", sum(0), sum(1));
    }
    text
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
    fn there_are_enough_patterns() {
        let patterns: BTreeMap<String, Vec<String>> = toml::from_str(PATTERNS).expect("a table");
        assert!(patterns.values().map(Vec::len).sum::<usize>() >= 50);
    }

    #[test]
    fn a_pattern_is_what_covers_all_of_it() {
        let tree = "Debug AST:\nsource_file (0,0)-(0,9)\n  statement (0,0)-(0,9)\n    body: block (0,3)-(0,9)\n";
        let kinds = all_of_it(tree);
        assert_eq!(
            kinds,
            ["source_file".to_owned(), "statement".to_owned()].into()
        );
        assert!(all_of_it("Error: cannot parse").is_empty());
    }

    #[test]
    fn a_sample_is_every_so_many_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("from");
        fs::create_dir_all(&from).expect("made");
        for name in ["a.rs", "b.rs", "c.rs", "d.rs", "e.txt"] {
            fs::write(from.join(name), vec![b' '; 1024 * 1024]).expect("written");
        }
        let to = folder.path().join("to");
        let (files, bytes) = sample(&from, &to, &["rs"], Some(2)).expect("copied");
        assert_eq!((files, bytes), (2, 2 * 1024 * 1024));
        assert!(to.join("b.rs").exists() && to.join("d.rs").exists());
    }
}
