//! How far workers may run ahead of the consumer.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How many files are worked on, or wait for those before them, at the most.
const MOST_AHEAD: usize = 512;

/// The part of the walk that is worked on: results that wait for their turn are kept in memory, and
/// one slow file must not let them grow without bound.
#[derive(Default)]
pub(super) struct Window {
    consumed: Mutex<usize>,
    moved: Condvar,
}

impl Window {
    /// Says how many results are consumed.
    pub(super) fn move_to(&self, consumed: usize) {
        *self.consumed.lock().unwrap_or_else(PoisonError::into_inner) = consumed;
        self.moved.notify_all();
    }

    /// Lets everybody go on.
    pub(super) fn open(&self) {
        self.move_to(usize::MAX / 2);
    }

    /// Waits until the file of this number may be worked on; false when it is `done` before that.
    pub(super) fn wait_for(&self, file: usize, done: &dyn Fn() -> bool) -> bool {
        let mut consumed = self.consumed.lock().unwrap_or_else(PoisonError::into_inner);
        while file >= *consumed + MOST_AHEAD {
            if done() {
                return false;
            }
            // An interruption wakes nobody.
            let waited = self.moved.wait_timeout(consumed, Duration::from_millis(50));
            consumed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_wait_for_those_before_them() {
        let window = Window::default();
        assert!(window.wait_for(MOST_AHEAD - 1, &|| true));
        assert!(!window.wait_for(MOST_AHEAD, &|| true));
        window.move_to(1);
        assert!(window.wait_for(MOST_AHEAD, &|| true));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| window.wait_for(usize::MAX / 2, &|| false));
            window.open();
            assert!(waiting.join().is_ok_and(|went_on| went_on));
        });
    }
}
