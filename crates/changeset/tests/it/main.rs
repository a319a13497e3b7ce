//! Tests over the public interface, one theme a file.
#![allow(clippy::unwrap_used, reason = "what helps tests fails as tests do")]
#![allow(clippy::print_stdout, reason = "a test that could not be made says so")]

mod bench;
mod diff;
mod kept;
mod model;
mod races;
mod refusals;
mod sets;
