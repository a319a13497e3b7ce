//! Language servers for coding agents: navigation, renames, and the diagnostics that a write introduces.
//!
//! What is here so far is what needs no server: places by line and symbol, positions, URIs, what servers answer, and the
//! ledger of diagnostics.

#![forbid(unsafe_code)]

pub mod address;
pub mod catalog;
pub mod diagnostic;
pub mod ledger;
pub mod location;
pub mod position;
pub mod uri;
