//! Language servers for coding agents: navigation, and what a write needs to know.
//!
//! A [`Supervisor`] knows the servers of a workspace: which are for a file ([`catalog`], and what is installed), which
//! run, and why others do not. It starts one when it is first needed, and again when it has died. Its
//! [tools](Supervisor::tools) ask them.
//!
//! A place is a line and a symbol on it, never a column: [`address`]. What a run was told about its files is in its
//! [`ledger`].

#![forbid(unsafe_code)]

pub mod address;
mod args;
mod capabilities;
pub mod catalog;
mod checks;
mod client;
mod diagnose;
pub mod diagnostic;
mod documents;
mod edits;
mod error;
mod inbound;
pub mod ledger;
pub mod location;
mod ops;
mod pool;
pub mod position;
mod render;
mod server;
mod supervisor;
mod tool;
pub mod uri;
mod watched;
mod wrapper;

pub use args::{Action, LspArgs, RenameArgs};
pub use error::{Error, ErrorKind};
pub use pool::Pool;
pub use supervisor::{Choice, Options, State, Status, Supervisor};
/// What servers are started with is said in the terms of `terret-launch`.
pub use terret_launch::{Enclosure, Environment, Trust};
pub use tool::{Lsp, LspRename};
