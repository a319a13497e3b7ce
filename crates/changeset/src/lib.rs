//! Sets of file changes, captured, shown as a diff, and committed whole or not at all.
