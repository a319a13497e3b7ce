//! Structural search and rewriting of source code: the tools `ast_grep`, `ast_edit` and `resolve`.
//!
//! A pattern is a piece of code with metavariables. It is parsed by the grammar of the files that
//! it is looked for in, so that it matches code whatever its layout, and never a string or a
//! comment:
//!
//! ```
//! use terret_grammars::{GrammarSource, Shipped};
//! use terret_structural::matcher::find;
//! use terret_structural::pattern::Pattern;
//!
//! let dart = Shipped.grammar("dart")?;
//! let pattern = Pattern::compile(&dart, "if ($X != null) $X.dispose()", None)?;
//! assert_eq!(pattern.readings()[0].to_string(), "statement, if_statement");
//!
//! let source = "void f() { if (a != null) a.dispose(); if (a != null) b.dispose(); }";
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(dart.language())?;
//! let tree = parser.parse(source, None).expect("nothing stops the parser");
//! let found = find(&pattern, &tree, source.as_bytes(), &|| false);
//! assert_eq!(found.matches.len(), 1, "the other one disposes something else");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tools search and rewrite a working directory; a harness takes them from [`Structural`]:
//!
//! ```
//! use terret_structural::Structural;
//! use terret_tiers::{CallContext, Tool};
//! use serde_json::json;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("a.py"), "print(1)\n")?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! let tools = Structural::new(folder.path()).tools();
//! let search = tools.iter().find(|tool| tool.spec().name == "ast_grep").expect("it is there");
//! # runtime.block_on(async {
//! let output =
//!     search.call(json!({ "pattern": "print($X)" }), &CallContext::detached()).await?;
//! assert!(output.to_text().contains("a.py:1"));
//! # Ok::<(), terret_tiers::ToolError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does to the machine
//!
//! It starts no process and needs nothing installed. A search starts threads and ends them with the
//! call. Only `resolve` writes, through `terret-changeset`: what a `SIGKILL` in the middle of it
//! leaves behind is mended by the next call that wants to write.
//!
//! # Features
//!
//! `common-grammars` (the default) compiles in the languages that most people meet,
//! `all-grammars` every one that is shipped; they are those of `terret-grammars`.

mod args;
mod error;
mod languages;
pub mod matcher;
mod ops;
mod parse;
pub mod pattern;
mod render;
pub mod rewrite;
mod search;
mod staged;
mod thread;
mod tool;
mod walk;

pub use args::{Action, Edit, EditArgs, GrepArgs, ResolveArgs};
pub use tool::{AstEdit, AstGrep, Options, Resolve, Structural};
