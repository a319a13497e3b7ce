//! Whether two pieces of code are the same tokens, whatever their layout and comments.

use tree_sitter::Node as Syntax;

use crate::pattern::{Child, Tables, children_into};

/// Compares the tokens of two stretches of siblings; separators between siblings are left out of
/// account.
pub(crate) fn same(a: &[Child<'_>], b: &[Child<'_>], source: &[u8], tables: &Tables) -> bool {
    let mut a = Tokens::over(a, source, tables);
    let mut b = Tokens::over(b, source, tables);
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

/// The tokens of a stretch of siblings, in order, without trivia.
struct Tokens<'a, 't> {
    source: &'a [u8],
    tables: &'a Tables,
    /// What is still to come, the next one last.
    open: Vec<Child<'t>>,
    children: Vec<Child<'t>>,
}

impl<'a, 't> Tokens<'a, 't> {
    fn over(list: &[Child<'t>], source: &'a [u8], tables: &'a Tables) -> Self {
        let mut open: Vec<Child<'t>> = list
            .iter()
            .filter(|child| !child.is_separator(tables))
            .copied()
            .collect();
        open.reverse();
        Self {
            source,
            tables,
            open,
            children: Vec::new(),
        }
    }

    fn text(&self, node: Syntax<'_>) -> &'a [u8] {
        &self.source[node.byte_range()]
    }
}

impl<'a> Iterator for Tokens<'a, '_> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.open.pop()? {
                Child::Text { start, end } => return Some(&self.source[start..end]),
                Child::Node(node) if node.child_count() == 0 => return Some(self.text(node)),
                Child::Node(node) => {
                    self.children.clear();
                    children_into(
                        &mut node.walk(),
                        node,
                        self.source,
                        self.tables,
                        &mut self.children,
                    );
                    self.open.extend(self.children.iter().rev());
                }
            }
        }
    }
}
