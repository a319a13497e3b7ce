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
            let Some(oldest) = open.pop_front() else { break };
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
            State::Open(edit) => Ok(Claim { staged: self, id: id.to_owned(), edit: Some(edit) }),
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
        let edit = claim.edit.take();
        self.close(id, State::Discarded);
        edit.ok_or_else(|| self.unknown())
    }

    fn close(&self, id: &str, state: State) {
        self.changes.insert(id.to_owned(), state);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|open| open != id);
    }

    fn unknown(&self) -> Unresolvable {
        let ids = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let title = |id: String| match self.changes.get(&id).as_deref() {
            Some(State::Open(edit)) => Some((id, edit.title.clone())),
            _ => None,
        };
        Unresolvable::Unknown { open: ids.into_iter().filter_map(title).collect() }
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

/// A change that one caller is committing.
#[derive(Debug)]
pub(crate) struct Claim<'s> {
    staged: &'s Staged,
    id: String,
    edit: Option<Edit>,
}

impl Claim<'_> {
    pub(crate) fn edit(&self) -> Option<&Edit> {
        self.edit.as_ref()
    }

    /// The change is on disk: nobody can resolve it again.
    pub(crate) fn accepted(mut self) {
        self.edit = None;
        self.staged.close(&self.id, State::Accepted);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(edit) = self.edit.take() {
            self.staged.changes.insert(self.id.clone(), State::Open(edit));
        }
    }
}
