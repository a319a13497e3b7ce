//! The tools of a coding-agent harness that need a live resource behind them, in one place.
//!
//! A harness brings generic tools: read, write, search, shell. Terret brings those that need
//! something alive: a parser, a language server, a debug adapter, an interpreter, a person. There
//! is one crate for each family of tools, and this one, which holds them together: it re-exports
//! each crate behind a feature of its own, and adds [`Run`].
//!
//! # One crate, or all
//!
//! | you want | depend on | and build |
//! | --- | --- | --- |
//! | to search and rewrite code by its shape | `terret-structural` | a `Structural`; its `tools()` |
//! | to define tools of your own in the same way | `terret-tiers` | a `Tool`; a `Toolset` of them |
//! | to ask language servers, and to know what a write breaks | `terret-lsp-supervisor` | a `Supervisor`; its `tools()`, its `wrap()` |
//! | file changes that land whole or not at all | `terret-changeset` | a set of changes |
//! | everything, under one roof | `terret`, this crate | a [`Run`] |
//!
//! Nothing here is privileged: what a `Run` does is what you would do with the crates, and
//! `examples/pick_one.rs` does without it. What you get either way are values that implement
//! [`tiers::Tool`], to be registered with your own registry or called through a
//! [`tiers::Surface`].
//!
//! # A run
//!
//! ```
//! # #[cfg(feature = "common-grammars")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let workspace = folder.path();
//! use serde_json::json;
//! use terret::{Run, tiers::Tier};
//!
//! std::fs::write(workspace.join("a.py"), "print(total)  # print(this)\n")?;
//!
//! // A tool exists when what it needs is there: here, a working directory and parsers.
//! let run = Run::builder(workspace).build()?;
//!
//! // What a model in plan mode sees: nothing that changes a file.
//! let surface = run.surface(Tier::Read);
//! let names: Vec<_> = surface.specs().map(|spec| spec.name.as_str()).collect();
//! assert_eq!(names, ["ast_grep"]);
//!
//! let arguments = json!({"pattern": "print($X)", "language": "python"});
//! let output = surface.call("ast_grep", arguments, run.request("call-1")).await?;
//! assert_eq!(output.details["matches"][0]["captures"]["X"]["text"], "total");
//!
//! run.shutdown().await;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "common-grammars"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! | feature | brings |
//! | --- | --- |
//! | `full` (default) | all of the crates, with `common-grammars` |
//! | `structural` | the crates `structural` and `grammars`, without a grammar |
//! | `common-grammars` | `structural` with the languages that most people meet |
//! | `all-grammars` | `structural` with every language that Terret ships |
//! | `lsp` | the crate `lsp`: language servers, and diagnostics on write |
//! | `changeset` | the crate `changeset` |
//!
//! The crate `tiers` is always there. A single language is a feature of `terret-grammars`: depend
//! on that crate beside this one and name it there.
//!
//! # What is left behind
//!
//! A run that is dropped, and a host that is killed, leave no process and no file: parsing happens
//! in threads of the host, and what a run has started dies with it, whatever kills the host. The one exception is a host that is killed while a change of files is
//! being written. It leaves a journal in the user's state folder; the next call that writes in
//! that workspace reads it and first brings the files back to where all of them are old or all are
//! new.

mod run;

/// Sets of file changes that land whole or not at all.
#[cfg(feature = "changeset")]
pub use terret_changeset as changeset;
/// Grammars, and what a structural search must know of each language.
#[cfg(feature = "structural")]
pub use terret_grammars as grammars;
/// Language servers: `lsp`, `lsp_rename`, diagnostics on write.
#[cfg(feature = "lsp")]
pub use terret_lsp_supervisor as lsp;
/// Structural search and rewriting: `ast_grep`, `ast_edit`, `resolve`.
#[cfg(feature = "structural")]
pub use terret_structural as structural;
/// What a tool is, and who sees it.
pub use terret_tiers as tiers;

pub use run::{Run, RunBuilder};
