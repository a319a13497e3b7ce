//! The changes of a run that are staged and wait to be resolved.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use terret_changeset::ChangeSet;

/// How many changes are kept open; the oldest expires first.
const MOST_OPEN: usize = 32;

/// Changes by id, and what became of those that are no longer open.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    changes: DashMap<String, State>,
    last: AtomicUsize,
    /// The ids of the open changes, oldest first.
    open: Mutex<VecDeque<String>>,
}

/// What is staged under an id.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) change: Arc<ChangeSet>,
    pub(crate) replacements: usize,
    /// One line that says what it does.
    pub(crate) title: String,
}

#[derive(Debug)]
enum State {
    Open(Edit),
    Committing,
    Accepted,
    Discarded,
    Expired,
}

/// Why a change cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unresolvable {
    /// No change has this id; these are open.
    Unknown { open: Vec<(String, String)> },
    /// It was resolved before, or is being resolved: how.
    Closed(&'static str),
}

impl Staged {
    /// Stages a change and names it.
    pub(crate) fn add(&self, edit: Edit) -> String {
        let id = format!("edit_{}", self.last.fetch_add(1, Ordering::Relaxed) + 1);
        self.changes.insert(id.clone(), State::Open(edit));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back(id.clone());
        while open.len() > MOST_OPEN {
            let Some(oldest) = open.pop_front() else {
                break;
            };
            if let Entry::Occupied(mut entry) = self.changes.entry(oldest)
                && matches!(entry.get(), State::Open(_))
            {
                entry.insert(State::Expired);
            }
        }
        id
    }

    /// Looks an open change up.
    pub(crate) fn get(&self, id: &str) -> Result<Edit, Unresolvable> {
        match self.changes.get(id).as_deref() {
            Some(State::Open(edit)) => Ok(edit.clone()),
            Some(state) => Err(closed(state)),
            None => Err(self.unknown()),
        }
    }

    /// Takes an open change to commit it; exactly one caller gets it. It is open again unless
    /// [`Claim::accepted`] is called.
    pub(crate) fn claim(&self, id: &str) -> Result<Claim<'_>, Unresolvable> {
        let Entry::Occupied(mut entry) = self.changes.entry(id.to_owned()) else {
            return Err(self.unknown());
        };
        match entry.insert(State::Committing) {
            State::Open(edit) => Ok(Claim {
                staged: self,
                id: id.to_owned(),
                edit,
                outcome: None,
            }),
            state => {
                let error = closed(&state);
                entry.insert(state);
                Err(error)
            }
        }
    }

    /// Drops an open change.
    pub(crate) fn discard(&self, id: &str) -> Result<Edit, Unresolvable> {
        let mut claim = self.claim(id)?;
        claim.outcome = Some(State::Discarded);
        Ok(claim.edit.clone())
    }

    fn close(&self, id: &str, state: State) {
        self.changes.insert(id.to_owned(), state);
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|open| open != id);
    }

    fn unknown(&self) -> Unresolvable {
        let ids = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let title = |id: String| match self.changes.get(&id).as_deref() {
            Some(State::Open(edit)) => Some((id, edit.title.clone())),
            _ => None,
        };
        Unresolvable::Unknown {
            open: ids.into_iter().filter_map(title).collect(),
        }
    }
}

fn closed(state: &State) -> Unresolvable {
    Unresolvable::Closed(match state {
        State::Open(_) => "open",
        State::Committing => "being written right now",
        State::Accepted => "already applied",
        State::Discarded => "discarded",
        State::Expired => "expired; run `ast_edit` again",
    })
}

/// A change that one caller is resolving. It is open again when nothing came of it.
#[derive(Debug)]
pub(crate) struct Claim<'s> {
    staged: &'s Staged,
    id: String,
    edit: Edit,
    outcome: Option<State>,
}

impl Claim<'_> {
    pub(crate) fn edit(&self) -> &Edit {
        &self.edit
    }

    /// The change is on disk: nobody can resolve it again.
    pub(crate) fn accepted(mut self) {
        self.outcome = Some(State::Accepted);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        match self.outcome.take() {
            Some(outcome) => self.staged.close(&self.id, outcome),
            None => {
                self.staged
                    .changes
                    .insert(self.id.clone(), State::Open(self.edit.clone()));
                // It may have been the oldest, and left the queue while it was being written.
                let mut open = self
                    .staged
                    .open
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                if !open.contains(&self.id) {
                    open.push_back(self.id.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(staged: &Staged, folder: &std::path::Path, title: &str) -> String {
        let workspace = terret_changeset::Workspace::with_state_dir(folder, folder).unwrap();
        let change = Arc::new(ChangeSet::new(&workspace));
        staged.add(Edit {
            change,
            replacements: 1,
            title: title.to_owned(),
        })
    }

    #[test]
    fn a_change_is_resolved_once() {
        let folder = tempfile::tempdir().unwrap();
        let staged = Staged::default();
        let id = edit(&staged, folder.path(), "one");
        assert_eq!(id, "edit_1");
        let claim = staged.claim(&id).unwrap();
        assert_eq!(
            staged.claim(&id).unwrap_err(),
            Unresolvable::Closed("being written right now")
        );
        drop(claim);
        assert!(staged.get(&id).is_ok(), "nothing came of it, so it is open");
        staged.claim(&id).unwrap().accepted();
        assert_eq!(
            staged.discard(&id).unwrap_err(),
            Unresolvable::Closed("already applied")
        );
        let id = edit(&staged, folder.path(), "two");
        staged.discard(&id).unwrap();
        assert_eq!(
            staged.claim(&id).unwrap_err(),
            Unresolvable::Closed("discarded")
        );
    }

    #[test]
    fn an_unknown_id_lists_the_open_ones_and_the_oldest_expire() {
        let folder = tempfile::tempdir().unwrap();
        let staged = Staged::default();
        for number in 0..=MOST_OPEN {
            edit(&staged, folder.path(), &format!("title {number}"));
        }
        assert_eq!(
            staged.claim("edit_1").unwrap_err(),
            Unresolvable::Closed("expired; run `ast_edit` again")
        );
        let Unresolvable::Unknown { open } = staged.claim("edit_99").unwrap_err() else {
            panic!("it is unknown");
        };
        assert_eq!(open.len(), MOST_OPEN);
        assert_eq!(open[0], ("edit_2".to_owned(), "title 1".to_owned()));
    }
}
