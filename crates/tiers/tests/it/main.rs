//! The crate as its users see it: toy tools on surfaces.

mod cancel;
mod cap;
mod dispatch;
mod gate;
mod nested;
mod toys;
