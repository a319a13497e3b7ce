//! `resolve`: writes a staged change, or drops it.

use terret_changeset::{CommitError, Committed};

use crate::staged::{Edit, Staged, Unresolvable};

/// What became of a change.
#[derive(Debug)]
pub(crate) enum Resolved {
    Applied { edit: Edit, committed: Committed },
    Discarded { edit: Edit },
}

/// Why it could not be resolved.
#[derive(Debug)]
pub(crate) enum Failure {
    Unresolvable(Unresolvable),
    /// It is open still.
    Commit(CommitError),
}

pub(crate) fn accept(
    staged: &Staged,
    id: &str,
    cancelled: &dyn Fn() -> bool,
) -> Result<Resolved, Failure> {
    let claim = staged.claim(id).map_err(Failure::Unresolvable)?;
    let edit = claim.edit().clone();
    let committed = edit.change.commit(cancelled).map_err(Failure::Commit)?;
    claim.accepted();
    Ok(Resolved::Applied { edit, committed })
}

pub(crate) fn discard(staged: &Staged, id: &str) -> Result<Resolved, Failure> {
    let edit = staged.discard(id).map_err(Failure::Unresolvable)?;
    Ok(Resolved::Discarded { edit })
}
