//! `ast_edit`: rewrites the matches of a target and stages the change.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use terret_changeset::{Captured, ChangeSet, Workspace};

use super::search::nothing_searched;
use super::{Later, ReadAs, Scope, count_later, readings};
use crate::error::Error;
use crate::matcher::Found;
use crate::pattern::{PatternError, binds};
use crate::rewrite::{self, Rewritten, Site, SyntaxBreak, Template};
use crate::search::{self, Parsed, Skipped, Visit};

/// The most files that one change touches.
const MOST_FILES: usize = 1_000;
/// The most bytes that are captured for one change.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A rewrite with its arguments resolved.
pub(crate) struct Stage<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) workspace: &'a Workspace,
    /// Pattern and template of each edit.
    pub(crate) edits: Vec<(String, String)>,
    pub(crate) allow_syntax_errors: bool,
}

/// What a rewrite would change.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) files: Vec<Changed>,
    /// How each edit's pattern was read.
    pub(crate) read_as: Vec<Vec<ReadAs>>,
    pub(crate) rejected: Vec<(String, PatternError)>,
    /// For each edit that matched nothing, the later readings that would.
    pub(crate) later: Vec<Vec<Later>>,
    /// How often each edit's pattern matched.
    pub(crate) matches: Vec<usize>,
    pub(crate) searched: usize,
    pub(crate) with_errors: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: PathBuf,
    pub(crate) replacements: usize,
    pub(crate) dropped: usize,
    pub(crate) unchanged: usize,
    pub(crate) comments_dropped: usize,
    pub(crate) parenthesised: usize,
    pub(crate) broken: Option<SyntaxBreak>,
}

/// What a worker found in one file.
struct Visited {
    patterns: Arc<[crate::pattern::Pattern]>,
    path: PathBuf,
    matches: Vec<usize>,
    later: Vec<Vec<usize>>,
    edit: Option<Result<(Captured, Rewritten), String>>,
}

impl Stage<'_> {
    pub(crate) fn run(
        &self,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<(ChangeSet, Proposal), Error> {
        let patterns: Vec<String> = self
            .edits
            .iter()
            .map(|(pattern, _)| pattern.clone())
            .collect();
        let mut templates = Vec::new();
        for (pattern, template) in &self.edits {
            templates.push(Template::with_variables(template, &binds(pattern)?)?);
        }
        let mut languages = self.scope.languages(&patterns)?;
        let request = self.scope.request(interrupted);
        let visit = |file: &Parsed<'_>| {
            let Visit { value, incomplete } = file.find();
            Visit {
                value: value.map(|found| self.visit(file, found, &templates)),
                incomplete,
            }
        };
        let mut collected = Collected {
            change: ChangeSet::new(self.workspace),
            files: Vec::new(),
            later: vec![Vec::new(); patterns.len()],
            matches: vec![0; patterns.len()],
            bytes: 0,
            refused: Vec::new(),
            too_large: None,
        };
        let summary = search::run(&request, &mut languages, &visit, &mut |visited| {
            collected.add(visited)
        });
        let summary = summary.map_err(Error::Thread)?;
        if summary.interrupted {
            return Err(Error::Interrupted);
        }
        let read_as: Vec<_> = (0..patterns.len())
            .map(|at| readings(&languages, at))
            .collect();
        let rejected = read_as
            .first()
            .map(|(_, rejected)| rejected.clone())
            .unwrap_or_default();
        let read_as: Vec<Vec<ReadAs>> = read_as.into_iter().map(|(read, _)| read).collect();
        if read_as.iter().all(Vec::is_empty) {
            return Err(nothing_searched(&self.scope.target, rejected));
        }
        let target = &self.scope.target;
        let root = (!target.is_file()).then(|| target.root().to_owned());
        collected.check(self.allow_syntax_errors, root)?;
        for (later, matches) in collected.later.iter_mut().zip(&collected.matches) {
            if *matches > 0 {
                later.clear();
            }
        }
        let proposal = Proposal {
            files: collected.files,
            read_as,
            rejected,
            later: collected.later,
            matches: collected.matches,
            searched: summary.searched,
            with_errors: summary.with_errors,
            skipped: summary.skipped,
        };
        Ok((collected.change, proposal))
    }

    fn visit(&self, file: &Parsed<'_>, found: Vec<Found>, templates: &[Template]) -> Visited {
        let matches = found.iter().map(|found| found.matches.len()).collect();
        let mut later = Vec::new();
        let mut sites = Vec::new();
        for (edit, found) in found.into_iter().enumerate() {
            later.push(found.later);
            sites.extend(found.matches.into_iter().map(|found| Site { edit, found }));
        }
        Visited {
            patterns: file.patterns.clone(),
            path: file.path.to_owned(),
            matches,
            later,
            edit: (!sites.is_empty()).then(|| self.edit(file, &sites, templates)),
        }
    }

    fn edit(
        &self,
        file: &Parsed<'_>,
        sites: &[Site],
        templates: &[Template],
    ) -> Result<(Captured, Rewritten), String> {
        let captured = self
            .workspace
            .capture(file.path)
            .map_err(|error| error.to_string())?;
        // What was matched must be what is compared when the change is accepted.
        if **captured.bytes() != *file.source {
            return Err("it changed while it was read".to_owned());
        }
        let grammar = file.patterns[0].grammar();
        rewrite::rewrite(grammar, file.tree, file.source, sites, templates, file.late)
            .map(|rewritten| (captured, rewritten))
            .map_err(|error| error.to_string())
    }
}

/// What came together of the files so far.
struct Collected {
    change: ChangeSet,
    files: Vec<Changed>,
    later: Vec<Vec<Later>>,
    matches: Vec<usize>,
    bytes: usize,
    refused: Vec<(PathBuf, String)>,
    too_large: Option<String>,
}

impl Collected {
    fn add(&mut self, visited: Visited) -> ControlFlow<()> {
        for (edit, counts) in visited.later.iter().enumerate() {
            count_later(&mut self.later[edit], &visited.patterns[edit], counts);
            self.matches[edit] += visited.matches[edit];
        }
        let (captured, rewritten) = match visited.edit {
            None => return ControlFlow::Continue(()),
            Some(Err(reason)) => {
                self.refused.push((visited.path, reason));
                return ControlFlow::Continue(());
            }
            Some(Ok(edit)) => edit,
        };
        self.bytes += captured.bytes().len() + rewritten.text.len();
        let changes = **captured.bytes() != *rewritten.text;
        self.files.push(Changed {
            path: visited.path.clone(),
            replacements: rewritten.replacements,
            dropped: rewritten.dropped,
            unchanged: rewritten.unchanged,
            comments_dropped: rewritten.comments_dropped,
            parenthesised: rewritten.parenthesised,
            broken: rewritten.broken,
        });
        if changes && let Err(error) = self.change.edit(&captured, rewritten.text) {
            self.refused.push((visited.path, error.to_string()));
        }
        if self.files.len() > MOST_FILES || self.bytes > MOST_BYTES {
            self.too_large = Some(format!(
                "the change is too large to be staged (over {MOST_FILES} files or {} MiB); narrow \
                 `path` and do it in parts",
                MOST_BYTES / 1024 / 1024
            ));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn check(&self, allow_syntax_errors: bool, root: Option<PathBuf>) -> Result<(), Error> {
        if let Some(message) = &self.too_large {
            return Err(Error::TooLarge(message.clone()));
        }
        if !self.refused.is_empty() {
            let files = self.refused.clone();
            return Err(Error::Unfit { files, root });
        }
        let broken: Vec<(PathBuf, SyntaxBreak)> = self
            .files
            .iter()
            .filter_map(|file| {
                file.broken
                    .clone()
                    .map(|broken| (file.path.clone(), broken))
            })
            .collect();
        if broken.is_empty() || allow_syntax_errors {
            Ok(())
        } else {
            let files = broken;
            Err(Error::Breaks { files, root })
        }
    }
}
