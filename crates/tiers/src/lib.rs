//! What a tool of a coding agent is, and who sees it: tool trait, tiers, surfaces, gates.

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
pub use self::surface::{Fingerprint, Request, Surface};
pub use self::tier::{Tier, UnknownTier};
pub use self::tool::{Concurrency, Tool, ToolSpec, WORKSPACE, Waits};
pub use self::toolset::{Toolset, ToolsetBuilder, ToolsetError, ToolsetErrorKind};
