//! Which valid word somebody may have meant.

/// The candidate nearest to `word`, if one is near enough to be meant; the first of several equally
/// near.
///
/// Letter case, `-`, `_` and blanks make no difference. Near is a third of the word's length, in
/// insertions, deletions, replacements and swaps of neighbours; or that one begins with the other.
///
/// ```
/// let keys = ["enabled", "write_wait", "disable"];
/// assert_eq!(terret_tiers::nearest("wirte-wait", keys), Some("write_wait"));
/// assert_eq!(terret_tiers::nearest("colour", keys), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    // The distance is quadratic, and no name is that long.
    if word.is_empty() || word.len() > 100 {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let plain = plain(candidate);
            let distance = distance(&word, &plain);
            let allowed = word.len().max(plain.len()).div_ceil(3);
            let prefix = word.len().min(plain.len()) >= 3
                && (word.starts_with(&plain) || plain.starts_with(&word));
            (distance <= allowed || prefix).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The candidate that is `word` but for letter case and separators, if there is exactly one.
pub(crate) fn same<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let mut found = candidates.filter(|candidate| plain(candidate) == word);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn plain(word: &str) -> Vec<char> {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edit distance in which a swap of two neighbours is one edit (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let names = ["ast_grep", "ast_edit", "resolve", "lsp", "ask_user"];
        let table = [
            ("ast-grep", Some("ast_grep")),
            ("AstGrep", Some("ast_grep")),
            ("ast_gerp", Some("ast_grep")),
            ("grep", Some("ast_grep")),
            ("resolv", Some("resolve")),
            ("resolve_edit", Some("resolve")),
            ("ls", Some("lsp")),
            ("ask", Some("ask_user")),
            ("bash", None),
            ("", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, names.into_iter()), expected, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(10_000), names.into_iter()), None);
    }

    #[test]
    fn the_same_word_is_only_the_same_if_nothing_else_is() {
        assert_eq!(same("FAST", ["fast", "good"].into_iter()), Some("fast"));
        assert_eq!(same("a_b", ["ab", "a-b"].into_iter()), None);
        assert_eq!(same("fst", ["fast"].into_iter()), None);
    }
}
