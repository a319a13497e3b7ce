//! `resolve`: writes what `ast_edit` staged, or drops it.

use async_trait::async_trait;
use serde_json::{Value, json};
use terret_changeset::CommitErrorKind;
use terret_tiers::{CallContext, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE, bound};

use super::Structural;
use crate::args::{Action, ResolveArgs};
use crate::ops::resolve::{self, Failure};
use crate::staged::Unresolvable;
use crate::{render, thread};

const DESCRIPTION: &str = "\
Writes a change that `ast_edit` staged, or drops it. All files or none: if any of them is no longer \
as it was when the change was staged, nothing is written and the answer names the files; run \
`ast_edit` again then. Returns what was written. \
Example: {\"edit_id\": \"edit_1\", \"action\": \"accept\"}";

/// The tool `resolve`.
pub struct Resolve {
    spec: ToolSpec,
    structural: Structural,
}

impl Resolve {
    pub(super) fn new(structural: Structural) -> Self {
        let spec = ToolSpec::new("resolve", Tier::Write, DESCRIPTION)
            .parameters::<ResolveArgs>()
            .exclusive(WORKSPACE)
            .hint("id", "the id is called `edit_id`");
        Self { spec, structural }
    }

    /// Resolves a change with these arguments.
    ///
    /// # Errors
    ///
    /// [`ToolError`], when there is no such change or it cannot be written.
    ///
    /// # Cancellation
    ///
    /// Honoured until the first file is put in place; from then on the change lands or is undone.
    pub async fn resolve(
        &self,
        args: ResolveArgs,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let structural = self.structural.clone();
        let result = thread::run(context, move |interrupted| {
            let shared = &structural.shared;
            let resolved = match args.action {
                Action::Accept => resolve::accept(&shared.staged, &args.edit_id, interrupted),
                Action::Discard => resolve::discard(&shared.staged, &args.edit_id),
            };
            resolved
                .map(|resolved| render::resolved(&shared.root, &args.edit_id, &resolved))
                .map_err(|failure| (args.edit_id.clone(), failure))
        });
        result
            .await?
            .map_err(|(id, failure)| failed(&id, failure, context))
    }
}

fn failed(id: &str, failure: Failure, context: &CallContext) -> ToolError {
    match failure {
        Failure::Unresolvable(why) => unresolvable(id, &why),
        Failure::Commit(error) => match error.kind() {
            CommitErrorKind::Cancelled => context
                .interrupted()
                .unwrap_or_else(|| ToolError::cancelled("cancelled; nothing was written")),
            CommitErrorKind::Refused(differences) => {
                let files: Vec<Value> = differences
                    .iter()
                    .map(|difference| {
                        json!({
                            "path": difference.path(),
                            "reason": difference.reason().to_string(),
                        })
                    })
                    .collect();
                ToolError::refused(format!(
                    "{error}\n`{id}` stays open; run `ast_edit` again for a fresh change"
                ))
                .with_details(json!({ "edit_id": id, "files": files }))
            }
            CommitErrorKind::Locked { .. } => ToolError::refused(error.to_string()),
            _ => ToolError::failed(error.to_string()).with_details(json!({ "edit_id": id })),
        },
    }
}

fn unresolvable(id: &str, why: &Unresolvable) -> ToolError {
    let id = bound::line(&bound::sanitise(id), 80);
    match why {
        Unresolvable::Closed(state) => ToolError::refused(format!("`{id}` is {state}")),
        Unresolvable::Unknown { open } if open.is_empty() => ToolError::not_found(format!(
            "no change `{id}` is staged, and none is open; `ast_edit` stages one"
        )),
        Unresolvable::Unknown { open } => {
            let open: Vec<String> = open
                .iter()
                .map(|(id, title)| format!("{id} ({})", bound::line(title, 80)))
                .collect();
            ToolError::not_found(format!(
                "no change `{id}` is staged; open are: {}",
                open.join(", ")
            ))
        }
    }
}

#[async_trait]
impl Tool for Resolve {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let id = arguments["edit_id"].as_str().unwrap_or_default();
        let accepts = arguments["action"] == "accept";
        match self.structural.shared.staged.get(id) {
            Ok(edit) if accepts => format!(
                "write {id} to {} files: {}",
                bound::thousands(edit.change.files().len()),
                edit.title
            ),
            Ok(edit) => format!("drop {id}: {}", edit.title),
            Err(_) => format!("resolve {id}"),
        }
    }

    async fn recheck(&self, arguments: &Value, _: &CallContext) -> Result<(), ToolError> {
        let id = arguments["edit_id"].as_str().unwrap_or_default();
        match self.structural.shared.staged.get(id) {
            Ok(_) => Ok(()),
            Err(why) => Err(unresolvable(id, &why)),
        }
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        self.resolve(self.spec.parse(arguments)?, context).await
    }
}
