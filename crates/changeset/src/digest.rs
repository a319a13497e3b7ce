//! Content hashes, by which recovery tells one state of a file from another.

use std::fmt::Write as _;

use sha2::Digest as _;

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) [u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    pub(crate) fn hex(self) -> String {
        hex(&self.0)
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes whatever is written to it");
    }
    text
}
