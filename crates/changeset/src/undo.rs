//! Brings a commit that did not end to one of its two ends.
//!
//! Both a commit that fails and the recovery after a crash come here, so what the first relies on is what the tests of
//! the second prove, and the other way round. Nothing is remembered of how far the commit came: each file is looked at,
//! and what is found decides. So any of this may be cut short and done again.

use std::io;
use std::path::Path;

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
    let mut restored = Vec::new();
    for member in plan.members.iter().rev() {
        // No target was touched while the hidden files were being written.
        let result = if state == State::Preparing {
            Ok(None)
        } else {
            restore(member)
        };
        match result {
            Ok(None) => restored.push(member),
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
        // What was put back must be durable before the names that it came from may go: on a file system that keeps no
        // order, a power cut could otherwise let the second happen without the first.
        let before = left.len();
        sync(plan.present_folders(), &mut left);
        if left.len() > before {
            return left;
        }
    }
    for member in restored {
        match remove_hidden(member, state) {
            Ok(unknown) => left.extend(unknown),
            Err(error) => left.push(Left::failed(&member.incoming, "removing it failed", &error)),
        }
    }
    sync(plan.present_folders(), &mut left);
    left
}

/// Ends a commit whose members are all in place, but perhaps not durably.
pub(crate) fn roll_forward(plan: &Plan) -> Vec<Left> {
    let mut left = Vec::new();
    sync(plan.all_folders(), &mut left);
    if left.is_empty() {
        clean_up(plan)
    } else {
        left
    }
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

fn sync<'a>(folders: impl IntoIterator<Item = &'a Path>, left: &mut Vec<Left>) {
    for folder in folders {
        match fs::sync_folder(folder) {
            // Somebody removed the folder, and with it all that could be made durable in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => left.push(Left::failed(folder, "syncing it failed", &error)),
            Ok(()) => {}
        }
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
    /// The target has this name as well, where a link had to stand in for a rename; it goes.
    DropName(Side),
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

/// Brings a member's target back to what it was. What is hidden under the incoming name is not needed after that.
fn restore(member: &Member) -> io::Result<Option<Left>> {
    for _ in 0..TURNS {
        let names = Names::look(member)?;
        match decide(member, &names) {
            Step::Done => return Ok(None),
            Step::Exchange => fs::exchange(&member.incoming, &member.target)?,
            Step::TakeOut => fs::rename(&member.target, &member.incoming)?,
            Step::DropName(side) => fs::unlink(member.hidden(&side))?,
            Step::PutBack(side) => match put_back(member.hidden(&side), &member.target) {
                // Somebody was faster; look again.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => result?,
            },
            Step::Leave(kept, why) => {
                let kept = kept.map(|side| member.hidden(&side));
                // Its new content never was anywhere else.
                if kept != Some(&*member.incoming) && names.incoming.is(member.new.as_ref()) {
                    fs::unlink(&member.incoming)?;
                }
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

/// Gives what came out of a place its name again, unless something stands there.
fn put_back(from: &Path, to: &Path) -> io::Result<()> {
    match move_in(from, to) {
        // A folder has no second name, and neither has anything on some file systems. What is to be put back is worth
        // more than the moment in which somebody could put another file there unseen.
        Err(error) if fs::is_denied(&error) && fs::stat(to)?.is_none() => fs::rename(from, to),
        result => result,
    }
}

impl Member {
    fn hidden(&self, side: &Side) -> &Path {
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
    if target.is_same_file(outgoing) {
        return Step::DropName(Side::Outgoing);
    }
    if target.is_same_file(incoming) {
        return Step::DropName(Side::Incoming);
    }
    if !outgoing.is_nothing() {
        // The target was moved out, so what is outside came from there, whatever it is.
        return match (target, incoming) {
            // It came out when the new file was taken out: somebody had written over that.
            (Seen::Nothing, incoming) if !incoming.is_nothing() && !is_new(incoming) => {
                Step::PutBack(Side::Incoming)
            }
            (Seen::Nothing, _) => Step::PutBack(Side::Outgoing),
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

/// Removes what is hidden of a member whose target needs nothing more.
fn remove_hidden(member: &Member, state: State) -> io::Result<Option<Left>> {
    let seen = Seen::at(&member.incoming)?;
    if seen.is_nothing() {
        return Ok(None);
    }
    // While the hidden files were being written, this one may have been written in part.
    let is_ours =
        seen.is(member.new.as_ref()) || seen.is(member.old.as_ref()) || state == State::Preparing;
    if is_ours {
        fs::unlink(&member.incoming)?;
        return Ok(None);
    }
    Ok(Some(Left::unknown(
        &member.target,
        Some(&member.incoming),
        "a hidden file beside it is not what was written",
    )))
}
