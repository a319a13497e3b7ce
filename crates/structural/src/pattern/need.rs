//! What the bytes of a file must show for a pattern to match in it.
//!
//! Tokens of a pattern with no metavariable between them stand next to each other in every match,
//! with nothing but layout and comments between them.

use memchr::memmem::Finder;

use super::Reading;
use super::shape::Node;
use super::tables::Tables;

/// More tokens than these would be asked for at each node, and tell little more.
const MOST_SHARED: usize = 3;

/// Tokens that a match of one reading holds, in chains.
#[derive(Debug)]
pub(crate) struct Need {
    chains: Vec<Chain>,
    /// All of them, in the order of the reading.
    tokens: Vec<Box<[u8]>>,
}

/// Tokens that stand next to each other.
#[derive(Debug)]
struct Chain {
    /// The longest of them, which is looked for.
    anchor: Finder<'static>,
    /// Those before it, the nearest first.
    before: Vec<Box<[u8]>>,
    after: Vec<Box<[u8]>>,
}

impl Need {
    pub(super) fn of(reading: &Reading, tables: &Tables, token: &dyn Fn(u16) -> String) -> Self {
        let mut collector = Collector {
            tables,
            token,
            chain: Vec::new(),
            chains: Vec::new(),
            tokens: Vec::new(),
        };
        for root in &reading.roots {
            collector.node(root);
            // Between the members of a window, terminators may stand or not.
            collector.end();
        }
        let mut chains = collector.chains;
        chains.sort_by_key(|chain| std::cmp::Reverse(chain.anchor.needle().len()));
        Self {
            chains,
            tokens: collector.tokens,
        }
    }

    /// A few tokens that each of them asks for, the longest first.
    pub(super) fn shared(needs: &[Self]) -> Vec<Finder<'static>> {
        let Some((first, others)) = needs.split_first() else {
            return Vec::new();
        };
        let in_all = |token: &&[u8]| {
            others
                .iter()
                .all(|other| other.tokens.iter().any(|found| **found == **token))
        };
        let mut tokens: Vec<&[u8]> = first.tokens.iter().map(|token| &**token).collect();
        tokens.retain(in_all);
        tokens.sort_by_key(|token| std::cmp::Reverse(token.len()));
        let mut shared: Vec<&[u8]> = Vec::new();
        for token in tokens {
            if !shared.iter().any(|longer| longer.starts_with(token)) {
                shared.push(token);
            }
        }
        let few = shared.into_iter().take(MOST_SHARED);
        few.map(|token| Finder::new(token).into_owned()).collect()
    }

    /// Whether a text may hold a match.
    pub(crate) fn is_met(&self, source: &[u8]) -> bool {
        self.chains.iter().all(|chain| chain.is_in(source))
    }
}

/// Goes through a shape and gathers its chains.
struct Collector<'a> {
    tables: &'a Tables,
    /// The text of a token by its kind.
    token: &'a dyn Fn(u16) -> String,
    chain: Vec<Box<[u8]>>,
    chains: Vec<Chain>,
    tokens: Vec<Box<[u8]>>,
}

impl Collector<'_> {
    fn node(&mut self, node: &Node) {
        match node {
            // White space at the edge of a text is part of it, and not layout.
            Node::Leaf { text, .. } | Node::Text { text }
                if text.trim_ascii().len() < text.len() =>
            {
                self.end();
                self.chain.push(text.clone());
                self.end();
            }
            Node::Leaf { text, .. } | Node::Text { text } => self.chain.push(text.clone()),
            // A separator may be absorbed by an empty run beside it.
            Node::Token { kind } if self.tables.is_separator(*kind) => self.end(),
            Node::Token { kind } | Node::Quote { kind, .. } => match (self.token)(*kind) {
                token if is_plain(&token) => self.chain.push(token.into_bytes().into()),
                _ => self.end(),
            },
            // Letter case may differ, and the bytes with it.
            Node::Word { .. } | Node::One { .. } | Node::Run(_) => self.end(),
            node if node.is_optional(self.tables) => self.end(),
            Node::Inner { kind, children } => {
                // Its parentheses may stand or not.
                let is_open = self.tables.is_open_list(*kind);
                if is_open {
                    self.end();
                }
                let mut before: Option<&Node> = None;
                for child in children {
                    if before.is_some_and(|before| self.may_part(before, child)) {
                        self.end();
                    }
                    self.node(child);
                    before = Some(child);
                }
                if is_open {
                    self.end();
                }
            }
        }
    }

    /// Whether a token that is layout may stand between two siblings: there are some between nodes
    /// (`then`), and around the members of a block. Before a first member there may be a separator.
    fn may_part(&self, before: &Node, after: &Node) -> bool {
        let opens = match before {
            Node::Token { kind } => matches!(&*(self.token)(*kind), "{" | "}" | ":"),
            _ => !matches!(after, Node::Token { .. }),
        };
        let leads = matches!(before, Node::Token { .. }) && self.tables.has_leading();
        self.tables.has_layout() && opens || leads
    }

    /// Ends the chain; one without a word says too little to look for.
    fn end(&mut self) {
        let mut tokens = std::mem::take(&mut self.chain);
        // Some scanners make a closing bracket of nothing at the end of a file.
        let lasting = tokens.iter().filter(|token| !is_closing(token));
        self.tokens.extend(lasting.cloned());
        let longest = (0..tokens.len()).max_by_key(|&at| (is_word(&tokens[at]), tokens[at].len()));
        let Some(at) = longest.filter(|&at| is_word(&tokens[at]) && tokens[at].len() > 1) else {
            return;
        };
        let after = tokens.split_off(at + 1);
        let anchor = tokens.pop().unwrap_or_default();
        tokens.reverse();
        self.chains.push(Chain {
            anchor: Finder::new(&anchor).into_owned(),
            before: tokens,
            after,
        });
    }
}

/// Whether a token is spelled like its kind. Keywords may be written in another case, and the quotes
/// of some languages have several spellings.
fn is_plain(token: &str) -> bool {
    token
        .bytes()
        .all(|byte| byte.is_ascii_punctuation() && !b"\"'`_".contains(&byte))
}

fn is_closing(token: &[u8]) -> bool {
    matches!(token, b")" | b"]" | b"}" | b">")
}

fn is_word(token: &[u8]) -> bool {
    token
        .iter()
        .any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

impl Chain {
    /// Whether it stands in the text. What may be a comment is never looked into: it counts as fitting.
    fn is_in(&self, source: &[u8]) -> bool {
        let length = self.anchor.needle().len();
        self.anchor
            .find_iter(source)
            .any(|at| self.fits_before(&source[..at]) && self.fits_after(&source[at + length..]))
    }

    fn fits_after(&self, mut rest: &[u8]) -> bool {
        for token in &self.after {
            let next = rest.trim_ascii_start();
            match next.strip_prefix(&**token) {
                Some(behind) => rest = behind,
                None => return may_begin_something_else(next),
            }
        }
        true
    }

    fn fits_before(&self, mut rest: &[u8]) -> bool {
        for token in &self.before {
            let before = rest.trim_ascii_end();
            match before.strip_suffix(&**token) {
                Some(further) => rest = further,
                // A line comment ends with its line, a block comment mostly with a slash.
                None => {
                    let crossed = &rest[before.len()..];
                    return crossed.contains(&b'\n')
                        || crossed.contains(&b'\r')
                        || before.last().is_some_and(|byte| {
                            !byte.is_ascii() || b"/-})>,;\\\x0b".contains(byte)
                        });
                }
            }
        }
        true
    }
}

/// Whether there may be a comment, a continued line, or a separator that means nothing here.
fn may_begin_something_else(text: &[u8]) -> bool {
    text.first()
        .is_some_and(|first| !first.is_ascii() || b"/#-%\\{,;\x0b".contains(first))
        || text.starts_with(b"(*")
        || text.starts_with(b"<!")
}
