//! The command `terret`.
fn main() {}
