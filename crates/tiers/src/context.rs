//! What a tool is told about the call that it serves.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ancestry::{Link, MAX_DEPTH};
use crate::error::ToolError;
use crate::gate::Approval;
use crate::keys::{Lease, WeakLease};
use crate::output::Output;
use crate::progress::ProgressSink;
use crate::surface::Request;
use crate::tier::Tier;

/// The call that a tool serves: who it is, when to stop, whom to tell, what else may be called.
///
/// Cheap to clone; a clone is the same call. A clone that outlives the call does no harm: it holds
/// no key, and calls through [`tools`](CallContext::tools) are refused once the call is over.
#[derive(Clone)]
pub struct CallContext {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) call: String,
    pub(crate) run: String,
    pub(crate) conversation: Option<String>,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    pub(crate) progress: ProgressSink,
    pub(crate) caller: Option<Arc<dyn Caller>>,
    /// Whether `caller` is one of the host's own, to be handed on to nested calls.
    pub(crate) own_caller: bool,
    pub(crate) approval: Approval,
    pub(crate) link: Arc<Link>,
    pub(crate) lease: WeakLease,
    pub(crate) nested: AtomicU32,
    pub(crate) over: AtomicBool,
}

impl CallContext {
    pub(crate) fn from_inner(inner: Inner) -> CallContext {
        CallContext {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn finish(&self) {
        self.inner.over.store(true, Ordering::Release);
    }

    /// A context for calling a tool without a surface: `CallContext::builder().run("r").build()`.
    pub fn builder() -> ContextBuilder {
        ContextBuilder {
            call: "call".to_owned(),
            run: "run".to_owned(),
            conversation: None,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: ProgressSink::none(),
            caller: None,
            approval: Approval::none(Tier::Read),
        }
    }

    /// A context of nothing but defaults: no conversation, no deadline, no progress, no other
    /// tools, no lease, and the lowest cap.
    pub fn detached() -> CallContext {
        CallContext::builder().build()
    }

    /// The host's id of this call. A nested call's id is that of its parent, a dot, and a number.
    pub fn call(&self) -> &str {
        &self.inner.call
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.inner.run
    }

    /// The id of the conversation that a person sees, if there is one. Nested calls have that of
    /// their parent.
    pub fn conversation(&self) -> Option<&str> {
        self.inner.conversation.as_deref()
    }

    /// Fires when the call is to stop. It is this call's own: firing it stops this call and those
    /// within it.
    pub fn cancel(&self) -> &CancellationToken {
        &self.inner.cancel
    }

    /// When the call is to give up. This crate has no clock to enforce it with: the tool does.
    pub fn deadline(&self) -> Option<Instant> {
        self.inner.deadline
    }

    /// What is left until the deadline, zero if it has passed; `None` without one.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether to stop now, for loops that don't await: the error to return if the token has fired
    /// or the deadline has passed.
    ///
    /// ```
    /// # use terret_tiers::{CallContext, ToolError};
    /// fn search(context: &CallContext) -> Result<(), ToolError> {
    ///     for _file in ["a", "b"] {
    ///         if let Some(error) = context.interrupted() {
    ///             return Err(error);
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// # assert!(search(&CallContext::detached()).is_ok());
    /// ```
    pub fn interrupted(&self) -> Option<ToolError> {
        interrupted(self.cancel(), self.deadline())
    }

    /// Tells the host what is going on. Bounded and lossy: never blocks, keeps the latest.
    pub fn progress(&self, message: impl AsRef<str>) {
        self.inner.progress.send(&self.inner.call, message.as_ref());
    }

    /// The handle for calling the harness's other tools, under the cap of this call's surface.
    pub fn tools(&self) -> Tools {
        Tools {
            context: self.clone(),
        }
    }

    /// The highest tier that this call may reach, directly or through others.
    ///
    /// What a call starts (a worker, say) gets no more than this. Without a surface it is
    /// [`Tier::Read`] unless the builder says otherwise.
    pub fn cap(&self) -> Tier {
        self.inner.approval.cap()
    }

    /// The gate of this call's surface under its cap, for what a tool does on behalf of others: the
    /// permission requests of a worker are decided by it.
    pub fn approval(&self) -> &Approval {
        &self.inner.approval
    }

    /// A guard of the exclusive key that this call holds: `None` if the tool is shared, or the call
    /// over.
    ///
    /// A tool takes it at the beginning of its call and moves it into work that outlives its
    /// future, so that the key is free only when the resource is quiet.
    pub fn lease(&self) -> Option<Lease> {
        self.inner.lease.upgrade()
    }

    /// The request for a call from within this one: it has this call's conversation, token (as a
    /// child), deadline, progress and cap, and an id of its own.
    ///
    /// [`Tools::call`] makes it by itself; a harness uses it where it dispatches a nested call by
    /// its own means.
    pub fn nested(&self) -> Request {
        let inner = &self.inner;
        let number = inner.nested.fetch_add(1, Ordering::Relaxed) + 1;
        let mut request = Request::new(format!("{}.{number}", inner.call))
            .with_cancel(inner.cancel.child_token())
            .with_progress(inner.progress.clone())
            .with_cap(self.cap())
            .within(inner.link.clone());
        if let Some(conversation) = &inner.conversation {
            request = request.with_conversation(conversation);
        }
        if let Some(deadline) = inner.deadline {
            request = request.with_deadline(deadline);
        }
        if let (true, Some(caller)) = (inner.own_caller, &inner.caller) {
            request = request.with_caller(caller.clone());
        }
        request
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("call", &self.inner.call)
            .field("run", &self.inner.run)
            .field("conversation", &self.inner.conversation)
            .field("deadline", &self.inner.deadline)
            .finish_non_exhaustive()
    }
}

pub(crate) fn interrupted(
    cancel: &CancellationToken,
    deadline: Option<Instant>,
) -> Option<ToolError> {
    if cancel.is_cancelled() {
        return Some(ToolError::cancelled("the call was cancelled"));
    }
    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return Some(ToolError::timed_out("the deadline of the call has passed"));
    }
    None
}

/// Makes a [`CallContext`] without a surface; see [`CallContext::builder`].
#[must_use]
pub struct ContextBuilder {
    call: String,
    run: String,
    conversation: Option<String>,
    cancel: CancellationToken,
    deadline: Option<Instant>,
    progress: ProgressSink,
    caller: Option<Arc<dyn Caller>>,
    approval: Approval,
}

impl ContextBuilder {
    /// The id of the call; `call` if not said.
    pub fn call(mut self, id: impl Into<String>) -> Self {
        self.call = id.into();
        self
    }

    /// The id of the run; `run` if not said.
    pub fn run(mut self, id: impl Into<String>) -> Self {
        self.run = id.into();
        self
    }

    /// The conversation that a person sees.
    pub fn conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// What stops the call.
    pub fn cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// When the call is to give up.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Where progress messages go.
    pub fn progress(mut self, progress: ProgressSink) -> Self {
        self.progress = progress;
        self
    }

    /// What nested calls go through.
    pub fn caller(mut self, caller: Arc<dyn Caller>) -> Self {
        self.caller = Some(caller);
        self
    }

    /// The highest tier that the call may reach; [`Tier::Read`] if not said.
    pub fn cap(mut self, cap: Tier) -> Self {
        self.approval = self.approval.recapped(cap);
        self
    }

    /// The gate for what the tool does on behalf of others; none if not said. It brings its own
    /// cap.
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    /// The context.
    pub fn build(self) -> CallContext {
        CallContext::from_inner(Inner {
            link: Link::new(&self.call, None),
            call: self.call,
            run: self.run,
            conversation: self.conversation,
            cancel: self.cancel,
            deadline: self.deadline,
            progress: self.progress,
            own_caller: self.caller.is_some(),
            caller: self.caller,
            approval: self.approval,
            lease: WeakLease::default(),
            nested: AtomicU32::new(0),
            over: AtomicBool::new(false),
        })
    }
}

/// The port through which a tool calls the harness's other tools.
///
/// Ready-made is the [`Surface`](crate::Surface). A harness with a registry of its own implements
/// it over that and gives it to the [`Request`], and must then itself keep to [`Request::cap`]: a
/// tool above it is answered like one that never existed.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Calls the tool `name`. `request` says from where, on whose behalf, until when, and up to
    /// which tier.
    ///
    /// # Errors
    ///
    /// Whatever the call gives; [`NotFound`](crate::ErrorKind::NotFound) for a name that is not on
    /// the surface.
    async fn call(
        &self,
        name: &str,
        arguments: Value,
        request: Request,
    ) -> Result<Output, ToolError>;
}

/// The harness's other tools, as one call sees them; see [`CallContext::tools`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools {
    context: CallContext,
}

impl Tools {
    /// Whether there is anything to call through.
    pub fn is_wired(&self) -> bool {
        self.context.inner.caller.is_some()
    }

    /// Calls another tool from within this call.
    ///
    /// The same dispatch as for a call that the model makes: cap, validation, gate, keys and
    /// wrappers apply. Calls may be made in parallel.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the nested call; cancelling the outer call cancels it too.
    ///
    /// # Errors
    ///
    /// Those of the tool; [`Unavailable`](crate::ErrorKind::Unavailable) if nothing is wired;
    /// [`Cancelled`](crate::ErrorKind::Cancelled) if the outer call is over;
    /// [`Refused`](crate::ErrorKind::Refused) for a key that an ancestor holds and for calls nested
    /// too deep.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Output, ToolError> {
        let inner = &self.context.inner;
        let Some(caller) = &inner.caller else {
            return Err(ToolError::unavailable(
                "no other tools can be called from here: go on without them",
            ));
        };
        if inner.over.load(Ordering::Acquire) {
            return Err(ToolError::cancelled(
                "the call that this one was made from is over; nothing was done",
            ));
        }
        if let Some(error) = self.context.interrupted() {
            return Err(error);
        }
        if inner.link.depth() + 1 >= MAX_DEPTH {
            return Err(ToolError::refused(format!(
                "calls are nested {MAX_DEPTH} deep, which is the most: do this without calling \
                 tools from within tools"
            )));
        }
        caller.call(name, arguments, self.context.nested()).await
    }
}

#[cfg(test)]
mod tests;
