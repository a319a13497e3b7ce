//! The tool trait, and the static facts about a tool.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::CallContext;
use crate::error::ToolError;
use crate::output::Output;
use crate::tier::Tier;
use crate::{arguments, bound, schema};

/// The resource key of everything that changes files of the working directory.
///
/// `resolve`, `lsp_rename` and a harness's own writers are exclusive over it, so that none of them
/// sees a file change between its check and its write.
pub const WORKSPACE: &str = "workspace";

/// A tool: static facts, and one call.
///
/// A harness calls it through a [`Surface`](crate::Surface), which does in order what belongs
/// around a call: validate, gate, hold the exclusive key, [`recheck`](Tool::recheck),
/// [`call`](Tool::call). A user of a single tool may make a [`CallContext::detached`] and do
/// without.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description, schema, tier: the same for the whole life of the tool, told without I/O.
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and gives them in their normal form, without I/O and without side
    /// effects.
    ///
    /// What it returns is what the gate is shown and what [`call`](Tool::call) gets. Normalising
    /// twice gives the same as normalising once. The default is [`ToolSpec::check`].
    ///
    /// # Errors
    ///
    /// [`InvalidArguments`](crate::ErrorKind::InvalidArguments), naming the argument, what came,
    /// and what is wanted.
    fn validate(&self, arguments: Value) -> Result<Value, ToolError> {
        self.spec().check(arguments)
    }

    /// One line that says what this call would do, for a person who is asked to allow it.
    ///
    /// `arguments` are validated ones. The surface makes control characters harmless and bounds the
    /// line, so a tool need not. The default is the tool's name and the bounded arguments.
    fn summary(&self, arguments: &Value) -> String {
        summary(&self.spec().name, arguments)
    }

    /// Checks again what may have moved while the call waited for its approval and its key: a
    /// staged edit, a session.
    ///
    /// Asked after the key is held and before the call. The default finds nothing to check.
    ///
    /// # Errors
    ///
    /// Usually [`Refused`](crate::ErrorKind::Refused) with what has moved; the call is then not
    /// made.
    async fn recheck(&self, arguments: &Value, context: &CallContext) -> Result<(), ToolError> {
        let _ = (arguments, context);
        Ok(())
    }

    /// Does the work.
    ///
    /// `arguments` are what [`validate`](Tool::validate) gave. The tool honours
    /// [`context.cancel()`](CallContext::cancel) and [`context.deadline()`](CallContext::deadline),
    /// since nothing else here can.
    ///
    /// # Cancellation
    ///
    /// A call ends early in two ways, and both leave the same state behind: the token fires and the
    /// tool returns [`Cancelled`](crate::ErrorKind::Cancelled), or its future is dropped (which
    /// fires the token of a call made through a surface, so that a worker thread of the tool hears
    /// of it too). What must be undone is therefore undone by a guard's `Drop`. A thread that goes
    /// on after the future is gone holds the [`lease`](CallContext::lease).
    ///
    /// # Errors
    ///
    /// A [`ToolError`] whose message tells the model what to do next.
    async fn call(&self, arguments: Value, context: &CallContext) -> Result<Output, ToolError>;
}

/// Longest default summary, in characters.
const SUMMARY_CHARACTERS: usize = 200;

fn summary(name: &str, arguments: &Value) -> String {
    match arguments {
        Value::Null => name.to_owned(),
        Value::Object(map) if map.is_empty() => name.to_owned(),
        arguments => format!(
            "{name} {}",
            bound::line(&arguments.to_string(), SUMMARY_CHARACTERS)
        ),
    }
}

/// The static facts about a tool.
///
/// Made by [`ToolSpec::new`] and the builder methods; a wrapper passes it on as it is.
///
/// ```
/// use terret_tiers::{Tier, ToolSpec, WORKSPACE};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Args {
///     /// Where to write, relative to the working directory.
///     path: String,
/// }
///
/// let spec = ToolSpec::new("touch", Tier::Write, "Creates an empty file.")
///     .parameters::<Args>()
///     .exclusive(WORKSPACE)
///     .hint("file", "the file to create is called `path`");
/// assert_eq!(spec.parameters["required"][0], "path");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// What the model calls it by; a [`Toolset`](crate::Toolset) says which names are valid.
    pub name: String,
    /// Written for a model: when to use it, what it returns, one example.
    pub description: String,
    /// The JSON Schema of the arguments, in the portable core that [`schema::lint`] checks.
    pub parameters: Value,
    /// What the tool may do. It does not depend on the arguments: a tool that only reads for some
    /// arguments and writes for others is two tools.
    pub tier: Tier,
    /// Whether calls may overlap.
    pub concurrency: Concurrency,
    /// What a call may wait for that is not its own work.
    pub waits: Waits,
    /// Argument names that models are known to try, with what to say instead.
    pub hints: BTreeMap<String, String>,
}

impl ToolSpec {
    /// A tool without arguments that is parallel-safe and waits for nothing.
    pub fn new(name: impl Into<String>, tier: Tier, description: impl Into<String>) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters: schema::empty(),
            tier,
            concurrency: Concurrency::Shared,
            waits: Waits::Nothing,
            hints: BTreeMap::new(),
        }
    }

    /// The same with the schema derived from `T`; see [`schema::of`].
    #[must_use]
    pub fn parameters<T: JsonSchema>(self) -> ToolSpec {
        self.schema(schema::of::<T>())
    }

    /// The same with a schema written by hand.
    #[must_use]
    pub fn schema(mut self, parameters: Value) -> ToolSpec {
        self.parameters = parameters;
        self
    }

    /// The same, exclusive over the resource `key` within a run.
    #[must_use]
    pub fn exclusive(mut self, key: impl Into<String>) -> ToolSpec {
        self.concurrency = Concurrency::Exclusive(key.into());
        self
    }

    /// The same, marked with what its calls wait for.
    #[must_use]
    pub fn waits(mut self, waits: Waits) -> ToolSpec {
        self.waits = waits;
        self
    }

    /// The same with something better to say about the unknown argument `name` than which name is
    /// nearest.
    ///
    /// `hint` follows a colon: "unknown argument `column`: say which symbol with `line` and
    /// `symbol`".
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>, hint: impl Into<String>) -> ToolSpec {
        self.hints.insert(name.into(), hint.into());
        self
    }

    /// Checks arguments against this tool's schema, with its hints; see [`arguments::check`].
    ///
    /// # Errors
    ///
    /// [`InvalidArguments`](crate::ErrorKind::InvalidArguments).
    pub fn check(&self, arguments: Value) -> Result<Value, ToolError> {
        arguments::check_with(&self.parameters, &self.hints, arguments)
    }

    /// Checks arguments against this tool's schema and reads them as `T`; see [`arguments::parse`].
    ///
    /// # Errors
    ///
    /// [`InvalidArguments`](crate::ErrorKind::InvalidArguments).
    pub fn parse<T: serde::de::DeserializeOwned>(&self, arguments: Value) -> Result<T, ToolError> {
        arguments::read(self.check(arguments)?)
    }
}

/// Whether calls of a tool may overlap within one run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Concurrency {
    /// Calls may overlap with any other call.
    Shared,
    /// Calls never overlap with another call that is exclusive over the same key in the same run.
    Exclusive(String),
}

/// What a call may wait for that is not its own work.
///
/// A host that puts a time-out of its own around tools leaves it out for those that wait for a
/// human or a worker: a person's thinking is not a hang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Waits {
    /// Its own work only.
    #[default]
    Nothing,
    /// A person's answer.
    Human,
    /// The result of another agent.
    Worker,
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Waits::Nothing => "nothing",
            Waits::Human => "human",
            Waits::Worker => "worker",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_default_summary_is_one_bounded_line_that_says_how_much_there_was() {
        assert_eq!(summary("list", &json!({})), "list");
        assert_eq!(summary("list", &Value::Null), "list");
        assert_eq!(
            summary("read", &json!({"path": "a\nb"})),
            r#"read {"path":"a\nb"}"#
        );
        let long = summary(
            "write",
            &json!({"path": "a", "content": "x".repeat(2_000_000)}),
        );
        assert!(long.chars().count() < 300, "{long}");
        assert!(long.contains("2.0 MB"), "{long}");
    }
}
