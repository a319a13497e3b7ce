//! Who is left: processes are told by a mark in their environment, which all that they start
//! inherit.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// The variable that a mark is.
const VARIABLE: &str = "TERRET_TEST_MARK";

/// A mark for one tree of processes, unlike any other.
///
/// ```
/// use std::time::Duration;
/// use terret_testkit::{Bin, Mark};
///
/// let mark = Mark::new();
/// let live = Bin::new("sleep").arg("1000").env(mark.name(), mark.value()).start();
/// mark.await_count(1, Duration::from_secs(10));
/// drop(live);
/// mark.await_count(0, Duration::from_secs(10));
/// ```
#[derive(Debug)]
pub struct Mark(String);

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

impl Mark {
    /// A new one.
    #[must_use]
    pub fn new() -> Mark {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Mark(format!("{}-{count}", process::id()))
    }

    /// The one that this process has.
    ///
    /// # Panics
    ///
    /// If it has none.
    #[must_use]
    pub fn inherited() -> Mark {
        Mark(env::var(VARIABLE).expect("a mark"))
    }

    /// The name of the variable to set.
    #[must_use]
    pub fn name(&self) -> &'static str {
        VARIABLE
    }

    /// What to set it to.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.0
    }

    /// The numbers of the processes that have the mark now, but for those that only wait to be
    /// collected.
    ///
    /// # Panics
    ///
    /// If the process table can't be read.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let entries = fs::read_dir("/proc").expect("a process table");
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let marked = |number: &u32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == wanted.as_bytes())
        };
        numbers.filter(marked).collect()
    }

    /// Waits until just so many have it.
    ///
    /// # Panics
    ///
    /// If that has not come about within `limit`; the message has their command lines.
    #[track_caller]
    pub fn await_count(&self, count: usize, limit: Duration) {
        let end = Instant::now() + limit;
        loop {
            let processes = self.processes();
            if processes.len() == count {
                return;
            }
            if Instant::now() > end {
                let lines: Vec<String> = processes.into_iter().map(command_line).collect();
                panic!(
                    "not {count} but {} after {limit:?}:\n{}",
                    lines.len(),
                    lines.join("\n")
                );
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Mark {
    /// A test that fails leaves nothing either.
    fn drop(&mut self) {
        let others = |process: &u32| *process != process::id();
        for process in self.processes().into_iter().filter(others) {
            let number = i32::try_from(process)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let Some(number) = number {
                let _ = rustix::process::kill_process(number, rustix::process::Signal::KILL);
            }
        }
    }
}

fn command_line(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    let state = state_of(process).unwrap_or('?');
    format!("{process} {state} {words}")
}

/// The state of a process as the system writes it (`Z` for one that waits to be collected), and
/// `None` if there is none of that number.
#[must_use]
pub fn state_of(process: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold anything.
    stat.rsplit_once(") ")?.1.chars().next()
}
