//! The grammars that are compiled in.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use tree_sitter::Language;

use crate::data::Head;
use crate::{Examples, Grammar, GrammarError, GrammarSource, LanguageData};

/// The grammars compiled into this build, by feature.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shipped;

struct Entry {
    id: &'static str,
    feature: &'static str,
    toml: &'static str,
    /// Absent when the feature is off.
    load: Option<fn() -> Language>,
}

/// One row a language: the feature that brings it, its id, its grammar. The data is the file named
/// like the id.
macro_rules! shipped {
    ($($feature:literal $id:literal => $language:expr;)*) => {
        const ENTRIES: &[Entry] = &[$(Entry {
            id: $id,
            feature: $feature,
            toml: include_str!(concat!("../", $id, ".toml")),
            load: {
                #[cfg(feature = $feature)]
                let load: Option<fn() -> Language> = Some(|| $language.into());
                #[cfg(not(feature = $feature))]
                let load: Option<fn() -> Language> = None;
                load
            },
        }),*];
    };
}

shipped! {
    "bash" "bash" => tree_sitter_bash::LANGUAGE;
    "c" "c" => tree_sitter_c::LANGUAGE;
    "cmake" "cmake" => tree_sitter_cmake::LANGUAGE;
    "cpp" "cpp" => tree_sitter_cpp::LANGUAGE;
    "csharp" "csharp" => tree_sitter_c_sharp::LANGUAGE;
    "css" "css" => tree_sitter_css::LANGUAGE;
    "dart" "dart" => tree_sitter_dart::LANGUAGE;
    "elixir" "elixir" => tree_sitter_elixir::LANGUAGE;
    "erlang" "erlang" => tree_sitter_erlang::LANGUAGE;
    "go" "go" => tree_sitter_go::LANGUAGE;
    "graphql" "graphql" => tree_sitter_graphql::LANGUAGE;
    "haskell" "haskell" => tree_sitter_haskell::LANGUAGE;
    "hcl" "hcl" => tree_sitter_hcl::LANGUAGE;
    "html" "html" => tree_sitter_html::LANGUAGE;
    "java" "java" => tree_sitter_java::LANGUAGE;
    "javascript" "javascript" => tree_sitter_javascript::LANGUAGE;
    "json" "json" => tree_sitter_json::LANGUAGE;
    "julia" "julia" => tree_sitter_julia::LANGUAGE;
    "kotlin" "kotlin" => tree_sitter_kotlin_sg::LANGUAGE;
    "lua" "lua" => tree_sitter_lua::LANGUAGE;
    "make" "make" => tree_sitter_make::LANGUAGE;
    "markdown" "markdown" => tree_sitter_md::LANGUAGE;
    "nix" "nix" => tree_sitter_nix::LANGUAGE;
    "objc" "objc" => tree_sitter_objc::LANGUAGE;
    "ocaml" "ocaml" => tree_sitter_ocaml::LANGUAGE_OCAML;
    "perl" "perl" => ts_parser_perl::LANGUAGE;
    "php" "php" => tree_sitter_php::LANGUAGE_PHP;
    "proto" "proto" => tree_sitter_proto::LANGUAGE;
    "python" "python" => tree_sitter_python::LANGUAGE;
    "r" "r" => tree_sitter_r::LANGUAGE;
    "ruby" "ruby" => tree_sitter_ruby::LANGUAGE;
    "rust" "rust" => tree_sitter_rust::LANGUAGE;
    "scala" "scala" => tree_sitter_scala::LANGUAGE;
    "solidity" "solidity" => tree_sitter_solidity::LANGUAGE;
    "sql" "sql" => tree_sitter_sequel::LANGUAGE;
    "svelte" "svelte" => tree_sitter_svelte_ng::LANGUAGE;
    "swift" "swift" => tree_sitter_swift::LANGUAGE;
    "toml" "toml" => tree_sitter_toml_ng::LANGUAGE;
    "typescript" "tsx" => tree_sitter_typescript::LANGUAGE_TSX;
    "typescript" "typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
    "xml" "xml" => tree_sitter_xml::LANGUAGE_XML;
    "yaml" "yaml" => tree_sitter_yaml::LANGUAGE;
    "zig" "zig" => tree_sitter_zig::LANGUAGE;
}

/// Where languages are found by name. Only the heads of the data files are read for it: most of
/// the languages are never asked for.
struct Index {
    by_name: HashMap<String, usize>,
    by_file: HashMap<String, Vec<usize>>,
    by_extension: HashMap<String, Vec<usize>>,
    /// The rest of each data file, read when the language is asked for first.
    data: Vec<OnceLock<Arc<LanguageData>>>,
}

impl Index {
    fn get() -> &'static Self {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut index = Self {
            by_name: HashMap::new(),
            by_file: HashMap::new(),
            by_extension: HashMap::new(),
            data: ENTRIES.iter().map(|_| OnceLock::new()).collect(),
        };
        for (row, entry) in ENTRIES.iter().enumerate() {
            let head: Head = entry.read(entry.parts().0);
            index.by_name.insert(entry.id.to_owned(), row);
            for alias in head.aliases {
                index.by_name.insert(alias.to_lowercase(), row);
            }
            for extension in head.extensions {
                index.by_extension.entry(extension).or_default().push(row);
            }
            for file in head.files {
                index.by_file.entry(file).or_default().push(row);
            }
        }
        index
    }

    fn data(&self, row: usize) -> Arc<LanguageData> {
        let read = || {
            let entry = &ENTRIES[row];
            let (head, contexts, _) = entry.parts();
            Arc::new(entry.read(&entry.toml[..head.len() + contexts.len()]))
        };
        self.data[row].get_or_init(read).clone()
    }
}

impl Entry {
    /// The file's keys before its contexts, the rest of its keys, and its examples.
    fn parts(&self) -> (&'static str, &'static str, &'static str) {
        let cut = |text: &'static str, marks: &[&str]| {
            let at = marks.iter().filter_map(|mark| text.find(mark)).min();
            text.split_at(at.unwrap_or(text.len()))
        };
        let (data, examples) = cut(self.toml, &["\n[least_examples]", "\n[[example]]"]);
        let (head, contexts) = cut(data, &["\ncontexts ="]);
        (head, contexts, examples)
    }

    fn read<T: DeserializeOwned>(&self, toml: &str) -> T {
        toml::from_str(toml).unwrap_or_else(|error| unreachable!("{}.toml: {error}", self.id))
    }
}

impl Shipped {
    /// Every language that Terret knows, compiled in or not: its id, and the feature that brings it.
    #[must_use]
    pub fn known() -> Vec<(&'static str, &'static str)> {
        ENTRIES
            .iter()
            .map(|entry| (entry.id, entry.feature))
            .collect()
    }

    /// The examples in the data file of a language.
    #[must_use]
    pub fn examples(id: &str) -> Examples {
        let entry = ENTRIES.iter().find(|entry| entry.id == id);
        entry.map_or_else(Examples::default, |entry| entry.read(entry.parts().2))
    }
}

impl GrammarSource for Shipped {
    fn ids(&self) -> Vec<&str> {
        ENTRIES
            .iter()
            .filter(|entry| entry.load.is_some())
            .map(|entry| entry.id)
            .collect()
    }

    fn grammar(&self, id_or_alias: &str) -> Result<Grammar, GrammarError> {
        let name = id_or_alias.trim().to_lowercase();
        let index = Index::get();
        let Some(&row) = index.by_name.get(&name) else {
            return Err(GrammarError::Unknown {
                asked: id_or_alias.to_owned(),
                nearest: nearest(&name).map(str::to_owned),
                known: self.ids().into_iter().map(str::to_owned).collect(),
            });
        };
        let entry = &ENTRIES[row];
        let Some(load) = entry.load else {
            return Err(GrammarError::NotCompiledIn {
                id: entry.id.to_owned(),
                feature: entry.feature.to_owned(),
            });
        };
        Ok(Grammar::new(entry.id, index.data(row), load()))
    }

    fn ids_of_file(&self, file_name: &str) -> Vec<&str> {
        let index = Index::get();
        let extension = file_name
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension);
        let rows = index
            .by_file
            .get(file_name)
            .or_else(|| index.by_extension.get(extension));
        rows.map(|rows| rows.iter().map(|&row| ENTRIES[row].id).collect())
            .unwrap_or_default()
    }
}

/// The id that shares the most with the name, if it shares enough to be a likely slip.
fn nearest(name: &str) -> Option<&'static str> {
    ENTRIES
        .iter()
        .map(|entry| (distance(name, entry.id), entry.id))
        .filter(|&(distance, id)| distance <= id.len().max(name.len()) / 3)
        .min()
        .map(|(_, id)| id)
}

/// The number of single-letter edits between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_file_reads() {
        for (row, entry) in ENTRIES.iter().enumerate() {
            assert!(!Index::get().data(row).contexts.is_empty(), "{}", entry.id);
            assert_eq!(
                Shipped::examples(entry.id).least.reads > 0,
                entry.toml.contains("[least_examples]")
            );
            let (head, _, _) = entry.parts();
            for key in ["aliases", "extensions", "files"] {
                let early = head.contains(&format!("\n{key} ="));
                assert_eq!(
                    early,
                    entry.toml.contains(&format!("\n{key} =")),
                    "{}: `{key}` stands before `contexts`",
                    entry.id
                );
            }
        }
    }

    #[test]
    fn names_aliases_and_slips() {
        assert_eq!(Shipped.grammar("Py").unwrap().id(), "python");
        assert_eq!(Shipped.grammar("typescript").unwrap().id(), "typescript");
        let error = Shipped.grammar("pyhton").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown language `pyhton`; did you mean `python`?"
        );
        assert_eq!(
            Shipped.grammar("klingon").unwrap_err().to_string(),
            format!(
                "unknown language `klingon`; known are {}",
                Shipped.ids().join(", ")
            )
        );
    }

    #[test]
    fn file_names() {
        assert_eq!(Shipped.ids_of_file("a.test.tsx"), ["tsx"]);
        assert_eq!(Shipped.ids_of_file("README"), [""; 0]);
    }

    #[test]
    fn every_grammar_loads_and_knows_its_hole() {
        for id in Shipped.ids() {
            let grammar = Shipped.grammar(id).unwrap();
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(grammar.language()).unwrap();
            let data = grammar.data();
            let grouped = data.grouped.iter().flat_map(|rule| {
                let around = rule.first_in.iter().chain(&rule.operand_of);
                rule.kinds.iter().chain(around)
            });
            let placed = data.placed.iter().flat_map(|rule| {
                let around = rule.only_in.iter().flatten().chain(&rule.never_in);
                rule.kinds.iter().chain(around)
            });
            let lists = [
                &data.strings,
                &data.containers,
                &data.transparent,
                &data.wrappers,
                &data.padded,
                &data.declarators,
                &data.token_trees,
                &data.open_lists,
                &data.clauses,
                &data.same_line,
                &data.heredocs,
            ];
            let listed = lists.into_iter().chain(&data.alike).flatten();
            let caseless = data.caseless.iter().filter(|kind| !kind.ends_with('*'));
            let at_margin = data.at_margin.iter().flatten();
            let placed = placed.chain(at_margin);
            let kinds = listed.chain(caseless).chain(grouped).chain(placed);
            for kind in kinds {
                let kind = kind.split(' ').next().unwrap_or_default();
                assert_ne!(
                    grammar.language().id_for_node_kind(kind, true),
                    0,
                    "{id}: no kind `{kind}`"
                );
            }
        }
    }
}
