//! Brings a commit that did not end to one of its two ends.
//!
//! Both a commit that fails and the recovery after a crash come here, so what the first relies on is what the tests of
//! the second prove, and the other way round. Nothing is remembered of how far the commit came: each file is looked at,
//! and what is found decides. So any of this may be cut short and done again.

use std::io;

use crate::commit::move_in;
use crate::fs;
use crate::journal::State;
use crate::plan::{Folder, Member, Plan, Seen};
use crate::recover::Left;

/// Whether every member is in place, so that the way forward is open.
pub(crate) fn is_all_in_place(plan: &Plan) -> io::Result<bool> {
    for member in &plan.members {
        let names = Names::look(member)?;
        let taken_is_old = |taken: &Seen| taken.is_nothing() || taken.is(member.old.as_ref());
        let in_place = match &member.new {
            None => names.target.is_nothing() && taken_is_old(&names.outgoing),
            Some(new) => {
                names.target.is(Some(new))
                    && (taken_is_old(&names.incoming) || names.incoming.is(Some(new)))
                    && taken_is_old(&names.outgoing)
            }
        };
        if !in_place {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts back everything that was put in place, last first, and removes hidden files and new folders. Returns what could
/// not be put back; everything else is as it was, durably.
pub(crate) fn roll_back(plan: &Plan, state: State) -> Vec<Left> {
    let mut left = Vec::new();
    for member in plan.members.iter().rev() {
        let restored = if state == State::Preparing {
            remove_unfinished(member)
        } else {
            restore(member)
        };
        match restored {
            Ok(None) => {}
            Ok(Some(unknown)) => left.push(unknown),
            Err(error) => left.push(Left::failed(
                &member.target,
                "putting it back failed",
                &error,
            )),
        }
    }
    if state != State::Preparing {
        for Folder(folder) in plan.folders.iter().rev() {
            if let Err(error) = fs::remove_folder(folder) {
                left.push(Left::failed(
                    folder,
                    "removing the new folder failed",
                    &error,
                ));
            }
        }
    }
    sync(plan.present_folders(), &mut left);
    left
}

/// Removes the old contents that a commit has replaced. Returns what could not be removed.
pub(crate) fn clean_up(plan: &Plan) -> Vec<Left> {
    let mut left = Vec::new();
    for member in &plan.members {
        for path in [&member.incoming, &member.outgoing] {
            let removed = Seen::at(path).and_then(|seen| {
                if seen.is_nothing() {
                    return Ok(None);
                }
                if seen.is(member.old.as_ref()) || seen.is(member.new.as_ref()) {
                    return fs::unlink(path).map(|()| None);
                }
                Ok(Some(Left::unknown(
                    &member.target,
                    Some(path),
                    "its replaced content is not what was captured",
                )))
            });
            match removed {
                Ok(unknown) => left.extend(unknown),
                Err(error) => left.push(Left::failed(path, "removing it failed", &error)),
            }
        }
    }
    sync(plan.present_folders(), &mut left);
    left
}

fn sync<'a>(folders: impl IntoIterator<Item = &'a std::path::Path>, left: &mut Vec<Left>) {
    for folder in folders {
        match fs::sync_folder(folder) {
            // Somebody removed the folder, and with it all that could be made durable in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => left.push(Left::failed(folder, "syncing it failed", &error)),
            Ok(()) => {}
        }
    }
}

/// Removes a hidden file of a commit that has touched no target. It may be written in part.
fn remove_unfinished(member: &Member) -> io::Result<Option<Left>> {
    match fs::unlink(&member.incoming) {
        Err(error) if crate::workspace::is_missing(&error) => Ok(None),
        result => result.map(|()| None),
    }
}

/// What stands at the three names of a member.
struct Names {
    target: Seen,
    incoming: Seen,
    outgoing: Seen,
}

impl Names {
    fn look(member: &Member) -> io::Result<Self> {
        Ok(Self {
            target: Seen::at(&member.target)?,
            incoming: Seen::at(&member.incoming)?,
            outgoing: Seen::at(&member.outgoing)?,
        })
    }
}

/// The next thing to do about a member that may be in place.
enum Step {
    /// The target is as it was, or as somebody else has it; only hidden files of ours are left.
    Done,
    /// What came out in an exchange goes back in.
    Exchange,
    /// The new file leaves the place of the target.
    TakeOut,
    /// What came out goes back to where nothing is now.
    PutBack(Side),
    /// The new file has two names, for want of a rename that creates; this one goes.
    DropSecondName,
    /// Nothing that can be done is sure to be right.
    Leave(Option<Side>, &'static str),
}

enum Side {
    Incoming,
    Outgoing,
}

/// Steps are taken while somebody else may go on writing to the target. Each writer gets this many turns before the
/// file is reported instead.
const TURNS: usize = 64;

/// Brings a member back to what it was, then removes its hidden files.
fn restore(member: &Member) -> io::Result<Option<Left>> {
    for _ in 0..TURNS {
        let names = Names::look(member)?;
        match decide(member, &names) {
            Step::Done => return remove_hidden(member, &names),
            Step::Exchange => fs::exchange(&member.incoming, &member.target)?,
            Step::TakeOut => move_in(&member.target, &member.incoming)?,
            Step::DropSecondName => fs::unlink(&member.incoming)?,
            Step::PutBack(side) => match move_in(member.hidden(&side), &member.target) {
                // Somebody was faster; look again.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => result?,
            },
            Step::Leave(kept, why) => {
                let kept = kept.map(|side| member.hidden(&side));
                return Ok(Some(Left::unknown(&member.target, kept, why)));
            }
        }
    }
    Ok(Some(Left::unknown(
        &member.target,
        Some(&member.incoming),
        "somebody keeps writing to it",
    )))
}

impl Member {
    fn hidden(&self, side: &Side) -> &std::path::Path {
        match side {
            Side::Incoming => &self.incoming,
            Side::Outgoing => &self.outgoing,
        }
    }
}

fn decide(
    member: &Member,
    Names {
        target,
        incoming,
        outgoing,
    }: &Names,
) -> Step {
    let is_new = |seen: &Seen| seen.is(member.new.as_ref());
    let is_old = |seen: &Seen| seen.is(member.old.as_ref());
    if !outgoing.is_nothing() {
        // The target was moved out, so what is outside came from there, whatever it is.
        return match (target, incoming) {
            (Seen::Nothing, _) => Step::PutBack(Side::Outgoing),
            (target, incoming) if is_new(target) && incoming.is_same_file(target) => {
                Step::DropSecondName
            }
            (target, Seen::Nothing) if is_new(target) => Step::TakeOut,
            _ => Step::Leave(Some(Side::Outgoing), WRITTEN_SINCE),
        };
    }
    // Before its exchange the incoming file was the new one, so anything else there came from the target.
    let came_out = !incoming.is_nothing() && !is_new(incoming);
    match (&member.old, &member.new) {
        (_, None) => Step::Done,
        (Some(_), Some(_)) if came_out => {
            if is_new(target) {
                Step::Exchange
            } else if target.is_nothing() {
                Step::PutBack(Side::Incoming)
            } else if is_old(target) && !is_old(incoming) {
                // It came out when the captured content went back in: somebody has written over the new file.
                Step::Exchange
            } else if is_old(target) {
                Step::Done
            } else {
                Step::Leave(Some(Side::Incoming), WRITTEN_SINCE)
            }
        }
        (Some(_), Some(_)) => {
            if is_old(target) || !incoming.is_nothing() {
                Step::Done
            } else {
                Step::Leave(None, "its captured content is nowhere to be found")
            }
        }
        (None, Some(_)) => {
            if target.is_nothing() {
                if came_out {
                    Step::PutBack(Side::Incoming)
                } else {
                    Step::Done
                }
            } else if is_new(target) && incoming.is_same_file(target) {
                Step::DropSecondName
            } else if is_new(target) && incoming.is_nothing() {
                Step::TakeOut
            } else if is_new(incoming) {
                Step::Done
            } else {
                Step::Leave(
                    None,
                    "it was created, and somebody else has written to it since",
                )
            }
        }
    }
}

const WRITTEN_SINCE: &str = "somebody else has written to it since it was changed";

/// Removes what is left of a member whose target needs nothing more.
fn remove_hidden(member: &Member, names: &Names) -> io::Result<Option<Left>> {
    if names.incoming.is_nothing() {
        return Ok(None);
    }
    if names.incoming.is(member.new.as_ref()) || names.incoming.is(member.old.as_ref()) {
        fs::unlink(&member.incoming)?;
        return Ok(None);
    }
    Ok(Some(Left::unknown(
        &member.target,
        Some(&member.incoming),
        "a hidden file beside it is not what was written",
    )))
}
