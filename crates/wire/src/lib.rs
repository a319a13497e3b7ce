//! x
mod dialect; mod error; mod frame; mod json; mod jsonrpc; mod peer;
pub use dialect::{Dialect, Failure, Incoming, Malformed, Outgoing};
pub use error::{Closed, Error, ErrorKind};
pub use frame::{Bounds, Codec, FrameError, Framing, Junk};
pub use json::Json;
pub use jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, JsonRpc, METHOD_NOT_FOUND, PARSE_ERROR};
pub use peer::{Call, Handler, Notification, Options, Peer, Request, Responder, Status};
