//! What a tool of a coding agent is, and who sees it: tool trait, tiers, surfaces, gates.
//!
//! A [`Tool`] tells its name, description, schema and [`Tier`] without I/O, and is called with JSON
//! arguments and a [`CallContext`]. A [`Toolset`] is the tools of a run; a [`Surface`] is a toolset
//! capped at a tier, and the one way to call a tool: it validates the arguments, asks the [`Gate`],
//! takes turns over exclusive resources, catches panics. Tools above the cap are absent: they are
//! not listed, and calling one is calling a name that never existed.
//!
//! There is no process, no I/O and no protocol here, and no runtime: any executor will do. The
//! families of tools that Terret brings are built on this crate, and so can a harness's own be.
//!
//! # Write a tool in twenty lines
//!
//! ```
//! use serde_json::{Value, json};
//! use terret_tiers::{
//!     CallContext, Output, Request, Tier, Tool, ToolError, ToolSpec, Toolset, async_trait,
//! };
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Args {
//!     /// What to count the words of.
//!     text: String,
//! }
//!
//! struct CountWords(ToolSpec);
//!
//! impl CountWords {
//!     fn new() -> CountWords {
//!         let about = "Counts the words of a text. Example: {\"text\": \"two words\"}";
//!         CountWords(ToolSpec::new("count_words", Tier::Read, about).parameters::<Args>())
//!     }
//! }
//!
//! #[async_trait]
//! impl Tool for CountWords {
//!     fn spec(&self) -> &ToolSpec {
//!         &self.0
//!     }
//!
//!     async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
//!         let args: Args = self.0.parse(arguments)?;
//!         let words = args.text.split_whitespace().count();
//!         Ok(Output::text(format!("{words} words")).with_details(json!({ "words": words })))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let surface = Toolset::builder().tool(CountWords::new()).build()?.surface(Tier::Read);
//! let arguments = json!({ "text": "two words" });
//! let output = surface.call("count_words", arguments, Request::new("call-1")).await?;
//! assert_eq!(output.to_text(), "2 words");
//!
//! // What a model gets wrong is told in a way that lets it do better.
//! let error = surface.call("count_words", json!({ "txt": "x" }), Request::new("call-2")).await;
//! assert!(error.unwrap_err().message.contains("unknown argument `txt`; did you mean `text`?"));
//! # Ok(())
//! # }
//! ```
//!
//! # Adapt it to another registry
//!
//! A harness that has tools of its own keeps its registry and adapts the surface to it, so that
//! every call still takes the one way:
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::{Value, json};
//! use terret_tiers::{Request, Surface, async_trait};
//!
//! // What the harness has.
//! #[async_trait]
//! trait Function: Send + Sync {
//!     fn declaration(&self) -> Value;
//!     async fn invoke(&self, call_id: &str, arguments: Value) -> Result<String, String>;
//! }
//!
//! struct Adapted {
//!     surface: Surface,
//!     name: String,
//! }
//!
//! #[async_trait]
//! impl Function for Adapted {
//!     fn declaration(&self) -> Value {
//!         self.surface.spec(&self.name).map_or(Value::Null, |spec| {
//!             let (name, about, parameters) = (&spec.name, &spec.description, &spec.parameters);
//!             json!({ "name": name, "description": about, "parameters": parameters })
//!         })
//!     }
//!
//!     async fn invoke(&self, call_id: &str, arguments: Value) -> Result<String, String> {
//!         let outcome = self.surface.call(&self.name, arguments, Request::new(call_id)).await;
//!         outcome.map(|output| output.to_text()).map_err(|error| error.message)
//!     }
//! }
//!
//! fn adapt(surface: &Surface) -> Vec<Arc<dyn Function>> {
//!     let adapt = |name: &str| Adapted { surface: surface.clone(), name: name.to_owned() };
//!     surface.specs().map(|spec| Arc::new(adapt(&spec.name)) as Arc<dyn Function>).collect()
//! }
//! ```
//!
//! The repository's `docs/adapting.md` has the adapters for a function-calling loop and for an MCP
//! server.
//!
//! # What holds
//!
//! - **The cap holds on every path.** A nested call (from a cell, a wrapper, a harness's own
//!   [`Caller`]) goes under the cap of the surface that the outer call was made on. A cap is
//!   lowered, never raised; another one is another [`Surface`], made at the boundary of a turn.
//! - **Closed when in doubt.** A call that needs approval is refused if no gate is wired, and from
//!   [`Tier::Write`] upwards a call needs approval unless the host says otherwise.
//! - **The gate comes before the key**, so a person who thinks blocks nobody; what was approved is
//!   exactly what runs.
//! - **A token that fires and a future that is dropped leave the same state**, and an exclusive key
//!   is free when the resource is quiet: when the last [`Lease`] is gone.
//! - **A panic is an error of the call** where panics unwind; with `panic = "abort"` nothing can
//!   catch one.
//!
//! # What does not
//!
//! A deadline ends the waits that happen here, but a running tool must see to it by itself; one
//! that ignores both token and deadline runs on until its future is dropped. And a harness that
//! takes a [`Tool`] and calls it without a surface has none of the above but validation, if it asks
//! for it.

mod alarm;
mod ancestry;
pub mod arguments;
pub mod bound;
mod context;
mod error;
mod gate;
mod keys;
mod output;
pub mod paths;
pub mod progress;
pub mod schema;
mod suggest;
mod surface;
mod tier;
mod tool;
mod toolset;
pub mod wrapper;

pub use async_trait::async_trait;
pub use tokio_util::sync::CancellationToken;

pub use self::context::{CallContext, Caller, ContextBuilder, Tools};
pub use self::error::{ErrorKind, ToolError};
pub use self::gate::{AllowUpTo, Approval, Decision, DenyAll, Gate, GateRequest, Origin};
pub use self::keys::{Lease, RunScope};
pub use self::output::{Output, Part};
pub use self::progress::{Progress, ProgressReceiver, ProgressSink};
pub use self::suggest::nearest;
pub use self::surface::{Fingerprint, Request, Surface};
pub use self::tier::{Tier, UnknownTier};
pub use self::tool::{Concurrency, Tool, ToolSpec, WORKSPACE, Waits};
pub use self::toolset::{Toolset, ToolsetBuilder, ToolsetError, ToolsetErrorKind};

// Runs the examples of the guide as doctests; in no build of the crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adapting.md")]
struct Adapting;
