//! A language of words: `def WORD` declares one, every other place of it is a use, and `wrong` is an error.
//!
//! A server knows the documents that it has open, and nothing of the disk.

use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentDiagnosticParams, DocumentDiagnosticReportResult, DocumentSymbolParams,
    DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams,
    InitializeParams, InitializeResult, Location, Position, PrepareRenameResponse, Range,
    ReferenceParams, RenameParams, TextDocumentPositionParams, Uri, WorkspaceEdit,
    WorkspaceSymbolParams, WorkspaceSymbolResponse, notification,
};
use tower_lsp_server::{Client, LanguageServer};

use super::Log;

/// In what the characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

/// A server of words.
pub(super) struct Words {
    client: Client,
    name: Option<String>,
    /// What it offers beside, or not.
    capabilities: Map<String, Value>,
    log: Log,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    encoding: Encoding,
    pulled: bool,
    documents: BTreeMap<Uri, Document>,
    /// The last version of each document, open or not.
    versions: BTreeMap<Uri, i32>,
}

struct Document {
    text: String,
    version: i32,
}

impl Words {
    pub(super) fn new(
        client: Client,
        name: Option<String>,
        capabilities: Map<String, Value>,
        log: Log,
    ) -> Words {
        Words {
            client,
            name,
            capabilities,
            log,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrong(&self, what: &str, uri: &Uri) {
        let text = format!("{what}: {}", uri.as_str());
        self.log.add(&json!({ "wrong": text }));
    }

    /// The last version that there was has to be an older one.
    fn note(&self, state: &mut State, uri: &Uri, version: i32) {
        let last = state.versions.insert(uri.clone(), version);
        if last.is_some_and(|last| last >= version) {
            self.wrong("a version that is not new", uri);
        }
    }

    async fn publish(&self, uri: Uri) {
        let params = {
            let state = self.state();
            if state.pulled {
                return;
            }
            let Some(document) = state.documents.get(&uri) else {
                return;
            };
            read(json!({
                "uri": uri,
                "version": document.version,
                "diagnostics": document.diagnostics(state.encoding),
            }))
        };
        self.client
            .send_notification::<notification::PublishDiagnostics>(params)
            .await;
    }

    /// The word at a place.
    fn word(&self, at: &TextDocumentPositionParams) -> Option<String> {
        let state = self.state();
        let document = state.documents.get(&at.text_document.uri)?;
        let at = offset(&document.text, at.position, state.encoding)?;
        let mut words = words(&document.text);
        let word = words.find(|word| word.start <= at && at <= word.end)?;
        Some(document.text[word].to_owned())
    }

    /// All places of a word, or those that declare it.
    fn places(&self, word: &str, declared: bool) -> Vec<Location> {
        let state = self.state();
        let mut places = Vec::new();
        for (uri, document) in &state.documents {
            let text = &document.text;
            let found = words(text).filter(|found| {
                text[found.clone()] == *word && (!declared || text[..found.start].ends_with("def "))
            });
            places.extend(found.map(|found| {
                let range = range(text, found, state.encoding);
                Location::new(uri.clone(), range)
            }));
        }
        places
    }
}

impl LanguageServer for Words {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let mut capabilities = json!({
            "textDocumentSync": { "openClose": true, "change": 2, "save": true },
            "definitionProvider": true,
            "documentSymbolProvider": true,
            "hoverProvider": true,
            "referencesProvider": true,
            "renameProvider": { "prepareProvider": true },
            "workspaceSymbolProvider": true,
        });
        let all = capabilities.as_object_mut().expect("it is one");
        for (name, value) in self.capabilities.clone() {
            all.insert(name, value);
        }
        all.retain(|_, value| !value.is_null());
        let mut state = self.state();
        state.pulled = all.contains_key("diagnosticProvider");
        state.encoding = match all.get("positionEncoding").and_then(Value::as_str) {
            Some("utf-8") => Encoding::Utf8,
            Some("utf-32") => Encoding::Utf32,
            _ => Encoding::Utf16,
        };
        let offered = params.capabilities.general;
        let offered = offered.and_then(|general| general.position_encodings);
        if offered.is_none_or(|offered| offered.len() != 3) {
            return Err(Error::invalid_params("three encodings are known"));
        }
        let name = self.name.as_deref().unwrap_or("scripted");
        Ok(read(json!({
            "capabilities": capabilities,
            "serverInfo": { "name": name, "version": "1" },
        })))
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        {
            let mut state = self.state();
            self.note(&mut state, &document.uri, document.version);
            let (text, version) = (document.text, document.version);
            let opened = Document { text, version };
            if state
                .documents
                .insert(document.uri.clone(), opened)
                .is_some()
            {
                self.wrong("opened twice", &document.uri);
            }
        }
        self.publish(document.uri).await;
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let (uri, version) = (params.text_document.uri, params.text_document.version);
        {
            let mut state = self.state();
            self.note(&mut state, &uri, version);
            let encoding = state.encoding;
            let Some(document) = state.documents.get_mut(&uri) else {
                return self.wrong("changed, and not open", &uri);
            };
            document.version = version;
            for change in params.content_changes {
                let Some(range) = change.range else {
                    document.text = change.text;
                    continue;
                };
                let at = |position| offset(&document.text, position, encoding);
                match (at(range.start), at(range.end)) {
                    (Some(start), Some(end)) if start <= end => {
                        document.text.replace_range(start..end, &change.text);
                    }
                    _ => self.wrong("changed where it has no text", &uri),
                }
            }
        }
        self.publish(uri).await;
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        if self.state().documents.remove(&uri).is_none() {
            self.wrong("closed, and not open", &uri);
        }
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let state = self.state();
        let document = state.documents.get(&params.text_document.uri);
        let document = document.ok_or_else(|| Error::invalid_params("it is not open"))?;
        let items = document.diagnostics(state.encoding);
        Ok(read(json!({ "kind": "full", "items": items })))
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let word = self.word(&params.text_document_position_params);
        let places = word.map(|word| self.places(&word, true));
        Ok(places.map(GotoDefinitionResponse::Array))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let word = self.word(&params.text_document_position);
        Ok(word.map(|word| self.places(&word, false)))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let word = self.word(&params.text_document_position_params);
        Ok(word.map(|word| read(json!({ "contents": format!("the word {word}") }))))
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let state = self.state();
        let document = state.documents.get(&params.text_document.uri);
        Ok(document.map(|document| {
            let text = &document.text;
            let declared = words(text).filter(|word| text[..word.start].ends_with("def "));
            let symbols = declared.map(|word| {
                let range = range(text, word.clone(), state.encoding);
                json!({ "name": text[word], "kind": 12, "range": range, "selectionRange": range })
            });
            read(symbols.collect())
        }))
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<WorkspaceSymbolResponse>> {
        let places = self.places(&params.query, true).into_iter();
        let symbols = places
            .map(|location| json!({ "name": params.query, "kind": 12, "location": location }));
        Ok(Some(read(symbols.collect())))
    }

    async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>> {
        let word = self.word(&params);
        if word.as_deref() == Some("def") {
            return Err(Error::invalid_params("`def` is a keyword"));
        }
        Ok(word.map(|_| PrepareRenameResponse::DefaultBehavior {
            default_behavior: true,
        }))
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let Some(word) = self.word(&params.text_document_position) else {
            return Ok(None);
        };
        let mut changes: BTreeMap<Uri, Vec<Value>> = BTreeMap::new();
        for place in self.places(&word, false) {
            let edit = json!({ "range": place.range, "newText": params.new_name });
            changes.entry(place.uri).or_default().push(edit);
        }
        let state = self.state();
        let changes = changes.into_iter().map(|(uri, edits)| {
            let version = state.documents.get(&uri).map(|document| document.version);
            json!({ "textDocument": { "uri": uri, "version": version }, "edits": edits })
        });
        let changes: Value = changes.collect();
        Ok(Some(read(json!({ "documentChanges": changes }))))
    }
}

/// As the protocol's types have it.
fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("as the protocol has it")
}

impl Document {
    fn diagnostics(&self, encoding: Encoding) -> Value {
        let wrong = words(&self.text).filter(|word| self.text[word.clone()] == *"wrong");
        let one = |word| {
            let range = range(&self.text, word, encoding);
            json!({ "range": range, "severity": 1, "source": "words", "message": "this is wrong" })
        };
        wrong.map(one).collect()
    }
}

/// The words of a text, with the marks that stand on their letters.
fn words(text: &str) -> impl Iterator<Item = Bytes<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\u{300}'..='\u{36f}');
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_part)?;
        let length = text[start..].find(|c| !is_part(c));
        from = length.map_or(text.len(), |length| start + length);
        Some(start..from)
    })
}

/// Where the lines begin, and where they end without their line ends.
fn lines(text: &str) -> Vec<Bytes<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut rest) = (0, text.char_indices().peekable());
    while let Some((at, character)) = rest.next() {
        let is_end = match character {
            '\r' => {
                let is_first = rest.next_if(|(_, next)| *next == '\n').is_some();
                Some(at + 1 + usize::from(is_first))
            }
            '\n' => Some(at + 1),
            _ => None,
        };
        if let Some(next) = is_end {
            lines.push(start..at);
            start = next;
        }
    }
    lines.push(start..text.len());
    lines
}

fn units(character: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => character.len_utf8(),
        Encoding::Utf16 => character.len_utf16(),
        Encoding::Utf32 => 1,
    }
}

/// The byte at a position; none where it is in the middle of a character or behind the line.
fn offset(text: &str, position: Position, encoding: Encoding) -> Option<usize> {
    let line = lines(text).get(position.line as usize)?.clone();
    let mut left = position.character as usize;
    for (at, character) in text[line.clone()].char_indices() {
        if left == 0 {
            return Some(line.start + at);
        }
        left = left.checked_sub(units(character, encoding))?;
    }
    (left == 0).then_some(line.end)
}

fn range(text: &str, bytes: Bytes<usize>, encoding: Encoding) -> Range {
    let lines = lines(text);
    let small = |number| u32::try_from(number).expect("a small text");
    let position = |at: usize| {
        let line = lines.iter().rposition(|line| line.start <= at);
        let line = line.expect("the first begins at 0");
        let before = text[lines[line].start..at].chars();
        let character: usize = before.map(|character| units(character, encoding)).sum();
        Position::new(small(line), small(character))
    };
    Range::new(position(bytes.start), position(bytes.end))
}
