//! Why a fragment is no pattern, told so that the caller can mend it.

use terret_grammars::{Context, Grammar};

use super::{Fragment, PatternError, Unparsable};

/// Why one context did not accept a fragment.
#[derive(Debug)]
pub(super) enum Failure {
    /// Parsing failed at this byte of the fragment as it was written.
    Syntax { context: String, place: usize },
    /// A metavariable is part of this token, in which it is spelled as the language's hole.
    Token {
        token: String,
        /// The number of the first metavariable in it.
        hole: usize,
    },
    /// A reserved word was taken for a name at this byte of the fragment as it was written.
    Keyword { context: String, place: usize },
    /// The nodes do not tile the fragment.
    Cover,
    /// There is nothing but a comment.
    OnlyComment,
}

/// The names of contexts, each once.
pub(super) fn names<'c>(contexts: impl IntoIterator<Item = &'c Context>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for context in contexts {
        if !names.contains(&context.name) {
            names.push(context.name.clone());
        }
    }
    names
}

/// The error for a fragment that no context accepted.
pub(super) fn explain(
    grammar: &Grammar,
    fragment: &Fragment,
    contexts: &[&Context],
    failures: &[Failure],
) -> PatternError {
    let language = grammar.data().name.clone();
    if failures
        .iter()
        .any(|failure| matches!(failure, Failure::OnlyComment))
    {
        return PatternError::Nothing(
            "the pattern is a comment: comments are not compared, use a text search for them"
                .to_owned(),
        );
    }
    let token = failures.iter().find_map(|failure| match failure {
        Failure::Token { token, hole } => Some(with_metavariables(token, *hole, grammar, fragment)),
        _ => None,
    });
    if let Some(token) = token {
        return PatternError::InsideToken { language, token };
    }
    let text = fragment.to_string();
    let keyword = failures.iter().find_map(|failure| match failure {
        Failure::Keyword { context, place } => Some((context.as_str(), *place)),
        _ => None,
    });
    let (nearest, place) = keyword
        .or_else(|| farthest(failures))
        .unwrap_or((&contexts[0].name, 0));
    let mut place = place.min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    let (before, after) = text.split_at(place);
    PatternError::Unparsable(Box::new(Unparsable {
        language,
        tried: names(contexts.iter().copied()),
        nearest: nearest.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1,
        found: first_word(after),
        hint: keyword
            .map(|_| {
                let word = first_word(after);
                format!("`{word}` is a keyword: write all of what it belongs to")
            })
            .or_else(|| hint(&text, after)),
    }))
}

/// The context in which parsing came farthest, the first of them.
fn farthest(failures: &[Failure]) -> Option<(&str, usize)> {
    let mut best: Option<(&str, usize)> = None;
    for failure in failures {
        if let Failure::Syntax { context, place } = failure
            && best.is_none_or(|(_, farthest)| *place > farthest)
        {
            best = Some((context, *place));
        }
    }
    best
}

/// A token with its metavariables as they were written, of which this is the number of the first.
fn with_metavariables(token: &str, first: usize, grammar: &Grammar, fragment: &Fragment) -> String {
    let word = &grammar.data().hole;
    let holes = fragment.holes().skip(first);
    holes.fold(token.to_owned(), |text, hole| {
        text.replacen(word, &hole.to_string(), 1)
    })
}

fn first_word(text: &str) -> String {
    let text = text.trim_start();
    let length = text
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$')
        .unwrap_or(text.len());
    let length = if length == 0 {
        text.chars().next().map_or(0, char::len_utf8)
    } else {
        length
    };
    text[..length].chars().take(40).collect()
}

fn hint(text: &str, rest: &str) -> Option<String> {
    let regex = [
        ".*", ".+", r"\w", r"\d", r"\s", r"\b", "[a-z", "[A-Z", "[0-9", "(?", r"\(", r"\.",
    ];
    let lower_case = text
        .match_indices('$')
        .any(|(at, _)| text[at + 1..].starts_with(|letter: char| letter.is_ascii_lowercase()));
    let hint = if text.starts_with('^') || regex.iter().any(|piece| text.contains(piece)) {
        "It looks like a regular expression: patterns are code, use a text search for that, or \
         `$X` for one node and `$$$X` for a run"
    } else if lower_case {
        "Metavariables are upper case: `$X`, `$$$REST`"
    } else if rest.trim().is_empty() {
        "The fragment stops short: write it whole, such as a body `{ $$$BODY }` after a header"
    } else {
        return None;
    };
    Some(hint.to_owned())
}
