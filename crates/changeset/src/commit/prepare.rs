//! Writes the new content of every member to a hidden file beside it.

use std::os::unix::fs::MetadataExt as _;

use super::{Source, Work, check, refused, sync_folders};
use crate::error::{CommitErrorKind, While as _};
use crate::fs;
use crate::plan::Member;
use crate::reason::Reason;

/// Writes all hidden files and makes them durable. What a failure leaves is for the caller to remove.
pub(super) fn all(work: &Work<'_>, cancel: &dyn Fn() -> bool) -> Result<(), CommitErrorKind> {
    for (member, source) in work.plan.members.iter().zip(&work.sources) {
        check(cancel)?;
        if let Some(bytes) = source.bytes {
            one(member, source, bytes)?;
        }
    }
    // The names must be durable before the journal may say that they are: rolling back relies on nothing else.
    sync_folders(work.plan.present_folders())
}

fn one(member: &Member, source: &Source<'_>, bytes: &[u8]) -> Result<(), CommitErrorKind> {
    let path = &*member.incoming;
    let Some((like, mode)) = source.like else {
        // A file that is new in every way gets its mode as any other does, from the umask or its folder's default.
        let mut file = fs::create(path, false).during("creating", path)?;
        fs::write_all(&mut file, path, bytes).during("writing", path)?;
        return fs::sync(&file, path).during("syncing", path);
    };
    let model = fs::open(like).during("opening", like)?;
    let wanted = fs::stat_open(&model, like).during("looking at", like)?;
    // Nobody else may read it before it has the mode of the file that it stands for.
    let mut file = fs::create(path, true).during("creating", path)?;
    let given = fs::stat_open(&file, path).during("looking at", path)?;
    if (wanted.uid(), wanted.gid()) != (given.uid(), given.gid()) {
        match fs::change_owner(&file, path, wanted.uid(), wanted.gid()) {
            Err(error) if fs::is_denied(&error) => {
                return Err(refused(source, Reason::OwnerNotKept));
            }
            result => result.during("changing the owner of", path)?,
        }
    }
    fs::write_all(&mut file, path, bytes).during("writing", path)?;
    // After writing, which drops file capabilities, and before the mode, which an access list is a part of.
    if let Err(name) =
        fs::copy_attributes(&model, &file, path).during("copying attributes to", path)?
    {
        return Err(refused(source, Reason::AttributeNotKept { name }));
    }
    fs::change_mode(&file, path, mode).during("changing the mode of", path)?;
    fs::sync(&file, path).during("syncing", path)
}
