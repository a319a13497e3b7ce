//! Grammars that the pack loads from a folder.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use terret_grammars::tree_sitter::Parser;
use terret_grammars::{GrammarError, GrammarSource, LanguageData, NoGrammars, Shipped};
use terret_language_pack::LanguagePack;

/// A folder with a grammar as the pack keeps it. `cargo test` builds the library.
fn folder() -> tempfile::TempDir {
    let name = format!(
        "{}tree_sitter_gleam{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let mut built = std::env::current_exe().unwrap();
    built.pop();
    built.pop();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        built.join("examples").join(&name),
        folder.path().join(&name),
    )
    .unwrap();
    folder
}

#[test]
fn a_language_of_the_pack_is_loaded() {
    let libraries = folder();
    let data = "name = \"Gleam\"\naliases = [\"glm\"]\nextensions = [\"gl\"]\nhole = \"x\"\n\
                contexts = [[\"value\", \"@@\"], [\"pair\", \"{ @@ }\"]]\n";
    let pack = LanguagePack::over(NoGrammars)
        .folder(libraries.path())
        .describe("gleam", LanguageData::from_toml(data).unwrap())
        .build();
    assert_eq!(pack.ids(), ["gleam"]);
    assert_eq!(pack.ids_of_file("a.gl"), ["gleam"]);
    assert_eq!(pack.ids_of_file("a.gleam"), ["gleam"]);
    assert_eq!(pack.ids_of_file("a.rs"), [""; 0]);

    let grammar = pack.grammar("GLM").unwrap();
    assert_eq!(grammar.data().contexts.len(), 2);
    let mut parser = Parser::new();
    parser.set_language(grammar.language()).unwrap();
    let tree = parser.parse("{\"a\": [1]}", None).unwrap();
    assert_eq!(
        tree.root_node().to_sexp(),
        "(document (object (pair key: (string (string_content)) value: (array (number)))))"
    );
}

/// What the base has is the base's, and the pack adds to it.
#[test]
fn the_base_is_asked_first() {
    let libraries = folder();
    let pack = LanguagePack::over(Shipped).folder(libraries.path()).build();
    let ids = pack.ids();
    assert!(ids.contains(&"rust") && ids.contains(&"gleam"), "{ids:?}");
    assert_eq!(pack.ids_of_file("a.rs"), ["rust"]);
}

#[test]
fn a_language_without_a_description_has_one_context() {
    let libraries = folder();
    let pack = LanguagePack::over(NoGrammars)
        .folder(libraries.path())
        .build();
    let grammar = pack.grammar(" GLEAM ").unwrap();
    assert_eq!(grammar.data().contexts.len(), 1);
    let error = pack.grammar("gherkin").unwrap_err();
    assert!(matches!(error, GrammarError::Unknown { .. }), "{error}");
}
