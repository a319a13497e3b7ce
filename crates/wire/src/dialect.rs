//! What messages look like: the part that LSP, DAP and the others do not share.

use crate::json::Json;

/// How the messages of a protocol are written and read. It knows what a request and an answer look like, and no more of
/// what they are about than its protocol needs for that.
pub trait Dialect: Send + Sync + 'static {
    /// A message as JSON text, or `None` if the protocol has none such.
    ///
    /// `number` is different for each message, and grows in the order in which they are sent. A request is called by it
    /// in what is [decoded](Self::decode).
    fn encode(&self, number: u64, message: Outgoing<'_>) -> Option<Vec<u8>>;

    /// What a message is.
    ///
    /// # Errors
    ///
    /// If it is none of the protocol: no JSON, or without what it needs.
    fn decode(&self, message: &[u8]) -> Result<Incoming, Malformed>;

    /// The failure that a request is answered with when nobody does, and `method` is why.
    fn unanswered(&self, method: &str) -> Failure;
}

/// A message of ours.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outgoing<'a> {
    /// We want an answer.
    Request {
        /// What we ask for.
        method: &'a str,
        /// With what. `null` for nothing.
        params: &'a Json,
    },
    /// We want none.
    Notification {
        /// What we tell.
        method: &'a str,
        /// With what. `null` for nothing.
        params: &'a Json,
    },
    /// What we say to a request of theirs.
    Answer {
        /// What they called their request.
        id: &'a Json,
        /// What they asked for.
        method: &'a str,
        /// What came of it.
        outcome: Result<&'a Json, &'a Failure>,
    },
    /// Nobody waits any more for the answer to the request of that number.
    Cancel {
        /// The number of the request.
        request: u64,
    },
    /// Something came that is no message.
    Malformed(&'a Malformed),
}

/// A message of theirs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// They want an answer.
    Request {
        /// What they call it.
        id: Json,
        /// What they ask for.
        method: String,
        /// With what. `null` for nothing.
        params: Json,
    },
    /// They want none.
    Notification {
        /// What they tell.
        method: String,
        /// With what. `null` for nothing.
        params: Json,
    },
    /// What they say to a request of ours.
    Answer {
        /// The number of our request. `None` if it is none of ours.
        request: Option<u64>,
        /// What came of it.
        outcome: Result<Json, Failure>,
    },
}

/// A request that did not succeed, as its peer says it.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// What kind of failure, by the protocol's numbers.
    pub code: i64,
    /// For a person.
    pub message: String,
    /// For a program. `null` for nothing.
    pub data: Json,
}

impl Failure {
    /// One without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Json::default(),
        }
    }
}

/// Something that is no message of the protocol. The connection goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Whether it is JSON, at least.
    pub is_json: bool,
    /// What is wrong with it. Nothing of its content.
    pub why: String,
}
