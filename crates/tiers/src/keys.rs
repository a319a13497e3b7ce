//! Exclusive keys: within one run, calls over the same resource take turns.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use futures_util::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::alarm::Alarm;
use crate::ancestry::Link;
use crate::context;
use crate::error::ToolError;
use crate::surface::Request;

/// One run: its id, and the exclusive keys that all its surfaces share. Cheap to clone; a clone is
/// the same run.
///
/// Every [`Toolset`](crate::Toolset) of a run is built with the same scope, so that two surfaces of
/// it can't hold the same key at once. Nothing is shared between scopes, even those of the same id.
#[derive(Clone)]
pub struct RunScope {
    inner: Arc<Inner>,
}

struct Inner {
    id: String,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// A key that nobody holds has no entry.
    entries: HashMap<String, Entry>,
    last_ticket: u64,
}

struct Entry {
    ticket: u64,
    holder: Arc<Link>,
    /// First come, first served.
    queue: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    link: Arc<Link>,
    waker: Waker,
}

impl RunScope {
    /// A new run without any key held. The id is the host's, and only for display.
    pub fn new(id: impl Into<String>) -> RunScope {
        RunScope {
            inner: Arc::new(Inner {
                id: id.into(),
                table: Mutex::default(),
            }),
        }
    }

    /// The host's id for the run.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Holds `key` for something that is not called through a surface, such as a host's own writer.
    ///
    /// `holder` is the name that others are told when they ask for the same key from within. Waits
    /// for its turn: those who asked earlier come first. The key is free when the last clone of the
    /// lease is dropped.
    ///
    /// # Cancellation
    ///
    /// Dropping the future, the request's token and its deadline all end the wait and leave the
    /// queue as if it had never been.
    ///
    /// # Errors
    ///
    /// [`Refused`](crate::ErrorKind::Refused) if waiting could never end, because a call that this
    /// one is part of holds the key or waits for one that it holds;
    /// [`Cancelled`](crate::ErrorKind::Cancelled) and [`TimedOut`](crate::ErrorKind::TimedOut).
    pub async fn hold(
        &self,
        key: &str,
        holder: &str,
        request: &Request,
    ) -> Result<Lease, ToolError> {
        if let Some(error) = context::interrupted(request.cancel(), request.deadline()) {
            return Err(error);
        }
        let link = Link::new(holder, request.parent().cloned());
        self.hold_as(key, link, request.cancel(), request.deadline())
            .await
    }

    pub(crate) async fn hold_as(
        &self,
        key: &str,
        link: Arc<Link>,
        cancel: &CancellationToken,
        deadline: Option<Instant>,
    ) -> Result<Lease, ToolError> {
        let turn = Turn {
            scope: self,
            key,
            link,
            ticket: None,
        };
        let cancelled = pin!(cancel.cancelled());
        let end = select(cancelled, Alarm::at(deadline));
        match select(turn, end).await {
            Either::Left((lease, _)) => lease,
            Either::Right((Either::Left(_), _)) => Err(ToolError::cancelled(format!(
                "cancelled while waiting for `{key}`; nothing was done"
            ))),
            Either::Right((Either::Right(_), _)) => Err(ToolError::timed_out(format!(
                "the deadline passed while waiting for another call to be done with `{key}`; \
                 nothing was done"
            ))),
        }
    }

    /// Who holds `key`, by name.
    #[cfg(test)]
    pub(crate) fn holder(&self, key: &str) -> Option<String> {
        self.lock()
            .entries
            .get(key)
            .map(|entry| entry.holder.tool().to_owned())
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self, key: &str) -> usize {
        self.lock()
            .entries
            .get(key)
            .map_or(0, |entry| entry.queue.len())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Nothing that runs under the lock can leave the table half changed.
        self.inner
            .table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, key: &str, ticket: u64) {
        let waker = self.lock().leave(key, ticket);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lease(&self, key: &str, ticket: u64) -> Lease {
        Lease {
            held: Arc::new(Held {
                scope: self.clone(),
                key: key.to_owned(),
                ticket,
            }),
        }
    }
}

impl Default for RunScope {
    /// A run with the id `run`.
    fn default() -> RunScope {
        RunScope::new("run")
    }
}

impl fmt::Debug for RunScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunScope")
            .field("id", &self.inner.id)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Takes a holder or a waiter away; gives the waker of who holds the key now, if that is
    /// someone else.
    fn leave(&mut self, key: &str, ticket: u64) -> Option<Waker> {
        let entry = self.entries.get_mut(key)?;
        if entry.ticket != ticket {
            entry.queue.retain(|waiter| waiter.ticket != ticket);
            return None;
        }
        // Handed over rather than freed: a newcomer can't overtake who was woken and has not run
        // yet.
        if let Some(next) = entry.queue.pop_front() {
            entry.ticket = next.ticket;
            entry.holder = next.link;
            return Some(next.waker);
        }
        self.entries.remove(key);
        None
    }

    /// Whether `link` would wait for ever for `key`: its holder can't finish before `link` does.
    ///
    /// A call finishes after those made from within it. So from the holder one goes to whatever the
    /// calls within it wait for, and so on; meeting a call that `link` is part of closes the
    /// circle. Asking when a wait begins is enough: when a key changes hands, its new holder has
    /// made no calls yet.
    fn circle(&self, link: &Link, key: &str) -> Option<Arc<Link>> {
        let mut seen = HashSet::new();
        let mut keys = vec![key];
        while let Some(key) = keys.pop() {
            let Some(entry) = self.entries.get(key) else {
                continue;
            };
            if !seen.insert(key) {
                continue;
            }
            if link.is_within(&entry.holder) {
                return Some(entry.holder.clone());
            }
            keys.extend(self.entries.iter().filter_map(|(other, waited_for)| {
                waited_for
                    .queue
                    .iter()
                    .any(|waiter| waiter.link.is_within(&entry.holder))
                    .then_some(other.as_str())
            }));
        }
        None
    }
}

/// A place in the queue of a key, and then the key.
struct Turn<'a> {
    scope: &'a RunScope,
    key: &'a str,
    link: Arc<Link>,
    /// Set while in the queue or holding the key without having said so.
    ticket: Option<u64>,
}

impl Future for Turn<'_> {
    type Output = Result<Lease, ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut table = this.scope.lock();
        let ticket = match this.ticket {
            Some(ticket) => ticket,
            None => {
                table.last_ticket += 1;
                table.last_ticket
            }
        };
        match table.entries.get_mut(this.key) {
            Some(entry) if entry.ticket == ticket => {}
            Some(entry) if this.ticket.is_some() => {
                if let Some(waiter) = entry
                    .queue
                    .iter_mut()
                    .find(|waiter| waiter.ticket == ticket)
                {
                    waiter.waker.clone_from(cx.waker());
                }
                return Poll::Pending;
            }
            Some(_) => {
                if let Some(holder) = table.circle(&this.link, this.key) {
                    return Poll::Ready(Err(never(&this.link, this.key, &holder)));
                }
                this.ticket = Some(ticket);
                let waiter = Waiter {
                    ticket,
                    link: this.link.clone(),
                    waker: cx.waker().clone(),
                };
                if let Some(entry) = table.entries.get_mut(this.key) {
                    entry.queue.push_back(waiter);
                }
                return Poll::Pending;
            }
            None => {
                let entry = Entry {
                    ticket,
                    holder: this.link.clone(),
                    queue: VecDeque::new(),
                };
                table.entries.insert(this.key.to_owned(), entry);
            }
        }
        drop(table);
        // From here on the lease gives the key back.
        this.ticket = None;
        Poll::Ready(Ok(this.scope.lease(this.key, ticket)))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.scope.release(self.key, ticket);
        }
    }
}

fn never(link: &Link, key: &str, holder: &Link) -> ToolError {
    let (tool, holder) = (link.tool(), holder.tool());
    ToolError::refused(format!(
        "`{tool}` needs `{key}` to itself and was called from within `{holder}`, which would have \
         to finish first: it would wait for itself. Call `{tool}` after `{holder}` has \
         returned, not from inside it"
    ))
}

/// A held exclusive key. The key is free when the last clone is dropped.
///
/// A tool whose work outlives its future (a thread, a child that must be interrupted first) moves a
/// clone into that work, so that the next call begins only when the resource is quiet; see
/// [`CallContext::lease`](crate::CallContext::lease).
#[derive(Clone)]
#[must_use = "the key is free as soon as the lease is dropped"]
pub struct Lease {
    held: Arc<Held>,
}

struct Held {
    scope: RunScope,
    key: String,
    ticket: u64,
}

impl Lease {
    /// The key that is held.
    pub fn key(&self) -> &str {
        &self.held.key
    }

    pub(crate) fn downgrade(&self) -> WeakLease {
        WeakLease {
            held: Arc::downgrade(&self.held),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.held.key).finish()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.scope.release(&self.key, self.ticket);
    }
}

/// What a context has of its lease: a context that outlives its call must not keep the key.
#[derive(Clone, Default)]
pub(crate) struct WeakLease {
    held: Weak<Held>,
}

impl WeakLease {
    pub(crate) fn upgrade(&self) -> Option<Lease> {
        self.held.upgrade().map(|held| Lease { held })
    }
}

#[cfg(test)]
mod tests;
