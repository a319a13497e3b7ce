//! Tests over the public interface, one theme a file.

mod bench;
mod diff;
mod kept;
mod model;
mod races;
mod refusals;
mod sets;
