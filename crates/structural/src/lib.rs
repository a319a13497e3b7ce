//! Structural search and rewriting of source code: the tools ast_grep, ast_edit and resolve.
pub mod pattern;
pub mod matcher;
mod languages;
mod walk;
mod search;
pub mod rewrite;
mod ops;
mod error;
