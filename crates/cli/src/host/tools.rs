//! The host's own tools: read, write, edit, apply_patch.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use terret::lsp::Supervisor;
use terret::tiers::Tool;
use terret::tiers::wrapper::Writer;

use super::edit::Edit;
use super::files::{Files, of_path, writer};
use super::patch::{self, ApplyPatch};
use super::read::Read;
use super::write::Write;

/// The tool that reads; it tells the servers what is read, once there are any.
pub(super) fn reader(root: &Path, servers: Arc<OnceLock<Supervisor>>) -> Arc<dyn Tool> {
    Arc::new(Read::new(Files::new(root), servers))
}

/// The tools that write.
pub(super) fn writers(root: &Path) -> Vec<Writer> {
    let files = Files::new(root);
    vec![
        writer(Write::new(files.clone()), of_path),
        writer(Edit::new(files.clone()), of_path),
        writer(ApplyPatch::new(files), patch::named),
    ]
}
