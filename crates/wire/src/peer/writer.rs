//! The task that writes.

use std::sync::Arc;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::{CloseOnDrop, Shared};
use crate::error::Closed;
use crate::frame;

/// Small messages that wait together leave together, up to so many bytes.
const BATCH: usize = 64 * 1024;

pub(super) async fn run(mut writer: impl AsyncWrite + Send + Unpin, open: CloseOnDrop) {
    let shared = Arc::clone(&open.shared);
    let done = tokio::select! {
        biased;
        () = shared.closed.cancelled() => return,
        done = write_all(&mut writer, &shared) => done,
    };
    if let Err(why) = done {
        shared.close(why);
        return;
    }
    // The peer sees the end of its input; that it does not take it well is its own affair.
    let _ = timeout(shared.options.stall, writer.shutdown()).await;
    drop(writer);
    shared.written.cancel();
    open.leave_open();
}

/// Until all is written that ever will be.
async fn write_all(writer: &mut (impl AsyncWrite + Unpin), shared: &Shared) -> Result<(), Closed> {
    let mut batch = BytesMut::new();
    loop {
        let finished = {
            let mut outbox = shared.outbox();
            while batch.len() < BATCH
                && let Some(message) = outbox.pop()
            {
                frame::encode(shared.options.framing, &message, &mut batch);
            }
            outbox.is_finished()
        };
        if batch.is_empty() && finished {
            return Ok(());
        }
        if batch.is_empty() {
            shared.to_write.notified().await;
            continue;
        }
        while batch.has_remaining() {
            write_some(writer, &mut batch, shared).await?;
        }
        within_stall(shared, writer.flush()).await?;
        // A large message is not held on to.
        batch = BytesMut::new();
    }
}

async fn write_some(
    writer: &mut (impl AsyncWrite + Unpin),
    batch: &mut BytesMut,
    shared: &Shared,
) -> Result<(), Closed> {
    match within_stall(shared, writer.write_buf(batch)).await? {
        0 => Err(Closed::Write(Arc::new(
            std::io::ErrorKind::WriteZero.into(),
        ))),
        _ => Ok(()),
    }
}

async fn within_stall<T>(
    shared: &Shared,
    work: impl Future<Output = std::io::Result<T>>,
) -> Result<T, Closed> {
    let stall = shared.options.stall;
    match timeout(stall, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Closed::Write(Arc::new(error))),
        Err(_) => Err(Closed::Stalled(stall)),
    }
}
