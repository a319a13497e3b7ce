//! Tree-sitter grammars, each with what a structural search must know of its language beyond the
//! grammar.
//!
//! A language is one small TOML file beside this crate's manifest and one optional dependency behind
//! a feature of the same name. [`Shipped`] hands out what was compiled in; another
//! [`GrammarSource`] can stand in its place.
//!
//! ```
//! use terret_grammars::{GrammarSource, Shipped};
//!
//! let rust = Shipped.grammar("rs")?;
//! assert_eq!(rust.id(), "rust");
//! assert_eq!(rust.data().extensions, ["rs"]);
//! # Ok::<(), terret_grammars::GrammarError>(())
//! ```
//!
//! # Features
//!
//! `common-grammars` (the default) holds the languages that most people meet, `all-grammars` every
//! one that is shipped, and each language is a feature of its own. A language that is known but not
//! compiled in answers with [`GrammarError::NotCompiledIn`], which names the feature.

mod data;
mod shipped;
mod source;

pub use data::{Context, Example, ExampleCounts, Examples, Grouped, LanguageData, Placed};
pub use shipped::Shipped;
pub use source::{Grammar, GrammarError, GrammarSource, NoGrammars};
/// The runtime that the grammars are loaded into.
pub use tree_sitter;
