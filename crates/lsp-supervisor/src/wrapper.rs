//! Diagnostics on write: a tool that writes files tells what its writes have broken.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use terret_tiers::wrapper::{Around, Inner, Writer};
use terret_tiers::{CallContext, Output, Tool, ToolError};
use tokio::time::Instant;

use crate::ops::written::Limit;
use crate::render;
use crate::supervisor::Supervisor;

impl Supervisor {
    /// Wraps a tool that writes files: what its writes introduce is added to its output, and nothing where they introduce
    /// nothing. The write itself is not changed by it, whatever becomes of a server.
    ///
    /// Needs a runtime of tokio with time to be called in.
    #[must_use]
    pub fn wrap(&self, writer: &Writer) -> Arc<dyn Tool> {
        writer.wrap(OnWrite {
            supervisor: self.clone(),
            writer: writer.clone(),
        })
    }

    /// How long a call that writes, and begins now, waits for servers.
    pub(crate) fn write_limit(&self, context: &CallContext) -> Limit {
        let wait = self.shared.write_wait;
        // A call that is to end sooner keeps some of its time for the write.
        let left = context.remaining().map_or(wait, |left| left / 2);
        Limit {
            until: Instant::now() + wait.min(left),
            cancel: context.cancel().clone(),
        }
    }
}

struct OnWrite {
    supervisor: Supervisor,
    writer: Writer,
}

impl OnWrite {
    fn absolute(&self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        let root = self.supervisor.workspace();
        paths.into_iter().map(|path| root.join(path)).collect()
    }
}

#[async_trait]
impl Around for OnWrite {
    async fn around(
        &self,
        inner: Inner<'_>,
        arguments: Value,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let limit = self.supervisor.write_limit(context);
        let paths = self.writer.about_to_touch(&arguments, context).await;
        let paths = self.absolute(paths);
        let baseline = self.supervisor.baseline(&paths, &limit.half()).await;
        let output = inner.call(arguments).await?;
        let touched = self.absolute(self.writer.touched(&output));
        let introduced = self.supervisor.introduced(baseline, &touched, &limit);
        let root = self.supervisor.workspace();
        Ok(render::introduced(root, output, introduced.await))
    }
}
