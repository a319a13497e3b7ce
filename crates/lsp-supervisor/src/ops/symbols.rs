//! The symbols of a file, and of a workspace.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::navigate::{Place, Texts};
use super::{ANSWER, Asked, Context, OpError, READY};
use crate::error::Error;
use crate::location::{Location, Symbol};

/// The most symbols of a file that are given.
const MOST_IN_FILE: usize = 200;
/// The most symbols of a workspace that are given.
const MOST_IN_WORKSPACE: usize = 100;

/// Symbols, and how many there are.
#[derive(Debug)]
pub(crate) struct Symbols {
    pub(crate) found: Vec<Found>,
    pub(crate) total: usize,
    /// Who answered.
    pub(crate) servers: Vec<String>,
    /// What one of them was still at, so that something may be missing.
    pub(crate) at_work: Option<String>,
    /// What went wrong with others.
    pub(crate) errors: Vec<Error>,
}

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) symbol: Symbol,
    /// Absent where the server does not tell.
    pub(crate) place: Option<Place>,
}

impl Context<'_> {
    /// The symbols of a file.
    pub(crate) async fn document_symbols(&self, file: &Path) -> Result<Symbols, OpError> {
        let method = "textDocument/documentSymbol";
        let Asked { server, at_work } = self.server_for(file, method).await?;
        let client = server.client();
        let open = client.open(file).await?;
        let params = json!({ "textDocument": { "uri": open.uri } });
        let asked = (method, &params);
        let answer = client.ask_about(file, &open, asked, ANSWER).await?;
        let symbols = Symbol::read_all(&answer);
        let total = symbols.len();
        let mut texts = Texts::default();
        let mut found = Vec::new();
        for symbol in symbols.into_iter().take(MOST_IN_FILE) {
            let place = match symbol.range {
                None => None,
                Some(range) => {
                    let uri = symbol.uri.clone().unwrap_or_else(|| open.uri.clone());
                    let location = Location { uri, range };
                    Some(texts.place(&location, client.encoding()).await)
                }
            };
            found.push(Found { symbol, place });
        }
        Ok(Symbols {
            found,
            total,
            servers: vec![client.name().to_owned()],
            at_work,
            errors: Vec::new(),
        })
    }

    /// The symbols of the workspace whose names hold the query, of the server of a file, or of all that run.
    pub(crate) async fn workspace_symbols(
        &self,
        file: Option<&Path>,
        query: &str,
    ) -> Result<Symbols, OpError> {
        let method = "workspace/symbol";
        let asked = match file {
            Some(file) => vec![self.server_for(file, method).await?],
            None => self.running(method).await,
        };
        if asked.is_empty() {
            let file = PathBuf::from("the workspace");
            let why =
                "no server runs yet that could be asked: name a `file` of its language".to_owned();
            let reasons = vec![("symbols".to_owned(), why)];
            return Err(OpError::NoServer { file, reasons });
        }
        let mut all = Symbols {
            found: Vec::new(),
            total: 0,
            servers: Vec::new(),
            at_work: None,
            errors: Vec::new(),
        };
        let mut texts = Texts::default();
        for Asked { server, at_work } in asked {
            let client = server.client();
            let answer = client.ask(method, &json!({ "query": query }), ANSWER).await;
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    all.errors.push(error);
                    continue;
                }
            };
            all.at_work = all.at_work.or(at_work);
            all.servers.push(client.name().to_owned());
            let mut symbols = Symbol::read_all(&answer);
            // The name itself goes before names that hold it.
            symbols.sort_by_key(|symbol| (symbol.name != query, !symbol.name.starts_with(query)));
            all.total += symbols.len();
            let room = MOST_IN_WORKSPACE.saturating_sub(all.found.len());
            for symbol in symbols.into_iter().take(room) {
                let place = match (&symbol.uri, symbol.range) {
                    (Some(uri), range) => {
                        let range = range.unwrap_or_default();
                        let uri = uri.clone();
                        Some(
                            texts
                                .place(&Location { uri, range }, client.encoding())
                                .await,
                        )
                    }
                    _ => None,
                };
                all.found.push(Found { symbol, place });
            }
        }
        if all.servers.is_empty() {
            return Err(OpError::Server(all.errors));
        }
        Ok(all)
    }

    /// The servers that run and offer a method.
    async fn running(&self, method: &str) -> Vec<Asked> {
        let mut asked = Vec::new();
        for server in self.supervisor.running().await {
            let ready = server.client().ready(READY, self.progress).await;
            if server.client().offers(method) {
                let at_work = (!ready).then(|| server.client().task()).flatten();
                asked.push(Asked { server, at_work });
            }
        }
        asked
    }
}
