//! Why a fragment is no pattern, told so that the caller can mend it.

use terret_grammars::{Context, Grammar};

use super::{Fragment, PatternError, Piece, Unparsable};

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
    /// The body of a string literal stands apart from the code, where it is not compared.
    DetachedString,
    /// The syntax nests too deep.
    Deep,
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
        .any(|failure| matches!(failure, Failure::Deep))
    {
        return PatternError::Nothing(
            "the pattern nests too deep: write the part that matters, with `$X` for the rest"
                .to_owned(),
        );
    }
    if failures
        .iter()
        .any(|failure| matches!(failure, Failure::OnlyComment))
    {
        return PatternError::Nothing(
            "the pattern is a comment: comments are not compared, use a text search for them"
                .to_owned(),
        );
    }
    if failures
        .iter()
        .any(|failure| matches!(failure, Failure::DetachedString))
    {
        return PatternError::Nothing(
            "the pattern holds a here-document, whose body is not compared: put a metavariable in \
             its place"
                .to_owned(),
        );
    }
    let token = failures.iter().find_map(|failure| match failure {
        Failure::Token { token, hole } => Some(with_metavariables(token, *hole, grammar, fragment)),
        _ => None,
    });
    if let Some(token) = token {
        return PatternError::InsideToken {
            language,
            token,
            sigil: !grammar.data().markup && grammar.language().id_for_node_kind("$", false) != 0,
        };
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
            .or_else(|| hint(grammar, fragment, &text, after)),
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

fn hint(grammar: &Grammar, fragment: &Fragment, text: &str, rest: &str) -> Option<String> {
    let data = grammar.data();
    let regex = [
        ".*", ".+", r"\w", r"\d", r"\s", r"\b", "[a-z", "[A-Z", "[0-9", "(?", r"\(", r"\.",
    ];
    // Where names begin with the sigil, a lower-case one is an ordinary name.
    let words = data.operand_moulds.iter().chain([&data.hole]);
    let names_have_sigil = words.into_iter().any(|word| word.starts_with('$'));
    let lower_case = || {
        text.match_indices('$')
            .any(|(at, _)| text[at + 1..].starts_with(|letter: char| letter.is_ascii_lowercase()))
    };
    let is_escaped = |piece: &Piece| match piece {
        Piece::Literal(text) => text
            .match_indices('$')
            .any(|(at, _)| text[at + 1..].starts_with(|letter: char| letter.is_ascii_uppercase())),
        Piece::Hole(_) => false,
    };
    let leading = data.leading.iter().find(|token| text.starts_with(*token));
    let hint = if let Some(token) = leading {
        return Some(format!(
            "`{token}` stands between members, it is part of none: write the fragment without the \
             first one"
        ));
    } else if !names_have_sigil && fragment.pieces.iter().any(is_escaped) {
        r"`\$X` is the text `$X`: for a metavariable behind a backslash write `\ $X`"
    } else if text.starts_with('^') || regex.iter().any(|piece| text.contains(piece)) {
        "It looks like a regular expression: patterns are code, use a text search for that, or \
         `$X` for one node and `$$$X` for a run"
    } else if !names_have_sigil && lower_case() {
        "Metavariables are upper case: `$X`, `$$$REST`"
    } else if let Some(open) = unclosed(fragment) {
        return Some(format!("`{open}` is never closed"));
    } else if rest.trim().is_empty() {
        "It may stop short there, such as a header without its body `{ $$$BODY }`; write it as it \
         stands in a file, with what it cannot stand without"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// The last bracket that nothing closes.
fn unclosed(fragment: &Fragment) -> Option<char> {
    let mut open = Vec::new();
    for piece in &fragment.pieces {
        let Piece::Literal(text) = piece else {
            continue;
        };
        // Brackets in string literals may stand alone.
        if text.contains(['"', '\'', '`']) {
            return None;
        }
        for letter in text.chars() {
            match letter {
                '(' | '[' | '{' => open.push(letter),
                ')' | ']' | '}' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.pop()
}
