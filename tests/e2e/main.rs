//! Journeys through the binary, as a person, a script or an agent makes them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod call;
mod colour;
mod config;
mod docs;
mod doctor;
mod edit;
mod find;
mod interrupt;
mod lsp;
mod session;
mod terminal;
mod tools;
mod trust;
mod write;

use serde_json::{Value, json};
use terret_testkit::{Bin, Live, Tree};

/// The binary that was just built, in a folder.
fn terret(tree: &Tree) -> Bin {
    Bin::new(env!("CARGO_BIN_EXE_terret")).cwd(tree.root())
}

/// Writes the user's configuration.
fn configure(bin: &Bin, text: &str) {
    let folder = bin.home().join(".config/terret");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("terret.toml"), text).unwrap();
}

/// A call as a line of a session.
fn line(id: impl Into<Value>, tool: &str, arguments: Value) -> String {
    json!({"id": id.into(), "tool": tool, "arguments": arguments}).to_string()
}

/// Makes a call in a session and waits for its result.
#[track_caller]
fn ask(session: &mut Live, tool: &str, arguments: Value) -> Value {
    session.send(line("ask", tool, arguments));
    let result: Value = serde_json::from_str(&session.line()).expect("a line of JSON");
    assert_eq!(result["id"], "ask");
    result
}
