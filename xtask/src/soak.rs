//! `cargo xtask soak`: proofs of which `cargo xtask test` runs a part, whole.

pub(crate) mod self_match;

use anyhow::Result;
use clap::ValueEnum;

use crate::workspace::Workspace;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Proof {
    /// Every piece of code, taken as a pattern, matches where it stands
    SelfMatch,
}

/// Whether the proof holds.
pub(crate) fn run(workspace: &Workspace, proof: Proof, save: bool) -> Result<bool> {
    match proof {
        Proof::SelfMatch => self_match::run(workspace, save),
    }
}
