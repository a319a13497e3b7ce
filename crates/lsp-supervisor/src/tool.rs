//! The tools.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use terret_changeset::Workspace;
use terret_tiers::{
    CallContext, ErrorKind as ToolErrorKind, Output, Tier, Tool, ToolError, ToolSpec, WORKSPACE,
    bound, paths,
};

use crate::args::{LspArgs, RenameArgs};
use crate::checks::{Checked, Unchecked};
use crate::error::{Error, ErrorKind};
use crate::ops::rename::Unrenamed;
use crate::ops::{Context, Op, OpError};
use crate::render;
use crate::supervisor::Supervisor;

const DESCRIPTION: &str = "\
Asks the language server of a file about code, with types and across files. Where a symbol is declared or used, \
what its type is, what implements it, its documentation, which fixes are offered for it, what is wrong with a file \
(or with the whole project, by its own checkers: `diagnostics` of `*`), the symbols of a file or of the workspace. \
Use it where names mislead a text search. A symbol is named by `file`, `line` and `symbol`, the identifier as that \
line spells it. Returns `path:line: text` for each place. \
Example: {\"action\": \"references\", \"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\"}";

/// The tool `lsp`.
pub struct Lsp {
    spec: ToolSpec,
    supervisor: Supervisor,
}

impl Lsp {
    fn new(supervisor: Supervisor) -> Self {
        let spec = ToolSpec::new("lsp", Tier::Read, DESCRIPTION)
            .parameters::<LspArgs>()
            .hint("column", "say which symbol with `line` and `symbol`")
            .hint("character", "say which symbol with `line` and `symbol`")
            .hint("path", "the file is called `file`");
        Self { spec, supervisor }
    }

    /// Does it again where the server has died over it: nothing is changed by a question, and a server may well have been
    /// dead already.
    async fn run(&self, op: Op, context: &Context<'_>) -> Result<Output, OpError> {
        let result = match self.once(op.clone(), context).await {
            Err(error) if error.is_end() => self.once(op, context).await,
            result => result,
        };
        match result {
            Err(error) => Err(error.explained(&self.supervisor).await),
            result => result,
        }
    }

    async fn once(&self, op: Op, context: &Context<'_>) -> Result<Output, OpError> {
        let workspace = self.supervisor.workspace();
        Ok(match op {
            Op::Ask { question, target } => {
                render::answer(workspace, &context.ask(question, target).await?)
            }
            Op::Actions { target } => render::actions(&context.actions(&target).await?),
            Op::Diagnostics { file } => {
                render::diagnostics(workspace, &context.diagnostics(&file).await?)
            }
            Op::Check => render::checks(workspace, &context.checks().await?),
            Op::DocumentSymbols { file } => {
                render::symbols(workspace, &context.document_symbols(&file).await?)
            }
            Op::WorkspaceSymbols { file, query } => {
                let found = context.workspace_symbols(file.as_deref(), &query).await?;
                render::symbols(workspace, &found)
            }
            Op::Status { file } => {
                render::status(workspace, &context.status(file.as_deref()).await)
            }
            Op::Reload { file } => {
                let ended = context.reload(file.as_deref()).await?;
                Output::text(format!(
                    "{ended} ended; a server starts again when it is needed"
                ))
            }
        })
    }
}

#[async_trait]
impl Tool for Lsp {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let args: LspArgs = self.spec.parse(arguments)?;
        let op = args.op(self.supervisor.workspace())?;
        let progress = |message: &str| context.progress(message);
        let work = Context {
            supervisor: &self.supervisor,
            progress: &progress,
        };
        tokio::select! {
            biased;
            error = interrupted(context) => Err(error),
            result = self.run(op, &work) => {
                result.map_err(|error| tool_error(error, &self.supervisor))
            }
        }
    }
}

const RENAME: &str = "\
Renames a symbol everywhere by the language server of its file. Uses in other files, imports and modules are included, and \
nothing that is only spelled alike is. All of it is written, or nothing. The symbol is named by `file`, `line` and \
`symbol`, the identifier as that line spells it. \
Example: {\"file\": \"src/cart.rs\", \"line\": 12, \"symbol\": \"total\", \"new_name\": \"sum\"}";

/// The tool `lsp_rename`: one of its own, since its tier is another.
pub struct LspRename {
    spec: ToolSpec,
    supervisor: Supervisor,
}

impl LspRename {
    fn new(supervisor: Supervisor) -> Self {
        let spec = ToolSpec::new("lsp_rename", Tier::Write, RENAME)
            .parameters::<RenameArgs>()
            .exclusive(WORKSPACE)
            .hint("column", "say which symbol with `line` and `symbol`")
            .hint("path", "the file is called `file`")
            .hint("name", "what to call it is `new_name`");
        Self { spec, supervisor }
    }
}

#[async_trait]
impl Tool for LspRename {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn summary(&self, arguments: &Value) -> String {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        format!(
            "rename `{}` of {} to `{}`",
            text("symbol"),
            text("file"),
            text("new_name")
        )
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let args: RenameArgs = self.spec.parse(arguments)?;
        let root = self.supervisor.workspace();
        let target = args.target(root)?;
        let progress = |message: &str| context.progress(message);
        let work = Context {
            supervisor: &self.supervisor,
            progress: &progress,
        };
        let cancelled = || context.interrupted().is_some();
        let workspace = || Workspace::open(root);
        let limit = || self.supervisor.write_limit(context);
        let renamed = async {
            let once = || {
                let target = target.clone();
                work.rename(target, &args.new_name, &workspace, &cancelled, &limit)
            };
            let result = match once().await {
                // Nothing has been changed by then, and the server may well have been dead already.
                Err(Unrenamed::Op(error)) if error.is_end() => once().await,
                result => result,
            };
            match result {
                Err(Unrenamed::Op(error)) => {
                    Err(Unrenamed::Op(error.explained(&self.supervisor).await))
                }
                result => result,
            }
        };
        tokio::select! {
            biased;
            error = interrupted(context) => Err(error),
            result = renamed => match result {
                Ok(renamed) => Ok(render::renamed(root, renamed)),
                Err(error) => Err(rename_error(error, &self.supervisor)),
            },
        }
    }
}

fn rename_error(error: Unrenamed, supervisor: &Supervisor) -> ToolError {
    match error {
        Unrenamed::Op(error) => tool_error(error, supervisor),
        Unrenamed::Name(why) => ToolError::invalid_arguments(why),
        Unrenamed::Server { server, why } => ToolError::refused(format!("{server}: {why}")),
        Unrenamed::Edit { server, why } => {
            ToolError::refused(format!("what {server} wants changed is refused: {why}"))
        }
        Unrenamed::Workspace(error) => ToolError::failed(format!("the workspace: {error}")),
        Unrenamed::Commit(error) => ToolError::failed(error.to_string()),
    }
}

/// Ready when the call is to end.
async fn interrupted(context: &CallContext) -> ToolError {
    let late = async {
        match context.remaining() {
            Some(left) => tokio::time::sleep(left).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = context.cancel().cancelled() => {}
        () = late => {}
    }
    let late = ToolError::timed_out("the deadline of the call has passed");
    context.interrupted().unwrap_or(late)
}

impl Supervisor {
    /// The tools, in the order in which they are listed.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(Lsp::new(self.clone())),
            Arc::new(LspRename::new(self.clone())),
        ]
    }
}

fn unchecked_error(unchecked: &Unchecked, supervisor: &Supervisor) -> (ToolErrorKind, String) {
    let each = |checked: &[Checked]| {
        let each = checked.iter();
        let lines: String = each
            .map(|checked| render::checked(supervisor.workspace(), checked))
            .collect();
        lines.trim_end().to_owned()
    };
    match unchecked {
        Unchecked::Untrusted(why) => (ToolErrorKind::Refused, why.clone()),
        Unchecked::NoProject { markers } => {
            let markers = markers.join(", ");
            let message = format!(
                "no project that a checker is known for: neither in the working directory nor up to 3 folders below it is \
                 any of {markers}"
            );
            (ToolErrorKind::NotFound, message)
        }
        Unchecked::Missing(checked) => (ToolErrorKind::Unavailable, each(checked)),
        Unchecked::Failed(checked) => (
            ToolErrorKind::Failed,
            format!("the project was not checked\n{}", each(checked)),
        ),
    }
}

fn tool_error(error: OpError, supervisor: &Supervisor) -> ToolError {
    let show = |path: &std::path::Path| paths::show(supervisor.workspace(), path);
    let (kind, message) = match error {
        OpError::Place { file, why } => {
            let kind = match why {
                crate::address::Unaddressed::Ambiguous { .. } => ToolErrorKind::Ambiguous,
                _ => ToolErrorKind::NotFound,
            };
            (kind, format!("{}: {why}", show(&file)))
        }
        OpError::NoServer { file, reasons } => {
            let mut message = format!("no language server can answer for {}", show(&file));
            if reasons.is_empty() {
                message += ": none is known for such a file";
            }
            for (name, why) in reasons {
                message += &format!("\n  {name}: {why}");
            }
            (ToolErrorKind::Unavailable, message)
        }
        OpError::Check(unchecked) => unchecked_error(&unchecked, supervisor),
        OpError::Server(errors) => {
            let kind = match errors.first().map(Error::kind) {
                Some(ErrorKind::File { .. } | ErrorKind::NoText { .. }) => ToolErrorKind::NotFound,
                Some(ErrorKind::TimedOut { .. }) => ToolErrorKind::TimedOut,
                Some(ErrorKind::NotStarted { .. } | ErrorKind::Unsupported { .. }) => {
                    ToolErrorKind::Unavailable
                }
                _ => ToolErrorKind::Failed,
            };
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            (kind, lines.join("\n"))
        }
    };
    ToolError::new(kind, bound::sanitise(&message))
}
