//! The arguments of the tools, as they come in, and what they mean.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use terret_tiers::ToolError;

use crate::ops::{Op, Question, Target};

/// What is said for a file where all of the project is meant.
const PROJECT: &str = "*";

/// The arguments of `lsp`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LspArgs {
    /// What to find out.
    pub action: Action,
    /// The file, relative to the working directory. With `diagnostics` also `*`: the whole project, by its own checkers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the symbol in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The symbol as that line spells it; `name#2` for the second of that name on the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// For `symbols`: a part of the name of what is looked for in the whole workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// The arguments of `lsp_rename`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameArgs {
    /// The file, relative to the working directory.
    pub file: String,
    /// The line of the symbol in the file, from 1.
    pub line: u32,
    /// The symbol as that line spells it; `name#2` for the second of that name on the line.
    pub symbol: String,
    /// What to call it.
    pub new_name: String,
}

impl RenameArgs {
    /// The symbol that is meant.
    pub(crate) fn target(&self, workspace: &Path) -> Result<Target, ToolError> {
        let file = Some(workspace.join(&self.file));
        target(file, Some(self.line), Some(self.symbol.clone()))
    }
}

/// What to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum Action {
    /// What is wrong with `file`, or with the whole project.
    Diagnostics,
    /// Where the symbol is declared.
    Definition,
    /// Where the type of the symbol is declared.
    TypeDefinition,
    /// What implements the symbol.
    Implementation,
    /// Where the symbol is used.
    References,
    /// The signature and the documentation of the symbol.
    Hover,
    /// The symbols of `file`, or with `query` those of the workspace.
    Symbols,
    /// The quick fixes and refactorings that the server offers for the symbol; none is applied.
    CodeActions,
    /// Which servers run, and which cannot and why.
    Status,
    /// Restarts the servers of `file`, or all.
    Reload,
}

impl LspArgs {
    /// What they ask for.
    pub(crate) fn op(self, workspace: &Path) -> Result<Op, ToolError> {
        if self.action == Action::Diagnostics && self.file.as_deref() == Some(PROJECT) {
            return Ok(Op::Check);
        }
        let file = self.file.as_deref().map(|file| workspace.join(file));
        let question = match self.action {
            Action::Definition => Question::Definition,
            Action::TypeDefinition => Question::TypeDefinition,
            Action::Implementation => Question::Implementation,
            Action::References => Question::References,
            Action::Hover => Question::Hover,
            Action::CodeActions => {
                let target = target(file, self.line, self.symbol)?;
                return Ok(Op::Actions { target });
            }
            Action::Status => return Ok(Op::Status { file }),
            Action::Reload => return Ok(Op::Reload { file }),
            Action::Diagnostics => {
                let file = file.ok_or_else(|| missing("`file`", "diagnostics"))?;
                return Ok(Op::Diagnostics { file });
            }
            Action::Symbols => {
                return match (file, self.query) {
                    (Some(file), None) => Ok(Op::DocumentSymbols { file }),
                    (file, Some(query)) => Ok(Op::WorkspaceSymbols { file, query }),
                    (None, None) => Err(missing("`file` or `query`", "symbols")),
                };
            }
        };
        let target = target(file, self.line, self.symbol)?;
        Ok(Op::Ask { question, target })
    }
}

/// The place that is asked about.
fn target(
    file: Option<PathBuf>,
    line: Option<u32>,
    symbol: Option<String>,
) -> Result<Target, ToolError> {
    let what = "a question about a symbol";
    let file = file.ok_or_else(|| missing("`file`", what))?;
    let line = line.ok_or_else(|| missing("`line`", what))?;
    let Some(symbol) = symbol.filter(|symbol| !symbol.trim().is_empty()) else {
        return Err(missing(
            "`symbol`, the identifier on that line that is meant (never a column),",
            what,
        ));
    };
    Ok(Target {
        file,
        line: usize::try_from(line).unwrap_or(usize::MAX),
        symbol,
    })
}

fn missing(argument: &str, what: &str) -> ToolError {
    ToolError::invalid_arguments(format!("{argument} is missing: {what} needs it"))
}
