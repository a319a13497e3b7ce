//! A request that waits for its answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio::time::Sleep;

use super::outbox::Kind;
use super::{Shared, unexpected};
use crate::dialect::{Failure, Outgoing};
use crate::error::{Closed, Error, ErrorKind};
use crate::json::Json;

/// The answer to a request, once it comes: a future of a [`Json`].
///
/// Dropped before, it is cancelled: nobody waits any more, the peer is told so where the dialect has a way, and an answer
/// that comes all the same goes unnoticed. A request that has not left yet does not leave. Running out of time does the
/// same.
#[derive(Debug)]
#[must_use = "dropping a call cancels the request"]
pub struct Call {
    shared: Arc<Shared>,
    method: String,
    limit: Duration,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting {
        number: u64,
        answer: oneshot::Receiver<Result<Json, Failure>>,
        timer: Pin<Box<Sleep>>,
    },
    NotSent(ErrorKind),
    Done,
}

impl Call {
    pub(super) fn start(
        shared: &Arc<Shared>,
        method: &str,
        params: &(impl Serialize + ?Sized),
        limit: Duration,
    ) -> Self {
        let sent = Json::of(params)
            .map_err(|why| unexpected(&why))
            .and_then(|params| {
                let (waiter, answer) = oneshot::channel();
                let mut outbox = shared.outbox();
                let params = &params;
                let message = Outgoing::Request { method, params };
                let number = outbox.push(&*shared.dialect, Kind::Call, message)?;
                outbox.wait(number, waiter);
                drop(outbox);
                shared.to_write.notify_one();
                Ok((number, answer))
            });
        let state = match sent {
            Ok((number, answer)) => State::Waiting {
                number,
                answer,
                timer: Box::pin(tokio::time::sleep(limit)),
            },
            Err(kind) => State::NotSent(kind),
        };
        Self {
            shared: Arc::clone(shared),
            method: method.to_owned(),
            limit,
            state,
        }
    }

    /// The number of the request, by which the peer may speak of it. `None` if it was not sent.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match &self.state {
            State::Waiting { number, .. } => Some(*number),
            State::NotSent(_) | State::Done => None,
        }
    }

    /// The answer as a value of a type. Cancelled like the call itself.
    ///
    /// # Errors
    ///
    /// Those of the call, and if the answer is something else.
    pub async fn parse<T: DeserializeOwned>(self) -> Result<T, Error> {
        let method = self.method.clone();
        let json = self.await?;
        json.parse()
            .map_err(|why| Error::new(&method, unexpected(&why)))
    }

    fn forget(&self, number: u64) {
        let on_its_way = self.shared.outbox().forget(number);
        if on_its_way {
            // That there is no room, or no connection, is no loss. It is no call: a queue full of calls is when it is needed.
            let _ = self
                .shared
                .send(Kind::Reply, Outgoing::Cancel { request: number });
        }
    }
}

impl Future for Call {
    type Output = Result<Json, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let outcome = match &mut this.state {
            State::Waiting {
                number,
                answer,
                timer,
            } => match Pin::new(answer).poll(context) {
                Poll::Ready(Ok(outcome)) => outcome.map_err(ErrorKind::Failed),
                Poll::Ready(Err(_)) => {
                    let closed = this.shared.outbox().closed.clone();
                    Err(ErrorKind::Closed(closed.unwrap_or(Closed::Abandoned)))
                }
                Poll::Pending => {
                    std::task::ready!(timer.as_mut().poll(context));
                    let number = *number;
                    this.forget(number);
                    Err(ErrorKind::TimedOut { after: this.limit })
                }
            },
            State::NotSent(kind) => Err(kind.clone()),
            // As with other futures, there is no second answer.
            State::Done => return Poll::Pending,
        };
        this.state = State::Done;
        Poll::Ready(outcome.map_err(|kind| Error::new(&this.method, kind)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(number) = self.number() {
            self.forget(number);
        }
    }
}
