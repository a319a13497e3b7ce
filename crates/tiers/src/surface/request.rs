//! What comes with a call besides its name and arguments.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::ancestry::Link;
use crate::context::Caller;
use crate::progress::ProgressSink;
use crate::tier::Tier;

/// What comes with a call besides its name and arguments: ids, when to stop, where progress goes.
///
/// ```
/// use std::time::{Duration, Instant};
/// use terret_tiers::{CancellationToken, Request};
///
/// let turn = CancellationToken::new();
/// let request = Request::new("call-7")
///     .with_conversation("main")
///     .with_cancel(turn.child_token())
///     .with_deadline(Instant::now() + Duration::from_secs(120));
/// assert_eq!(request.call(), "call-7");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Request {
    call: String,
    conversation: Option<String>,
    cancel: CancellationToken,
    deadline: Option<Instant>,
    progress: ProgressSink,
    caller: Option<Arc<dyn Caller>>,
    cap: Option<Tier>,
    parent: Option<Arc<Link>>,
}

impl Request {
    /// A request of the host's, for a call with this id: no conversation, no deadline, no progress.
    pub fn new(call: impl Into<String>) -> Request {
        Request {
            call: call.into(),
            conversation: None,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: ProgressSink::none(),
            caller: None,
            cap: None,
            parent: None,
        }
    }

    /// The same, in the conversation that a person sees.
    pub fn with_conversation(mut self, id: impl Into<String>) -> Request {
        self.conversation = Some(id.into());
        self
    }

    /// The same, stopped by this token. The call gets a child of it.
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Request {
        self.cancel = cancel;
        self
    }

    /// The same, to be given up at `deadline`.
    ///
    /// A host whose deadline guards against hangs gives none to tools that
    /// [wait](crate::ToolSpec::waits) for a human or a worker.
    pub fn with_deadline(mut self, deadline: Instant) -> Request {
        self.deadline = Some(deadline);
        self
    }

    /// The same, with progress messages going to `sink`.
    pub fn with_progress(mut self, sink: ProgressSink) -> Request {
        self.progress = sink;
        self
    }

    /// The same, with calls from within this one going through `caller` instead of the surface.
    pub fn with_caller(mut self, caller: Arc<dyn Caller>) -> Request {
        self.caller = Some(caller);
        self
    }

    /// The same, under `cap`, or under its own if that is lower.
    pub fn with_cap(mut self, cap: Tier) -> Request {
        self.cap = Some(self.cap.map_or(cap, |own| own.min(cap)));
        self
    }

    pub(crate) fn within(mut self, parent: Arc<Link>) -> Request {
        self.parent = Some(parent);
        self
    }

    /// The id of the call.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The id of the conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// What stops the call.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// When the call is to give up.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Where progress messages go.
    pub fn progress(&self) -> &ProgressSink {
        &self.progress
    }

    /// What calls from within go through, if not the surface.
    pub fn caller(&self) -> Option<&Arc<dyn Caller>> {
        self.caller.as_ref()
    }

    /// The highest tier that the call may reach: set for nested calls, which a [`Caller`] must keep
    /// to it.
    pub fn cap(&self) -> Option<Tier> {
        self.cap
    }

    /// The name of the tool from within which the call is made, if it is nested.
    pub fn from_tool(&self) -> Option<&str> {
        self.parent.as_deref().map(Link::tool)
    }

    pub(crate) fn parent(&self) -> Option<&Arc<Link>> {
        self.parent.as_ref()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("call", &self.call)
            .field("conversation", &self.conversation)
            .field("deadline", &self.deadline)
            .field("cap", &self.cap)
            .field("from_tool", &self.from_tool())
            .finish_non_exhaustive()
    }
}
