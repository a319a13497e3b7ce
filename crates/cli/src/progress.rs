//! The progress of a call: one line on standard error while that is a terminal, gone at its end.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terret::tiers::{Request, progress};
use tokio::task::JoinHandle;

/// Takes the cursor to the start of its line, and empties that.
const CLEAR: &str = "\r\x1b[2K";

/// What is shown of a call. Nothing, where nobody looks.
#[derive(Default)]
pub(crate) struct Shown {
    task: Option<JoinHandle<()>>,
    drawn: Arc<AtomicBool>,
}

/// Shows the progress of the call that is made with this request. Needs the runtime.
pub(crate) fn show(request: Request) -> (Request, Shown) {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !std::io::stderr().is_terminal() {
        return (request, Shown::default());
    }
    // Only the newest message counts.
    let (sink, mut messages) = progress::channel(1);
    let drawn = Arc::new(AtomicBool::new(false));
    let task = tokio::spawn({
        let drawn = drawn.clone();
        async move {
            while let Some(progress) = messages.next().await {
                draw(&progress.message);
                drawn.store(true, Ordering::Relaxed);
            }
        }
    });
    let shown = Shown {
        task: Some(task),
        drawn,
    };
    (request.with_progress(sink), shown)
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        if self.drawn.load(Ordering::Relaxed) {
            draw("");
        }
    }
}

/// Draws the line anew. When the terminal is gone there is nobody to show it to.
fn draw(line: &str) {
    let mut terminal = std::io::stderr().lock();
    let _ = write!(terminal, "{CLEAR}{line}");
    let _ = terminal.flush();
}
