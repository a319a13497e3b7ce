//! Which names of a parsed scaffold are keywords of the language after all.

use terret_grammars::LanguageData;
use tree_sitter::{Language, Node as Syntax};

use super::tables::Tables;

/// What is known of a language's keywords, and the text that was parsed.
pub(super) struct Keywords<'a> {
    pub(super) data: &'a LanguageData,
    pub(super) language: &'a Language,
    pub(super) tables: &'a Tables,
    /// The scaffold, and where in it the fragment begins.
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Keywords<'_> {
    /// Whether the node begins with a name that is a reserved word: the construct that the word
    /// begins is not all there.
    pub(super) fn begins_with_opener(&self, node: Syntax<'_>) -> bool {
        let mut first = node;
        while let Some(child) = first.child(0) {
            first = child;
        }
        let openers = &self.data.openers;
        let text = &self.text[first.byte_range()];
        first.is_named() && !is_keyword(first, text) && openers.iter().any(|word| word == text)
    }

    /// The names that are keywords of the language.
    pub(super) fn misused(&self, node: Syntax<'_>) -> Vec<String> {
        if self.tables.is_string(node.kind_id()) || node.is_extra() {
            return Vec::new();
        }
        let text = &self.text[node.byte_range()];
        // Some grammars wrap a keyword that serves as a name in a node of its own.
        let wraps = node.child_count() == 1
            && node
                .child(0)
                .is_some_and(|child| !child.is_named() && child.child_count() == 0);
        if node.child_count() > 0 && !wraps {
            let children = (0..node.child_count()).filter_map(|at| node.child(at));
            return children.flat_map(|child| self.misused(child)).collect();
        }
        let is_word = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let contextual = &self.data.contextual;
        let is_name = || contextual.iter().any(|word| word == text);
        // A modifier is no name, though some grammars wrap it like one.
        let is_keyword = is_keyword(node, text) || node.kind().ends_with("modifier");
        if !node.is_named() || text.is_empty() || !is_word || is_keyword || is_name() {
            return Vec::new();
        }
        let listed = || self.data.keywords.iter().any(|keyword| keyword == text);
        let is_token = || !wraps && self.language.id_for_node_kind(text, false) != 0;
        if listed() || is_token() {
            vec![text.to_owned()]
        } else {
            Vec::new()
        }
    }

    /// Where a reserved word was taken for a name.
    pub(super) fn reserved(&self, node: Syntax<'_>) -> Option<usize> {
        if self.data.reserved.is_empty() {
            return None;
        }
        self.reserved_below(node, false)
    }

    fn reserved_below(&self, node: Syntax<'_>, in_label: bool) -> Option<usize> {
        if self.tables.is_string(node.kind_id()) || node.is_extra() {
            return None;
        }
        let is_label = |name: &str| self.data.labels.iter().any(|label| label == name);
        let in_label = in_label || is_label(node.kind());
        let mut cursor = node.walk();
        if cursor.goto_first_child() {
            loop {
                let in_label = in_label || cursor.field_name().is_some_and(is_label);
                let at = self.reserved_below(cursor.node(), in_label);
                if at.is_some() || !cursor.goto_next_sibling() {
                    return at;
                }
            }
        }
        let text = &self.text[node.byte_range()];
        let is_name = node.is_named() && !is_keyword(node, text);
        // A fragment that begins with such a word is more likely the statement of that name.
        let is_free = in_label && node.start_byte() != self.start;
        let is_reserved = || self.data.reserved.iter().any(|word| word == text);
        (is_name && !is_free && is_reserved()).then(|| node.start_byte())
    }
}

/// Some grammars have a kind for each keyword, named after it: `throw`, `throw_keyword`,
/// `keyword_throw`.
fn is_keyword(node: Syntax<'_>, text: &str) -> bool {
    let kind = node.kind();
    let parts = [
        Some(kind),
        kind.strip_suffix("_keyword"),
        kind.rsplit('_').next(),
    ];
    parts
        .into_iter()
        .flatten()
        .any(|part| part.eq_ignore_ascii_case(text))
}
