//! Tools around tools, with the same spec by construction.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::context::CallContext;
use crate::error::ToolError;
use crate::output::Output;
use crate::tool::{Tool, ToolSpec};

/// What a wrapper does around each call of the tool that it wraps.
///
/// It runs where the call does: after validation and approval, with the exclusive key held.
#[async_trait]
pub trait Around: Send + Sync {
    /// Does what comes before, calls `inner` (or not), does what comes after.
    ///
    /// # Errors
    ///
    /// Those of the inner call, and its own. Once the inner call has changed something, an error of
    /// the wrapper's own would hide that: it belongs into the output as text.
    async fn around(
        &self,
        inner: Inner<'_>,
        arguments: Value,
        context: &CallContext,
    ) -> Result<Output, ToolError>;
}

/// The tool that a wrapper wraps, for the length of one call.
pub struct Inner<'a> {
    tool: &'a dyn Tool,
    context: &'a CallContext,
}

impl Inner<'_> {
    /// The facts about the tool.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// Makes the call. At most once, which is why it takes the handle.
    ///
    /// # Errors
    ///
    /// Those of the tool.
    pub async fn call(self, arguments: Value) -> Result<Output, ToolError> {
        self.tool.call(arguments, self.context).await
    }
}

/// Wraps a tool. The result has the same spec, validation, summary and re-check; only its calls
/// differ.
///
/// ```
/// use std::sync::Arc;
/// use terret_tiers::wrapper::{Around, Inner, wrap};
/// use terret_tiers::{CallContext, Output, Tool, ToolError, async_trait};
///
/// struct Loud;
///
/// #[async_trait]
/// impl Around for Loud {
///     async fn around(
///         &self,
///         inner: Inner<'_>,
///         arguments: serde_json::Value,
///         context: &CallContext,
///     ) -> Result<Output, ToolError> {
///         context.progress("here it comes");
///         Ok(inner.call(arguments).await?.with_text("done!"))
///     }
/// }
///
/// fn loud(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
///     wrap(tool, Loud)
/// }
/// ```
pub fn wrap(tool: Arc<dyn Tool>, around: impl Around + 'static) -> Arc<dyn Tool> {
    Arc::new(Wrapped { tool, around })
}

struct Wrapped<A> {
    tool: Arc<dyn Tool>,
    around: A,
}

#[async_trait]
impl<A: Around> Tool for Wrapped<A> {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn validate(&self, arguments: Value) -> Result<Value, ToolError> {
        self.tool.validate(arguments)
    }

    fn summary(&self, arguments: &Value) -> String {
        self.tool.summary(arguments)
    }

    async fn recheck(&self, arguments: &Value, context: &CallContext) -> Result<(), ToolError> {
        self.tool.recheck(arguments, context).await
    }

    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError> {
        let inner = Inner {
            tool: &*self.tool,
            context,
        };
        self.around.around(inner, arguments, context).await
    }
}

/// A boxed future, for [`Writer::new`].
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type Before =
    dyn for<'a> Fn(&'a Value, &'a CallContext) -> BoxFuture<'a, Vec<PathBuf>> + Send + Sync;
type After = dyn Fn(&Value) -> Vec<PathBuf> + Send + Sync;

/// A tool that changes files, with two functions that say which: what a wrapper needs that acts on
/// written files.
///
/// Neither function fails: a call whose paths can't be told is about to touch none that anybody
/// knows of, and the tool itself reports what is wrong with it. Cheap to clone.
///
/// ```
/// # use std::path::PathBuf;
/// # use std::sync::Arc;
/// use terret_tiers::wrapper::Writer;
///
/// fn path(of: &serde_json::Value) -> Vec<PathBuf> {
///     of["path"].as_str().map(PathBuf::from).into_iter().collect()
/// }
///
/// # fn writer(tool: Arc<dyn terret_tiers::Tool>) -> Writer {
/// Writer::new(
///     tool,
///     |arguments, _context| Box::pin(async move { path(arguments) }),
///     |details| path(details),
/// )
/// # }
/// ```
#[derive(Clone)]
pub struct Writer {
    tool: Arc<dyn Tool>,
    before: Arc<Before>,
    after: Arc<After>,
}

impl Writer {
    /// `before` gives the paths that a call with these (validated) arguments is about to touch; it
    /// is async, since a tool may have to look up what a mere id stands for. `after` gives those
    /// that a call did touch, from the `details` of its output.
    pub fn new<B, A>(tool: Arc<dyn Tool>, before: B, after: A) -> Writer
    where
        B: for<'a> Fn(&'a Value, &'a CallContext) -> BoxFuture<'a, Vec<PathBuf>>
            + Send
            + Sync
            + 'static,
        A: Fn(&Value) -> Vec<PathBuf> + Send + Sync + 'static,
    {
        Writer {
            tool,
            before: Arc::new(before),
            after: Arc::new(after),
        }
    }

    /// The tool itself.
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    /// The paths that a call is about to touch.
    ///
    /// Cancel-safe as far as the function given to [`Writer::new`] is.
    pub async fn about_to_touch(&self, arguments: &Value, context: &CallContext) -> Vec<PathBuf> {
        (self.before)(arguments, context).await
    }

    /// The paths that a call did touch.
    pub fn touched(&self, output: &Output) -> Vec<PathBuf> {
        (self.after)(&output.details)
    }

    /// The tool wrapped in something that also has the two functions, if it kept a clone of this.
    pub fn wrap(&self, around: impl Around + 'static) -> Arc<dyn Tool> {
        wrap(self.tool.clone(), around)
    }
}

#[cfg(test)]
mod tests;
