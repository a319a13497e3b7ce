//! Protocol tests in memory, one theme a file: one side is the crate, the other is played by the test.
#![allow(clippy::unwrap_used, reason = "what helps tests fails as tests do")]

mod bounds;
mod calls;
mod children;
mod closing;
mod dialects;
mod inbound;

use std::time::Duration;

use serde_json::{Value, json};
use terret_testkit::{Format, Scripted};
use terret_wire::{Dialect, Error, Framing, Handler, Json, JsonRpc, Options, Peer};
use tokio::io::DuplexStream;

/// The upper bound of every wait.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) fn options() -> Options {
    Options::new(Framing::ContentLength)
}

pub(crate) fn dialect() -> JsonRpc {
    JsonRpc::new().cancel_by("$/cancelRequest", "id")
}

pub(crate) fn start(
    stream: DuplexStream,
    dialect: impl Dialect,
    handler: impl Handler,
    options: Options,
) -> Peer {
    let (reader, writer) = tokio::io::split(stream);
    Peer::start(reader, writer, dialect, handler, options)
}

/// A peer of ours, and the other side.
pub(crate) fn pair(handler: impl Handler) -> (Peer, Scripted) {
    let (scripted, stream) = Scripted::in_memory(Format::ContentLength);
    (start(stream, dialect(), handler, options()), scripted)
}

pub(crate) fn text(outcome: Result<Json, Error>) -> String {
    match outcome {
        Ok(json) => json.as_str().to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// Until it is so: what other tasks do shows in a status.
pub(crate) async fn wait_for(what: &str, done: impl Fn() -> bool) {
    let all = async {
        while !done() {
            tokio::task::yield_now().await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    if tokio::time::timeout(SOON, all).await.is_err() {
        panic!("in vain: {what}");
    }
}
