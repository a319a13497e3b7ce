//! Compares what was captured with what is there, and says how they differ.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::capture::{self, Captured, Found, FoundFile};
use crate::change::{ChangeSet, Slot, same_but_for_case};
use crate::fs;
use crate::reason::{Difference, Kind, Reason};
use crate::workspace::{Unresolved, Workspace, is_missing};

impl ChangeSet {
    /// Compares every file that the set changes with its capture, and looks whether it may be changed. Empty if all
    /// is well; otherwise every file that stands in the way, each with every reason.
    ///
    /// Bytes, kind and mode decide. New times, a new inode, or a change that was taken back differ in nothing.
    ///
    /// Takes no lock and changes nothing, so the answer is a forecast; [`commit`](Self::commit) asks again.
    #[must_use]
    pub fn verify(&self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (real, slot) in self.changed() {
            let reasons = match examine(&self.workspace, real, slot) {
                Ok(reasons) => reasons,
                Err(error) => vec![Reason::Unreadable {
                    error: error.to_string(),
                }],
            };
            differences.extend(
                reasons
                    .into_iter()
                    .map(|reason| Difference::new(slot.shown.clone(), reason)),
            );
        }
        differences
    }
}

fn examine(workspace: &Workspace, real: &Path, slot: &Slot) -> io::Result<Vec<Reason>> {
    let mut reasons = Vec::new();
    let kind = match fs::stat(real) {
        Ok(metadata) => metadata.map(|metadata| Kind::of(metadata.file_type())),
        Err(error) if is_missing(&error) => None,
        Err(error) => return Err(error),
    };
    match (&slot.captured, kind) {
        (None, None) | (Some(_), Some(Kind::File)) => {}
        (None, Some(_)) => return Ok(vec![Reason::Appeared]),
        (Some(_), None) => return Ok(vec![Reason::Deleted]),
        (Some(_), Some(Kind::Link)) => return Ok(vec![Reason::ReplacedByLink]),
        (Some(_), Some(kind)) => return Ok(vec![Reason::KindChanged(kind)]),
    }
    for given in &slot.given {
        if let Some(reason) = leads_elsewhere(workspace, given, real)?
            && !reasons.contains(&reason)
        {
            reasons.push(reason);
        }
    }
    if !reasons.is_empty() {
        // What stands at the other end says nothing about the captured file.
        return Ok(reasons);
    }
    if let Some(captured) = &slot.captured {
        match capture::read(real)? {
            Found::File(found) => {
                reasons.extend(compare(captured, &found));
                if found.mode & OWNER_WRITE == 0 || !fs::may_write(real, false)? {
                    reasons.push(Reason::ReadOnly);
                }
                if found.links > 1 {
                    reasons.push(Reason::HardLinked { links: found.links });
                }
            }
            Found::Nothing => reasons.push(Reason::Deleted),
            Found::Other(kind) => reasons.push(replaced_by(kind)),
        }
    }
    reasons.extend(folder_not_writable(workspace, real)?);
    Ok(reasons)
}

/// The owner's write bit. A superuser passes every check of the kernel, so the bits are looked at as well.
const OWNER_WRITE: u32 = 0o200;

pub(crate) fn replaced_by(kind: Kind) -> Reason {
    match kind {
        Kind::Link => Reason::ReplacedByLink,
        kind => Reason::KindChanged(kind),
    }
}

/// How a file differs from its capture.
pub(crate) fn compare(captured: &Captured, found: &FoundFile) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if *captured.bytes != *found.bytes {
        reasons.push(Reason::Changed {
            was: captured.bytes.len() as u64,
            now: found.bytes.len() as u64,
        });
    }
    if captured.mode != found.mode {
        reasons.push(Reason::ModeChanged {
            was: captured.mode,
            now: found.mode,
        });
    }
    reasons
}

fn leads_elsewhere(workspace: &Workspace, given: &Path, real: &Path) -> io::Result<Option<Reason>> {
    match workspace.resolve(given) {
        Ok(resolved) if resolved.real == real || same_but_for_case(&resolved.real, real) => {
            Ok(None)
        }
        Ok(resolved) => Ok(Some(Reason::LinkRetargeted {
            now: workspace.shown(&resolved.real),
        })),
        Err(Unresolved::Reason(reason)) => Ok(Some(reason)),
        Err(Unresolved::Io(error)) => Err(error),
    }
}

/// Looks at the folder that the file is in or, if that is yet to be made, at the one that it will be made in.
fn folder_not_writable(workspace: &Workspace, real: &Path) -> io::Result<Option<Reason>> {
    for folder in real
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(workspace.root()))
    {
        let Some(metadata) = fs::stat(folder)? else {
            continue;
        };
        let shown = workspace.shown(folder);
        if !metadata.is_dir() {
            return Ok(Some(Reason::NotAFolder { folder: shown }));
        }
        let writable =
            metadata.permissions().mode() & OWNER_WRITE != 0 && fs::may_write(folder, true)?;
        return Ok((!writable).then_some(Reason::FolderNotWritable { folder: shown }));
    }
    // The workspace itself is gone.
    Err(io::ErrorKind::NotFound.into())
}
