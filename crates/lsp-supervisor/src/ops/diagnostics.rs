//! What is wrong with a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Context, OpError, READY, written};
use crate::diagnostic::Diagnostic;
use crate::error::Error;

/// How long the servers may take to say what is wrong with a file.
const LIMIT: Duration = Duration::from_secs(20);

/// What the servers say about a file.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) file: PathBuf,
    /// The worst first, then by place.
    pub(crate) found: Vec<Diagnostic>,
    /// Who has said all that it has to say.
    pub(crate) servers: Vec<String>,
    /// What is not known, so that nothing may be concluded from silence.
    pub(crate) pending: Vec<String>,
    pub(crate) errors: Vec<Error>,
}

impl Context<'_> {
    /// What all servers of a file say about it, linters included.
    pub(crate) async fn diagnostics(&self, file: &Path) -> Result<Report, OpError> {
        let mut report = Report {
            file: file.to_owned(),
            found: Vec::new(),
            servers: Vec::new(),
            pending: Vec::new(),
            errors: Vec::new(),
        };
        for choice in self.usable(file).await? {
            match self.of_server(&choice, file, &mut report).await {
                Ok(()) => {}
                Err(error) => report.errors.push(error),
            }
        }
        if report.servers.is_empty() && report.pending.is_empty() {
            return Err(OpError::Server(report.errors));
        }
        report
            .found
            .sort_by_key(|found| (found.severity, found.range.start));
        // Two servers that say the same of the same place say it once.
        report
            .found
            .dedup_by(|a, b| a.range == b.range && a.message == b.message);
        Ok(report)
    }

    async fn of_server(
        &self,
        choice: &crate::supervisor::Choice,
        file: &Path,
        report: &mut Report,
    ) -> Result<(), Error> {
        let server = self.supervisor.server(choice).await?;
        let client = server.client();
        let _ = client.open(file).await;
        let ready = client.ready(READY, self.progress).await;
        let open = client.open(file).await?;
        client.refresh().await?;
        // What the file holds was saved by somebody, and some look further than at the text only then.
        let open = client.save(file, open).await?;
        let mut said = vec![client.diagnose(file, &open, LIMIT).await?];
        said.extend(client.checked(file, &open, LIMIT).await);
        let name = client.name().to_owned();
        let at_work = (!ready).then(|| client.task()).flatten();
        let mut pending = at_work;
        for said in said {
            match said.pending {
                None => {
                    // Whoever asked is told all of it now.
                    let ledger = &self.supervisor.shared.ledger;
                    ledger.before(file, &said.by, &written::that_matter(&said.items));
                }
                still => pending = still,
            }
            // A check often knows what the server has found as well, by the same code.
            let known = report.found.clone();
            let is_new = |item: &Diagnostic| {
                let line = item.range.start.line;
                let is_same =
                    |known: &Diagnostic| known.code == item.code && known.range.start.line == line;
                item.code.is_none() || !known.iter().any(is_same)
            };
            report.found.extend(said.items.into_iter().filter(is_new));
        }
        match pending {
            Some(pending) => report.pending.push(format!("{name}: {pending}")),
            None => report.servers.push(name),
        }
        Ok(())
    }
}
