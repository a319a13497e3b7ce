//! The servers that are known, each a file of data in `servers/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use terret_launch::{Candidate, Marker, Probe, Program, WorkspaceRoot};

/// The data of the servers that come with Terret, by id, in the order in which they are asked: the better one for a file
/// goes before others of its kind.
macro_rules! shipped {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../servers/", $id, ".toml")))),*]
    };
}

const SHIPPED: &[(&str, &str)] = shipped![
    "rust-analyzer",
    "dart",
    "basedpyright",
    "pyright",
    "ty",
    "pylsp",
    "ruff",
    "gopls",
    "clangd",
    "typescript-native",
    "typescript-language-server",
    "vtsls",
    "deno",
    "svelte",
    "eslint",
    "biome",
    "jdtls",
    "kotlin-lsp",
    "sourcekit-lsp",
    "csharp",
    "ruby-lsp",
    "solargraph",
    "intelephense",
    "phpactor",
    "lua-language-server",
    "bash",
    "yaml",
    "json",
    "css",
    "html",
    "zls",
    "elixir",
    "haskell",
    "ocaml",
    "metals",
    "terraform-ls",
    "nix",
    "gleam",
    "clojure-lsp",
    "erlang",
];

/// What there is to know about a server beyond the protocol.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerSpec {
    /// Its name for people.
    pub name: String,
    /// The names of its program; the first that is found is taken.
    pub programs: Vec<String>,
    /// Whether the project's own (`node_modules/.bin`, `.venv/bin`) goes first.
    #[serde(default)]
    pub local: bool,
    /// Whether the program may have a version behind its name (`clangd-19`).
    #[serde(default)]
    pub versioned: bool,
    /// Where else to look for it.
    #[serde(default)]
    pub folders: Vec<String>,
    /// What it is started with.
    #[serde(default)]
    pub args: Vec<String>,
    /// With these it has to end well, or it does not work, be it there or not.
    #[serde(default)]
    pub probe: Vec<String>,
    /// One of these has to be in what it prints then, if there are any.
    #[serde(default)]
    pub probe_says: Vec<String>,
    /// What a person does to get it.
    pub install: String,
    /// The files and folders that tell a root; without any the whole workspace is one.
    #[serde(default)]
    pub markers: Vec<String>,
    /// Whether the farthest marker makes the root, and not the nearest.
    #[serde(default)]
    pub outermost: bool,
    /// What tells a workspace of packages, which is one root: a marker, or `cargo`.
    #[serde(default)]
    pub workspace: Vec<String>,
    /// It is not for a file where one of these is at or above its root.
    #[serde(default)]
    pub unless: Vec<String>,
    /// It is not for a file that one of these servers can serve, either.
    #[serde(default)]
    pub after: Vec<String>,
    /// It finds faults, and answers no question about code.
    #[serde(default)]
    pub linter: bool,
    /// It runs code of the project by itself, so that it wants the project's trust.
    #[serde(default)]
    pub trusted: bool,
    /// What is otherwise where the project is not trusted, so that it runs none of that code: a table like the entry's,
    /// which is merged over it. Without one, a server that wants the project's trust is not started there.
    #[serde(default)]
    pub untrusted: Option<toml::Table>,
    /// The language ids, each with the endings of its files, or whole names.
    pub languages: BTreeMap<String, BTreeSet<String>>,
    /// Its initialization options.
    #[serde(default)]
    pub initialization: Option<Value>,
    /// What it is told when it asks for its configuration.
    #[serde(default)]
    pub settings: Option<Value>,
    /// It may take so long to begin, in seconds; 45 if it does not say.
    #[serde(default)]
    start_seconds: Option<u64>,
    /// It ends where it is asked for something that it has not declared.
    #[serde(default)]
    pub declared_only: bool,
    /// The questions to a person that are answered by the first of these words.
    #[serde(default)]
    pub accept: Vec<String>,
    /// How it tells what is wrong.
    pub diagnostics: DiagnosticsSpec,
    /// What checks a whole project.
    #[serde(default)]
    pub check: Option<CheckSpec>,
}

/// How it is known that a server has said all about a version of a document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DiagnosticsSpec {
    /// What proves it.
    pub proof: Proof,
    /// What tells that it has read the project: before that, its answers are empty.
    #[serde(default)]
    pub ready: Ready,
    /// Whether what it pushes names the version.
    #[serde(default)]
    pub versioned: bool,
    /// How long it may be silent before what it pushed last is all, in milliseconds.
    #[serde(default = "settle")]
    pub settle_ms: u64,
    /// The same for the first time of a document.
    #[serde(default)]
    pub cold_settle_ms: Option<u64>,
    /// The token of the progress of a check that runs on save, without its number.
    #[serde(default)]
    pub check: Option<String>,
    /// Who says what that check finds.
    #[serde(default)]
    pub check_sources: Vec<String>,
    /// What makes it say how other open documents fare after a change, where it does not by itself.
    #[serde(default)]
    pub dependents: Option<Dependents>,
}

/// What makes a server say how other open documents fare after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dependents {
    /// It looks at a document again only when that changes: each is sent again as it is.
    Touch,
    /// It builds again what includes a file that was saved, and pushes that.
    Include,
}

fn settle() -> u64 {
    300
}

/// What proves that the diagnostics of a version are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Proof {
    /// The answer to `textDocument/diagnostic`.
    Pull,
    /// What it pushes for the version, and then a silence.
    Push,
    /// The answers to tsserver's own synchronous requests.
    Tsserver,
    /// The end of the work that it tells of after the change.
    Progress,
}

/// What tells that a server has read its project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ready {
    /// It is ready once it has answered `initialize`.
    #[default]
    Initialized,
    /// The end of the work that it tells of after that.
    Progress,
    /// rust-analyzer's own notification.
    ServerStatus,
}

/// The command that checks a whole project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CheckSpec {
    /// The program.
    pub program: String,
    /// What it is started with.
    #[serde(default)]
    pub args: Vec<String>,
    /// How its output is read.
    pub format: String,
}

impl ServerSpec {
    /// How long it may take to begin.
    #[must_use]
    pub fn start_limit(&self) -> Duration {
        Duration::from_secs(self.start_seconds.unwrap_or(45))
    }

    /// The language id of a file, by its name; absent if the server is not for it. A whole name goes before an ending.
    #[must_use]
    pub fn language_id(&self, file_name: &str) -> Option<&str> {
        let ending = file_name.rsplit_once('.').map(|(_, ending)| ending);
        let of = |wanted: &str| {
            let mut all = self.languages.iter();
            let found = all.find(|(_, names)| names.contains(wanted));
            found.map(|(id, _)| id.as_str())
        };
        of(file_name).or_else(|| of(ending?))
    }

    /// As something to be looked for.
    fn candidate(&self, id: &str) -> Result<Candidate, BadServer> {
        let bad = |why: String| BadServer {
            id: id.to_owned(),
            why,
        };
        let marker =
            |text: &String| Marker::new(text.clone()).map_err(|error| bad(error.to_string()));
        let mut candidate = Candidate::new(id);
        if self.outermost {
            candidate = candidate.outermost();
        }
        for text in &self.markers {
            candidate = candidate.marker(marker(text)?);
        }
        for text in &self.workspace {
            candidate = candidate.workspace_root(match text.as_str() {
                "cargo" => WorkspaceRoot::Cargo,
                _ => WorkspaceRoot::Marker(marker(text)?),
            });
        }
        if self.programs.is_empty() {
            return Err(bad("it names no program".to_owned()));
        }
        for name in &self.programs {
            let mut program = Program::new(name);
            if self.local {
                program = program.local();
            }
            if self.versioned {
                program = program.versioned();
            }
            for folder in &self.folders {
                program = program.folder(folder);
            }
            candidate = candidate.program(program);
        }
        if !self.probe.is_empty() {
            let probe = Probe::new(&self.probe);
            let says = self.probe_says.iter();
            candidate = candidate.probe(says.fold(probe, |probe, text| probe.says(text)));
        }
        Ok(candidate)
    }
}

/// An entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadServer {
    id: String,
    why: String,
}

impl fmt::Display for BadServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the language server `{}`: {}", self.id, self.why)
    }
}

impl std::error::Error for BadServer {}

/// A server that is known.
#[derive(Clone, Debug)]
pub struct Entry {
    id: String,
    spec: ServerSpec,
    candidate: Candidate,
    unless: Option<Candidate>,
    /// What it is where the project is not trusted, if it is otherwise then.
    untrusted: Option<Arc<Entry>>,
}

impl Entry {
    /// What it is called where it is configured.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What there is to know about it.
    #[must_use]
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// Where it can be used.
    #[must_use]
    pub fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// Where it must not be, though it could.
    #[must_use]
    pub fn unless(&self) -> Option<&Candidate> {
        self.unless.as_ref()
    }

    fn new(id: &str, spec: ServerSpec) -> Result<Self, BadServer> {
        let candidate = spec.candidate(id)?;
        let mut unless = None;
        for text in &spec.unless {
            let marker = Marker::new(text.clone()).map_err(|error| BadServer {
                id: id.to_owned(),
                why: error.to_string(),
            })?;
            unless = Some(unless.unwrap_or_else(|| Candidate::new(id)).marker(marker));
        }
        Ok(Self {
            id: id.to_owned(),
            spec,
            candidate,
            unless,
            untrusted: None,
        })
    }

    /// The entry of such a table, with what it is where the project is not trusted.
    fn read(id: &str, table: &toml::Table) -> Result<Self, BadServer> {
        let spec = |table: toml::Table| {
            ServerSpec::deserialize(table).map_err(|error| BadServer {
                id: id.to_owned(),
                why: error.message().to_owned(),
            })
        };
        let mut entry = Self::new(id, spec(table.clone())?)?;
        if let Some(other) = &entry.spec.untrusted {
            let mut merged = table.clone();
            merge(&mut merged, other.clone());
            merged.insert("trusted".to_owned(), false.into());
            let untrusted = Self::new(id, spec(merged)?)?;
            entry.untrusted = Some(Arc::new(untrusted));
        }
        Ok(entry)
    }
}

/// The servers that are known, in the order in which they are asked.
///
/// ```
/// use terret_lsp_supervisor::catalog::Catalog;
///
/// let mut catalog = Catalog::shipped();
/// assert_eq!(catalog.get("gopls").unwrap().spec().language_id("go.mod"), Some("go.mod"));
///
/// // A host changes some of an entry, adds one, and takes one out.
/// catalog.change("gopls", "settings.gopls.staticcheck = true")?;
/// catalog.change("mine", "name = 'Mine'\nprograms = ['mine']\ninstall = 'ask me'\n\
///     languages.mine = ['mine']\ndiagnostics.proof = 'pull'")?;
/// catalog.disable("eslint");
/// let error = catalog.change("gopls", "setings = {}").unwrap_err();
/// assert!(error.to_string().starts_with("the language server `gopls`: unknown field `setings`"));
/// # Ok::<_, terret_lsp_supervisor::catalog::BadServer>(())
/// ```
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Catalog {
    known: Arc<Known>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    entries: Vec<Arc<Entry>>,
    /// What each was made of, so that it can be changed.
    tables: BTreeMap<String, toml::Table>,
}

impl Catalog {
    /// Those that come with Terret.
    ///
    /// # Panics
    ///
    /// Never: a test reads all of them.
    #[must_use]
    pub fn shipped() -> Self {
        static SHIPPED_CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
            let mut catalog = Catalog::empty();
            for (id, text) in SHIPPED {
                catalog.change(id, text).expect("a test reads all of them");
            }
            catalog
        });
        SHIPPED_CATALOG.clone()
    }

    /// None.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            known: Arc::default(),
        }
    }

    /// All of them.
    #[must_use]
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.known.entries
    }

    /// The one of this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.known.entries.iter().find(|entry| entry.id == id)
    }

    /// Changes the entry of this id, or adds one: the text is TOML as in `servers/`. Of a table that is there already what
    /// the text does not name stays.
    ///
    /// # Errors
    ///
    /// If the entry could not be used then; it stays as it was.
    pub fn change(&mut self, id: &str, text: &str) -> Result<(), BadServer> {
        let bad = |error: toml::de::Error| BadServer {
            id: id.to_owned(),
            why: error.message().to_owned(),
        };
        let table: toml::Table = toml::from_str(text).map_err(bad)?;
        self.change_table(id, table)
    }

    /// The same with a table that was read already.
    ///
    /// # Errors
    ///
    /// As [`change`](Self::change).
    pub fn change_table(&mut self, id: &str, table: toml::Table) -> Result<(), BadServer> {
        let mut whole = self.known.tables.get(id).cloned().unwrap_or_default();
        merge(&mut whole, table);
        let entry = Arc::new(Entry::read(id, &whole)?);
        let known = Arc::make_mut(&mut self.known);
        match known.entries.iter_mut().find(|entry| entry.id == id) {
            Some(old) => *old = entry,
            None => known.entries.push(entry),
        }
        known.tables.insert(id.to_owned(), whole);
        Ok(())
    }

    /// Takes an entry out. Says whether there was one.
    pub fn disable(&mut self, id: &str) -> bool {
        let entries = &mut Arc::make_mut(&mut self.known).entries;
        let before = entries.len();
        entries.retain(|entry| entry.id != id);
        entries.len() < before
    }

    /// The servers as they are where the project is not trusted.
    pub(crate) fn untrusted(mut self) -> Self {
        for entry in &mut Arc::make_mut(&mut self.known).entries {
            if let Some(untrusted) = &entry.untrusted {
                *entry = Arc::clone(untrusted);
            }
        }
        self
    }

    /// The servers that are for a file of this name.
    pub fn for_file(&self, file_name: &str) -> impl Iterator<Item = &Arc<Entry>> {
        let is_for = move |entry: &&Arc<Entry>| entry.spec.language_id(file_name).is_some();
        self.known.entries.iter().filter(is_for)
    }
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_data_is_shipped_and_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/servers");
        let files = std::fs::read_dir(folder).expect("the data");
        let stems = files.map(|file| file.expect("a file").path().with_extension(""));
        let names = stems.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let names: BTreeSet<String> = names.collect();
        let catalog = Catalog::shipped();
        let ids: BTreeSet<String> = catalog
            .entries()
            .iter()
            .map(|entry| entry.id.clone())
            .collect();
        assert_eq!(ids, names);
        assert!(ids.len() >= 25);
        for entry in catalog.entries() {
            assert!(!entry.spec.languages.is_empty(), "{}", entry.id);
            for other in &entry.spec.after {
                let place = |id: &str| catalog.entries().iter().position(|entry| entry.id == id);
                assert!(
                    place(other).is_some_and(|at| Some(at) < place(&entry.id)),
                    "{} {other}",
                    entry.id
                );
            }
        }
    }

    #[test]
    fn without_trust_a_server_is_what_its_data_says() {
        let mut catalog = Catalog::shipped();
        let text =
            "initialization.cargo.features = 'all'\nuntrusted.initialization.cargo.noDeps = true";
        catalog.change("rust-analyzer", text).expect("sound");
        let error = catalog.change("rust-analyzer", "untrusted.programs = []");
        assert!(
            error
                .expect_err("no program")
                .to_string()
                .contains("`rust-analyzer`: it names no program")
        );
        let trusted = catalog
            .get("rust-analyzer")
            .expect("shipped")
            .spec()
            .clone();
        let catalog = catalog.untrusted();
        let spec = catalog.get("rust-analyzer").expect("shipped").spec();
        assert!(trusted.trusted && !spec.trusted);
        let cargo =
            |spec: &ServerSpec| spec.initialization.as_ref().expect("some")["cargo"].clone();
        let expected = serde_json::json!({
            "targetDir": true, "features": "all", "noDeps": true, "buildScripts": { "enable": false },
        });
        assert_eq!(cargo(spec), expected);
        assert_eq!(cargo(&trusted)["buildScripts"], Value::Null);
        assert!(spec.unless.contains(&".cargo".to_owned()) && trusted.unless.is_empty());
        assert!(
            catalog.get("eslint").expect("shipped").spec().trusted,
            "it has no such table"
        );
    }

    #[test]
    fn files_have_the_language_ids_of_the_protocol() {
        let catalog = Catalog::shipped();
        let rows = [
            ("main.rs", "rust-analyzer rust"),
            ("a.tsx", "typescript-native typescriptreact"),
            ("a.d.ts", "typescript-native typescript"),
            ("a.jsx", "typescript-native javascriptreact"),
            ("run.sh", "bash shellscript"),
            ("a.mm", "clangd objective-cpp"),
            ("go.work", "gopls go.work"),
            ("Gemfile", "ruby-lsp ruby"),
            ("a.mli", "ocaml ocaml.interface"),
            ("A.cs", "csharp csharp"),
            ("x.unknown", ""),
            ("Makefile", ""),
        ];
        for (file, expected) in rows {
            let first = catalog.for_file(file).next();
            let first = first
                .and_then(|entry| Some(format!("{} {}", entry.id, entry.spec.language_id(file)?)));
            assert_eq!(first.unwrap_or_default(), expected, "{file}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_and_changes_nothing() {
        let mut catalog = Catalog::shipped();
        let rows = [
            ("gopls", "markers = ['../go.mod']", "it must stay below"),
            ("gopls", "programs = []", "it names no program"),
            ("gopls", "args = 3", "invalid type"),
            (
                "gopls",
                "diagnostics.proof = 'guess'",
                "unknown variant `guess`",
            ),
            ("gopls", "x =", "string"),
            ("new", "name = 'New'", "missing field"),
        ];
        for (id, text, why) in rows {
            let error = catalog.change(id, text).expect_err(text).to_string();
            assert!(
                error.contains(&format!("`{id}`")) && error.contains(why),
                "{error}"
            );
        }
        assert!(catalog.get("new").is_none());
        let gopls = catalog.get("gopls").expect("it stays").spec();
        assert_eq!(gopls.programs, ["gopls"]);
    }
}
