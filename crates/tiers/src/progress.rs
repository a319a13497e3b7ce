//! Progress messages of a running call: a bounded queue that loses the oldest instead of blocking.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::bound;

/// Longest message kept, in characters; what is longer is cut, and says so.
const MESSAGE_CHARACTERS: usize = 1_000;

/// One message about a running call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The id of the call.
    pub call: String,
    /// One line, bounded, without control characters.
    pub message: String,
    /// How many messages were lost before this one because nobody read them in time.
    pub lost: u64,
}

/// Makes a queue of at most `capacity` messages (at least one).
///
/// When it is full the oldest message is lost, since the newest says most about what happens now.
pub fn channel(capacity: usize) -> (ProgressSink, ProgressReceiver) {
    let shared = Arc::new(Mutex::new(Queue {
        messages: VecDeque::new(),
        capacity: capacity.max(1),
        lost: 0,
        receiver: true,
        sinks: 1,
        waker: None,
    }));
    (
        ProgressSink {
            shared: Some(shared.clone()),
        },
        ProgressReceiver { shared },
    )
}

#[derive(Debug)]
struct Queue {
    messages: VecDeque<Progress>,
    capacity: usize,
    lost: u64,
    receiver: bool,
    sinks: usize,
    waker: Option<Waker>,
}

fn lock(shared: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    // Nothing that runs under the lock can leave the queue half changed.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The writing end, which a host gives to a [`Request`](crate::Request). Cheap to clone.
#[derive(Debug, Default)]
pub struct ProgressSink {
    /// Absent: messages go nowhere.
    shared: Option<Arc<Mutex<Queue>>>,
}

impl ProgressSink {
    /// A sink that drops every message.
    pub fn none() -> ProgressSink {
        ProgressSink::default()
    }

    /// Adds a message. Never blocks; may lose the oldest one.
    pub(crate) fn send(&self, call: &str, message: &str) {
        let Some(shared) = &self.shared else { return };
        let message = bound::line(&bound::sanitise(message), MESSAGE_CHARACTERS);
        let waker = {
            let mut queue = lock(shared);
            if !queue.receiver {
                return;
            }
            if queue.messages.len() == queue.capacity
                && let Some(oldest) = queue.messages.pop_front()
            {
                queue.lost += oldest.lost + 1;
            }
            queue.messages.push_back(Progress {
                call: call.to_owned(),
                message,
                lost: 0,
            });
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Clone for ProgressSink {
    fn clone(&self) -> ProgressSink {
        if let Some(shared) = &self.shared {
            lock(shared).sinks += 1;
        }
        ProgressSink {
            shared: self.shared.clone(),
        }
    }
}

impl Drop for ProgressSink {
    fn drop(&mut self) {
        let Some(shared) = &self.shared else { return };
        let waker = {
            let mut queue = lock(shared);
            queue.sinks -= 1;
            if queue.sinks == 0 {
                queue.waker.take()
            } else {
                None
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The reading end. Dropping it makes the sinks drop their messages.
#[derive(Debug)]
pub struct ProgressReceiver {
    shared: Arc<Mutex<Queue>>,
}

impl ProgressReceiver {
    /// The next message; `None` once every sink is gone and the queue is empty.
    ///
    /// Cancel-safe: no message is lost by dropping the future.
    pub async fn next(&mut self) -> Option<Progress> {
        poll_fn(|cx| {
            let mut queue = lock(&self.shared);
            if let Some(message) = take(&mut queue) {
                return Poll::Ready(Some(message));
            }
            if queue.sinks == 0 {
                return Poll::Ready(None);
            }
            queue.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// The next message if there is one.
    pub fn try_next(&mut self) -> Option<Progress> {
        take(&mut lock(&self.shared))
    }
}

fn take(queue: &mut Queue) -> Option<Progress> {
    let mut message = queue.messages.pop_front()?;
    message.lost = std::mem::take(&mut queue.lost);
    Some(message)
}

impl Drop for ProgressReceiver {
    fn drop(&mut self) {
        let mut queue = lock(&self.shared);
        queue.receiver = false;
        queue.messages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_loses_the_oldest_and_counts_them() {
        let (sink, mut receiver) = channel(2);
        for n in 1..=5 {
            sink.send("c", &format!("step {n}"));
        }
        let first = receiver.try_next().unwrap();
        assert_eq!((first.message.as_str(), first.lost), ("step 4", 3));
        let second = receiver.try_next().unwrap();
        assert_eq!((second.message.as_str(), second.lost), ("step 5", 0));
        assert_eq!(receiver.try_next(), None);
    }

    #[test]
    fn a_message_is_one_bounded_harmless_line() {
        let (sink, mut receiver) = channel(1);
        sink.send("c", &format!("a\nb\u{1b}[2J{}", "x".repeat(5_000)));
        let message = receiver.try_next().unwrap().message;
        assert!(
            message.chars().count() <= MESSAGE_CHARACTERS + 40,
            "{}",
            message.len()
        );
        assert!(!message.contains(['\n', '\u{1b}']), "{message:?}");
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_last_sink() {
        let (sink, mut receiver) = channel(4);
        let other = sink.clone();
        drop(sink);
        other.send("c", "last");
        drop(other);
        assert_eq!(receiver.next().await.unwrap().message, "last");
        assert_eq!(receiver.next().await, None);
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken() {
        let (sink, mut receiver) = channel(4);
        let (message, ()) = tokio::join!(receiver.next(), async { sink.send("c", "now") });
        assert_eq!(message.unwrap().message, "now");
    }

    #[test]
    fn without_a_reader_messages_go_nowhere() {
        let (sink, receiver) = channel(4);
        drop(receiver);
        sink.send("c", "x");
        ProgressSink::none().send("c", "x");
    }
}
