//! One commit of a workspace at a time.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::{CommitErrorKind, While as _};
use crate::fs;
use crate::workspace::Workspace;

/// Held from before recovery until a commit has ended. The kernel releases it when the process ends in any way; the
/// file itself stays, since removing it would let two processes lock two files of one name.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, as long as the workspace allows and the caller does not cancel.
    pub(crate) fn take(
        workspace: &Workspace,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Self, CommitErrorKind> {
        let folder = workspace.state_dir();
        fs::make_state_folder(folder).during("making the folder", folder)?;
        let path: PathBuf = folder.join("lock");
        let file = fs::open_lock(&path).during("opening", &path)?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if cancel() {
                return Err(CommitErrorKind::Cancelled);
            }
            if fs::try_lock(&file, &path).during("locking", &path)? {
                return Ok(Self { _file: file });
            }
            let Some(left) = workspace.longest_lock_wait().checked_sub(started.elapsed()) else {
                return Err(CommitErrorKind::Locked { lock: path });
            };
            // Asked for again and again, because a blocked wait could not be cancelled.
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
