//! A piece of code, taken as a pattern, matches where it stands: for every named node of real files.
//!
//! The nodes of each file are taken one by one. The text of one is compiled as a pattern without a
//! context, and has to match there, or a later reading that does is told; and in the context that
//! reads it as what it is, it has to match there in any case. What is not code by itself is listed
//! in `data/self_match.toml`, with a reason; a node on that list is tried all the same.
//!
//! `cargo xtask soak self-match` gets the files of real projects and runs this over all of them,
//! `cargo xtask test` over a part. Without such files the sources of the languages' examples are
//! what is tried. The variables that say so are those of [`Settings`].

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use serde::Deserialize;
use terret_grammars::{Grammar, GrammarSource, Shipped};
use terret_structural::matcher::find;
use terret_structural::pattern::{Pattern, Reading};
use tree_sitter::{Node, Tree};

const LANGUAGES: &[&str] = &[
    "bash",
    "c",
    "cpp",
    "csharp",
    "dart",
    "go",
    "java",
    "javascript",
    "kotlin",
    "php",
    "python",
    "ruby",
    "rust",
    "swift",
    "typescript",
    "tsx",
];

/// A longer text is not tried: it is made of pieces that are.
const MOST_BYTES: usize = 2048;
/// How many pieces of a file are tried.
const MOST_PLACES: usize = 80;
/// How many of a hundred nodes may be exempt.
const MOST_EXEMPT: f64 = 5.0;
/// How many failures of a kind are shown.
const SHOWN: usize = 4;
/// The threads are those of a search, whose stacks are as large.
const STACK: usize = 16 * 1024 * 1024;

/// What the environment says.
struct Settings {
    /// `TERRET_SELF_MATCH`: a folder with a folder of files for each language.
    folder: Option<PathBuf>,
    /// `TERRET_SELF_MATCH_PERCENT`: how many of a hundred nodes are tried.
    percent: u64,
    /// `TERRET_SELF_MATCH_SEED`: another one is another part.
    seed: u64,
    /// `TERRET_SELF_MATCH_LANGUAGES`: the ids of some languages, for a run while one is worked on.
    languages: Option<String>,
    /// `TERRET_SELF_MATCH_TABLE`: a file for the figures.
    table: Option<PathBuf>,
}

impl Settings {
    fn of_environment() -> Self {
        let number = |name: &str, absent: u64| {
            env::var(name).map_or(absent, |text| text.parse().expect("a number"))
        };
        let folder = env::var_os("TERRET_SELF_MATCH").map(PathBuf::from);
        // The examples alone are tried by whoever runs all tests time and again.
        let percent = if folder.is_some() { 100 } else { 20 };
        Self {
            folder,
            percent: number("TERRET_SELF_MATCH_PERCENT", percent),
            seed: number("TERRET_SELF_MATCH_SEED", 1),
            languages: env::var("TERRET_SELF_MATCH_LANGUAGES").ok(),
            table: env::var_os("TERRET_SELF_MATCH_TABLE").map(PathBuf::from),
        }
    }

    fn has(&self, language: &str) -> bool {
        let some = self.languages.as_deref();
        some.is_none_or(|some| some.split(',').any(|id| id == language))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    exempt: Vec<Exempt>,
}

/// Kinds of nodes that are no code by themselves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exempt {
    /// For each language: `kind`, `.../kind` for whatever holds one, or `parent/kind` for a kind that
    /// stands alone elsewhere.
    kinds: BTreeMap<String, Vec<String>>,
    #[expect(dead_code, reason = "for who reads the table")]
    why: String,
}

/// What came out for one language.
#[derive(Debug, Default)]
struct Figures {
    files: usize,
    /// Those with syntax errors: the nodes around an error are not tried.
    with_errors: usize,
    /// Named nodes, without comments.
    nodes: usize,
    /// Nodes around a syntax error.
    erroneous: usize,
    /// Nodes of more than so many bytes.
    large: usize,
    /// Nodes of a file that has more than enough.
    left_out: usize,
    /// Nodes of a kind and a text that were there before.
    repeated: usize,
    tried: usize,
    matched: usize,
    disclosed: usize,
    beside: usize,
    otherwise: usize,
    exempt: usize,
    failed: usize,
    /// For each kind the exempt nodes.
    exempt_kinds: BTreeMap<String, usize>,
    seconds: f64,
}

/// A file, parsed.
struct File {
    path: String,
    source: String,
    tree: Tree,
}

/// A piece of a file that is one named node, or several inside each other.
struct Place<'t> {
    file: usize,
    /// How many nodes it is.
    nodes: usize,
    range: Range<usize>,
    /// The same without comments at its edges, which are not compared.
    code: Range<usize>,
    /// The kinds of the nodes, the outermost first.
    kinds: Vec<&'t str>,
    parent: &'t str,
    /// The kinds of the children of the innermost one.
    children: Vec<&'t str>,
}

enum Outcome {
    Matched,
    Disclosed,
    /// Told by the search, but not in the answer: that holds matches of the first reading.
    Beside,
    Failed(String),
    /// The grammar reads the same text otherwise in the context of its kind.
    Otherwise,
}

#[test]
fn code_matches_where_it_stands() {
    let settings = Settings::of_environment();
    let table: Table = toml::from_str(include_str!("data/self_match.toml")).unwrap();
    let mut all = BTreeMap::new();
    let mut problems = String::new();
    let mut used = HashSet::new();
    for &language in LANGUAGES.iter().filter(|language| settings.has(language)) {
        let started = std::time::Instant::now();
        let grammar = Shipped.grammar(language).unwrap();
        let files = files(&settings, language, &grammar);
        let mut run = Run {
            language,
            table: &table,
            figures: Figures {
                files: files.len(),
                ..Figures::default()
            },
            failures: BTreeMap::new(),
            used: &mut used,
        };
        run.files(&settings, &grammar, &files);
        run.figures.seconds = started.elapsed().as_secs_f64();
        eprintln!("{language}: {:?}", run.figures);
        for (kind, failures) in run.failures {
            _ = writeln!(problems, "\n{language}: {kind}: {} failed", failures.len());
            for failure in failures.iter().take(SHOWN) {
                eprintln!("{kind}\n{failure}");
                _ = writeln!(problems, "{failure}");
            }
        }
        all.insert(language, run.figures);
    }
    let shown = shown(&all);
    println!("{shown}");
    if let Some(file) = &settings.table {
        fs::write(file, &shown).unwrap();
    }
    let exempt = |figures: &Figures| figures.exempt + figures.otherwise;
    let exempt: usize = all.values().map(exempt).sum();
    let tried: usize = all.values().map(|figures| figures.tried).sum();
    assert!(tried > 0, "nothing was tried");
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let share = 100.0 * exempt as f64 / tried as f64;
    if share > MOST_EXEMPT {
        _ = writeln!(
            problems,
            "{share:.1} % of the nodes are exempt, {MOST_EXEMPT} % may be"
        );
    }
    // A part of the files may lack what an exemption is for.
    if settings.folder.is_some() && settings.percent == 100 && settings.languages.is_none() {
        let all = table.exempt.iter().flat_map(|exempt| &exempt.kinds);
        for (language, kind) in
            all.flat_map(|(language, kinds)| kinds.iter().map(move |kind| (language, kind)))
        {
            if !used.contains(&(language.clone(), kind.clone())) {
                println!("{language}: `{kind}` needs no exemption");
            }
        }
    }
    if settings.folder.is_none() {
        // The sources of examples are made of rarities, so that a share of them may fail.
        let failed: usize = all.values().map(|figures| figures.failed).sum();
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = 100.0 * failed as f64 / tried as f64;
        assert!(
            share < MOST_EXEMPT,
            "{share:.1} % failed\n{shown}\n{problems}"
        );
        return;
    }
    assert!(problems.is_empty(), "{shown}\n{problems}");
}

/// The files of a language, in the order of their paths.
fn files(settings: &Settings, language: &str, grammar: &Grammar) -> Vec<File> {
    let mut texts: Vec<(String, String)> = Vec::new();
    match &settings.folder {
        None => {
            let examples = Shipped::examples(language).all.into_iter();
            let sources = examples.filter_map(|example| Some((example.pattern, example.source?)));
            texts.extend(sources);
        }
        Some(folder) => {
            let folder = folder.join(language);
            let mut paths = Vec::new();
            list(&folder, &mut paths);
            paths.sort();
            assert!(!paths.is_empty(), "{} holds no files", folder.display());
            for path in paths {
                // What is not text is not searched like text.
                if let Ok(text) = fs::read_to_string(&path) {
                    let shown = path.strip_prefix(&folder).unwrap_or(&path);
                    texts.push((shown.display().to_string(), text));
                }
            }
        }
    }
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let parsed = texts.into_iter().map(|(path, source)| File {
        tree: parser.parse(&source, None).unwrap(),
        path,
        source,
    });
    parsed.collect()
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = item.path();
        if path.is_dir() {
            list(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

struct Run<'a> {
    language: &'static str,
    table: &'a Table,
    figures: Figures,
    /// For each kind what is to be said of each failure.
    failures: BTreeMap<String, Vec<String>>,
    /// The exemptions that were needed.
    used: &'a mut HashSet<(String, String)>,
}

impl Run<'_> {
    fn files(&mut self, settings: &Settings, grammar: &Grammar, files: &[File]) {
        let mut seen = HashSet::new();
        let mut places = Vec::new();
        for (index, file) in files.iter().enumerate() {
            self.figures.with_errors += usize::from(file.tree.root_node().has_error());
            let mut new = Vec::new();
            self.places(grammar, index, file, &mut seen, &mut new);
            // The same pieces on every machine, and others with another seed.
            let draw = |place: &Place<'_>| {
                let mut hasher = DefaultHasher::new();
                (settings.seed, &file.path, &place.range).hash(&mut hasher);
                hasher.finish()
            };
            new.sort_by_cached_key(draw);
            for place in new.drain(new.len().min(MOST_PLACES)..) {
                self.figures.left_out += place.nodes;
            }
            new.retain(|place| draw(place) % 100 < settings.percent);
            places.extend(new);
        }
        let outcomes = outcomes(grammar, files, &places);
        for (place, outcome) in places.iter().zip(outcomes) {
            let nodes = place.nodes;
            self.figures.tried += nodes;
            match outcome {
                Outcome::Matched => self.figures.matched += nodes,
                Outcome::Disclosed => self.figures.disclosed += nodes,
                Outcome::Beside => self.figures.beside += nodes,
                Outcome::Otherwise => self.figures.otherwise += nodes,
                Outcome::Failed(why) => self.fail(&files[place.file], place, &why),
            }
        }
    }

    /// The places of a file whose kind and text were not there before.
    fn places<'t>(
        &mut self,
        grammar: &Grammar,
        index: usize,
        file: &'t File,
        seen: &mut HashSet<u64>,
        places: &mut Vec<Place<'t>>,
    ) {
        let mut open = vec![file.tree.root_node()];
        while let Some(node) = open.pop() {
            let mut below: Vec<Node<'_>> = children(node).collect();
            below.reverse();
            let range = trimmed(&file.source, node.byte_range());
            if (node.is_extra() || node.kind().ends_with("comment")) && !node.is_error() {
                // A comment is no pattern, nor is anything in it.
                continue;
            }
            if node.is_error() {
                self.figures.erroneous += children(node).filter(|child| child.is_named()).count();
                continue;
            }
            let mut below_it = children(node).peekable();
            if below_it.peek().is_some() && below_it.all(|child| child.is_extra()) {
                // Nothing but comments.
                continue;
            }
            if !node.is_named() || range.is_empty() {
                open.extend(below);
                continue;
            }
            let mut kinds = vec![node.kind()];
            let mut innermost = node;
            // Nodes of the same bytes are one piece of code.
            while let Some(child) = children(innermost).find(|child| {
                child.is_named() && trimmed(&file.source, child.byte_range()) == range
            }) {
                kinds.push(child.kind());
                innermost = child;
                below = children(child).collect();
                below.reverse();
            }
            open.extend(below);
            let nodes = kinds.len();
            self.figures.nodes += nodes;
            let text = &file.source[range.clone()];
            let mut hasher = DefaultHasher::new();
            (&kinds, text).hash(&mut hasher);
            if node.has_error() {
                self.figures.erroneous += kinds.len();
            } else if range.len() > MOST_BYTES {
                self.figures.large += kinds.len();
            } else if !seen.insert(hasher.finish()) {
                self.figures.repeated += kinds.len();
            } else {
                let code = code(grammar, &file.source, node, range.clone());
                // What is left without a comment may be a node of its own.
                let mut inner = node.named_descendant_for_byte_range(code.start, code.end);
                while let Some(found) =
                    inner.filter(|found| code != range && found.byte_range() == code)
                {
                    kinds.push(found.kind());
                    inner = found.named_child(0);
                }
                places.push(Place {
                    file: index,
                    nodes,
                    code,
                    range,
                    kinds,
                    parent: node.parent().map_or("", |parent| parent.kind()),
                    children: children(innermost).map(|child| child.kind()).collect(),
                });
            }
        }
    }

    fn fail(&mut self, file: &File, place: &Place<'_>, why: &str) {
        let outer = place.kinds[0];
        let names = |entry: &String| match entry.split_once('/') {
            Some(("...", kind)) => holds(file, &place.range, kind),
            Some((parent, kind)) => parent == place.parent && kind == outer,
            None => place.kinds.contains(&entry.as_str()),
        };
        let groups = self.table.exempt.iter();
        let mut kinds = groups
            .filter_map(|group| group.kinds.get(self.language))
            .flatten();
        if let Some(entry) = kinds.find(|kind| names(kind)) {
            self.figures.exempt += place.nodes;
            *self.figures.exempt_kinds.entry(entry.clone()).or_default() += place.nodes;
            self.used.insert((self.language.to_owned(), entry.clone()));
            return;
        }
        self.figures.failed += place.nodes;
        let line = file.source[..place.range.start].matches('\n').count() + 1;
        let text: String = file.source[place.range.clone()].chars().take(300).collect();
        let failures = self
            .failures
            .entry(format!("{}/{}", place.parent, place.kinds.join(">")))
            .or_default();
        failures.push(format!("  {}:{line}: {text:?}\n    {why}", file.path));
    }
}

/// Whether there is a node of this kind in the range.
fn holds(file: &File, range: &Range<usize>, kind: &str) -> bool {
    let mut open = vec![file.tree.root_node()];
    while let Some(node) = open.pop() {
        if range.start <= node.start_byte() && node.end_byte() <= range.end && node.kind() == kind {
            return true;
        }
        let meets =
            |child: &Node<'_>| child.start_byte() < range.end && child.end_byte() > range.start;
        open.extend(children(node).filter(meets));
    }
    false
}

fn children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    (0..node.child_count()).filter_map(move |at| node.child(at))
}

/// The range without comments and layout at its edges, as far as they are in the node.
fn code(grammar: &Grammar, source: &str, node: Node<'_>, range: Range<usize>) -> Range<usize> {
    let layout = &grammar.data().layout;
    // A node may be named like the keyword that it begins with.
    let is_token = |node: &Node<'_>| {
        !node.is_named() || grammar.language().id_for_node_kind(node.kind(), false) == 0
    };
    let is_layout =
        |node: &Node<'_>| layout.iter().any(|kind| kind == node.kind()) && is_token(node);
    let is_code = |node: &Node<'_>| !node.is_extra() && !is_layout(node);
    let mut range = range;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let solid: Vec<Node<'_>> = children(node).filter(is_code).collect();
        if let (Some(first), Some(last)) = (solid.first(), solid.last()) {
            // An edge of the node, not of something in the middle.
            if children(node).next() != Some(*first) && node.start_byte() <= range.start {
                range.start = first.start_byte();
            }
            if children(node).last() != Some(*last) && node.end_byte() >= range.end {
                range.end = last.end_byte();
            }
            open.push(*last);
            open.push(*first);
        }
    }
    trimmed(source, range)
}

/// Without the white space at its edges.
fn trimmed(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// What becomes of each place, in the same order.
fn outcomes(grammar: &Grammar, files: &[File], places: &[Place<'_>]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            let work = || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(place) = places.get(at) else { return };
                    let outcome = outcome(grammar, &files[place.file], place);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((at, outcome));
                }
            };
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, work).unwrap();
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(done.len(), places.len(), "a place was left out");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn outcome(grammar: &Grammar, file: &File, place: &Place<'_>) -> Outcome {
    let outcome = matched(grammar, file, place);
    match outcome {
        Outcome::Failed(_) if is_read_otherwise(grammar, file, place) => Outcome::Otherwise,
        outcome => outcome,
    }
}

/// Whether contexts have a node of this kind and text, and each is made of other nodes than that of
/// the file: a grammar may read the same text in several ways.
fn is_read_otherwise(grammar: &Grammar, file: &File, place: &Place<'_>) -> bool {
    let text = &file.source[place.range.clone()];
    let node_at = |tree: &Tree, at: usize| {
        let node = tree.root_node();
        let mut node = node.named_descendant_for_byte_range(at, at + text.len());
        while let Some(found) = node.filter(|found| found.kind() != place.kinds[0]) {
            node = found
                .parent()
                .filter(|parent| parent.byte_range() == found.byte_range());
        }
        node.filter(|node| node.byte_range() == (at..at + text.len()))
            .map(|node| node.to_sexp())
    };
    let Some(own) = node_at(&file.tree, place.range.start) else {
        return false;
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let contexts = grammar.data().contexts.iter();
    let others = contexts.filter_map(|context| {
        let tree = parser.parse(format!("{}{text}{}\n", context.before, context.after), None)?;
        node_at(&tree, context.before.len()).filter(|_| !tree.root_node().has_error())
    });
    let others: Vec<String> = others.collect();
    !others.is_empty() && others.iter().all(|other| *other != own)
}

fn matched(grammar: &Grammar, file: &File, place: &Place<'_>) -> Outcome {
    let text = Pattern::escape(&file.source[place.range.clone()]);
    let pattern = match Pattern::compile(grammar, &text, None) {
        Ok(pattern) => pattern,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let read = |readings: &[Reading]| {
        let readings: Vec<String> = readings.iter().map(ToString::to_string).collect();
        readings.join("; ")
    };
    let all = || {
        let later = read(pattern.later_readings());
        format!("{} ~ {later}", read(pattern.readings()))
    };
    let Here { here, any, later } = matches_here(&pattern, file, place);
    let readings = pattern.readings().iter().chain(pattern.later_readings());
    let mut own = readings
        .filter(|reading| is_own(grammar, reading, place))
        .peekable();
    if own.peek().is_none() {
        let here = if here { "matches here, but" } else { "" };
        return Outcome::Failed(format!("{here} is read as nothing of its kind: {}", all()));
    }
    let first = pattern.readings()[0].to_string();
    let stands = |reading: &Reading| {
        let Ok(asked) = Pattern::compile(grammar, &text, Some(reading.asked_by())) else {
            return false;
        };
        // The only reading, and the same one, finds the same.
        let is_alone = pattern.readings().len() == 1 && asked.readings().len() == 1;
        let is_same = is_alone && asked.readings()[0].to_string() == first;
        here && is_same || matches_here(&asked, file, place).here
    };
    if !own.any(stands) {
        return Outcome::Failed(format!("does not match in its own context: {}", all()));
    }
    if here {
        Outcome::Matched
    } else if !later {
        Outcome::Failed(format!("matches elsewhere, untold: {}", all()))
    } else if any {
        Outcome::Beside
    } else {
        Outcome::Disclosed
    }
}

/// Whether the reading is of the kind of the place: of one of its nodes, or of what it is a list of.
fn is_own(grammar: &Grammar, reading: &Reading, place: &Place<'_>) -> bool {
    let mut members = reading.kind().split(" then ").peekable();
    let first = members.next().unwrap_or_default();
    let alike = grammar.data().alike.iter();
    let mut alike = alike
        .filter(|kinds| kinds.iter().any(|kind| kind == first))
        .flatten();
    let is_of = |kind: &str| place.kinds.contains(&kind);
    if members.peek().is_none() && (is_of(first) || alike.any(|kind| is_of(kind))) {
        return true;
    }
    let holds = |kind: &str| place.children.contains(&kind);
    holds(first) && members.all(holds)
}

struct Here {
    /// A reading that counts matches exactly there.
    here: bool,
    /// A reading that counts matches somewhere.
    any: bool,
    /// A later one does.
    later: bool,
}

fn matches_here(pattern: &Pattern, file: &File, place: &Place<'_>) -> Here {
    let source = file.source.as_bytes();
    let found = find(pattern, &file.tree, source, &|| false);
    let is_here = |range: &Range<usize>| {
        // A match ends before a separator that is none of the node's members.
        let ends_at = |end: usize| {
            let rest = &file.source[range.end.min(end)..range.end.max(end)];
            rest.chars()
                .all(|letter| letter.is_whitespace() || matches!(letter, ',' | ';'))
        };
        [place.code.start, place.range.start].contains(&range.start)
            && (ends_at(place.code.end) || ends_at(place.range.end))
    };
    let here = found.matches.iter().any(|found| is_here(&found.range));
    Here {
        here,
        any: !found.matches.is_empty(),
        later: found.later.iter().any(|count| *count > 0),
    }
}

/// The figures as a table of a page.
fn shown(all: &BTreeMap<&str, Figures>) -> String {
    let mut text = String::from(
        "| language | files | with errors | named nodes | tried | matched | disclosed | beside | read otherwise | exempt | failed | in errors | large | repeated | left out | s |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for (language, figures) in all {
        let Figures {
            files,
            with_errors,
            nodes,
            erroneous,
            large,
            repeated,
            left_out,
            tried,
            matched,
            disclosed,
            beside,
            otherwise,
            exempt,
            failed,
            exempt_kinds: _,
            seconds,
        } = figures;
        _ = writeln!(
            text,
            "| {language} | {files} | {with_errors} | {nodes} | {tried} | {matched} | {disclosed} | {beside} | {otherwise} | {exempt} \
             | {failed} | {erroneous} | {large} | {repeated} | {left_out} | {seconds:.1} |"
        );
    }
    text
}
