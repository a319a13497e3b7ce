//! Tells by its bytes alone that a file holds no match.

use crate::pattern::Pattern;

/// Whether every literal that one reading of one pattern needs is in the file. Readings that are
/// only counted do not open a file.
pub(super) fn admits(patterns: &[Pattern], source: &[u8]) -> bool {
    patterns
        .iter()
        .flat_map(|pattern| &pattern.compiled().literals)
        .any(|literals| literals.iter().all(|text| text.find(source).is_some()))
}
