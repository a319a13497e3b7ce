//! What can be asked about code: an operation each, from resolved arguments to a report.

pub(crate) mod actions;
pub(crate) mod diagnostics;
pub(crate) mod navigate;
pub(crate) mod rename;
pub(crate) mod status;
pub(crate) mod symbols;
pub(crate) mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::address::{self, Address, Place, Unaddressed};
use crate::checks::Unchecked;
use crate::documents;
use crate::error::Error;
use crate::position::Text;
use crate::server::Server;
use crate::supervisor::{Choice, Supervisor};

/// How long a question may take once the server is ready.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a server is waited for to be ready; then it is asked all the same.
const READY: Duration = Duration::from_secs(60);

/// An operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Ask {
        question: Question,
        target: Target,
    },
    Actions {
        target: Target,
    },
    Diagnostics {
        file: PathBuf,
    },
    /// By the project's own checkers.
    Check,
    DocumentSymbols {
        file: PathBuf,
    },
    WorkspaceSymbols {
        file: Option<PathBuf>,
        query: String,
    },
    Status {
        file: Option<PathBuf>,
    },
    Reload {
        file: Option<PathBuf>,
    },
}

/// What is asked about a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Definition,
    TypeDefinition,
    Implementation,
    References,
    Hover,
}

impl Question {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::TypeDefinition => "textDocument/typeDefinition",
            Self::Implementation => "textDocument/implementation",
            Self::References => "textDocument/references",
            Self::Hover => "textDocument/hover",
        }
    }
}

/// A symbol by its place.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) symbol: String,
}

impl Target {
    /// Where the symbol is in a text.
    pub(crate) fn find(&self, text: &Text) -> Result<Place, OpError> {
        let address = Address {
            line: self.line,
            symbol: &self.symbol,
        };
        address::find(text, address).map_err(|why| OpError::Place {
            file: self.file.clone(),
            why,
        })
    }

    /// Whether the symbol is where it should be: to be known before a server is started for it.
    pub(crate) async fn check(&self) -> Result<(), OpError> {
        let text = documents::read(&self.file).await?;
        self.find(&text).map(|_| ())
    }
}

/// Why an operation gives nothing.
#[derive(Debug)]
pub(crate) enum OpError {
    /// The place is none.
    Place { file: PathBuf, why: Unaddressed },
    /// No server is for the file: each that could be, with the reason.
    NoServer {
        file: PathBuf,
        reasons: Vec<(String, String)>,
    },
    /// No server offers what was asked: what each says to it.
    Server(Vec<Error>),
    /// The project was not checked.
    Check(Unchecked),
}

impl From<Unchecked> for OpError {
    fn from(unchecked: Unchecked) -> Self {
        Self::Check(unchecked)
    }
}

impl From<Error> for OpError {
    fn from(error: Error) -> Self {
        Self::Server(vec![error])
    }
}

impl OpError {
    /// Whether a server has ended over it.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Self::Server(errors) if errors.iter().any(Error::is_end))
    }

    /// The same with the last words of servers that have ended.
    pub(crate) async fn explained(self, supervisor: &Supervisor) -> Self {
        let Self::Server(errors) = self else {
            return self;
        };
        let mut explained = Vec::new();
        for error in errors {
            explained.push(supervisor.explained(error).await);
        }
        Self::Server(explained)
    }
}

/// What an operation works with.
pub(crate) struct Context<'a> {
    pub(crate) supervisor: &'a Supervisor,
    /// Hears what a server is at while it is waited for.
    pub(crate) progress: &'a (dyn Fn(&str) + Sync),
}

/// A server that can be asked.
pub(crate) struct Asked {
    pub(crate) server: Arc<Server>,
    /// What it was still at when it was asked, so that its answer may lack something.
    pub(crate) at_work: Option<String>,
}

impl Context<'_> {
    /// The first server for a file that offers the method, ready as far as could be waited for.
    pub(crate) async fn server_for(&self, file: &Path, method: &str) -> Result<Asked, OpError> {
        let choices = self.usable(file).await?;
        let mut errors = Vec::new();
        for choice in choices {
            // A linter answers no question about code.
            if choice.entry().spec().linter {
                continue;
            }
            let server = match self.supervisor.server(&choice).await {
                Ok(server) => server,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            // Some read a project only for a document of it. What keeps it from being opened is told later.
            let _ = server.client().open(file).await;
            // What is registered later is known once the server is ready.
            let ready = server.client().ready(READY, self.progress).await;
            if !server.client().offers(method) {
                errors.push(server.client().unsupported(method));
                continue;
            }
            let at_work = (!ready).then(|| {
                let task = server.client().task();
                task.unwrap_or_else(|| "reading the project".to_owned())
            });
            return Ok(Asked { server, at_work });
        }
        if errors.is_empty() {
            return Err(self.no_server(file).await);
        }
        Err(OpError::Server(errors))
    }

    /// The first server for a file that answers questions about code, started if it has to be, if it is one whose answers
    /// wait. That it does not start is an error where there is no other: otherwise it would be started once more.
    pub(crate) async fn first_that_waits(
        &self,
        file: &Path,
    ) -> Result<Option<Arc<Server>>, OpError> {
        let mut choices = self.usable(file).await?;
        choices.retain(|choice| !choice.entry().spec().linter);
        let first = choices.first();
        let Some(choice) = first.filter(|first| first.entry().spec().diagnostics.answers_wait)
        else {
            return Ok(None);
        };
        match self.supervisor.server(choice).await {
            Ok(server) => Ok(Some(server)),
            Err(_) if choices.len() > 1 => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Why no server can be used for a file.
    async fn no_server(&self, file: &Path) -> OpError {
        let choices = self.supervisor.for_file(file).await;
        let reasons = choices.iter().map(|choice| {
            let name = choice.entry().spec().name.clone();
            let linter = "it finds faults, and answers no question about code";
            (name, choice.problem().unwrap_or(linter).to_owned())
        });
        OpError::NoServer {
            file: file.to_owned(),
            reasons: reasons.collect(),
        }
    }

    /// The servers for a file that can be used, linters included.
    async fn usable(&self, file: &Path) -> Result<Vec<Choice>, OpError> {
        let mut choices = self.supervisor.for_file(file).await;
        choices.retain(|choice| choice.problem().is_none());
        if choices.is_empty() {
            return Err(self.no_server(file).await);
        }
        Ok(choices)
    }
}
