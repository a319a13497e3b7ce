//! Questions about a symbol: where it is declared, what its type is, who uses it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ANSWER, Asked, Context, OpError, Question, READY, Target};
use crate::documents;
use crate::location::{self, Location};
use crate::position::{Encoding, Text};
use crate::uri;

/// The most places that are given; the rest is counted.
const MOST_PLACES: usize = 50;

/// The answer to a question about a symbol.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) question: Question,
    /// What was asked about, as it is spelled.
    pub(crate) symbol: String,
    pub(crate) content: Content,
    /// Who answered.
    pub(crate) server: String,
    /// What it was still at, so that something may be missing.
    pub(crate) at_work: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Content {
    Places {
        places: Vec<Place>,
        total: usize,
    },
    /// Nothing where the server knows nothing about the symbol.
    Text(Option<String>),
}

impl Content {
    fn is_empty(&self) -> bool {
        match self {
            Self::Places { total, .. } => *total == 0,
            Self::Text(text) => text.is_none(),
        }
    }
}

/// A place as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: At,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The character of the line, from 1; absent where the file cannot be read.
    pub(crate) column: Option<usize>,
    /// The line itself, if the file can be read.
    pub(crate) text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    File(PathBuf),
    /// A document that only the server can show.
    Virtual(String),
}

impl Context<'_> {
    /// Asks about a symbol.
    pub(crate) async fn ask(&self, question: Question, target: Target) -> Result<Answer, OpError> {
        target.check().await?;
        if let Some(answer) = self.ask_early(question, &target).await? {
            return Ok(answer);
        }
        let asked = self.server_for(&target.file, question.method()).await?;
        self.ask_server(question, &target, &asked).await
    }

    /// Asks a server that has just been started, where its first answer is as good as a later one. Nothing where it has
    /// none: once it has read the project it may have.
    async fn ask_early(
        &self,
        question: Question,
        target: &Target,
    ) -> Result<Option<Answer>, OpError> {
        use Question::{Definition, Hover, TypeDefinition};
        if !matches!(question, Definition | TypeDefinition | Hover) {
            return Ok(None);
        }
        let Some(server) = self.first_that_waits(&target.file).await? else {
            return Ok(None);
        };
        let client = server.client();
        if !client.can_be_asked_early() || !client.offers(question.method()) {
            return Ok(None);
        }
        let asked = Asked {
            server: Arc::clone(&server),
            at_work: None,
        };
        tokio::select! {
            biased;
            answer = self.ask_server(question, target, &asked) => {
                Ok(answer.ok().filter(|answer| !answer.content.is_empty()))
            }
            // Some never answer a question that comes while they read.
            _ = client.ready(READY, self.progress) => Ok(None),
        }
    }

    async fn ask_server(
        &self,
        question: Question,
        target: &Target,
        Asked { server, at_work }: &Asked,
    ) -> Result<Answer, OpError> {
        let file = &target.file;
        let client = server.client();
        // What others have changed on disk since, the server has to know first.
        let open = client.open(file).await?;
        client.refresh().await?;
        let place = target.find(&open.text)?;
        let spelled = open.text.as_str()[place.identifier.clone()].to_owned();
        let mut params = json!({
            "textDocument": { "uri": open.uri },
            "position": open.text.position(place.inside, client.encoding()),
        });
        if question == Question::References {
            params["context"] = json!({ "includeDeclaration": true });
        }
        let asked = (question.method(), &params);
        let answer = client.ask_about(file, &open, asked, ANSWER).await?;
        let content = match question {
            Question::Hover => Content::Text(location::hover(&answer)),
            _ => places(&answer, client.encoding()).await,
        };
        Ok(Answer {
            question,
            symbol: spelled,
            content,
            server: client.name().to_owned(),
            at_work: at_work.clone(),
        })
    }
}

/// The places of an answer, each with its line.
async fn places(answer: &Value, encoding: Encoding) -> Content {
    let locations = Location::read_all(answer);
    let total = locations.len();
    let mut texts = Texts::default();
    let mut places = Vec::new();
    for location in locations.into_iter().take(MOST_PLACES) {
        places.push(texts.place(&location, encoding).await);
    }
    Content::Places { places, total }
}

/// The files that places are in, each read once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    read: HashMap<PathBuf, Option<std::sync::Arc<Text>>>,
}

impl Texts {
    /// A location as it is shown.
    pub(crate) async fn place(&mut self, location: &Location, encoding: Encoding) -> Place {
        let start = location.range.start;
        let line = usize::try_from(start.line).unwrap_or(usize::MAX);
        let mut place = Place {
            at: At::Virtual(location.uri.clone()),
            line: line.saturating_add(1),
            column: None,
            text: None,
        };
        let Some(path) = uri::to_path(&location.uri) else {
            return place;
        };
        if !self.read.contains_key(&path) {
            let text = documents::read(&path).await.ok();
            self.read.insert(path.clone(), text);
        }
        if let Some(Some(text)) = self.read.get(&path) {
            place.text = text.line(line).map(str::to_owned);
            let byte = text.offset(start, encoding).floor();
            let range = text.line_range(line).unwrap_or_default();
            let before = text.as_str().get(range.start..byte);
            place.column = before.map(|before| before.chars().count() + 1);
        }
        place.at = At::File(path);
        place
    }
}
