//! Which place in a file is meant by a line and a symbol on it.
//!
//! A column is never asked for: a model that has to give one guesses, and a wrong guess is an answer about something
//! else that looks right.

use std::fmt;
use std::ops::Range;

use terret_tiers::bound;

use crate::position::Text;

/// How far from the line that was named a symbol is looked for, to tell of it.
const NEAR: usize = 5;
/// How many places are listed.
const MOST_LISTED: usize = 8;
/// How many characters of a line are shown.
const LINE: usize = 200;
/// How many characters are shown on each side of an occurrence.
const AROUND: usize = 16;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Address<'a> {
    /// The line, from 1.
    pub line: usize,
    /// A part of that line; `#2` at its end means the second one.
    pub symbol: &'a str,
}

/// Why an address names no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unaddressed {
    /// The file has fewer lines, namely so many.
    NoLine {
        /// The line that was named.
        line: usize,
        /// The last one.
        last: usize,
    },
    /// The symbol is empty, or has nothing in it that could be looked up.
    NoSymbol,
    /// The line does not hold it.
    Absent {
        /// The line that was named.
        line: usize,
        /// What it holds.
        text: String,
        /// What was looked for.
        symbol: String,
        /// Where the file has it, near that line or once.
        elsewhere: Vec<(usize, String)>,
    },
    /// The line holds it several times, or not as often as was said.
    Ambiguous {
        /// The line that was named.
        line: usize,
        /// What was looked for, without a number.
        symbol: String,
        /// Which one was meant, if that was said.
        asked: Option<usize>,
        /// Each with what stands around it, in brackets.
        occurrences: Vec<String>,
    },
}

impl fmt::Display for Unaddressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLine { line, last } => {
                write!(
                    f,
                    "there is no line {line}: the file has {last}, counted from 1"
                )
            }
            Self::NoSymbol => f.write_str(
                "`symbol` names nothing: give the identifier on that line that is meant",
            ),
            Self::Absent {
                line,
                text,
                symbol,
                elsewhere,
            } => {
                match &**text {
                    "" => write!(f, "line {line} is blank")?,
                    text => write!(f, "`{symbol}` is not on line {line}, which is `{text}`")?,
                }
                if elsewhere.is_empty() {
                    return f.write_str(": read the file again");
                }
                write!(f, "; `{symbol}` is on")?;
                for (line, text) in elsewhere {
                    write!(f, "\n  line {line}: {text}")?;
                }
                Ok(())
            }
            Self::Ambiguous {
                line,
                symbol,
                asked,
                occurrences,
            } => {
                let count = occurrences.len();
                match asked {
                    None => write!(
                        f,
                        "`{symbol}` is {count} times on line {line}: say which, by a number behind it"
                    )?,
                    Some(asked) => write!(
                        f,
                        "there is no `{symbol}#{asked}` on line {line}, only these"
                    )?,
                }
                for (number, shown) in (1..).zip(occurrences.iter().take(MOST_LISTED)) {
                    write!(f, "\n  `{symbol}#{number}`: {shown}")?;
                }
                match count.checked_sub(MOST_LISTED) {
                    Some(more @ 1..) => write!(f, "\n  … {more} more"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for Unaddressed {}

/// A place that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The identifier that is meant, in bytes of the text.
    pub identifier: Range<usize>,
    /// A byte inside of it, and not at its edge where that can be: at an edge, some servers take the token beside it.
    pub inside: usize,
}

/// Finds the place.
///
/// # Errors
///
/// If there is none, or several: the error says what there is.
pub fn find(text: &Text, address: Address<'_>) -> Result<Place, Unaddressed> {
    let Address { line, symbol } = address;
    let index = line.wrapping_sub(1);
    let (Some(range), Some(shown)) = (text.line_range(index), text.line(index)) else {
        // Behind the last line end there is no line to speak of.
        let last = text.lines() - usize::from(text.as_str().ends_with(['\n', '\r']));
        return Err(Unaddressed::NoLine { line, last });
    };
    // Who writes `#2` means the second one, except where the line itself says `#2`.
    let (symbol, asked) = match numbered(symbol) {
        Some((symbol, number)) if !shown.contains(address.symbol) => (symbol, Some(number)),
        _ => (symbol, None),
    };
    let Some(named) = named_by(symbol) else {
        return Err(Unaddressed::NoSymbol);
    };
    let found = occurrences(shown, symbol);
    let chosen = match (asked, &found[..]) {
        (_, []) => {
            return Err(Unaddressed::Absent {
                line,
                text: bound::line(shown.trim(), LINE),
                symbol: symbol.to_owned(),
                elsewhere: elsewhere(text, index, symbol),
            });
        }
        (None, [only]) => *only,
        (Some(number), found) if (1..=found.len()).contains(&number) => found[number - 1],
        (asked, found) => {
            let around = |at: &usize| around(shown, *at..at + symbol.len());
            return Err(Unaddressed::Ambiguous {
                line,
                symbol: symbol.to_owned(),
                asked,
                occurrences: found.iter().map(around).collect(),
            });
        }
    };
    let start = range.start + chosen;
    let identifier = start + named.start..start + named.end;
    let mut characters = text.as_str()[identifier.clone()].char_indices().skip(1);
    let inside = characters.next().map_or(0, |(at, _)| at);
    Ok(Place {
        inside: identifier.start + inside,
        identifier,
    })
}

/// `name#2`, in two.
fn numbered(symbol: &str) -> Option<(&str, usize)> {
    let (symbol, number) = symbol.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !symbol.is_empty()).then(|| (symbol, number.parse().unwrap_or(usize::MAX)))
}

/// Which identifier of a symbol is meant: of the path that it begins with (`a.b`, `a::b`, `a->b`) the last one.
fn named_by(symbol: &str) -> Option<Range<usize>> {
    let first = identifier_from(symbol, 0)?;
    let mut named = first;
    loop {
        let rest = &symbol[named.end..];
        let separator = ["::", "?.", "->", "."]
            .into_iter()
            .find(|separator| rest.starts_with(separator));
        let Some(separator) = separator else {
            return Some(named);
        };
        match identifier_from(symbol, named.end + separator.len()) {
            Some(next) if next.start == named.end + separator.len() => named = next,
            _ => return Some(named),
        }
    }
}

/// The first identifier at or behind a byte; where there is none, all that is no white space.
fn identifier_from(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = &text[from..];
    let start = match rest.find(is_part) {
        Some(start) => start,
        // An operator can be looked up, too.
        None => {
            let word = rest.trim();
            let start = from + (rest.len() - rest.trim_start().len());
            return (from == 0 && !word.is_empty()).then(|| start..start + word.len());
        }
    };
    let length = rest[start..].find(|next| !is_part(next));
    let end = length.map_or(rest.len(), |length| start + length);
    Some(from + start..from + end)
}

/// What an identifier is made of, in all languages together.
fn is_part(character: char) -> bool {
    unicode_ident::is_xid_continue(character) || matches!(character, '_' | '$')
}

/// Where a line has the symbol as a whole; if nowhere, where it has it inside of longer words.
fn occurrences(line: &str, symbol: &str) -> Vec<usize> {
    let all: Vec<usize> = line.match_indices(symbol).map(|(at, _)| at).collect();
    let is_whole = |at: &usize| {
        let (before, after) = (&line[..*at], &line[at + symbol.len()..]);
        let joins = |inner: Option<char>, outer: Option<char>| {
            inner.is_some_and(is_part) && outer.is_some_and(is_part)
        };
        !joins(symbol.chars().next(), before.chars().next_back())
            && !joins(symbol.chars().next_back(), after.chars().next())
    };
    let whole: Vec<usize> = all.iter().copied().filter(|at| is_whole(at)).collect();
    if whole.is_empty() { all } else { whole }
}

/// The other lines that have the symbol: those near by, or the only one of the file.
fn elsewhere(text: &Text, index: usize, symbol: &str) -> Vec<(usize, String)> {
    let has = |line: &usize| {
        text.line(*line)
            .is_some_and(|text| !occurrences(text, symbol).is_empty())
    };
    let near = index.saturating_sub(NEAR)..(index + NEAR + 1).min(text.lines());
    let mut lines: Vec<usize> = near.filter(has).collect();
    lines.sort_by_key(|line| line.abs_diff(index));
    if lines.is_empty() {
        lines = (0..text.lines()).filter(has).take(2).collect();
        if lines.len() > 1 {
            lines.clear();
        }
    }
    let show = |line: usize| {
        let text = text.line(line).unwrap_or_default().trim();
        (line + 1, bound::line(&bound::sanitise(text), LINE))
    };
    lines.into_iter().take(MOST_LISTED).map(show).collect()
}

/// An occurrence in brackets, with a little of what stands around it.
fn around(line: &str, occurrence: Range<usize>) -> String {
    let (before, after) = (&line[..occurrence.start], &line[occurrence.end..]);
    let start = before.char_indices().rev().nth(AROUND - 1);
    let end = after.char_indices().nth(AROUND);
    let (before, cut_before) = match start {
        Some((at, _)) if !before[..at].trim().is_empty() => (&before[at..], "…"),
        _ => (before.trim_start(), ""),
    };
    let (after, cut_after) = match end {
        Some((at, _)) => (&after[..at], "…"),
        None => (after, ""),
    };
    let text = format!(
        "{cut_before}{before}[{}]{after}{cut_after}",
        &line[occurrence]
    );
    bound::sanitise(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// What is meant, in brackets within the symbol's line, or the error.
    fn shown(text: &str, line: usize, symbol: &str) -> String {
        let text = Text::new(text);
        match find(&text, Address { line, symbol }) {
            Err(error) => error.to_string(),
            Ok(Place { identifier, inside }) => {
                let all = text.as_str();
                assert!(identifier.contains(&inside), "{identifier:?} {inside}");
                let rest = all[inside..].chars().next().unwrap_or_default();
                let line = text.line_range(line - 1).unwrap_or_default();
                format!(
                    "{}[{}]{} at {rest:?}",
                    &all[line.start..identifier.start],
                    &all[identifier.clone()],
                    &all[identifier.end..line.end],
                )
            }
        }
    }

    #[test]
    fn a_symbol_names_an_identifier_of_its_line() {
        let rows = [
            ("let grid = id;", "id", "let grid = [id]; at 'd'"),
            ("let grid = 1;", "id", "let gr[id] = 1; at 'd'"),
            ("foo(foo)", "foo#2", "foo([foo]) at 'o'"),
            ("foo(foo)", "foo(", "[foo](foo) at 'o'"),
            ("a = x;", "x", "a = [x]; at 'x'"),
            (
                "os.path.join(a)",
                "os.path.join",
                "os.path.[join](a) at 'o'",
            ),
            ("std::env::args()", "env::args", "std::env::[args]() at 'r'"),
            ("p->next->next", "p->next", "p->[next]->next at 'e'"),
            ("self.foo = 1", ".foo", "self.[foo] = 1 at 'o'"),
            ("Vec<Foo>", "Vec<Foo>", "[Vec]<Foo> at 'e'"),
            ("a.#count += 1", "#count", "a.#[count] += 1 at 'o'"),
            ("a.#1 #2", "#2", "a.#1 #[2] at '2'"),
            ("let r#type = 1;", "type", "let r#[type] = 1; at 'y'"),
            ("$this->name", "$this", "[$this]->name at 't'"),
            ("größe = größer", "größe", "[größe] = größer at 'r'"),
            ("\"😀é漢\", 名前", "名前", "\"😀é漢\", [名前] at '前'"),
            (
                "\tnaïve = cafe\u{301};",
                "cafe\u{301}",
                "\tnaïve = [cafe\u{301}]; at 'a'",
            ),
            ("a + b", "+", "a [+] b at '+'"),
            ("a?.b?.c", "a?.b", "a?.[b]?.c at 'b'"),
        ];
        for (line, symbol, expected) in rows {
            assert_eq!(shown(line, 1, symbol), expected, "`{symbol}`");
        }
    }

    #[test]
    fn what_names_none_is_told_with_what_there_is() {
        let text = "fn main() {\n    let total = add(total(1), total(2));\n\n    done();\n}\n";
        let mut told = String::new();
        for (line, symbol) in [
            (2, "total"),
            (2, "total#4"),
            (2, "sum"),
            (1, "done"),
            (3, "main"),
            (0, "main"),
            (9, "main"),
            (1, "  "),
        ] {
            told += &format!("{line} `{symbol}`: {}\n", shown(text, line, symbol));
        }
        expect![[r#"
            2 `total`: `total` is 3 times on line 2: say which, by a number behind it
              `total#1`: let [total] = add(total(1),…
              `total#2`: let total = add([total](1), total(2));
              `total#3`: …= add(total(1), [total](2));
            2 `total#4`: there is no `total#4` on line 2, only these
              `total#1`: let [total] = add(total(1),…
              `total#2`: let total = add([total](1), total(2));
              `total#3`: …= add(total(1), [total](2));
            2 `sum`: `sum` is not on line 2, which is `let total = add(total(1), total(2));`: read the file again
            1 `done`: `done` is not on line 1, which is `fn main() {`; `done` is on
              line 4: done();
            3 `main`: line 3 is blank; `main` is on
              line 1: fn main() {
            0 `main`: there is no line 0: the file has 5, counted from 1
            9 `main`: there is no line 9: the file has 5, counted from 1
            1 `  `: `symbol` names nothing: give the identifier on that line that is meant
        "#]]
        .assert_eq(&told);
    }

    #[test]
    fn far_away_only_a_single_one_is_told() {
        let blank = "\n".repeat(40);
        let once = format!("a{blank}foo{blank}b");
        assert!(shown(&once, 1, "foo").ends_with("`foo` is on\n  line 41: foo"));
        let twice = format!("a{blank}foo{blank}foo");
        assert!(shown(&twice, 1, "foo").ends_with("read the file again"));
    }
}
