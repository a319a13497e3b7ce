//! Runs a tool's work on a thread of its own.

use terret_tiers::{CallContext, ToolError};
use tokio::sync::oneshot;

/// Patterns and trees are gone through by recursion here and there.
pub(crate) const STACK: usize = 16 * 1024 * 1024;

/// Does blocking work beside the caller's runtime, whichever that is.
///
/// When the returned future is dropped, the work is told to stop as if the call's token had fired;
/// the call's exclusive key stays held until it has.
pub(crate) async fn run<T: Send + 'static>(
    context: &CallContext,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let (sender, receiver) = oneshot::channel();
    let lease = context.lease();
    let stop = context.cancel().child_token();
    let stop_on_drop = stop.clone().drop_guard();
    let deadline = context.deadline();
    std::thread::Builder::new()
        .name("terret-structural".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let interrupted = || {
                stop.is_cancelled()
                    || deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
            };
            let value = work(&interrupted);
            drop(lease);
            // Nobody may be waiting any more.
            let _ = sender.send(value);
        })
        .map_err(|error| ToolError::failed(format!("no thread to work on: {error}")))?;
    let value = receiver.await;
    drop(stop_on_drop);
    value.map_err(|_| ToolError::failed("the work ended in a panic; this is a fault of the tool"))
}
