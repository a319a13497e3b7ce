//! The approval gate: who is asked before a call of a powerful tool.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bound;
use crate::error::ToolError;
use crate::tier::Tier;

/// Longest summary that a gate is given, in characters.
const SUMMARY_CHARACTERS: usize = 300;

/// The port that is asked before a call of a tool at or above a tier.
///
/// Whoever has nobody behind it answers [`Decision::Deny`] at once instead of waiting for somebody
/// to come.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Asks whether this call may be made.
    ///
    /// Two calls in flight are two questions, and the answer to one settles no other: each was
    /// shown with its own arguments. A gate that remembers an answer for later keys it on more than
    /// the tool's name, which another tool may take over.
    ///
    /// # Cancellation
    ///
    /// When `cancel` fires or the future is dropped, the question is withdrawn. The asker does not
    /// wait for the gate to notice.
    async fn ask(&self, request: &GateRequest, cancel: &CancellationToken) -> Decision;
}

/// The answer of a [`Gate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This call may be made.
    Allow,
    /// It may not; the model is told the reason.
    Deny {
        /// Why, in the words of whoever decided.
        reason: String,
    },
    /// Nobody decided in time. Not a denial, and told apart from one, but no permission either.
    NoResponse,
}

impl Decision {
    /// A [`Decision::Deny`].
    pub fn deny(reason: impl Into<String>) -> Decision {
        Decision::Deny {
            reason: reason.into(),
        }
    }
}

/// Who wants a call to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The model of the run, directly.
    #[default]
    Run,
    /// A tool, from within its own call: a cell, say.
    Nested {
        /// The name of that tool.
        tool: String,
    },
    /// A worker of the run.
    Worker {
        /// The worker's id.
        id: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Run => f.write_str("the run"),
            Origin::Nested { tool } => write!(f, "`{tool}`"),
            Origin::Worker { id } => write!(f, "worker {id}"),
        }
    }
}

/// What a [`Gate`] is asked about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateRequest {
    /// The name of the tool.
    pub tool: String,
    /// Its tier.
    pub tier: Tier,
    /// The arguments, whole: exactly what runs if the answer is yes.
    /// [`preview`](GateRequest::preview) is for showing.
    pub arguments: Value,
    /// One harmless, bounded line that says what the call would do.
    pub summary: String,
    /// Who wants it.
    pub origin: Origin,
    /// The id of the call; empty if it has none.
    pub call: String,
    /// The id of the run; empty if not known.
    pub run: String,
    /// The conversation in which to ask.
    pub conversation: Option<String>,
}

impl GateRequest {
    /// A request of the run itself, whose summary is the bounded arguments.
    pub fn new(tool: impl Into<String>, tier: Tier, arguments: Value) -> GateRequest {
        let tool = tool.into();
        let summary = format!("{tool} {arguments}");
        GateRequest::bare(tool, tier, arguments).with_summary(&summary)
    }

    /// A request without a summary: writing out the arguments is not free, and a tool has a better
    /// one.
    pub(crate) fn bare(tool: impl Into<String>, tier: Tier, arguments: Value) -> GateRequest {
        GateRequest {
            tool: tool.into(),
            tier,
            arguments,
            summary: String::new(),
            origin: Origin::Run,
            call: String::new(),
            run: String::new(),
            conversation: None,
        }
    }

    /// The same with another summary, made harmless and bounded.
    #[must_use]
    pub fn with_summary(mut self, summary: &str) -> GateRequest {
        self.summary = bound::line(&bound::sanitise(summary), SUMMARY_CHARACTERS);
        self
    }

    /// The same, wanted by someone else than the run.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> GateRequest {
        self.origin = origin;
        self
    }

    /// The same with the ids of call and run.
    #[must_use]
    pub fn with_ids(mut self, call: impl Into<String>, run: impl Into<String>) -> GateRequest {
        self.call = call.into();
        self.run = run.into();
        self
    }

    /// The same, to be asked in this conversation.
    #[must_use]
    pub fn with_conversation(mut self, conversation: Option<String>) -> GateRequest {
        self.conversation = conversation;
        self
    }

    /// The arguments as indented JSON in at most `bounds`, head and tail kept, harmless on a
    /// terminal.
    ///
    /// For showing only. A two-megabyte write is as unreadable as it is whole; what was cut is
    /// said.
    pub fn preview(&self, bounds: bound::Bounds) -> String {
        // JSON escapes C0 controls but no others: direction overrides can still repaint a line.
        let json = format!("{:#}", self.arguments);
        bound::head_tail(&bound::sanitise(&json), bounds).text
    }
}

/// A gate, the tier from which it is asked, and the cap above which nobody is: one policy, applied
/// in one place.
///
/// Part of every [`Surface`](crate::Surface), and what a tool takes from its
/// [`CallContext`](crate::CallContext::approval) to decide what is done on its behalf. Cheap to
/// clone.
#[derive(Clone)]
pub struct Approval {
    gate: Option<Arc<dyn Gate>>,
    from: Tier,
    cap: Tier,
}

impl Approval {
    /// No gate: what would need one, from [`Tier::Write`] upwards, is refused.
    pub fn none(cap: Tier) -> Approval {
        Approval {
            gate: None,
            from: Tier::Write,
            cap,
        }
    }

    /// `gate` is asked about tools at or above `from`; those above `cap` are refused without
    /// asking.
    pub fn new(gate: Arc<dyn Gate>, from: Tier, cap: Tier) -> Approval {
        Approval {
            gate: Some(gate),
            from,
            cap,
        }
    }

    /// The highest tier that is ever allowed.
    pub fn cap(&self) -> Tier {
        self.cap
    }

    /// The tier from which the gate is asked.
    pub fn asks_from(&self) -> Tier {
        self.from
    }

    /// The same under a cap that is at most this one's.
    #[must_use]
    pub fn capped(&self, cap: Tier) -> Approval {
        self.recapped(self.cap.min(cap))
    }

    pub(crate) fn recapped(&self, cap: Tier) -> Approval {
        Approval {
            cap,
            ..self.clone()
        }
    }

    pub(crate) fn with_gate(&self, gate: Arc<dyn Gate>) -> Approval {
        Approval {
            gate: Some(gate),
            ..self.clone()
        }
    }

    pub(crate) fn asking_from(&self, from: Tier) -> Approval {
        Approval {
            from,
            ..self.clone()
        }
    }

    /// Whether the gate has to be asked about a tool of this tier.
    pub(crate) fn asks(&self, tier: Tier) -> bool {
        tier >= self.from
    }

    /// Decides about one call: `Ok` if it may be made.
    ///
    /// # Cancellation
    ///
    /// Ends when `cancel` fires, whatever the gate does; dropping the future withdraws the
    /// question.
    ///
    /// # Errors
    ///
    /// [`Refused`](crate::ErrorKind::Refused) for a tier above the cap, a denial, no response, no
    /// gate, or a gate that panics; `details.decision` tells them apart (`above_cap`, `deny`,
    /// `no_response`, `no_gate`, `gate_failed`). [`Cancelled`](crate::ErrorKind::Cancelled) if the
    /// token fired first.
    pub async fn decide(
        &self,
        request: &GateRequest,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        if request.tier > self.cap {
            return Err(refusal(
                "above_cap",
                format!("this run may use tools up to tier `{}` only", self.cap),
                request,
            ));
        }
        if !self.asks(request.tier) {
            return Ok(());
        }
        let Some(gate) = &self.gate else {
            let message = "it needs approval and there is nobody to give it".to_owned();
            return Err(refusal("no_gate", message, request));
        };
        let asked = AssertUnwindSafe(gate.ask(request, cancel)).catch_unwind();
        let decision = cancel.run_until_cancelled(asked).await;
        if decision.is_none() || cancel.is_cancelled() {
            return Err(ToolError::cancelled(
                "cancelled while waiting for approval; nothing was done",
            ));
        }
        match decision {
            Some(Ok(Decision::Allow)) => Ok(()),
            Some(Ok(Decision::Deny { reason })) => {
                let reason = bound::sanitise(&reason).trim().to_owned();
                let said = if reason.is_empty() {
                    "approval was denied".to_owned()
                } else {
                    format!("denied: {reason}")
                };
                let mut error = refusal("deny", said, request);
                error.details["reason"] = reason.into();
                Err(error)
            }
            Some(Ok(Decision::NoResponse)) => {
                let message =
                    "nobody answered the request for approval, which is neither a yes nor a no"
                        .to_owned();
                Err(refusal("no_response", message, request))
            }
            Some(Err(_)) | None => Err(refusal(
                "gate_failed",
                "asking for approval failed".to_owned(),
                request,
            )),
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("gate", &self.gate.is_some())
            .field("from", &self.from)
            .field("cap", &self.cap)
            .finish()
    }
}

fn refusal(decision: &str, why: String, request: &GateRequest) -> ToolError {
    let GateRequest { tool, tier, .. } = request;
    ToolError::refused(format!(
        "`{tool}` was not run: {why}. Do not try the same call again; go on without it, or \
         say what you would need it for"
    ))
    .with_details(json!({ "decision": decision, "tool": tool, "tier": tier }))
}

/// Allows tools up to a tier and denies those above it, asking nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowUpTo(pub Tier);

#[async_trait]
impl Gate for AllowUpTo {
    async fn ask(&self, request: &GateRequest, _cancel: &CancellationToken) -> Decision {
        if request.tier <= self.0 {
            return Decision::Allow;
        }
        Decision::deny(format!(
            "only tools up to tier `{}` are allowed here, and this one is `{}`",
            self.0, request.tier
        ))
    }
}

/// Denies everything that it is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DenyAll;

#[async_trait]
impl Gate for DenyAll {
    async fn ask(&self, _request: &GateRequest, _cancel: &CancellationToken) -> Decision {
        Decision::deny("nothing that needs approval is allowed here")
    }
}

#[cfg(test)]
mod tests;
