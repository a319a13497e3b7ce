//! What a failed call tells a harness and a model.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a call gave no output: the set is closed, so that a harness can branch on all of it.
///
/// Written as `snake_case` words, in JSON and by [`Display`](fmt::Display).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments do not fit the tool; another call with better ones may.
    InvalidArguments,
    /// A symbol, file, session, worker or tool that is not there.
    NotFound,
    /// More than one thing fits; the message lists them.
    Ambiguous,
    /// What the call needs is not to be had here and now: no server, no adapter, no human.
    Unavailable,
    /// The call was understood and is not allowed: by the approval gate, or because it would do
    /// harm (a second launch, a stale staged edit, a key that an ancestor holds).
    Refused,
    /// The deadline, or a bound of the tool's own, passed first.
    TimedOut,
    /// The run, or this call, was cancelled.
    Cancelled,
    /// The resource itself failed; the message has its own words.
    Failed,
}

impl ErrorKind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [ErrorKind; 8] = [
        ErrorKind::InvalidArguments,
        ErrorKind::NotFound,
        ErrorKind::Ambiguous,
        ErrorKind::Unavailable,
        ErrorKind::Refused,
        ErrorKind::TimedOut,
        ErrorKind::Cancelled,
        ErrorKind::Failed,
    ];

    /// The word for this kind, such as `invalid_arguments`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorKind::InvalidArguments => "invalid_arguments",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Ambiguous => "ambiguous",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Refused => "refused",
            ErrorKind::TimedOut => "timed_out",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::Failed => "failed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error of a call: a kind for the harness, a message for the model, details for a program.
///
/// The message says what happened and what to do next. It carries no images: providers differ on
/// whether an error may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolError {
    /// What a harness branches on.
    pub kind: ErrorKind,
    /// What the model reads.
    pub message: String,
    /// What a user interface may show beside it; `null` when there is nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl ToolError {
    /// An error of the given kind, without details.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ToolError {
        ToolError {
            kind,
            message: message.into(),
            details: Value::Null,
        }
    }

    /// An [`ErrorKind::InvalidArguments`]. The message names the argument, what came, and what is
    /// wanted.
    pub fn invalid_arguments(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::InvalidArguments, message)
    }

    /// An [`ErrorKind::NotFound`]. The message says what is there instead.
    pub fn not_found(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::NotFound, message)
    }

    /// An [`ErrorKind::Ambiguous`]. The message lists the candidates.
    pub fn ambiguous(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Ambiguous, message)
    }

    /// An [`ErrorKind::Unavailable`]. The message says what is missing and how to go on without.
    pub fn unavailable(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Unavailable, message)
    }

    /// An [`ErrorKind::Refused`]. The message says why, and what is allowed.
    pub fn refused(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Refused, message)
    }

    /// An [`ErrorKind::TimedOut`]. The message says how long was waited, and for what.
    pub fn timed_out(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::TimedOut, message)
    }

    /// An [`ErrorKind::Cancelled`]. The message says what state things were left in.
    pub fn cancelled(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Cancelled, message)
    }

    /// An [`ErrorKind::Failed`]. The message has the resource's own words and the tail of its
    /// stderr.
    pub fn failed(message: impl Into<String>) -> ToolError {
        ToolError::new(ErrorKind::Failed, message)
    }

    /// The same error with details for a program.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> ToolError {
        self.details = details.into();
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_words() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn an_error_without_details_is_two_fields() {
        let error = ToolError::not_found("no such symbol");
        let json = serde_json::json!({"kind": "not_found", "message": "no such symbol"});
        assert_eq!(serde_json::to_value(&error).unwrap(), json);
        assert_eq!(serde_json::from_value::<ToolError>(json).unwrap(), error);
        assert_eq!(error.to_string(), "not_found: no such symbol");
    }
}
