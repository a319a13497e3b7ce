//! The crate as its users see it: toy tools on surfaces.

// Only functions marked `#[test]` are exempt from this by the workspace's configuration.
#![allow(clippy::unwrap_used)]

mod cancel;
mod cap;
mod dispatch;
mod gate;
mod nested;
mod toys;
