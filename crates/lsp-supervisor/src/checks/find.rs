//! Which checkers are for a project: where their markers are, and whether their programs are there.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use terret_launch::{Candidate, Detector, Marker, Program};

use super::{Checker, Sign};

/// How many folders down a project is looked for, where the workspace is none itself.
const DEPTH: usize = 3;
/// How many folders are looked at.
const MOST_FOLDERS: usize = 2_000;
/// In how many folders a checker runs.
const MOST_ROOTS: usize = 8;
/// How much of a configuration is read.
const CONFIGURATION: u64 = 1 << 20;

/// What is not the project's own code, besides all that is hidden.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", "venv", "vendor"];

/// A checker, and where it applies.
#[derive(Debug)]
pub(super) struct Applicable {
    pub(super) checker: &'static Checker,
    pub(super) root: PathBuf,
    /// Its program, or why there is none.
    pub(super) program: Result<PathBuf, String>,
    /// The project has chosen it of its group.
    chosen: bool,
}

/// The checkers of a workspace.
#[derive(Debug)]
pub(super) struct Found {
    /// In their order, and one of each group.
    pub(super) applicable: Vec<Applicable>,
    /// In how many folders more they would apply.
    pub(super) passed_over: usize,
    /// There are more folders than are looked at.
    pub(super) cut: bool,
}

/// The checkers of a workspace that apply to it.
pub(super) fn applicable(
    checkers: &'static [Checker],
    workspace: &Path,
    detector: &Detector,
) -> Found {
    let mut folders = Folders::new(workspace);
    let mut all: Vec<Applicable> = Vec::new();
    let mut passed_over = 0;
    for checker in checkers {
        let mut roots = folders.nearest(&checker.markers);
        passed_over += roots.len().saturating_sub(MOST_ROOTS);
        roots.truncate(MOST_ROOTS);
        for root in roots {
            let program = program(checker, &root, workspace, detector);
            let one = Applicable::new(checker, root, program);
            let rival = |other: &&mut Applicable| {
                other.checker.group.is_some()
                    && other.checker.group == checker.group
                    && other.root == one.root
            };
            match all.iter_mut().find(rival) {
                None => all.push(one),
                Some(other) if one.rank() > other.rank() => *other = one,
                Some(_) => {}
            }
        }
    }
    Found {
        applicable: all,
        passed_over,
        cut: folders.cut,
    }
}

impl Applicable {
    fn new(checker: &'static Checker, root: PathBuf, program: Result<PathBuf, String>) -> Self {
        let chosen = is_there(&root, &checker.chosen);
        Self {
            checker,
            root,
            program,
            chosen,
        }
    }

    /// One that is there goes before one that the project has chosen.
    fn rank(&self) -> (bool, bool) {
        (self.program.is_ok(), self.chosen)
    }
}

fn program(
    checker: &Checker,
    root: &Path,
    workspace: &Path,
    detector: &Detector,
) -> Result<PathBuf, String> {
    let get = &checker.install;
    let mut candidate = Candidate::new(&checker.name);
    for sign in &checker.markers {
        let marker = Marker::new(&sign.file).map_err(|error| error.to_string())?;
        candidate = candidate.marker(marker);
    }
    for name in &checker.programs {
        let mut program = Program::new(name);
        if checker.local {
            program = program.local();
        }
        if checker.versioned {
            program = program.versioned();
        }
        for folder in &checker.folders {
            program = program.folder(folder);
        }
        candidate = candidate.program(program);
    }
    let detection = detector.detect(&candidate, root);
    match detection.program() {
        Some(program) if checker.own && !program.starts_with(workspace) => {
            Err(format!("the project has none of its own; to get it: {get}"))
        }
        Some(program) => Ok(program.to_owned()),
        None => Err(format!("{detection}; to get it: {get}")),
    }
}

/// Whether one of the signs is in a folder.
fn is_there(folder: &Path, signs: &[Sign]) -> bool {
    let one = |sign: &Sign| {
        let path = folder.join(&sign.file);
        match &sign.table {
            None => path.is_file(),
            Some(table) => beginning(&path).is_some_and(|text| has_table(&text, table)),
        }
    };
    signs.iter().any(one)
}

/// The text of a configuration, if it is there.
pub(super) fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?.take(CONFIGURATION);
    { file }.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether TOML has a table, or one below it, which implies it. By its lines: a header stands on a line of its own.
fn has_table(text: &str, table: &str) -> bool {
    text.lines().any(|line| {
        let header = line.trim_start().trim_start_matches('[').trim_start();
        let rest = header
            .strip_prefix(table)
            .filter(|_| header.len() < line.len());
        rest.is_some_and(|rest| rest.trim_start().starts_with([']', '.']))
    })
}

/// The folders of a workspace, listed when they are needed.
struct Folders {
    /// The workspace first, and each before those below it.
    listed: Vec<PathBuf>,
    is_whole: bool,
    cut: bool,
}

impl Folders {
    fn new(workspace: &Path) -> Self {
        Self {
            listed: vec![workspace.to_owned()],
            is_whole: false,
            cut: false,
        }
    }

    /// The workspace if one of the signs is there; otherwise the nearest folders below it that have one.
    fn nearest(&mut self, signs: &[Sign]) -> Vec<PathBuf> {
        if is_there(&self.listed[0], signs) {
            return vec![self.listed[0].clone()];
        }
        if !self.is_whole {
            (self.listed, self.cut) = walk(&self.listed[0]);
            self.is_whole = true;
        }
        let mut roots: Vec<PathBuf> = Vec::new();
        for folder in &self.listed[1..] {
            let is_below = roots.iter().any(|root| folder.starts_with(root));
            if !is_below && is_there(folder, signs) {
                roots.push(folder.clone());
            }
        }
        roots
    }
}

/// The folders of a workspace, and whether there are more.
fn walk(workspace: &Path) -> (Vec<PathBuf>, bool) {
    let mut listed = Vec::new();
    let mut cut = false;
    let mut waiting = VecDeque::from([(workspace.to_owned(), 0)]);
    while let Some((folder, depth)) = waiting.pop_front() {
        let room = MOST_FOLDERS.saturating_sub(listed.len() + waiting.len());
        if depth < DEPTH {
            let below = below(&folder);
            cut |= below.len() > room;
            let below = below.into_iter().take(room);
            waiting.extend(below.map(|below| (below, depth + 1)));
        }
        listed.push(folder);
    }
    (listed, cut)
}

/// The folders in a folder by their names, without those that links lead to.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_own = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder && !name.starts_with('.') && !PASSED_OVER.contains(&&*name)
    };
    let own = entries.filter(is_own).map(|entry| entry.path());
    let mut own: Vec<PathBuf> = own.take(MOST_FOLDERS + 1).collect();
    own.sort();
    own
}
