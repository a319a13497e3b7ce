//! The tools with real servers, each on a small project of its language.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod navigate;
mod project;
mod projects;
mod replay;
mod written;
