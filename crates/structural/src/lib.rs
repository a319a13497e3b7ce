//! Structural search and rewriting of source code: the tools ast_grep, ast_edit and resolve.
mod args;
mod tool;
pub mod pattern;
pub mod matcher;
mod languages;
mod walk;
mod search;
pub mod rewrite;
mod ops;
mod error;
mod render;
mod thread;
pub use args::*;
pub use tool::*;
