//! The text of a pattern, split into literal pieces and metavariables.

use std::fmt;
use std::ops::Range;

use super::PatternError;

/// A metavariable as it stands in a fragment or a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metavariable {
    /// Without the sigil; absent when it matches without binding.
    pub(crate) name: Option<String>,
    /// `$$$`: any number of siblings.
    pub(crate) run: bool,
}

impl fmt::Display for Metavariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sigil = if self.run { "$$$" } else { "$" };
        write!(
            f,
            "{sigil}{}",
            self.name
                .as_deref()
                .unwrap_or(if self.run { "" } else { "_" })
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(String),
    Hole(Metavariable),
}

/// A fragment of source text with metavariables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) pieces: Vec<Piece>,
}

impl Fragment {
    /// Splits a pattern: dedents and trims it, finds its metavariables.
    pub(crate) fn of_pattern(text: &str) -> Result<Self, PatternError> {
        Self::split(&dedent(text))
    }

    /// Splits a template. Its layout is kept as it is.
    pub(crate) fn of_template(text: &str) -> Result<Self, PatternError> {
        Self::split(text)
    }

    /// `$NAME` is one node, `$$$NAME` a run; a name that starts with `_`, or none, binds nothing.
    /// `\$NAME` and every other `$` is literal.
    fn split(text: &str) -> Result<Self, PatternError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            let sigils = from.bytes().take_while(|&byte| byte == b'$').count();
            let name_len = name_length(&from[sigils..]);
            let name = &from[sigils..sigils + name_len];
            let escaped = before.ends_with('\\');
            let is_hole = match sigils {
                1 => name_len > 0,
                3 => true,
                2 if name_len > 0 && escaped => true,
                2 if name_len > 0 => {
                    return Err(PatternError::Metavariable(format!(
                        "`$${name}` is no metavariable: use `${name}` for one node, `$$${name}` for a run"
                    )));
                }
                _ => false,
            };
            if escaped && is_hole {
                literal.push_str(&before[..before.len() - 1]);
                literal.push_str(&from[..sigils + name_len]);
            } else if is_hole {
                literal.push_str(before);
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                let binds = !name.is_empty() && !name.starts_with('_');
                pieces.push(Piece::Hole(Metavariable {
                    name: binds.then(|| name.to_owned()),
                    run: sigils == 3,
                }));
            } else {
                literal.push_str(before);
                literal.push_str(&from[..sigils]);
                rest = &from[sigils..];
                continue;
            }
            rest = &from[sigils + name_len..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self { pieces })
    }

    /// The metavariables in order.
    pub(crate) fn holes(&self) -> impl Iterator<Item = &Metavariable> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(hole),
            Piece::Literal(_) => None,
        })
    }

    /// The text with each hole written as `spell` says, continuation lines indented by `indent`,
    /// and where each hole came to stand.
    pub(crate) fn spelled(
        &self,
        indent: &str,
        mut spell: impl FnMut(usize) -> String,
    ) -> (String, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut holes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) if indent.is_empty() => text.push_str(literal),
                Piece::Literal(literal) => {
                    text.push_str(&literal.replace('\n', &format!("\n{indent}")));
                }
                Piece::Hole(_) => {
                    let start = text.len();
                    text.push_str(&spell(holes.len()));
                    holes.push(start..text.len());
                }
            }
        }
        (text, holes)
    }
}

/// The pattern of which the text is all literal.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let sigils = from.bytes().take_while(|&byte| byte == b'$').count();
        escaped.push_str(before);
        if sigils == 3 || sigils < 3 && name_length(&from[sigils..]) > 0 {
            escaped.push('\\');
        }
        escaped.push_str(&from[..sigils]);
        rest = &from[sigils..];
    }
    escaped + rest
}

/// The fragment as it was written.
impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Literal(text) => f.write_str(text),
            Piece::Hole(hole) => hole.fmt(f),
        })
    }
}

/// The length of a metavariable's name at the start of the text; 0 when what stands there is an
/// ordinary word.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let length = bytes.iter().take_while(|byte| is_name(byte)).count();
    let starts_well = bytes.first().is_some_and(|byte| !byte.is_ascii_digit());
    let goes_on = bytes.get(length).is_some_and(u8::is_ascii_lowercase);
    if starts_well && !goes_on { length } else { 0 }
}

/// Takes away blank edges and the indentation that all lines share.
fn dedent(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().collect();
    let blank = |line: &&str| line.trim().is_empty();
    let start = lines.iter().take_while(|line| blank(line)).count();
    let end = lines.len() - lines.iter().rev().take_while(|line| blank(line)).count();
    let lines = lines.get(start..end).unwrap_or_default();
    let margin = |line: &str| line.len() - line.trim_start().len();
    // A first line without indentation says nothing about the others: it often follows a quote.
    let shared = lines
        .iter()
        .filter(|line| !blank(line))
        .map(|line| margin(line))
        .min()
        .unwrap_or(0);
    let dedented: Vec<&str> = lines
        .iter()
        .map(|line| line.get(shared..).unwrap_or(""))
        .collect();
    dedented.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match Fragment::of_pattern(text) {
            Ok(fragment) => fragment
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Literal(text) => format!("{text:?}"),
                    Piece::Hole(hole) => format!(
                        "{}{}",
                        if hole.run { "run " } else { "one " },
                        hole.name.as_deref().unwrap_or("-")
                    ),
                })
                .collect::<Vec<_>>()
                .join(" | "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn metavariables() {
        let rows = [
            ("f($X)", r#""f(" | one X | ")""#),
            ("$A1.$_", r#"one A1 | "." | one -"#),
            ("$_FOO", "one -"),
            ("f($$$)", r#""f(" | run - | ")""#),
            ("f($$$ARGS)", r#""f(" | run ARGS | ")""#),
            ("f($$$_)", r#""f(" | run - | ")""#),
            ("$x + $1 + $", r#""$x + $1 + $""#),
            ("$Xyz", r#""$Xyz""#),
            (r"\$NAME", r#""$NAME""#),
            (r"\$$$NAME", r#""$$$NAME""#),
            (r"\$$NAME", r#""$$NAME""#),
            ("$$", r#""$$""#),
            (
                "$$A",
                "`$$A` is no metavariable: use `$A` for one node, `$$$A` for a run",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_escaped_is_literal() {
        let rows = [
            "$X",
            "$$X",
            "$$$X",
            "$$$",
            r"\$X",
            r"\\$X",
            "$x $ $$ $1 $Xy $$$$X",
            "a$B$C",
        ];
        for text in rows {
            assert_eq!(show(&escape(text)), format!("{text:?}"), "{text}");
        }
    }

    #[test]
    fn patterns_are_dedented() {
        assert_eq!(dedent("\n    if x:\n        y\n  "), "if x:\n    y");
        assert_eq!(dedent("if x:\n    y\n"), "if x:\n    y");
        assert_eq!(dedent(""), "");
    }
}
