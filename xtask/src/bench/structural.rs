//! Searches by pattern, beside `ast-grep` and `rg` over the same trees.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::corpora::{self, Corpus};
use super::measure::Ask;
use super::{Case, Suite};
use crate::shell;
use crate::tools;
use crate::workspace::Workspace;

/// What is looked for in the sources of a language.
struct Searches {
    language: &'static str,
    extension: &'static str,
    /// The name of the language's files for `rg --type`.
    kind: &'static str,
    /// A pattern that few files hold, and its literals: that of the fewest files first.
    selective: (&'static str, &'static [&'static str]),
    /// What `ast-grep` is asked for in place of [`EVERYWHERE`], so that both look for the same: the
    /// code around it, and what it is in there.
    in_context: Option<(&'static str, &'static str)>,
}

const SEARCHES: &[Searches] = &[
    Searches {
        language: "python",
        extension: "py",
        kind: "py",
        selective: ("os.path.expanduser($A)", &["expanduser", "path", "os"]),
        in_context: None,
    },
    Searches {
        language: "typescript",
        extension: "ts",
        kind: "ts",
        selective: ("JSON.parse($A)", &["parse", "JSON"]),
        in_context: None,
    },
    Searches {
        language: "rust",
        extension: "rs",
        kind: "rust",
        selective: ("Box::leak($A)", &["leak", "Box"]),
        in_context: None,
    },
    Searches {
        language: "go",
        extension: "go",
        kind: "go",
        selective: ("errors.Is($A, $B)", &["errors", "Is"]),
        // Alone it is read as the conversion to a type.
        in_context: Some((
            "package p\nfunc f() {\n\tx = $A.$B($$$C)\n}",
            "call_expression",
        )),
    },
];

/// Nothing is called that.
const NOWHERE: (&str, &str) = ("zzNoSuchName($A)", "zzNoSuchName");
/// Every call of a method: it has no literal.
const EVERYWHERE: &str = "$A.$B($$$C)";

/// Builds what is measured, fetches what it is measured against, and says what to run.
pub(super) fn suite(workspace: &Workspace) -> Result<Suite> {
    let scratch = workspace.scratch()?;
    let tools_folder = scratch.join("tools");
    let task = tools::Task::Bench;
    let (_, problem) = tools::install(&workspace.shell, &tools_folder, task, true)?;
    if !problem.is_empty() {
        println!("{problem}");
    }
    let mut path = vec![build(workspace, &scratch.join("bench"))?];
    path.extend(tools::bins(&tools_folder));
    let corpora = corpora::get(workspace, |name| corpora::MEASURED.contains(&name))?;
    let shell = shell::Shell::new(&corpora.folder);
    let mut tools = Vec::new();
    for program in ["ast-grep", "rg"] {
        let version = shell::read(find(&shell, &path, program, &["--version"])?)?;
        tools.push(version.lines().next().unwrap_or_default().to_owned());
    }

    let mut cases = Vec::new();
    for corpus in &corpora.found {
        let list = scratch.join(format!("bench/{}.files", corpus.name));
        holding(&shell, &path, corpus, &list)?;
        // As the commands see it, which run in the folder of the trees.
        let list = format!("../bench/{}.files", corpus.name);
        cases.extend(of_corpus(corpus, &list)?);
    }
    if let Some(largest) = corpora.found.iter().max_by_key(|corpus| corpus.bytes) {
        let part = first_folder(&corpora.folder.join(&largest.name))?;
        let part = format!("{}/{part}", largest.name);
        cases.push(fifty(largest, "fifty in a part", &part));
    }
    cases.push(case(
        "",
        "start",
        "terret",
        Ask::FirstByte,
        &["terret", "tools"],
    ));
    Ok(Suite {
        corpora,
        tools,
        shell,
        path,
        cases,
    })
}

/// Builds the programs and copies them to where no other build replaces them.
pub(crate) fn build(workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
    let shell = &workspace.shell;
    let programs = ["--package", "terret-cli", "--package", "terret-structural"];
    let what = ["build", "--release", "--bins", "--examples"];
    shell::pass(shell.cargo(&[&what[..], &programs[..]].concat()))?;
    fs::create_dir_all(folder).context("target/xtask/bench")?;
    let release = workspace.target().join("release");
    for program in ["terret", "examples/measure"] {
        let from = release.join(program);
        let to = folder.join(from.file_name().context("a program")?);
        fs::copy(&from, &to).with_context(|| from.display().to_string())?;
    }
    Ok(folder.to_owned())
}

fn searches(corpus: &Corpus) -> Result<&'static Searches> {
    let mut all = SEARCHES.iter();
    all.find(|searches| searches.language == corpus.language)
        .with_context(|| format!("nothing is looked for in {}", corpus.language))
}

/// Lists the files that hold all literals of the selective pattern, a line each.
fn holding(shell: &shell::Shell, path: &[PathBuf], corpus: &Corpus, list: &Path) -> Result<()> {
    let searches = searches(corpus)?;
    let (first, others) = searches.selective.1.split_first().context("no literal")?;
    let rg = ["-l", "-F", "-t", searches.kind, first, &corpus.name];
    let files = shell::read(find(shell, path, "rg", &rg)?)?;
    let mut text = String::new();
    for file in files.lines() {
        let source = fs::read(shell.folder().join(file)).with_context(|| file.to_owned())?;
        let source = String::from_utf8_lossy(&source);
        if others.iter().all(|literal| source.contains(literal)) {
            text += &format!("{file}\n");
        }
    }
    fs::write(list, text).with_context(|| list.display().to_string())
}

fn of_corpus(corpus: &Corpus, list: &str) -> Result<Vec<Case>> {
    let searches = searches(corpus)?;
    let (name, language) = (corpus.name.as_str(), searches.language);
    let (pattern, literals) = searches.selective;
    let rg = |literal| ["rg", "-l", "-F", "-t", searches.kind, literal, name];
    let grep = |pattern| ["ast-grep", "run", "-l", language, "-p", pattern];
    let grep_everywhere: Vec<&str> = match searches.in_context {
        None => grep(EVERYWHERE).to_vec(),
        Some((context, kind)) => [&grep(context)[..], &["--selector", kind]].concat(),
    };
    let measure = |mode| ["measure", mode, name, language, EVERYWHERE];
    let parse = ["measure", "parse", name, searches.extension, language];
    let last = Ask::LastLine;
    let case =
        |case_name, by, ask, words: &[&[&str]]| case(name, case_name, by, ask, &words.concat());
    Ok(vec![
        call(name, "selective", language, pattern, 1000, name),
        case("selective", "rg", Ask::Lines, &[&rg(literals[0])]),
        case(
            "selective",
            "parse",
            last,
            &[&["measure", "parse-listed", list, language]],
        ),
        case(
            "selective",
            "ast-grep",
            Ask::Lines,
            &[&grep(pattern), &[name]],
        ),
        call(name, "none", language, NOWHERE.0, 1000, name),
        case("none", "rg", Ask::Lines, &[&rg(NOWHERE.1)]),
        case("none", "ast-grep", Ask::Lines, &[&grep(NOWHERE.0), &[name]]),
        case("all, counted", "terret", last, &[&measure("count")]),
        case("all, counted", "parse", last, &[&parse]),
        case(
            "all, counted",
            "ast-grep",
            Ask::Lines,
            &[&grep_everywhere, &[name]],
        ),
        case("all, rendered", "terret", last, &[&measure("render")]),
        case(
            "all, rendered",
            "ast-grep",
            Ask::Lines,
            &[&grep_everywhere, &["--json", name]],
        ),
        case(
            "all, rendered",
            "ast-grep, stream",
            Ask::Lines,
            &[&grep_everywhere, &["--json=stream", name]],
        ),
        fifty(corpus, "fifty", name),
    ])
}

fn fifty(corpus: &Corpus, name: &str, folder: &str) -> Case {
    call(&corpus.name, name, &corpus.language, EVERYWHERE, 50, folder)
}

/// A search as an agent makes it.
fn call(
    corpus: &str,
    name: &str,
    language: &str,
    pattern: &str,
    most: usize,
    folder: &str,
) -> Case {
    let arguments = json!({ "pattern": pattern, "language": language, "max_results": most });
    let words = [
        "terret",
        "-C",
        folder,
        "call",
        "ast_grep",
        &arguments.to_string(),
    ];
    case(corpus, name, "terret", Ask::LastLine, &words)
}

fn case(corpus: &str, name: &str, by: &str, ask: Ask, words: &[&str]) -> Case {
    let owned = |word: &&str| (*word).to_owned();
    Case {
        corpus: corpus.to_owned(),
        name: name.to_owned(),
        by: by.to_owned(),
        ask,
        words: words.iter().map(owned).collect(),
    }
}

/// A command of a program that is looked for in these folders first.
pub(crate) fn find(
    shell: &shell::Shell,
    path: &[PathBuf],
    program: &str,
    args: &[&str],
) -> Result<std::process::Command> {
    let found = shell::on_path(program, path).with_context(|| format!("there is no {program}"))?;
    Ok(shell.command(found, args))
}

fn first_folder(folder: &Path) -> Result<String> {
    let items = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let names = items.flatten().filter(|item| item.path().is_dir());
    let first = names.map(|item| item.file_name()).min();
    let first = first.and_then(|name| name.into_string().ok());
    first.with_context(|| format!("no folder in {}", folder.display()))
}
