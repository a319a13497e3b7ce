//! What waits: messages to be sent, and calls to be answered.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;

use super::{Options, Status};
use crate::dialect::{Dialect, Failure, Malformed, Outgoing};
use crate::error::{Closed, ErrorKind};
use crate::frame::Junk;
use crate::json::Json;

/// What a call waits for. That the sender is dropped says that the connection has closed.
pub(super) type Waiter = oneshot::Sender<Result<Json, Failure>>;

/// Whose message it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A caller's, who can be told that there is no room.
    Call,
    /// Ours, in reply to something.
    Reply,
}

struct Queued {
    number: u64,
    kind: Kind,
    bytes: Vec<u8>,
}

pub(super) struct Outbox {
    last_number: u64,
    queue: VecDeque<Queued>,
    calls: usize,
    bytes: usize,
    most_calls: usize,
    most_bytes: usize,
    waiters: HashMap<u64, Waiter>,
    finishing: bool,
    pub(super) closed: Option<Closed>,
    pub(super) junk: Junk,
    malformed: u64,
    last_malformed: Option<Malformed>,
    unclaimed: u64,
}

impl Outbox {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            last_number: 0,
            queue: VecDeque::new(),
            calls: 0,
            bytes: 0,
            most_calls: options.queue,
            most_bytes: options.queue_bytes,
            waiters: HashMap::new(),
            finishing: false,
            closed: None,
            junk: Junk::default(),
            malformed: 0,
            last_malformed: None,
            unclaimed: 0,
        }
    }

    /// Queues a message, and gives its number. Messages leave in the order in which they come here.
    pub(super) fn push(
        &mut self,
        dialect: &dyn Dialect,
        kind: Kind,
        message: Outgoing<'_>,
    ) -> Result<u64, ErrorKind> {
        if let Some(closed) = &self.closed {
            return Err(ErrorKind::Closed(closed.clone()));
        }
        if self.finishing {
            return Err(ErrorKind::Closed(Closed::ByUs));
        }
        if kind == Kind::Call && self.calls >= self.most_calls {
            return Err(ErrorKind::QueueFull);
        }
        let number = self.last_number + 1;
        let Some(bytes) = dialect.encode(number, message) else {
            return Ok(number);
        };
        if !self.queue.is_empty() && self.bytes.saturating_add(bytes.len()) > self.most_bytes {
            return Err(ErrorKind::QueueFull);
        }
        self.last_number = number;
        self.calls += usize::from(kind == Kind::Call);
        self.bytes += bytes.len();
        self.queue.push_back(Queued {
            number,
            kind,
            bytes,
        });
        Ok(number)
    }

    /// The next message to be written.
    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        let Queued { kind, bytes, .. } = self.queue.pop_front()?;
        self.calls -= usize::from(kind == Kind::Call);
        self.bytes -= bytes.len();
        Some(bytes)
    }

    pub(super) fn wait(&mut self, number: u64, waiter: Waiter) {
        self.waiters.insert(number, waiter);
    }

    /// An answer for whoever waits for it. One that nobody waits for is counted.
    pub(super) fn answered(&mut self, number: Option<u64>) -> Option<Waiter> {
        let waiter = number.and_then(|number| self.waiters.remove(&number));
        self.unclaimed += u64::from(waiter.is_none());
        waiter
    }

    /// Nobody waits for that request any more. What is true if it was on its way, so that the peer should be told; one that
    /// has not left does not leave.
    pub(super) fn forget(&mut self, number: u64) -> bool {
        if self.waiters.remove(&number).is_none() {
            return false;
        }
        match self.queue.iter().position(|queued| queued.number == number) {
            Some(place) => {
                if let Some(queued) = self.queue.remove(place) {
                    self.calls -= 1;
                    self.bytes -= queued.bytes.len();
                }
                false
            }
            None => true,
        }
    }

    pub(super) fn malformed(&mut self, malformed: Malformed) {
        self.malformed += 1;
        self.last_malformed = Some(malformed);
    }

    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Whether all is written that ever will be.
    pub(super) fn is_finished(&self) -> bool {
        self.finishing && self.queue.is_empty()
    }

    /// The first cause counts. Gives back who waits, to be woken.
    pub(super) fn close(&mut self, why: Closed) -> HashMap<u64, Waiter> {
        self.closed.get_or_insert(why);
        self.queue.clear();
        (self.calls, self.bytes) = (0, 0);
        std::mem::take(&mut self.waiters)
    }

    pub(super) fn status(&self) -> Status {
        Status {
            junk: self.junk.clone(),
            malformed: self.malformed,
            last_malformed: self.last_malformed.clone(),
            unclaimed: self.unclaimed,
            in_flight: self.waiters.len(),
            queued_bytes: self.bytes,
            closed: self.closed.clone(),
        }
    }
}
