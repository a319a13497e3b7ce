//! A future that becomes ready at an instant, without a runtime.
//!
//! A call that waits for an exclusive key must honour its deadline, and nothing polls a waiting
//! future by itself. The choice is a timer port that every host has to wire (and that fails
//! silently where one forgets), or a parked thread for as long as such a wait lasts. Waits for a
//! key with a deadline are rare and few, so it is the thread: it is started by the first poll that
//! finds the key taken, and gone when the wait is.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

/// Ready when its instant has passed; never, without one.
pub(crate) struct Alarm {
    at: Option<Instant>,
    /// What to wake; `None` once the alarm is dropped.
    waker: Arc<Mutex<Option<Waker>>>,
    sleeper: Option<Thread>,
}

impl Alarm {
    pub(crate) fn at(at: Option<Instant>) -> Alarm {
        Alarm {
            at,
            waker: Arc::default(),
            sleeper: None,
        }
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else {
            return Poll::Pending;
        };
        if Instant::now() >= at {
            return Poll::Ready(());
        }
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        if self.sleeper.is_none() {
            let waker = self.waker.clone();
            // Without a thread the deadline is still seen by every poll that something else causes.
            if let Ok(handle) = thread::Builder::new()
                .name("terret-deadline".into())
                .spawn(move || sleep(at, &waker))
            {
                self.sleeper = Some(handle.thread().clone());
            }
        }
        Poll::Pending
    }
}

fn sleep(at: Instant, waker: &Mutex<Option<Waker>>) {
    loop {
        let left = at.saturating_duration_since(Instant::now());
        let mut slot = waker.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            return;
        }
        if left.is_zero() {
            let waker = slot.take();
            drop(slot);
            if let Some(waker) = waker {
                waker.wake();
            }
            return;
        }
        drop(slot);
        thread::park_timeout(left);
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(sleeper) = &self.sleeper {
            sleeper.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn it_rings_without_anybody_else_polling() {
        let at = Instant::now() + Duration::from_millis(5);
        Alarm::at(Some(at)).await;
        assert!(Instant::now() >= at);
    }

    #[tokio::test]
    async fn its_thread_ends_with_it() {
        let mut alarm = Box::pin(Alarm::at(Some(Instant::now() + Duration::from_secs(3_600))));
        assert!(futures_util::poll!(&mut alarm).is_pending());
        let waker = Arc::downgrade(&alarm.waker);
        drop(alarm);
        // The thread holds the only other reference.
        while waker.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
