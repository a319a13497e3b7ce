//! A toolset capped at a tier, and the one way to call a tool.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::FutureExt;
use indexmap::IndexMap;
use serde_json::Value;

use crate::ancestry::Link;
use crate::bound;
use crate::context::{self, CallContext, Caller};
use crate::error::ToolError;
use crate::gate::{Approval, Gate, GateRequest, Origin};
use crate::keys::{RunScope, WeakLease};
use crate::output::Output;
use crate::suggest;
use crate::tier::Tier;
use crate::tool::{Concurrency, Tool, ToolSpec};

mod request;

pub use self::request::Request;

/// The bounds of an error's message.
const MESSAGE_BOUNDS: bound::Bounds = bound::Bounds {
    bytes: 16_000,
    lines: 200,
};

/// Most names that the answer to an unknown one lists.
const LISTED_NAMES: usize = 50;

/// A snapshot of the tools that a run may use, and the only way to call them.
///
/// Tools above the cap are *absent*: they are not listed, and a call to one is answered exactly as
/// a call to a name that never existed. The tools never change: a host that raises or lowers what a
/// run may do makes another surface at the boundary of a turn, and calls in flight finish on the
/// one they began with. Cheap to clone.
///
/// Calls of tools from [`Tier::Write`] upwards need an approval unless
/// [`ask_from`](Surface::ask_from) says otherwise, and are refused as long as there is no
/// [gate](Surface::with_gate) to give it.
#[derive(Clone)]
pub struct Surface {
    run: RunScope,
    tools: Arc<IndexMap<String, Arc<dyn Tool>>>,
    approval: Approval,
}

impl Surface {
    pub(crate) fn new(
        run: RunScope,
        tools: Arc<IndexMap<String, Arc<dyn Tool>>>,
        cap: Tier,
    ) -> Surface {
        Surface {
            run,
            tools,
            approval: Approval::none(Tier::Exec),
        }
        .cap(cap)
    }

    /// The surface under `tier`, or under its own cap if that is lower. A cap is never raised.
    #[must_use]
    pub fn cap(&self, tier: Tier) -> Surface {
        let approval = self.approval.capped(tier);
        let tools = if self
            .tools
            .values()
            .all(|tool| tool.spec().tier <= approval.cap())
        {
            self.tools.clone()
        } else {
            let kept = self
                .tools
                .iter()
                .filter(|(_, tool)| tool.spec().tier <= approval.cap());
            Arc::new(
                kept.map(|(name, tool)| (name.clone(), tool.clone()))
                    .collect(),
            )
        };
        Surface {
            run: self.run.clone(),
            tools,
            approval,
        }
    }

    /// The highest tier on this surface.
    pub fn tier(&self) -> Tier {
        self.approval.cap()
    }

    /// The same surface, with `gate` to be asked.
    #[must_use]
    pub fn with_gate(&self, gate: Arc<dyn Gate>) -> Surface {
        Surface {
            approval: self.approval.with_gate(gate),
            ..self.clone()
        }
    }

    /// The same surface, where approval is needed for tools at or above `tier`; otherwise that is
    /// [`Tier::Write`].
    #[must_use]
    pub fn ask_from(&self, tier: Tier) -> Surface {
        Surface {
            approval: self.approval.asking_from(tier),
            ..self.clone()
        }
    }

    /// What decides about calls: the gate, from which tier it is asked, and the cap.
    pub fn approval(&self) -> &Approval {
        &self.approval
    }

    /// The run whose exclusive keys calls hold.
    pub fn run(&self) -> &RunScope {
        &self.run
    }

    /// The tools that are on this surface, always in the same order.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.tools.values().map(|tool| tool.spec())
    }

    /// The facts about one tool, if it is on this surface.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.get(name).map(|tool| tool.spec())
    }

    /// How many tools there are.
    ///
    /// Some providers refuse a request without tools whose history holds tool calls: a host whose
    /// surface is empty after a change of cap leaves something on the list.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are no tools at all.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// A hash of what a model sees: names, descriptions and schemas, in order. The same on every
    /// machine and in every build.
    ///
    /// A change of it means that a provider's prompt cache is lost, since tools stand before the
    /// conversation.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.specs())
    }

    /// Calls a tool: finds it, validates the arguments, asks the gate, holds the exclusive key,
    /// re-checks, calls.
    ///
    /// The gate comes before the key, so that a person who thinks for ten minutes blocks no other
    /// call; what was approved is exactly what runs. The time that the gate takes is added to the
    /// deadline. A panic within the tool becomes a [`Failed`](crate::ErrorKind::Failed) error and
    /// leaves the key free (where panics unwind).
    ///
    /// # Cancellation
    ///
    /// The request's token and dropping the future have the same effect: a wait for the gate or the
    /// key ends at once; a tool that is running is told by its context's token. The key is free
    /// again when the tool and everything that holds its [`lease`](CallContext::lease) are done.
    ///
    /// # Errors
    ///
    /// [`NotFound`](crate::ErrorKind::NotFound) for a name that is not on the surface, with the
    /// nearest one that is; [`InvalidArguments`](crate::ErrorKind::InvalidArguments);
    /// [`Refused`](crate::ErrorKind::Refused) by the gate, or for a key that an ancestor of the
    /// call holds; [`Cancelled`](crate::ErrorKind::Cancelled) and
    /// [`TimedOut`](crate::ErrorKind::TimedOut) before the tool ran; and those of the tool.
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        request: Request,
    ) -> Result<Output, ToolError> {
        // A nested call may come by way of a host's registry to a surface with a higher cap than it
        // began under.
        let surface = match request.cap() {
            Some(cap) if cap < self.tier() => self.cap(cap),
            _ => self.clone(),
        };
        let Some(tool) = surface.tools.get(name).cloned() else {
            return Err(surface.unknown(name));
        };
        surface
            .dispatch(tool, arguments, request)
            .await
            .map_err(presentable)
    }

    async fn dispatch(
        self,
        tool: Arc<dyn Tool>,
        arguments: Value,
        request: Request,
    ) -> Result<Output, ToolError> {
        let spec = tool.spec();
        let arguments = unwinding(&spec.name, || tool.validate(arguments))??;

        // Fires the token when this future is dropped, so that what was left running hears of it.
        let cancel = request.cancel().child_token();
        let fuse = cancel.clone().drop_guard();
        if let Some(error) = context::interrupted(&cancel, request.deadline()) {
            return Err(error);
        }

        let mut deadline = request.deadline();
        if self.approval.asks(spec.tier) {
            let began = Instant::now();
            let summary = unwinding(&spec.name, || tool.summary(&arguments))?;
            let question = GateRequest::bare(&spec.name, spec.tier, arguments.clone())
                .with_summary(&summary)
                .with_origin(match request.parent() {
                    Some(parent) => Origin::Nested {
                        tool: parent.tool().to_owned(),
                    },
                    None => Origin::Run,
                })
                .with_ids(request.call(), self.run.id())
                .with_conversation(request.conversation().map(str::to_owned));
            self.approval.decide(&question, &cancel).await?;
            // An instant beyond what the clock can express is no deadline.
            deadline = deadline.and_then(|deadline| deadline.checked_add(began.elapsed()));
        }

        let link = Link::new(&spec.name, request.parent().cloned());
        let lease = match &spec.concurrency {
            Concurrency::Shared => None,
            Concurrency::Exclusive(key) => Some(
                self.run
                    .hold_as(key, link.clone(), &cancel, deadline)
                    .await?,
            ),
        };
        if let Some(error) = context::interrupted(&cancel, deadline) {
            return Err(error);
        }

        let context = CallContext::from_inner(context::Inner {
            call: request.call().to_owned(),
            run: self.run.id().to_owned(),
            conversation: request.conversation().map(str::to_owned),
            cancel,
            deadline,
            progress: request.progress().clone(),
            own_caller: request.caller().is_some(),
            caller: Some(
                request
                    .caller()
                    .cloned()
                    .unwrap_or_else(|| Arc::new(self.clone())),
            ),
            approval: self.approval.clone(),
            link,
            lease: lease
                .as_ref()
                .map_or_else(WeakLease::default, |lease| lease.downgrade()),
            nested: AtomicU32::new(0),
            over: AtomicBool::new(false),
        });
        let over = Over(context.clone());
        let work = async {
            tool.recheck(&arguments, &context).await?;
            tool.call(arguments, &context).await
        };
        let work = pin!(AssertUnwindSafe(work).catch_unwind());
        // Declared after the work and so dropped before it: the guards within see that it was
        // cancelled.
        let fuse = fuse;
        let result = work.await;
        drop(over);
        if result.is_ok() {
            // The call ran to its end. What it means to go on (a worker that was spawned) is not
            // stopped by that.
            fuse.disarm();
        }
        drop(lease);
        result.unwrap_or_else(|payload| Err(panicked(&spec.name, payload)))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = || self.tools.keys().map(String::as_str);
        let shown = bound::line(&bound::sanitise(name), 64);
        let mut message = match suggest::nearest(name, names()) {
            Some(nearest) => format!("there is no tool `{shown}`; did you mean `{nearest}`?"),
            None => format!("there is no tool `{shown}`."),
        };
        if self.is_empty() {
            message.push_str(" There are no tools here");
        } else {
            let listed: Vec<_> = names()
                .take(LISTED_NAMES)
                .map(|name| format!("`{name}`"))
                .collect();
            message.push_str(&format!(" The tools are {}", listed.join(", ")));
            if self.len() > LISTED_NAMES {
                message.push_str(&format!(" and {} more", self.len() - LISTED_NAMES));
            }
        }
        ToolError::not_found(message)
    }
}

#[async_trait]
impl Caller for Surface {
    async fn call(
        &self,
        name: &str,
        arguments: Value,
        request: Request,
    ) -> Result<Output, ToolError> {
        Surface::call(self, name, arguments, request).await
    }
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surface")
            .field("run", &self.run.id())
            .field("tools", &self.tools.keys().collect::<Vec<_>>())
            .field("approval", &self.approval)
            .finish()
    }
}

/// Marks a call as over, however it ends.
struct Over(CallContext);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.finish();
    }
}

fn unwinding<T>(tool: &str, work: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| panicked(tool, payload))
}

fn panicked(tool: &str, payload: Box<dyn Any + Send>) -> ToolError {
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolError::failed(format!(
        "`{tool}` broke down, which is a fault of the tool and not of the call: {words}"
    ))
}

/// The last net under an error's message, which often quotes what a child wrote.
fn presentable(mut error: ToolError) -> ToolError {
    error.message = bound::head_tail(&bound::sanitise(&error.message), MESSAGE_BOUNDS).text;
    error
}

/// A hash of what a model sees of a list of tools; see [`Surface::fingerprint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of these tools in this order.
    pub fn of<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Fingerprint {
        // FNV-1a: std's hashers promise no stable result.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut add = |text: &str| {
            // No text holds 0xff, so it separates them.
            for byte in text.bytes().chain([0xff]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for spec in specs {
            add(&spec.name);
            add(&spec.description);
            add(&spec.parameters.to_string());
        }
        Fingerprint(hash)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
