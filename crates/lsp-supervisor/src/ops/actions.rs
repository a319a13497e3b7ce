//! The quick fixes and refactorings that servers offer at a symbol. None is applied.

use serde_json::{Value, json};

use super::{ANSWER, Context, OpError, READY, Target};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::position::{Position, Range};
use crate::supervisor::Choice;

const METHOD: &str = "textDocument/codeAction";

/// What is offered at a symbol.
#[derive(Debug)]
pub(crate) struct Actions {
    /// The symbol, as it is spelled.
    pub(crate) symbol: String,
    pub(crate) found: Vec<Action>,
    /// Who was asked.
    pub(crate) servers: Vec<String>,
    /// What one of them was still at, so that something may be missing.
    pub(crate) at_work: Option<String>,
    /// What went wrong with others.
    pub(crate) errors: Vec<Error>,
}

/// Something that a server offers to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) title: String,
    /// `quickfix`, `refactor.extract`; absent where the server does not tell.
    pub(crate) kind: Option<String>,
    /// The server takes it for the one that is meant most often.
    pub(crate) preferred: bool,
    /// Why it cannot be done here, if it cannot.
    pub(crate) disabled: Option<String>,
}

impl Action {
    fn read(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            title: text(&value["title"])?,
            kind: text(&value["kind"]).filter(|kind| !kind.is_empty()),
            preferred: value["isPreferred"] == true,
            disabled: text(&value["disabled"]["reason"]),
        })
    }
}

impl Context<'_> {
    /// What all servers of a file, linters included, offer to do at a symbol.
    pub(crate) async fn actions(&self, target: &Target) -> Result<Actions, OpError> {
        target.check().await?;
        let mut actions = Actions {
            symbol: String::new(),
            found: Vec::new(),
            servers: Vec::new(),
            at_work: None,
            errors: Vec::new(),
        };
        for choice in self.usable(&target.file).await? {
            match self.actions_of(&choice, target, &mut actions).await {
                Ok(()) => {}
                Err(OpError::Server(errors)) => actions.errors.extend(errors),
                Err(other) => return Err(other),
            }
        }
        if actions.servers.is_empty() {
            return Err(OpError::Server(actions.errors));
        }
        // The fixes of what is wrong first, and of those the one that is meant most often.
        let is_fix = |action: &Action| {
            let kind = action.kind.as_deref().unwrap_or_default();
            kind.starts_with("quickfix")
        };
        actions.found.sort_by_key(|action| {
            (
                action.disabled.is_some(),
                !is_fix(action),
                !action.preferred,
            )
        });
        Ok(actions)
    }

    async fn actions_of(
        &self,
        choice: &Choice,
        target: &Target,
        actions: &mut Actions,
    ) -> Result<(), OpError> {
        let server = self.supervisor.server(choice).await?;
        let client = server.client();
        let _ = client.open(&target.file).await;
        let ready = client.ready(READY, self.progress).await;
        if !client.offers(METHOD) {
            return Err(client.unsupported(METHOD).into());
        }
        let open = client.open(&target.file).await?;
        client.refresh().await?;
        let place = target.find(&open.text)?;
        let at = |byte: usize| open.text.position(byte, client.encoding());
        let range = Range {
            start: at(place.identifier.start),
            end: at(place.identifier.end),
        };
        // A fix is offered for what the server is told to be wrong.
        let said = client.diagnose(&target.file, &open, ANSWER).await?;
        let wrong = said.items.iter().filter(|item| touches(item, range));
        let params = json!({
            "textDocument": { "uri": open.uri },
            "range": { "start": range.start, "end": range.end },
            "context": {
                "diagnostics": wrong.map(Diagnostic::to_lsp).collect::<Vec<_>>(),
                "triggerKind": 1,
            },
        });
        let answer = client.ask(METHOD, &params, ANSWER).await?;
        let found = answer.as_array().into_iter().flatten();
        actions.found.extend(found.filter_map(Action::read));
        actions.symbol = open.text.as_str()[place.identifier].to_owned();
        actions.servers.push(client.name().to_owned());
        if !ready {
            actions.at_work = actions.at_work.take().or_else(|| client.task());
        }
        Ok(())
    }
}

/// Whether a diagnostic is about some of a range.
fn touches(item: &Diagnostic, range: Range) -> bool {
    let key = |position: Position| (position.line, position.character);
    key(item.range.start) <= key(range.end) && key(range.start) <= key(item.range.end)
}
