//! What this client can do, and what a server can.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::catalog::{Entry, Proof};
use crate::client::FileEvent;
use crate::position::Encoding;
use crate::uri;
use crate::watched::Watched;

/// The parameters of `initialize`.
///
/// Pull diagnostics are announced only where they are asked for: announced, they silence what a server would push.
/// Renames of files are not announced: rust-analyzer would leave the edits of a renamed module to a request that
/// comes later.
pub(crate) fn initialize(entry: &Entry, root: &Path) -> Value {
    let spec = entry.spec();
    let folder = uri::of_path(root);
    let name = root
        .file_name()
        .unwrap_or(root.as_os_str())
        .to_string_lossy();
    let encodings: Vec<&str> = Encoding::ALL.into_iter().map(Encoding::name).collect();
    let mut text_document = json!({
        "synchronization": { "didSave": true, "dynamicRegistration": false },
        "publishDiagnostics": {
            "versionSupport": true,
            "relatedInformation": true,
            "tagSupport": { "valueSet": [1, 2] },
            "codeDescriptionSupport": false,
            "dataSupport": true,
        },
        "definition": { "linkSupport": true },
        "typeDefinition": { "linkSupport": true },
        "implementation": { "linkSupport": true },
        "references": {},
        // Without Markdown, some servers write their plain text badly.
        "hover": { "contentFormat": ["markdown", "plaintext"] },
        "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        "rename": { "prepareSupport": true, "prepareSupportDefaultBehavior": 1 },
        "codeAction": {
            "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite",
                "source", "source.organizeImports",
            ] } },
            "resolveSupport": { "properties": ["edit", "command"] },
            "dataSupport": true,
            "isPreferredSupport": true,
            "disabledSupport": true,
        },
    });
    if spec.diagnostics.proof == Proof::Pull {
        text_document["diagnostic"] =
            json!({ "dynamicRegistration": true, "relatedDocumentSupport": true });
    }
    let mut params = json!({
        "processId": std::process::id(),
        "clientInfo": { "name": "terret", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": folder,
        "rootPath": root.to_string_lossy(),
        "workspaceFolders": [{ "uri": folder, "name": name }],
        "trace": "off",
        "capabilities": {
            "general": {
                "positionEncodings": encodings,
                "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] },
            },
            "window": {
                "workDoneProgress": true,
                "showMessage": {},
                "showDocument": { "support": false },
            },
            "workspace": {
                "applyEdit": true,
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": { "dynamicRegistration": true },
                "didChangeWatchedFiles": {
                    "dynamicRegistration": true,
                    "relativePatternSupport": true,
                },
                "workspaceEdit": {
                    "documentChanges": true,
                    "resourceOperations": ["create", "rename", "delete"],
                    "failureHandling": "transactional",
                    "normalizesLineEndings": false,
                },
                "diagnostics": { "refreshSupport": true },
                "symbol": {
                    "symbolKind": { "valueSet": (1..=26).collect::<Vec<u8>>() },
                    "resolveSupport": { "properties": ["location.range"] },
                },
                "executeCommand": {},
            },
            "textDocument": text_document,
            "experimental": { "serverStatusNotification": true },
        },
    });
    if let Some(options) = &spec.initialization {
        params["initializationOptions"] = options.clone();
    }
    params
}

/// The methods that may be asked, each with its member of the static capabilities.
const PROVIDERS: &[(&str, &str)] = &[
    ("textDocument/definition", "definitionProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/references", "referencesProvider"),
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
    ("textDocument/rename", "renameProvider"),
    ("textDocument/diagnostic", "diagnosticProvider"),
    ("workspace/symbol", "workspaceSymbolProvider"),
    ("workspace/executeCommand", "executeCommandProvider"),
];

/// What a server has said that it can do: at its start, and later.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    at_start: Value,
    /// What was registered since, by its id.
    registered: HashMap<String, (String, Value)>,
    /// The registrations of files to watch, by their id.
    watched: HashMap<String, Watched>,
}

const WATCH: &str = "workspace/didChangeWatchedFiles";

impl Offered {
    pub(crate) fn at_start(&mut self, capabilities: Value) {
        self.at_start = capabilities;
    }

    /// The encoding that it has chosen. clangd has a way of its own, too.
    pub(crate) fn encoding(&self, result: &Value) -> Encoding {
        let chosen = [
            &self.at_start["positionEncoding"],
            &result["offsetEncoding"],
        ];
        let chosen = chosen.into_iter().find_map(Value::as_str);
        chosen.and_then(Encoding::of_name).unwrap_or_default()
    }

    pub(crate) fn register(&mut self, params: &Value) {
        for item in params["registrations"].as_array().into_iter().flatten() {
            if let (Some(id), Some(method)) = (item["id"].as_str(), item["method"].as_str()) {
                let options = item["registerOptions"].clone();
                if method == WATCH {
                    self.watched.insert(id.to_owned(), Watched::read(&options));
                }
                self.registered
                    .insert(id.to_owned(), (method.to_owned(), options));
            }
        }
    }

    pub(crate) fn unregister(&mut self, params: &Value) {
        // The misspelt name is that of the protocol.
        let items = [&params["unregisterations"], &params["unregistrations"]];
        for item in items.into_iter().filter_map(Value::as_array).flatten() {
            if let Some(id) = item["id"].as_str() {
                self.registered.remove(id);
                self.watched.remove(id);
            }
        }
    }

    /// The options with which it offers a method; absent if it does not.
    pub(crate) fn options(&self, method: &str) -> Option<&Value> {
        if method == "textDocument/prepareRename" {
            let rename = self.options("textDocument/rename")?;
            return (rename["prepareProvider"] == true).then_some(rename);
        }
        let mut registered = self.registered.values();
        if let Some((_, options)) = registered.find(|(offered, _)| offered == method) {
            return Some(options);
        }
        let (_, member) = PROVIDERS.iter().find(|(known, _)| *known == method)?;
        let options = self.at_start.get(member)?;
        (!matches!(options, Value::Null | Value::Bool(false))).then_some(options)
    }

    /// Whether it wants to hear of a change of a file: of all, unless it has registered which.
    pub(crate) fn watches(&self, path: &Path, event: FileEvent) -> bool {
        let mut watched = self.watched.values();
        self.watched.is_empty() || watched.any(|watched| watched.wants(path, event))
    }

    /// All that it offers of what may be asked.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &'static str> {
        let offered = |(method, _): &&(&'static str, &str)| self.options(method).is_some();
        PROVIDERS.iter().filter(offered).map(|(method, _)| *method)
    }

    /// How it wants to hear of documents.
    pub(crate) fn sync(&self) -> Sync {
        let registered = |method: &str| self.registered.values().find(|(known, _)| known == method);
        let at_start = &self.at_start["textDocumentSync"];
        let kind = match at_start {
            Value::Number(kind) => kind.as_u64(),
            object => object["change"].as_u64(),
        };
        let change = registered("textDocument/didChange");
        let kind = change.map_or(kind, |(_, options)| options["syncKind"].as_u64());
        let save = match registered("textDocument/didSave") {
            Some((_, options)) => Some(options["includeText"] == true),
            None => match &at_start["save"] {
                Value::Bool(true) => Some(false),
                Value::Object(options) => Some(
                    options
                        .get("includeText")
                        .is_some_and(|include| *include == true),
                ),
                // A bare number says nothing of it; servers that send one take it.
                _ if at_start.is_number() => Some(false),
                _ => None,
            },
        };
        let opens = match at_start {
            Value::Object(options) => options.get("openClose").is_none_or(|opens| *opens == true),
            Value::Number(kind) => kind.as_u64() != Some(0),
            _ => false,
        };
        Sync {
            opens: opens || registered("textDocument/didOpen").is_some(),
            change: match kind {
                Some(1) => Change::Full,
                Some(2) => Change::Incremental,
                _ => Change::None,
            },
            save,
        }
    }
}

/// How a server wants to hear of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sync {
    pub(crate) opens: bool,
    pub(crate) change: Change,
    /// Whether of saves, and with their text.
    pub(crate) save: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Full,
    Incremental,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn offered(capabilities: Value) -> Offered {
        let mut offered = Offered::default();
        offered.at_start(capabilities);
        offered
    }

    #[test]
    fn pull_is_announced_only_where_it_is_used() {
        let catalog = Catalog::shipped();
        for entry in catalog.entries() {
            let params = initialize(entry, Path::new("/project"));
            let announced = params["capabilities"]["textDocument"]["diagnostic"].is_object();
            assert_eq!(
                announced,
                entry.spec().diagnostics.proof == Proof::Pull,
                "{}",
                entry.id()
            );
            assert_eq!(params["rootUri"], "file:///project");
        }
        let rust = catalog.get("rust-analyzer").expect("it is shipped");
        let params = initialize(rust, Path::new("/project"));
        assert_eq!(params["initializationOptions"]["cargo"]["targetDir"], true);
        assert!(params["capabilities"]["workspace"]["fileOperations"].is_null());
    }

    #[test]
    fn what_is_registered_later_counts() {
        let mut offered = offered(json!({ "hoverProvider": {}, "definitionProvider": false }));
        let methods = |offered: &Offered| offered.methods().collect::<Vec<_>>();
        assert_eq!(methods(&offered), ["textDocument/hover"]);
        offered.register(&json!({ "registrations": [
            { "id": "1", "method": "textDocument/diagnostic", "registerOptions": { "identifier": "x" } },
            { "id": 2 },
        ] }));
        assert_eq!(
            methods(&offered),
            ["textDocument/hover", "textDocument/diagnostic"]
        );
        let options = offered
            .options("textDocument/diagnostic")
            .expect("registered");
        assert_eq!(options["identifier"], "x");
        offered.unregister(
            &json!({ "unregisterations": [{ "id": "1", "method": "textDocument/diagnostic" }] }),
        );
        assert_eq!(methods(&offered), ["textDocument/hover"]);
    }

    #[test]
    fn servers_say_in_many_ways_how_they_hear_of_documents() {
        let shown = |offered: &Offered| {
            let Sync {
                opens,
                change,
                save,
            } = offered.sync();
            format!("{opens} {change:?} {save:?}")
        };
        let rows = [
            (json!(1), "true Full Some(false)"),
            (json!(0), "false None Some(false)"),
            (
                json!({ "openClose": true, "change": 2, "save": { "includeText": true } }),
                "true Incremental Some(true)",
            ),
            (
                json!({ "openClose": true, "change": 2, "save": true }),
                "true Incremental Some(false)",
            ),
            (
                json!({ "openClose": false, "change": 1 }),
                "false Full None",
            ),
            (json!(null), "false None None"),
        ];
        for (sync, expected) in rows {
            assert_eq!(
                shown(&offered(json!({ "textDocumentSync": sync }))),
                expected,
                "{sync}"
            );
        }
        // As Dart does.
        let mut dart = offered(json!({}));
        dart.register(&json!({ "registrations": [
            { "id": "1", "method": "textDocument/didOpen" },
            { "id": "2", "method": "textDocument/didChange", "registerOptions": { "syncKind": 2 } },
        ] }));
        assert_eq!(shown(&dart), "true Incremental None");
    }

    #[test]
    fn the_encoding_is_the_servers_choice() {
        let chosen = |capabilities: Value, result: Value| offered(capabilities).encoding(&result);
        assert_eq!(chosen(json!({}), json!({})), Encoding::Utf16);
        assert_eq!(
            chosen(json!({ "positionEncoding": "utf-8" }), json!({})),
            Encoding::Utf8
        );
        assert_eq!(
            chosen(json!({}), json!({ "offsetEncoding": "utf-32" })),
            Encoding::Utf32
        );
        assert_eq!(
            chosen(json!({ "positionEncoding": "latin-1" }), json!({})),
            Encoding::Utf16
        );
    }
}
