//! Which changes of files a server wants to hear of: the globs that it has registered.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::client::FileEvent;
use crate::uri;

/// What a server watches, by one registration's options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    watchers: Vec<Watcher>,
}

#[derive(Clone, Debug)]
struct Watcher {
    /// The folder that the pattern is relative to; absent where it is for whole paths.
    base: Option<PathBuf>,
    pattern: GlobMatcher,
    /// The kinds of events, as the protocol adds them up: 1 created, 2 changed, 4 deleted.
    kinds: u64,
}

/// All kinds of events.
const ALL: u64 = 7;

impl Watched {
    /// Reads `DidChangeWatchedFilesRegistrationOptions`. A pattern that cannot be read watches everything: a server that
    /// hears too much asks for little, and one that hears too little knows what is wrong.
    pub(crate) fn read(options: &Value) -> Self {
        let watchers = options["watchers"].as_array().into_iter().flatten();
        Self {
            watchers: watchers.map(Watcher::read).collect(),
        }
    }

    /// Whether it wants to hear of this.
    pub(crate) fn wants(&self, path: &Path, event: FileEvent) -> bool {
        self.watchers
            .iter()
            .any(|watcher| watcher.wants(path, event))
    }
}

impl Watcher {
    fn read(value: &Value) -> Self {
        let pattern = &value["globPattern"];
        let base = match &pattern["baseUri"] {
            Value::String(uri) => Some(uri.as_str()),
            folder => folder["uri"].as_str(),
        };
        let text = pattern.as_str().or_else(|| pattern["pattern"].as_str());
        // A folder stands for all that is in it.
        let text = text.filter(|text| !text.is_empty()).unwrap_or("**");
        Self {
            base: base.and_then(uri::to_path),
            pattern: glob(text).unwrap_or_else(everything),
            kinds: value["kind"].as_u64().unwrap_or(ALL),
        }
    }

    fn wants(&self, path: &Path, event: FileEvent) -> bool {
        let kind = match event {
            FileEvent::Created => 1,
            FileEvent::Changed => 2,
            FileEvent::Deleted => 4,
        };
        let path = match &self.base {
            None => path,
            Some(base) => match path.strip_prefix(base) {
                Ok(path) => path,
                Err(_) => return false,
            },
        };
        self.kinds & kind != 0 && self.pattern.is_match(path)
    }
}

fn glob(pattern: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

#[allow(clippy::expect_used, reason = "the pattern is sound")]
fn everything() -> GlobMatcher {
    glob("**").expect("it is a glob")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_hears_of_what_it_watches() {
        use FileEvent::{Changed, Created, Deleted};
        let relative = json!({ "baseUri": "file:///p/a%20b", "pattern": "**/*.{ts,js}" });
        let folder = json!({ "baseUri": { "uri": "file:///p", "name": "p" }, "pattern": "*.toml" });
        let rows = [
            (
                json!({ "globPattern": "**/*.rs" }),
                "/p/src/a.rs",
                Changed,
                true,
            ),
            (
                json!({ "globPattern": "**/*.rs" }),
                "/p/src/a.go",
                Changed,
                false,
            ),
            (
                json!({ "globPattern": "/p/*.rs" }),
                "/p/src/a.rs",
                Changed,
                false,
            ),
            (
                json!({ "globPattern": "**/{a,b}.rs" }),
                "/p/b.rs",
                Deleted,
                true,
            ),
            (
                json!({ "globPattern": "**/*.rs", "kind": 5 }),
                "/a.rs",
                Changed,
                false,
            ),
            (
                json!({ "globPattern": "**/*.rs", "kind": 5 }),
                "/a.rs",
                Created,
                true,
            ),
            (
                json!({ "globPattern": relative }),
                "/p/a b/c/d.ts",
                Created,
                true,
            ),
            (
                json!({ "globPattern": relative }),
                "/q/d.ts",
                Created,
                false,
            ),
            (json!({ "globPattern": folder }), "/p/a.toml", Created, true),
            (
                json!({ "globPattern": folder }),
                "/p/a/a.toml",
                Created,
                false,
            ),
            (json!({ "globPattern": "[" }), "/p/x", Created, true),
            (json!({}), "/p/x", Created, true),
        ];
        for (watcher, path, event, expected) in rows {
            let watched = Watched::read(&json!({ "watchers": [watcher] }));
            assert_eq!(
                watched.wants(Path::new(path), event),
                expected,
                "{watcher} {path} {event:?}"
            );
        }
        assert!(!Watched::read(&json!(null)).wants(Path::new("/a"), Created));
    }
}
