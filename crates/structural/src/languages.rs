//! Which language a file is searched in, and the patterns compiled for it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terret_grammars::GrammarSource;

use crate::error::Error;
use crate::pattern::{Pattern, PatternError};

/// Compiles patterns for the languages that are met.
pub(crate) struct Languages<'a> {
    source: &'a dyn GrammarSource,
    patterns: &'a [String],
    context: Option<&'a str>,
    /// The language that was asked for, and those that its files include.
    asked: Option<Vec<String>>,
    met: BTreeMap<String, Met>,
    folders: Folders,
}

/// A language, since which file of the walk it is known, and what became of the patterns in it.
struct Met {
    since: usize,
    compiled: Result<Arc<[Pattern]>, PatternError>,
}

/// In which languages the files of folders are written.
#[derive(Default)]
struct Folders {
    /// By folder the ids of the languages that one of its files is surely written in.
    known: HashMap<PathBuf, HashSet<String>>,
}

impl Folders {
    /// The language of a file that may be in several: the last of them that another file of the
    /// folder is written in (`a.h` is C++ beside `a.cpp`), else the first.
    fn choose<'i>(
        &mut self,
        source: &dyn GrammarSource,
        path: &Path,
        ids: &[&'i str],
    ) -> Option<&'i str> {
        let (first, others) = ids.split_first()?;
        let folder = match path.parent() {
            Some(folder) if !others.is_empty() => folder,
            _ => return Some(first),
        };
        if !self.known.contains_key(folder) {
            let sure = sure(source, folder);
            self.known.insert(folder.to_owned(), sure);
        }
        let sure = self.known.get(folder)?;
        Some(
            others
                .iter()
                .rev()
                .find(|id| sure.contains(**id))
                .unwrap_or(first),
        )
    }
}

/// The languages of the files of a folder that can be in no other.
fn sure(source: &dyn GrammarSource, folder: &Path) -> HashSet<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sure =
        files.filter_map(
            |file| match source.ids_of_file(&file.file_name().to_string_lossy())[..] {
                [id] => Some(id.to_owned()),
                _ => None,
            },
        );
    sure.collect()
}

/// What to do with a file.
pub(crate) enum Choice {
    /// Search it for these patterns.
    Search(Arc<[Pattern]>),
    /// The language is known, but its grammar does not accept the pattern.
    Rejected,
    /// It is in no language that is searched.
    Other,
}

impl<'a> Languages<'a> {
    /// Compiles for the language that is asked for at once, so that a pattern that it does not accept
    /// is an error even where there are no files.
    pub(crate) fn new(
        source: &'a dyn GrammarSource,
        language: Option<&str>,
        patterns: &'a [String],
        context: Option<&'a str>,
    ) -> Result<Self, Error> {
        let asked = match language {
            Some(name) => {
                let grammar = source.grammar(name)?;
                let mut asked = vec![grammar.id().to_owned()];
                asked.extend(grammar.data().includes.iter().cloned());
                Some(asked)
            }
            None => None,
        };
        let mut languages = Self {
            source,
            patterns,
            context,
            asked,
            met: BTreeMap::new(),
            folders: Folders::default(),
        };
        if let Some(id) = languages.asked.as_ref().map(|asked| asked[0].clone())
            && let Some(Err(error)) = languages.compiled(&id, true, 0)
        {
            return Err(Error::Pattern(error.clone()));
        }
        Ok(languages)
    }

    /// The language of a file, and the patterns compiled for it. A file that was named explicitly
    /// is searched in the language that was asked for, whatever its name. `at` is its number in the
    /// walk.
    pub(crate) fn choose(&mut self, path: &Path, named: bool, at: usize) -> Choice {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ids = self.source.ids_of_file(&name);
        let id = match &self.asked {
            Some(asked) => match ids.iter().find(|id| asked.iter().any(|asked| asked == *id)) {
                Some(id) => (*id).to_owned(),
                None if named => asked[0].clone(),
                None => return Choice::Other,
            },
            None => match self.folders.choose(self.source, path, &ids) {
                Some(id) => id.to_owned(),
                None => return Choice::Other,
            },
        };
        match self.compiled(&id, named, at) {
            Some(Ok(patterns)) => Choice::Search(patterns.clone()),
            Some(Err(_)) => Choice::Rejected,
            None => Choice::Other,
        }
    }

    /// The patterns in a language, compiled when it is met first. Data and markup do not compete
    /// with programming languages: they are searched when they are asked for.
    fn compiled(
        &mut self,
        id: &str,
        named: bool,
        since: usize,
    ) -> Option<&Result<Arc<[Pattern]>, PatternError>> {
        if !self.met.contains_key(id) {
            let grammar = self.source.grammar(id).ok()?;
            if grammar.data().markup && self.asked.is_none() && !named {
                return None;
            }
            let compiled = self
                .patterns
                .iter()
                .map(|pattern| Pattern::compile(&grammar, pattern, self.context))
                .collect();
            self.met.insert(id.to_owned(), Met { since, compiled });
        }
        self.met.get(id).map(|met| &met.compiled)
    }

    /// What the files of the language that was asked for are called; absent where none was.
    pub(crate) fn asked_files(&self) -> Option<String> {
        let grammar = self.source.grammar(self.asked.as_ref()?.first()?).ok()?;
        let data = grammar.data();
        let endings = data.extensions.iter().map(|ending| format!("*.{ending}"));
        let names: Vec<String> = endings.chain(data.files.iter().cloned()).take(6).collect();
        Some(format!("{} ({})", data.name, names.join(", ")))
    }

    /// Forgets the languages that only files from this number on are written in.
    pub(crate) fn forget_from(&mut self, file: usize) {
        self.met.retain(|_, met| met.since < file);
    }

    /// The languages met so far with what became of the patterns in each, by id.
    pub(crate) fn met(
        &self,
    ) -> impl Iterator<Item = (&str, &Result<Arc<[Pattern]>, PatternError>)> {
        self.met
            .iter()
            .map(|(id, met)| (id.as_str(), &met.compiled))
    }
}
