//! The other end: requests and their answers, over any reader and writer.

mod call;
mod outbox;
mod reader;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub use call::Call;
pub use reader::{Handler, Notification, Request, Responder};

use crate::dialect::{Dialect, Failure, Malformed, Outgoing};
use crate::error::{Closed, Error, ErrorKind};
use crate::frame::{Bounds, Framing, Junk};
use crate::json::Json;
use outbox::{Kind, Outbox};

/// How a connection is kept within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    framing: Framing,
    bounds: Bounds,
    queue: usize,
    queue_bytes: usize,
    stall: Duration,
}

impl Options {
    /// For a framing, with its default [`Bounds`]; a queue of 1,024 requests and notifications, and of 64 MiB with the
    /// answers; and 30 seconds in which the peer has to read something, if anything waits.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            bounds: Bounds::default(),
            queue: 1024,
            queue_bytes: 64 << 20,
            stall: Duration::from_secs(30),
        }
    }

    /// What the peer may make us keep in memory.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// How many requests and notifications may wait to be sent.
    #[must_use]
    pub fn queue(mut self, limit: usize) -> Self {
        self.queue = limit;
        self
    }

    /// How many bytes may wait to be sent. One message is taken whatever its size if nothing else waits.
    #[must_use]
    pub fn queue_bytes(mut self, limit: usize) -> Self {
        self.queue_bytes = limit;
        self
    }

    /// How long the peer may read nothing while something waits. Each byte that it takes begins the time anew.
    #[must_use]
    pub fn stall(mut self, limit: Duration) -> Self {
        self.stall = limit;
        self
    }
}

/// A connection to a peer: requests go out in the order of the calls, and each answer finds its caller.
///
/// Cheap to clone. When the last clone is dropped the connection is [closed](Self::close); a [`Handler`] that holds one
/// keeps it open until the peer ends it, or somebody closes it.
///
/// ```
/// use std::time::Duration;
/// use terret_wire::{Framing, Handler, JsonRpc, Options, Peer, Request, METHOD_NOT_FOUND, Failure};
///
/// /// Answers what the other side asks.
/// struct Greeter;
///
/// impl Handler for Greeter {
///     fn request(&mut self, request: Request) {
///         match request.method() {
///             "greet" => request.responder().answer("hello"),
///             _ => request.responder().fail(Failure::new(METHOD_NOT_FOUND, "only greetings")),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Two peers in memory. The streams of a child process do as well.
/// let (ours, theirs) = tokio::io::duplex(4096);
/// let start = |stream| {
///     let (reader, writer) = tokio::io::split(stream);
///     Peer::start(reader, writer, JsonRpc::new(), Greeter, Options::new(Framing::ContentLength))
/// };
/// let (us, _them) = (start(ours), start(theirs));
///
/// let bound = Duration::from_secs(5);
/// let greeting: String = us.request("greet", &(), bound).parse().await?;
/// assert_eq!(greeting, "hello");
/// let error = us.request("leave", &(), bound).await.unwrap_err();
/// assert_eq!(error.to_string(), "`leave` failed: only greetings");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Peer {
    // Before `shared`, so that the last clone closes.
    _open: Arc<CloseOnDrop>,
    shared: Arc<Shared>,
}

/// What there is to say about a connection.
#[derive(Clone, Debug)]
pub struct Status {
    /// What came before the first message.
    pub junk: Junk,
    /// How many frames came that are no messages, and what was wrong with the last.
    pub malformed: u64,
    /// What was wrong with the last of them.
    pub last_malformed: Option<Malformed>,
    /// How many answers came that nobody waits for: late ones, mostly.
    pub unclaimed: u64,
    /// How many requests wait for an answer.
    pub in_flight: usize,
    /// How many bytes wait to be sent.
    pub queued_bytes: usize,
    /// Why there is no connection any more, if so.
    pub closed: Option<Closed>,
}

impl Peer {
    /// Begins to read and to write, on two tasks of the current runtime. `handler` gets what the peer says by itself.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        dialect: impl Dialect,
        handler: impl Handler,
        options: Options,
    ) -> Self {
        let shared = Arc::new(Shared {
            dialect: Box::new(dialect),
            options,
            outbox: Mutex::new(Outbox::new(&options)),
            to_write: Notify::new(),
            closed: CancellationToken::new(),
            written: CancellationToken::new(),
        });
        // Made here, since a task may be dropped before it has begun.
        let open = || CloseOnDrop::new(&shared, Closed::Abandoned);
        tokio::spawn(writer::run(writer, open()));
        tokio::spawn(reader::run(reader, handler, open()));
        Self {
            _open: Arc::new(CloseOnDrop::new(&shared, Closed::ByUs)),
            shared,
        }
    }

    /// Asks for something. The request is in the queue when this returns; the [`Call`] is for its answer, which is waited
    /// for no longer than `limit` from now on.
    ///
    /// That it could not be queued is told by the call. `()` is for no parameters.
    pub fn request(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        limit: Duration,
    ) -> Call {
        Call::start(&self.shared, method, params, limit)
    }

    /// Tells something. It is in the queue when this returns.
    ///
    /// # Errors
    ///
    /// If it could not be queued.
    pub fn notify(&self, method: &str, params: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let error = |kind| Error::new(method, kind);
        let params = Json::of(params).map_err(|why| error(unexpected(&why)))?;
        let params = &params;
        self.shared
            .send(Kind::Call, Outgoing::Notification { method, params })
            .map_err(error)
    }

    /// Sends what is queued, and then ends what the peer reads: to a child, its standard input. Nothing new is taken, and
    /// what the peer says until it ends the connection still arrives.
    ///
    /// Ready when all is written, or the connection has closed. Safe to cancel; what was begun goes on.
    pub async fn finish(&self) {
        self.shared.outbox().finish();
        self.shared.to_write.notify_one();
        tokio::select! {
            () = self.shared.written.cancelled() => {}
            () = self.shared.closed.cancelled() => {}
        }
    }

    /// Closes the connection: both streams are dropped, what waits to be sent is not, and all calls fail.
    pub fn close(&self) {
        self.shared.close(Closed::ByUs);
    }

    /// Waits until the connection has closed, and tells why. Safe to cancel.
    pub async fn closed(&self) -> Closed {
        self.shared.closed.cancelled().await;
        self.shared
            .outbox()
            .closed
            .clone()
            .unwrap_or(Closed::Abandoned)
    }

    /// How the connection is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.outbox().status()
    }
}

fn unexpected(why: &serde_json::Error) -> ErrorKind {
    ErrorKind::Unexpected(match why.line() {
        0 => "it has no form in JSON".to_owned(),
        line => format!(
            "unlike what was expected at line {line} column {}",
            why.column()
        ),
    })
}

/// What the peer's handles and its tasks share.
struct Shared {
    dialect: Box<dyn Dialect>,
    options: Options,
    outbox: Mutex<Outbox>,
    /// There is something to write, or nothing will come any more.
    to_write: Notify,
    closed: CancellationToken,
    /// The writer has done all that it was asked to before the end.
    written: CancellationToken,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = self.outbox().status();
        f.debug_struct("Peer")
            .field("status", &status)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        // A dialect or a `Serialize` that panics does so before anything is changed.
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message into the queue.
    fn send(&self, kind: Kind, message: Outgoing<'_>) -> Result<(), ErrorKind> {
        self.outbox().push(&*self.dialect, kind, message)?;
        self.to_write.notify_one();
        Ok(())
    }

    /// An answer, or what the dialect has instead of one. Where it cannot be queued the peer does not read.
    fn reply(&self, message: Outgoing<'_>) {
        // Otherwise, if it is not sent, there is nobody to tell.
        if let Err(ErrorKind::QueueFull) = self.send(Kind::Reply, message) {
            self.close(Closed::Flooded);
        }
    }

    fn answer(&self, id: &Json, method: &str, outcome: Result<&Json, &Failure>) {
        self.reply(Outgoing::Answer {
            id,
            method,
            outcome,
        });
    }

    /// The first cause counts.
    fn close(&self, why: Closed) {
        let waiters = self.outbox().close(why);
        self.closed.cancel();
        // Outside of the lock: this wakes them.
        drop(waiters);
    }
}

/// Closes a connection when whoever holds this is gone, be it by a panic or with the runtime.
#[derive(Debug)]
struct CloseOnDrop {
    shared: Arc<Shared>,
    /// `None` once it is to stay open.
    why: Option<Closed>,
}

impl CloseOnDrop {
    fn new(shared: &Arc<Shared>, why: Closed) -> Self {
        Self {
            shared: Arc::clone(shared),
            why: Some(why),
        }
    }

    fn leave_open(mut self) {
        self.why = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(why) = self.why.take() {
            self.shared.close(why);
        }
    }
}
