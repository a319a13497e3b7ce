//! Puts the new files in place, and looks at what they took the place of.

use std::io;
use std::path::Path;

use super::{Source, Work, refused, sync_folders};
use crate::error::{CommitErrorKind, While as _};
use crate::fs;
use crate::plan::{Folder, Member, Seen};
use crate::reason::Reason;
use crate::verify::replaced_by;

/// Puts all members in place and makes that durable. What a failure leaves is for the caller to undo.
pub(super) fn all(work: &Work<'_>) -> Result<(), CommitErrorKind> {
    for Folder(folder) in &work.plan.folders {
        match fs::make_folder(folder) {
            // Somebody else had the same idea. The file in it is still ours to create.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => result.during("making the folder", folder)?,
        }
    }
    for (member, source) in work.plan.members.iter().zip(&work.sources) {
        one(member, source)?;
    }
    sync_folders(work.plan.all_folders())?;
    // A program that had opened a file before it was exchanged may have written to it after the look that followed.
    // Syncing took a while, so a second look catches the ones that were in the middle of it.
    for (member, source) in work.plan.members.iter().zip(&work.sources) {
        if member.old.is_some() {
            let incoming = Seen::at(&member.incoming).during("looking at", &member.incoming)?;
            if incoming.is_nothing() {
                check_taken(member, source, &member.outgoing)?;
            } else {
                check_seen(member, source, &incoming)?;
            }
        }
    }
    Ok(())
}

fn one(member: &Member, source: &Source<'_>) -> Result<(), CommitErrorKind> {
    let Member {
        target,
        incoming,
        outgoing,
        ..
    } = member;
    match (&member.old, &member.new) {
        (Some(_), Some(_)) => match fs::exchange(incoming, target) {
            Ok(()) => check_taken(member, source, incoming),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                move_out(member, source)?;
                create(member, source)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(gone(member, source, error))
            }
            Err(error) => Err(error).during("exchanging", target),
        },
        (None, Some(_)) => create(member, source),
        (Some(_), None) => move_out(member, source),
        (None, None) => unreachable!(
            "{} has neither an old nor a new content, so {outgoing:?}",
            target.display()
        ),
    }
}

fn create(member: &Member, source: &Source<'_>) -> Result<(), CommitErrorKind> {
    match move_in(&member.incoming, &member.target) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(refused(source, Reason::Appeared))
        }
        result => result.during("creating", &member.target),
    }
}

/// Takes whatever stands at the target out of its place, and then looks at it: in this order nothing that somebody
/// writes in between can be overwritten.
fn move_out(member: &Member, source: &Source<'_>) -> Result<(), CommitErrorKind> {
    match fs::rename(&member.target, &member.outgoing) {
        Ok(()) => check_taken(member, source, &member.outgoing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(gone(member, source, error)),
        Err(error) => Err(error).during("moving", &member.target),
    }
}

/// Gives a file its place unless something stands there.
pub(crate) fn move_in(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            fs::link(from, to)?;
            fs::unlink(from)
        }
        result => result,
    }
}

/// One of the two names of an exchange is missing: the target, unless somebody removed our hidden file.
fn gone(member: &Member, source: &Source<'_>, error: io::Error) -> CommitErrorKind {
    match fs::stat(&member.target) {
        Ok(None) => refused(source, Reason::Deleted),
        _ => Err::<(), _>(error)
            .during("exchanging", &member.target)
            .expect_err("it is an error"),
    }
}

fn check_taken(member: &Member, source: &Source<'_>, path: &Path) -> Result<(), CommitErrorKind> {
    check_seen(member, source, &Seen::at(path).during("looking at", path)?)
}

/// Refuses unless what came out of the target's place is what was captured.
fn check_seen(member: &Member, source: &Source<'_>, seen: &Seen) -> Result<(), CommitErrorKind> {
    if seen.is(member.old.as_ref()) {
        return Ok(());
    }
    let reason = match (seen, &member.old) {
        (Seen::File { print, .. }, Some(old)) if print.sha256 == old.sha256 => {
            Reason::ModeChanged {
                was: old.mode.unwrap_or_default(),
                now: print.mode.unwrap_or_default(),
            }
        }
        (Seen::File { print, .. }, Some(old)) => Reason::Changed {
            was: old.length,
            now: print.length,
        },
        (Seen::Other(kind), _) => replaced_by(*kind),
        _ => Reason::Deleted,
    };
    Err(refused(source, reason))
}
