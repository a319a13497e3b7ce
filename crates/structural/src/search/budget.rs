//! How long one file may take.

use std::time::{Duration, Instant};

/// Two seconds of a thread's own time, so that what is found does not depend on what else the
/// machine does.
pub(super) struct Budget {
    started: Instant,
    used: Option<Duration>,
}

impl Budget {
    pub(super) const SECONDS: u64 = 2;
    const MOST: Duration = Duration::from_secs(Self::SECONDS);

    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            used: thread_time(),
        }
    }

    /// Whether the thread that started it has used it up.
    pub(super) fn is_spent(&self) -> bool {
        // The clock is cheap, the thread's own time is not; that is never ahead of the clock.
        if self.started.elapsed() <= Self::MOST {
            return false;
        }
        match (self.used, thread_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before) > Self::MOST,
            _ => true,
        }
    }
}

/// The processor time of this thread; absent where the system does not tell.
#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}
