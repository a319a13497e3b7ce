//! The task that reads, and what it hands on.

use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::codec::Decoder;

use super::{CloseOnDrop, Shared};
use crate::dialect::{Failure, Incoming, Malformed, Outgoing};
use crate::error::Closed;
use crate::frame::{Codec, FrameError};
use crate::json::Json;

/// What a peer says by itself goes here, in the order in which it says it.
///
/// It is called by the task that reads. Answers to this side's requests are read by the same task, so that a handler must
/// not wait for anything: it answers at once, or hands a [`Responder`] on to whoever will.
pub trait Handler: Send + 'static {
    /// The peer asks for something. What is dropped without an answer is answered with a failure.
    fn request(&mut self, request: Request) {
        drop(request);
    }

    /// The peer tells something.
    fn notification(&mut self, notification: Notification) {
        let _ = notification;
    }

    /// Something came that is no message. The connection goes on; the peer was told, where the dialect has a way.
    fn malformed(&mut self, malformed: &Malformed) {
        let _ = malformed;
    }

    /// The connection has closed: nothing more will come. All calls have failed by now. Not called if the handler has
    /// panicked, or the runtime has ended.
    fn closed(&mut self, why: &Closed) {
        let _ = why;
    }
}

/// A peer that has nothing to say by itself: what it asks is answered with a failure.
impl Handler for () {}

/// Something that a peer tells.
#[derive(Debug)]
pub struct Notification {
    /// What.
    pub method: String,
    /// With what. `null` for nothing.
    pub params: Json,
}

/// Something that a peer asks for.
#[derive(Debug)]
pub struct Request {
    params: Json,
    responder: Responder,
}

impl Request {
    /// What it asks for.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.responder.method
    }

    /// With what. `null` for nothing.
    #[must_use]
    pub fn params(&self) -> &Json {
        &self.params
    }

    /// What the peer calls its request, by which it may cancel it.
    #[must_use]
    pub fn id(&self) -> &Json {
        &self.responder.id
    }

    /// The one that answers.
    pub fn responder(self) -> Responder {
        self.responder
    }
}

/// Answers one request of a peer. Dropped without having done so, it answers with a failure: a peer that waits for ever
/// is worse.
#[derive(Debug)]
#[must_use = "dropping it answers with a failure"]
pub struct Responder {
    shared: Arc<Shared>,
    id: Json,
    method: String,
    done: bool,
}

impl Responder {
    /// Answers with a value. One that has no form in JSON is a failure.
    pub fn answer(mut self, result: &(impl serde::Serialize + ?Sized)) {
        match Json::of(result) {
            Ok(result) => self.respond(Ok(&result)),
            Err(_) => drop(self),
        }
    }

    /// Answers that it failed.
    pub fn fail(mut self, failure: Failure) {
        self.respond(Err(&failure));
    }

    fn respond(&mut self, outcome: Result<&Json, &Failure>) {
        self.done = true;
        self.shared.answer(&self.id, &self.method, outcome);
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.done {
            let failure = self.shared.dialect.unanswered(&self.method);
            self.respond(Err(&failure));
        }
    }
}

/// How much is read at once, at most. A pipe holds 64 KiB.
const CHUNK: usize = 64 * 1024;

pub(super) async fn run(
    reader: impl AsyncRead + Send + Unpin,
    mut handler: impl Handler,
    open: CloseOnDrop,
) {
    let shared = Arc::clone(&open.shared);
    let why = tokio::select! {
        biased;
        () = shared.closed.cancelled() => None,
        why = read_all(reader, &mut handler, &shared) => Some(why),
    };
    if let Some(why) = why {
        shared.close(why);
    }
    drop(open);
    let why = shared.outbox().closed.clone().unwrap_or(Closed::Abandoned);
    handler.closed(&why);
}

async fn read_all(
    mut reader: impl AsyncRead + Unpin,
    handler: &mut impl Handler,
    shared: &Arc<Shared>,
) -> Closed {
    let mut codec = Codec::new(shared.options.framing, shared.options.bounds);
    let mut buffer = BytesMut::new();
    loop {
        // A buffer that is split off frames is grown by half as much again as it holds, so that a long message is not
        // copied for each piece of it.
        buffer.reserve(
            codec
                .missing(buffer.len())
                .clamp(4096, CHUNK.max(buffer.len() / 2)),
        );
        let read = reader.read_buf(&mut buffer).await;
        let ended = match read {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => return Closed::Frame(Arc::new(FrameError::Io(error))),
        };
        loop {
            let frame = match ended {
                true => codec.decode_eof(&mut buffer),
                false => codec.decode(&mut buffer),
            };
            note_junk(&codec, shared);
            match frame {
                Ok(Some(frame)) => dispatch(&frame, handler, shared),
                Ok(None) if ended => return Closed::Ended,
                Ok(None) => break,
                Err(error) => return Closed::Frame(Arc::new(error)),
            }
        }
    }
}

fn note_junk(codec: &Codec, shared: &Shared) {
    if codec.junk().bytes() > 0 {
        let mut outbox = shared.outbox();
        if outbox.junk != *codec.junk() {
            outbox.junk = codec.junk().clone();
        }
    }
}

fn dispatch(frame: &[u8], handler: &mut impl Handler, shared: &Arc<Shared>) {
    match shared.dialect.decode(frame) {
        Ok(Incoming::Request { id, method, params }) => handler.request(Request {
            params,
            responder: Responder {
                shared: Arc::clone(shared),
                id,
                method,
                done: false,
            },
        }),
        Ok(Incoming::Notification { method, params }) => {
            handler.notification(Notification { method, params });
        }
        Ok(Incoming::Answer { request, outcome }) => {
            let waiter = shared.outbox().answered(request);
            if let Some(waiter) = waiter {
                // A call that was dropped just now.
                let _ = waiter.send(outcome);
            }
        }
        Err(malformed) => {
            shared.outbox().malformed(malformed.clone());
            shared.reply(Outgoing::Malformed(&malformed));
            handler.malformed(&malformed);
        }
    }
}
