//! `ast_edit`: structural rewriting, staged.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use terret_tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec};

use super::{Structural, tool_error};
use crate::args::EditArgs;
use crate::error::Error;
use crate::ops::stage::Stage;
use crate::staged::Edit;
use crate::walk::Target;
use crate::{render, thread};

const DESCRIPTION: &str = "\
Rewrites code by its shape and stages the change; nothing is written until `resolve` accepts it. The \
pattern is as in `ast_grep`; `rewrite` is the text to put in its place, with the pattern's `$NAME` \
and `$$$NAME`. Layout, indentation, separators and precedence are taken care of, and a rewrite that \
breaks the syntax is refused. Returns an edit_id and a diff. Look with `ast_grep` first when in doubt \
about the pattern. \
Example: {\"pattern\": \"dispose($X)\", \"rewrite\": \"$X.dispose()\", \"language\": \"dart\"}";

/// The tool `ast_edit`.
pub struct AstEdit {
    spec: ToolSpec,
    structural: Structural,
}

impl AstEdit {
    pub(super) fn new(structural: Structural) -> Self {
        let spec = ToolSpec::new("ast_edit", Tier::Write, DESCRIPTION)
            .parameters::<EditArgs>()
            .hint(
                "max_results",
                "an edit takes every match; narrow `path` instead",
            )
            .hint("replacement", "the text to put in is called `rewrite`")
            .hint("dry_run", "an edit is only staged; `resolve` writes it");
        Self { spec, structural }
    }

    /// Stages a change with these arguments.
    ///
    /// # Errors
    ///
    /// [`ToolError`], when the arguments do not fit or the change cannot be made.
    pub async fn stage(&self, args: EditArgs, context: &CallContext) -> Result<Output, ToolError> {
        let edits = edits(&args)?;
        let structural = self.structural.clone();
        let progress = super::progress(context);
        let output = thread::run(context, move |interrupted| {
            let shared = &structural.shared;
            let target = Target::resolve(&shared.root, args.path.as_deref())?;
            if args.language.is_none() && !target.is_file() {
                return Err(Error::NeedsLanguage);
            }
            let title = title(&edits);
            let stage = Stage {
                scope: shared.scope(target, args.language, args.context, &progress),
                workspace: shared.workspace()?,
                edits,
                allow_syntax_errors: args.allow_syntax_errors.unwrap_or(false),
            };
            let (change, proposal) = stage.run(interrupted)?;
            let replacements = proposal.files.iter().map(|file| file.replacements).sum();
            let change = Arc::new(change);
            let id = (!change.is_empty()).then(|| {
                shared.staged.add(Edit {
                    change: change.clone(),
                    replacements,
                    title,
                })
            });
            Ok(render::proposal(
                &shared.root,
                id.as_deref(),
                &change,
                &proposal,
            ))
        });
        output
            .await?
            .map_err(|error| tool_error(error, self.structural.workspace(), context))
    }
}

/// Pattern and template of each edit.
fn edits(args: &EditArgs) -> Result<Vec<(String, String)>, ToolError> {
    let both = || {
        ToolError::invalid_arguments(
            "give either `pattern` and `rewrite`, or `edits`, a list of {pattern, rewrite}",
        )
    };
    match (&args.pattern, &args.rewrite, &args.edits) {
        (Some(pattern), Some(rewrite), None) => Ok(vec![(pattern.clone(), rewrite.clone())]),
        (Some(_), None, None) => Err(ToolError::invalid_arguments(
            "`rewrite` is missing: the text to put in place of the pattern, empty to delete it",
        )),
        (None, None, Some(edits)) if edits.is_empty() => Err(ToolError::invalid_arguments(
            "`edits` is empty: give at least one {pattern, rewrite}",
        )),
        (None, None, Some(edits)) => Ok(edits
            .iter()
            .map(|edit| (edit.pattern.clone(), edit.rewrite.clone()))
            .collect()),
        _ => Err(both()),
    }
}

/// One line that says what the edits do.
fn title(edits: &[(String, String)]) -> String {
    let (pattern, rewrite) = &edits[0];
    let first = match rewrite.trim() {
        "" => format!("delete `{pattern}`"),
        rewrite => format!("`{pattern}` → `{rewrite}`"),
    };
    match edits.len() {
        1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}

#[async_trait]
impl Tool for AstEdit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let args = serde_json::from_value::<EditArgs>(arguments.clone()).unwrap_or_default();
        match edits(&args) {
            Ok(edits) => format!("stage (write nothing yet): {}", title(&edits)),
            Err(_) => "stage a rewrite".to_owned(),
        }
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        self.stage(self.spec.parse(arguments)?, context).await
    }
}
