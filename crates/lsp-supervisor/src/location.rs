//! Places and symbols as servers send them, in whichever of the shapes that the protocol allows.
//!
//! Typed structures of the protocol reject a whole answer for one odd number or a missing field that nobody needs, so
//! that answers are read field by field.

use serde_json::Value;

use crate::position::{Position, Range};

/// A range of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The document: a file, or something that only the server can show.
    pub uri: String,
    /// Where in it.
    pub range: Range,
}

impl Location {
    /// Reads a `Location` or a `LocationLink`. Of a link the name itself counts, and not all that it heads.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let (uri, place) = match &value["targetUri"] {
            Value::String(uri) => {
                let name = &value["targetSelectionRange"];
                let whole = &value["targetRange"];
                (uri, if name.is_object() { name } else { whole })
            }
            _ => match &value["uri"] {
                Value::String(uri) => (uri, &value["range"]),
                _ => return None,
            },
        };
        Some(Self {
            uri: uri.clone(),
            range: range(place).unwrap_or_default(),
        })
    }

    /// Reads the answer to a question for places: none, one, several, links. Each once, in their order.
    #[must_use]
    pub fn read_all(answer: &Value) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let items: Vec<&Value> = match answer {
            Value::Array(items) => items.iter().collect(),
            one => vec![one],
        };
        for location in items.into_iter().filter_map(Self::read) {
            if !all.contains(&location) {
                all.push(location);
            }
        }
        all
    }
}

/// Reads a range. An end before its start is a mistake of the server, and means nothing more than the start.
pub(crate) fn range(value: &Value) -> Option<Range> {
    let start = position(&value["start"])?;
    let end = position(&value["end"]).unwrap_or(start);
    Some(Range {
        start,
        end: end.max(start),
    })
}

/// Reads a position. Numbers below 0 are 0, and those that are too large are as large as can be.
pub(crate) fn position(value: &Value) -> Option<Position> {
    let number = |name: &str| match &value[name] {
        Value::Number(number) => Some(match number.as_u64() {
            Some(number) => u32::try_from(number).unwrap_or(u32::MAX),
            None if number.as_f64().is_some_and(|number| number > 0.0) => u32::MAX,
            None => 0,
        }),
        _ => None,
    };
    Some(Position {
        line: number("line")?,
        character: number("character")?,
    })
}

/// A symbol of a document or of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is, in a word.
    pub kind: &'static str,
    /// What it belongs to, if the server says.
    pub container: Option<String>,
    /// How deep inside of others it is, in the symbols of a document.
    pub depth: usize,
    /// Its document; absent for that which was asked about.
    pub uri: Option<String>,
    /// Where its name is; absent where the server tells it only when asked again.
    pub range: Option<Range>,
}

impl Symbol {
    /// Reads the answer to a question for symbols: a tree, or a list with locations. A tree is given parents first.
    #[must_use]
    pub fn read_all(answer: &Value) -> Vec<Self> {
        let mut all = Vec::new();
        read_symbols(answer, 0, &mut all);
        all
    }
}

/// Deeper trees are nobody's code.
const MOST_DEPTH: usize = 200;

fn read_symbols(items: &Value, depth: usize, all: &mut Vec<Symbol>) {
    if depth > MOST_DEPTH {
        return;
    }
    for item in items.as_array().into_iter().flatten() {
        let Some(name) = item["name"].as_str() else {
            continue;
        };
        let location = &item["location"];
        // The name, and not the line on which its comment begins.
        let place = [&item["selectionRange"], &item["range"], &location["range"]];
        all.push(Symbol {
            name: name.to_owned(),
            kind: kind(item["kind"].as_u64()),
            container: item["containerName"]
                .as_str()
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            depth,
            uri: location["uri"].as_str().map(str::to_owned),
            range: place.into_iter().find_map(range),
        });
        read_symbols(&item["children"], depth + 1, all);
    }
}

/// The names of `SymbolKind`, from 1.
const KINDS: [&str; 26] = [
    "file",
    "module",
    "namespace",
    "package",
    "class",
    "method",
    "property",
    "field",
    "constructor",
    "enum",
    "interface",
    "function",
    "variable",
    "constant",
    "string",
    "number",
    "boolean",
    "array",
    "object",
    "key",
    "null",
    "enum member",
    "struct",
    "event",
    "operator",
    "type parameter",
];

fn kind(number: Option<u64>) -> &'static str {
    let index = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
    index
        .and_then(|index| KINDS.get(index))
        .copied()
        .unwrap_or("symbol")
}

/// Reads the text of a hover, in whichever shape; absent where there is none.
#[must_use]
pub fn hover(answer: &Value) -> Option<String> {
    fn one(content: &Value) -> Option<String> {
        match content {
            Value::String(text) => Some(text.clone()),
            Value::Object(content) => {
                let text = content.get("value")?.as_str()?;
                Some(match content.get("language").and_then(Value::as_str) {
                    Some(language) => format!("```{language}\n{text}\n```"),
                    None => text.to_owned(),
                })
            }
            _ => None,
        }
    }
    let text = match &answer["contents"] {
        Value::Array(all) => all.iter().filter_map(one).collect::<Vec<_>>().join("\n\n"),
        content => one(content)?,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(line: u32, character: u32) -> Value {
        let start = json!({ "line": line, "character": character });
        json!({ "start": start, "end": { "line": line, "character": character + 1 } })
    }

    #[test]
    fn places_come_in_four_shapes() {
        let one = json!({ "uri": "file:///a", "range": at(1, 2) });
        let link = json!({
            "targetUri": "jdt://b",
            "targetRange": at(0, 0),
            "targetSelectionRange": at(3, 4),
        });
        let shown = |answer: &Value| -> Vec<String> {
            let place = |found: &Location| {
                let start = found.range.start;
                format!("{} {}:{}", found.uri, start.line, start.character)
            };
            Location::read_all(answer).iter().map(place).collect()
        };
        assert_eq!(shown(&json!(null)), [""; 0]);
        assert_eq!(shown(&one), ["file:///a 1:2"]);
        assert_eq!(shown(&json!([one, one, { "uri": 3 }])), ["file:///a 1:2"]);
        assert_eq!(shown(&json!([link])), ["jdt://b 3:4"]);
    }

    #[test]
    fn odd_numbers_are_places_all_the_same() {
        let read = |line: Value, character: Value| {
            position(&json!({ "line": line, "character": character }))
                .map(|position| (position.line, position.character))
        };
        assert_eq!(read(json!(-1), json!(3)), Some((0, 3)));
        assert_eq!(
            read(json!(1e300), json!(1u64 << 40)),
            Some((u32::MAX, u32::MAX))
        );
        assert_eq!(read(json!("1"), json!(0)), None);
        let backwards =
            json!({ "start": { "line": 3, "character": 4 }, "end": { "line": 1, "character": 0 } });
        let read = range(&backwards).expect("a range");
        assert_eq!(read.start, read.end);
    }

    #[test]
    fn symbols_come_as_trees_and_as_lists() {
        let tree = json!([{
            "name": "Foo", "kind": 23, "range": at(0, 0), "selectionRange": at(2, 7),
            "children": [{ "name": "bar", "kind": 6, "range": at(3, 0) }],
        }, { "kind": 1 }]);
        let list = json!([
            { "name": "x", "kind": 99, "containerName": "", "location": { "uri": "file:///a", "range": at(5, 1) } },
            { "name": "y", "kind": 13, "containerName": "x", "location": { "uri": "file:///b" } },
        ]);
        let shown = |answer: &Value| -> Vec<String> {
            let one = |symbol: &Symbol| {
                let line = symbol.range.map(|range| range.start.line);
                let Symbol {
                    name,
                    kind,
                    depth,
                    uri,
                    container,
                    ..
                } = symbol;
                format!("{depth} {kind} {name} {line:?} {uri:?} {container:?}")
            };
            Symbol::read_all(answer).iter().map(one).collect()
        };
        assert_eq!(
            shown(&tree),
            [
                "0 struct Foo Some(2) None None",
                "1 method bar Some(3) None None"
            ]
        );
        assert_eq!(
            shown(&list),
            [
                "0 symbol x Some(5) Some(\"file:///a\") None",
                "0 variable y None Some(\"file:///b\") Some(\"x\")",
            ]
        );
        assert_eq!(shown(&json!(null)), [""; 0]);
    }

    #[test]
    fn hovers_come_in_three_shapes() {
        let rows = [
            (json!(null), None),
            (json!({ "contents": "" }), None),
            (json!({ "contents": "text" }), Some("text")),
            (
                json!({ "contents": { "kind": "markdown", "value": "**m**" } }),
                Some("**m**"),
            ),
            (
                json!({ "contents": [{ "language": "go", "value": "f()" }, "doc"] }),
                Some("```go\nf()\n```\n\ndoc"),
            ),
        ];
        for (answer, expected) in rows {
            assert_eq!(hover(&answer).as_deref(), expected, "{answer}");
        }
    }
}
