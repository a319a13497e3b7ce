//! Framing and request bookkeeping for LSP, DAP, ACP and their like, over any reader and writer.
//!
//! These protocols differ in what they talk about, and share how they talk: messages in frames, requests that have an
//! answer each, in any order and in both directions, and notifications that have none. That part is here, once:
//!
//! - [`Codec`] tells messages apart in a stream of bytes, by [`Framing::ContentLength`] or [`Framing::Lines`];
//! - [`Peer`] is a connection: it sends requests in the order of the calls, finds the caller of each answer, and hands
//!   what the other side says by itself to a [`Handler`];
//! - a [`Dialect`] says what a request and an answer look like. [`JsonRpc`] is the one of LSP and ACP.
//!
//! It starts no process, opens no file and knows no method. A connection over two pipes in memory is as good as one to a
//! child, so that a protocol can be tested without one: see the example of [`Peer`].
//!
//! # What holds
//!
//! - **Nobody waits for ever.** A request has a bound from the moment of the call. When the connection ends all that wait
//!   fail at once, with the cause: [`Closed`]. What the peer asks is answered, if need be by a failure.
//! - **Nobody waits in vain.** A call that is dropped or late takes its entry along and cancels the request, where the
//!   dialect has a way. An answer that comes all the same is counted in the [`Status`], and no more.
//! - **The peer does not decide about memory.** Messages, headers, what precedes them and what waits to be sent are bounded
//!   ([`Bounds`], [`Options`]); a length is checked before anything is taken for it. A queue that is full is an
//!   error, never a wait. A peer that does not read is given up after a time in which it took no byte.
//! - **What is no frame ends a connection, what is no message does not.** After a malformed header nobody knows where the
//!   next message begins. In a sound frame a malformed message is answered as the protocol has it, and the next one is
//!   read. Junk before the first message, a banner, is skipped up to a bound and told in the [`Status`].
//! - **No content in errors.** Errors and `Debug` tell places and lengths, and at most 200 bytes of what should have been
//!   a header. Messages are somebody's code.
//!
//! # Limits
//!
//! - No batches of JSON-RPC: LSP and ACP have none.
//! - A connection needs a tokio runtime with time. With the runtime it ends, and its calls fail.
//! - Why a child has died is not known here: pair [`Closed::Ended`] with the status and the last words of the child.

#![forbid(unsafe_code)]

mod dialect;
mod error;
mod frame;
mod json;
mod jsonrpc;
mod peer;

pub use dialect::{Dialect, Failure, Incoming, Malformed, Outgoing};
pub use error::{Closed, Error, ErrorKind};
pub use frame::{Bounds, Codec, FrameError, Framing, Junk};
pub use json::Json;
pub use jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, JsonRpc, METHOD_NOT_FOUND, PARSE_ERROR,
};
pub use peer::{Call, Handler, Notification, Options, Peer, Request, Responder, Status};
