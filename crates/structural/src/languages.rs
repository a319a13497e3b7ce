//! Which language a file is searched in, and the patterns compiled for it.

use std::collections::BTreeMap;
use std::path::Path;
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
}

/// A language, since which file of the walk it is known, and what became of the patterns in it.
struct Met {
    since: usize,
    compiled: Result<Arc<[Pattern]>, PatternError>,
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
            None => match ids.first() {
                Some(id) => (*id).to_owned(),
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
