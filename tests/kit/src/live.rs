//! A program that a test talks with while it runs.

use std::io::Write;
use std::process::{Child, ChildStdin};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::bin::{Bin, Drained, Outcome, drain, kill_group, wait_until};

/// A program that a test talks with, a line at a time. The deadline of its [`Bin`] is for all of it.
///
/// ```
/// use terret_testkit::Bin;
///
/// let cat = Bin::new("cat");
/// let mut cat = cat.start();
/// cat.send("hello");
/// assert_eq!(cat.line(), "hello");
/// cat.send("again");
/// assert_eq!(cat.end().success().stdout, "hello\nagain\n");
/// ```
#[derive(Debug)]
pub struct Live {
    child: Child,
    input: Option<ChildStdin>,
    stdout: Option<Drained>,
    stderr: Option<Drained>,
    end: Instant,
}

impl Bin {
    /// Starts it, and leaves its standard input open. What was set as [`stdin`](Bin::stdin) comes
    /// first. Its home lasts as long as this value.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    #[track_caller]
    pub fn start(&self) -> Live {
        let mut child = self
            .command()
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let mut input = child.stdin.take().expect("piped");
        input.write_all(&self.stdin).expect("it reads");
        Live {
            stdout: child.stdout.take().map(drain),
            stderr: child.stderr.take().map(drain),
            input: Some(input),
            child,
            end: Instant::now() + self.deadline,
        }
    }
}

impl Live {
    /// The number of its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its standard input.
    ///
    /// # Panics
    ///
    /// If it reads no more.
    #[track_caller]
    pub fn send(&mut self, line: impl AsRef<str>) {
        let line = format!("{}\n", line.as_ref());
        let input = self.input.as_mut().expect("open until the end");
        if let Err(error) = input.write_all(line.as_bytes()) {
            panic!("{error}, after {}", self.stop());
        }
    }

    /// The next line of its standard output.
    ///
    /// # Panics
    ///
    /// If none comes by the deadline.
    #[must_use]
    #[track_caller]
    pub fn line(&mut self) -> String {
        let line = self
            .stdout
            .as_ref()
            .and_then(|stdout| stdout.line_by(self.end));
        line.unwrap_or_else(|| panic!("no line, but {}", self.stop()))
    }

    /// Waits for a line on its standard error.
    ///
    /// # Panics
    ///
    /// If none comes by the deadline.
    #[must_use]
    #[track_caller]
    pub fn note(&mut self) -> String {
        let line = self
            .stderr
            .as_ref()
            .and_then(|stderr| stderr.line_by(self.end));
        line.unwrap_or_else(|| panic!("no line on standard error, but {}", self.stop()))
    }

    /// Interrupts it, as Ctrl-C does.
    ///
    /// # Panics
    ///
    /// If it is gone.
    #[track_caller]
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
    }

    /// Ends its standard input and waits for its end.
    ///
    /// # Panics
    ///
    /// If it is not done by the deadline.
    #[must_use]
    #[track_caller]
    pub fn end(mut self) -> Outcome {
        self.input = None;
        self.wait()
    }

    /// Waits for it to end of its own accord, with its standard input open.
    ///
    /// # Panics
    ///
    /// If it is not done by the deadline.
    #[must_use]
    #[track_caller]
    pub fn wait(mut self) -> Outcome {
        let done = wait_until(&mut self.child, self.end).is_some();
        let outcome = self.stop();
        assert!(done, "it was not done in time and was killed\n{outcome}");
        outcome
    }

    /// Kills what is left of it, and tells what it said.
    fn stop(&mut self) -> Outcome {
        self.input = None;
        kill_group(&self.child);
        let text = |pipe: Option<Drained>| pipe.map(Drained::text).unwrap_or_default();
        Outcome {
            status: self.child.wait().expect("a child of ours"),
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        kill_group(&self.child);
        let _ = self.child.wait();
    }
}
