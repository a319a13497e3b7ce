//! Interrupts: the first stops the call, the second the process.

use std::future::Future;
use std::io;
use std::time::{Duration, Instant};

use terret::tiers::CancellationToken;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::{self, Interrupted};

/// Two interrupts within this time are two of one person who wants to leave, although the first
/// had its call ended and the next call has begun.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Listens for interrupts as long as it lives; they kill the process no more.
pub(crate) struct Interrupts {
    signal: Signal,
    /// The last one, as long as another means that the process is to end.
    last: Option<Instant>,
}

impl Interrupts {
    /// Begins to listen. Needs the runtime.
    pub(crate) fn listen() -> io::Result<Interrupts> {
        Ok(Interrupts {
            signal: signal(SignalKind::interrupt())?,
            last: None,
        })
    }

    /// Waits for a call, which an interrupt tells to stop.
    pub(crate) async fn during<T>(
        &mut self,
        call: impl Future<Output = T>,
        cancel: &CancellationToken,
    ) -> Result<T, Interrupted> {
        if self.last.is_some_and(|last| last.elapsed() > ONE_WISH) {
            self.last = None;
        }
        self.wait(call, || {
            cancel.cancel();
            exit::note("stopping the call; interrupt again to quit at once");
        })
        .await
    }

    /// Waits for something that is not a call, so that there is nothing to stop. An interrupt may
    /// have been meant for a call that has just ended, so that one alone does not end the process.
    pub(crate) async fn between<T>(
        &mut self,
        what: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        self.wait(what, || {
            exit::note("no call is running; interrupt again to quit")
        })
        .await
    }

    async fn wait<T>(
        &mut self,
        what: impl Future<Output = T>,
        first: impl Fn(),
    ) -> Result<T, Interrupted> {
        let mut what = std::pin::pin!(what);
        loop {
            tokio::select! {
                biased;
                Some(()) = self.signal.recv() => {
                    if self.last.replace(Instant::now()).is_some() {
                        return Err(Interrupted);
                    }
                    first();
                }
                done = &mut what => return Ok(done),
            }
        }
    }
}
