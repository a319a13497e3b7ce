//! Which servers run, which could not, and their restart.

use std::path::Path;

use super::{Context, OpError};
use crate::supervisor::Status;

/// What there is to say about servers.
#[derive(Debug)]
pub(crate) struct Statuses {
    /// Those that were started.
    pub(crate) started: Vec<Status>,
    /// For the file that was asked about: those that could serve it, each with what keeps it from that.
    pub(crate) for_file: Vec<(String, Option<String>)>,
}

impl Context<'_> {
    /// How the servers are, and for a file which could serve it. Starts none.
    pub(crate) async fn status(&self, file: Option<&Path>) -> Statuses {
        let mut for_file = Vec::new();
        if let Some(file) = file {
            for choice in self.supervisor.for_file(file).await {
                let problem = choice.problem().map(str::to_owned);
                for_file.push((choice.entry().spec().name.clone(), problem));
            }
        }
        Statuses {
            started: self.supervisor.status().await,
            for_file,
        }
    }

    /// Ends the servers of a file's roots, or all; gives how many.
    pub(crate) async fn reload(&self, file: Option<&Path>) -> Result<usize, OpError> {
        let Some(file) = file else {
            return Ok(self.supervisor.reload(None).await);
        };
        let choices = self.supervisor.for_file(file).await;
        let mut roots: Vec<&Path> = choices.iter().filter_map(|choice| choice.root()).collect();
        roots.dedup();
        let mut ended = 0;
        for root in roots {
            ended += self.supervisor.reload(Some(root)).await;
        }
        Ok(ended)
    }
}
