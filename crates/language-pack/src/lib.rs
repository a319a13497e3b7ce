//! The long tail of grammars: whatever [`tree_sitter_language_pack`] has, for languages that
//! [`terret_grammars`] does not ship.
//!
//! The pack keeps a grammar as a shared library in a folder. Nothing is fetched here unless the
//! feature `download` is on and [`Builder::fetch`] asks for a language by its name; without it this
//! crate has no networking in it, and loads what the folders hold.
//!
//! ```
//! use terret_grammars::{GrammarSource, Shipped};
//! use terret_language_pack::LanguagePack;
//!
//! let grammars = LanguagePack::over(Shipped).build();
//! assert!(grammars.grammar("rust").is_ok());
//! // Known to the pack, but in none of the folders.
//! let error = grammars.grammar("gherkin").unwrap_err();
//! assert!(error.to_string().starts_with("unknown language `gherkin`"), "{error}");
//! ```
//!
//! A language without a description is read in a single context, a whole file: calls and statements
//! of most languages parse there. [`Builder::describe`] gives it a ladder of contexts of its own, as
//! `docs/adding-a-language.md` tells.
//!
//! # Building
//!
//! The pack's build script fetches the sources of its grammars unless `TSLP_OFFLINE=1` is set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use terret_grammars::{Grammar, GrammarError, GrammarSource, LanguageData};
use tree_sitter_language_pack::{LanguageRegistry, detect_language_from_extension};

/// The ladder of a language that nothing is known of.
const WHOLE_FILE: &str = "hole = \"zq7x\"\ncontexts = [[\"file\", \"@@\"]]\n";

/// Grammars of another source, and those of the pack for what that does not have.
pub struct LanguagePack {
    base: Box<dyn GrammarSource>,
    registry: LanguageRegistry,
    /// By id, sorted.
    languages: BTreeMap<String, Arc<LanguageData>>,
}

impl LanguagePack {
    /// Begins with a source that is asked first, such as [`Shipped`](terret_grammars::Shipped).
    pub fn over(base: impl GrammarSource + 'static) -> Builder {
        Builder {
            base: Box::new(base),
            folders: Vec::new(),
            described: BTreeMap::new(),
        }
    }
}

/// What a [`LanguagePack`] is made of.
#[must_use]
pub struct Builder {
    base: Box<dyn GrammarSource>,
    folders: Vec<PathBuf>,
    described: BTreeMap<String, Arc<LanguageData>>,
}

impl Builder {
    /// Loads the grammars of a folder of shared libraries, such as the pack's own cache.
    ///
    /// A grammar is code that runs in this process: use folders that only you can write to.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Says what Terret must know of a language: its ladder, its moulds.
    pub fn describe(mut self, id: impl Into<String>, data: LanguageData) -> Self {
        self.described.insert(id.into(), Arc::new(data));
        self
    }

    /// Fetches grammars into the pack's cache, unless they are there already, and loads them from
    /// there. Blocks until they are there.
    ///
    /// # Errors
    ///
    /// What the pack says when a name is unknown to it or nothing can be fetched.
    #[cfg(feature = "download")]
    pub fn fetch(
        self,
        languages: &[&str],
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        tree_sitter_language_pack::download(languages)?;
        let cache = tree_sitter_language_pack::cache_dir()?;
        Ok(self.folder(cache))
    }

    /// Looks what the folders hold.
    #[must_use]
    pub fn build(self) -> LanguagePack {
        let Self {
            base,
            folders,
            mut described,
        } = self;
        let registry = LanguageRegistry::new();
        for folder in folders {
            registry.add_extra_libs_dir(folder);
        }
        let known = base.ids();
        let mut languages = BTreeMap::new();
        for id in registry.available_languages() {
            if known.contains(&id.as_str()) || !registry.has_parser(&id) {
                continue;
            }
            let data = described.remove(&id).or_else(|| {
                let toml = format!("name = {id:?}\n{WHOLE_FILE}");
                LanguageData::from_toml(&toml).ok().map(Arc::new)
            });
            languages.extend(data.map(|data| (id, data)));
        }
        LanguagePack {
            base,
            registry,
            languages,
        }
    }
}

impl GrammarSource for LanguagePack {
    fn ids(&self) -> Vec<&str> {
        let mut ids = self.base.ids();
        ids.extend(self.languages.keys().map(String::as_str));
        ids
    }

    fn grammar(&self, id_or_alias: &str) -> Result<Grammar, GrammarError> {
        let error = match self.base.grammar(id_or_alias) {
            Err(error @ GrammarError::Unknown { .. }) => error,
            found => return found,
        };
        let name = id_or_alias.trim().to_lowercase();
        let named = |(id, data): &(&String, &Arc<LanguageData>)| {
            **id == name || data.aliases.contains(&name)
        };
        let Some((id, data)) = self.languages.iter().find(named) else {
            return Err(error);
        };
        match self.registry.get_language(id) {
            Ok(language) => Ok(Grammar::new(id.as_str(), data.clone(), language)),
            Err(_) => Err(error),
        }
    }

    fn ids_of_file(&self, file_name: &str) -> Vec<&str> {
        let ids = self.base.ids_of_file(file_name);
        if !ids.is_empty() {
            return ids;
        }
        let extension = file_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let listed = self.languages.iter().filter(|(_, data)| {
            data.files.iter().any(|name| name == file_name)
                || data.extensions.iter().any(|ending| ending == extension)
        });
        let mut ids: Vec<&str> = listed.map(|(id, _)| id.as_str()).collect();
        if ids.is_empty() {
            let detected = detect_language_from_extension(extension);
            let detected = detected.and_then(|id| self.languages.get_key_value(id));
            ids.extend(detected.map(|(id, _)| id.as_str()));
        }
        ids
    }
}
