//! Which call a call was made from: a chain of links, one a call.

use std::sync::Arc;

/// How deep calls may nest. A tool that calls itself, directly or in a circle, ends here instead of
/// in the stack.
pub(crate) const MAX_DEPTH: usize = 8;

/// One call in a chain of nested calls. Two links are the same call if they are the same
/// allocation.
#[derive(Debug)]
pub(crate) struct Link {
    tool: String,
    parent: Option<Arc<Link>>,
}

impl Link {
    pub(crate) fn new(tool: impl Into<String>, parent: Option<Arc<Link>>) -> Arc<Link> {
        Arc::new(Link {
            tool: tool.into(),
            parent,
        })
    }

    pub(crate) fn tool(&self) -> &str {
        &self.tool
    }

    /// 0 for a call that was made by the host.
    pub(crate) fn depth(&self) -> usize {
        std::iter::successors(self.parent.as_deref(), |link| link.parent.as_deref()).count()
    }

    /// Whether `self` is `other` or was made, at any remove, from within it.
    pub(crate) fn is_within(&self, other: &Arc<Link>) -> bool {
        std::iter::successors(Some(self), |link| link.parent.as_deref())
            .any(|link| std::ptr::eq(link, &**other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_within_itself_and_its_ancestors_only() {
        let root = Link::new("eval", None);
        let child = Link::new("read", Some(root.clone()));
        let sibling = Link::new("read", Some(root.clone()));
        assert!(child.is_within(&root) && child.is_within(&child));
        assert!(!root.is_within(&child) && !child.is_within(&sibling));
        assert_eq!((root.depth(), child.depth()), (0, 1));
    }
}
