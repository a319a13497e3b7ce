//! The arguments of the tools, as they come in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `ast_grep`.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// A piece of code in which `$NAME` stands for one node, `$$$NAME` for a run of siblings, `$_`
    /// and `$$$` for either without binding; a repeated name must stand for the same code.
    pub pattern: String,
    /// A file, a folder or a glob such as `src/**/*.ts`; the whole workspace when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The language, such as `python` or `ts`; inferred from the files when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Where the pattern stands, such as `expression`, `member` or `argument`: asks for another
    /// reading than the one an answer states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// How many matches to show, at most 1,000; 50 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u32>,
}

/// The arguments of `ast_edit`.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditArgs {
    /// The code to replace, as in `ast_grep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What to put in its place, with the pattern's `$NAME` and `$$$NAME`; empty deletes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<String>,
    /// Several replacements in one change, instead of `pattern` and `rewrite`; all match the text
    /// as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<Edit>>,
    /// A file, a folder or a glob such as `src/**/*.ts`; the whole workspace when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The language, such as `python` or `ts`; needed unless `path` is one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Where the patterns stand, as in `ast_grep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Stage the change although it breaks the syntax of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_syntax_errors: Option<bool>,
}

/// One replacement of a combined change.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The code to replace.
    pub pattern: String,
    /// What to put in its place.
    pub rewrite: String,
}

/// The arguments of `resolve`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveArgs {
    /// The id that a `(proposed)` result of `ast_edit` names.
    pub edit_id: String,
    /// Whether to write the change or to drop it.
    pub action: Action,
}

/// What to do with a staged change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Action {
    /// Write it.
    Accept,
    /// Drop it.
    Discard,
}
