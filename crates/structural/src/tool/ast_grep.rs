//! `ast_grep`: structural search.

use async_trait::async_trait;
use serde_json::Value;
use terret_tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec};

use super::{Structural, tool_error};
use crate::args::GrepArgs;
use crate::error::Error;
use crate::ops::search::Search;
use crate::walk::Target;
use crate::{render, thread};

const DEFAULT_RESULTS: u32 = 50;
const MOST_RESULTS: u32 = 1_000;

const DESCRIPTION: &str = "\
Finds code by its shape, parsed, whatever its layout; never inside strings or comments. Use it for \
calls, declarations and statements; use a text search for words, comments and regular expressions. \
The pattern is a piece of code: `$X` stands for one node, `$$$ARGS` for any number of siblings, and \
a repeated name for the same code. Strict: a match has what the pattern shows and nothing more, so \
write out modifiers such as `async` or `pub`. Returns path:line, the lines and what each name \
captured, ordered by path; the first line says how the pattern was read. \
Example: {\"pattern\": \"if ($X != null) $X.dispose()\", \"language\": \"dart\", \"path\": \"lib\"}";

/// The tool `ast_grep`.
pub struct AstGrep {
    spec: ToolSpec,
    structural: Structural,
}

impl AstGrep {
    pub(super) fn new(structural: Structural) -> Self {
        let spec = ToolSpec::new("ast_grep", Tier::Read, DESCRIPTION)
            .parameters::<GrepArgs>()
            .hint(
                "regex",
                "patterns are code; use a text search for a regular expression",
            )
            .hint("rewrite", "`ast_grep` only finds; `ast_edit` rewrites")
            .hint("glob", "a glob goes into `path`");
        Self { spec, structural }
    }

    /// Searches with these arguments.
    ///
    /// # Errors
    ///
    /// [`ToolError`], when the arguments do not fit or nothing can be searched.
    pub async fn grep(&self, args: GrepArgs, context: &CallContext) -> Result<Output, ToolError> {
        let max_results = args.max_results.unwrap_or(DEFAULT_RESULTS);
        if !(1..=MOST_RESULTS).contains(&max_results) {
            return Err(ToolError::invalid_arguments(format!(
                "`max_results` is {max_results}; it goes from 1 to {MOST_RESULTS}"
            )));
        }
        let structural = self.structural.clone();
        let progress = super::progress(context);
        let report = thread::run(context, move |interrupted| {
            let shared = &structural.shared;
            let target = Target::resolve(&shared.root, args.path.as_deref())?;
            let search = Search {
                scope: shared.scope(target, args.language, args.context, &progress),
                pattern: args.pattern,
                max_results: max_results as usize,
            };
            let report = search.run(interrupted)?;
            Ok::<_, Error>(render::search(&shared.root, &report))
        });
        report
            .await?
            .map_err(|error| tool_error(error, self.structural.workspace(), context))
    }
}

#[async_trait]
impl Tool for AstGrep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let pattern = arguments["pattern"].as_str().unwrap_or_default();
        format!("search for `{pattern}`")
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        self.grep(self.spec.parse(arguments)?, context).await
    }
}
