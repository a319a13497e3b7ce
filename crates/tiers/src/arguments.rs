//! Arguments as a model sends them, checked against a schema.
//!
//! Models get arguments slightly wrong. What has only one meaning is taken as that: `"42"` for an
//! integer, one string for a list of strings, `null` for an argument that is absent. Everything
//! else is refused with an error that names the argument, what came, and what is wanted; an unknown
//! argument is never ignored.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::ToolError;
use crate::{bound, schema, suggest};

mod coerce;

/// Most problems that one error lists.
const LISTED_PROBLEMS: usize = 8;

/// Checks arguments against a schema and gives them in their normal form: properties in the order
/// of the schema, absent ones left out, values of the type that is wanted. Checking twice gives the
/// same as checking once.
///
/// | wanted | also taken |
/// | --- | --- |
/// | the arguments | an object written as a string; `null` or an empty string for none |
/// | integer | `"42"`, `42.0` |
/// | number | `"1.5"` |
/// | boolean | `"true"`, `"False"` |
/// | string | an integer or a boolean |
/// | enum | a word that differs in case or separators only |
/// | list | a single item; a list written as a string |
/// | object in a list | an object written as a string; a string, for its one required argument |
/// | optional | `null`; an empty string, if that can't be a value |
///
/// Keywords beyond the safe core (see [`schema`]) are not looked at, so that a harness's own tools
/// can be checked too: what they say is left to the tool.
///
/// # Errors
///
/// [`InvalidArguments`](crate::ErrorKind::InvalidArguments) with a line for each problem, and
/// `details.problems`, a list of `{argument, message}`.
pub fn check(schema: &Value, arguments: Value) -> Result<Value, ToolError> {
    check_with(schema, &BTreeMap::new(), arguments)
}

/// [`check`], with something better to say about some unknown arguments than which known one is
/// nearest: `hints` maps their names to what follows a colon.
///
/// # Errors
///
/// Those of [`check`].
pub fn check_with(
    schema: &Value,
    hints: &BTreeMap<String, String>,
    arguments: Value,
) -> Result<Value, ToolError> {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        Value::Null => Map::new(),
        Value::String(text) if text.trim().is_empty() => Map::new(),
        // Arguments that were encoded twice are a common slip.
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(Value::Null) => Map::new(),
            _ => return Err(not_an_object(&Value::String(text))),
        },
        other => return Err(not_an_object(&other)),
    };
    let mut problems = Problems { found: Vec::new() };
    let arguments = object(schema, arguments, "", hints, &mut problems);
    if problems.found.is_empty() {
        Ok(Value::Object(arguments))
    } else {
        Err(problems.into_error())
    }
}

/// Checks arguments and reads them as `T`, whose own bounds (an unsigned integer, say) are then
/// enforced too.
///
/// # Errors
///
/// Those of [`check`], and what reading as `T` finds, with the name of the argument.
pub fn parse<T: DeserializeOwned>(schema: &Value, arguments: Value) -> Result<T, ToolError> {
    read(check(schema, arguments)?)
}

/// Reads checked arguments as `T`.
pub(crate) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let message = without_rust(error.inner().to_string());
        // "." is the arguments as a whole; serde's own message then names what is missing.
        let message = if path == "." {
            message
        } else {
            format!("`{path}`: {message}")
        };
        let mut problems = Problems { found: Vec::new() };
        problems.add(&path, message);
        problems.into_error()
    })
}

/// Serde names the types of Rust, which say nothing to a model.
fn without_rust(message: String) -> String {
    const RANGES: [(&str, &str); 6] = [
        ("expected u8", "expected an integer from 0 to 255"),
        ("expected u16", "expected an integer from 0 to 65,535"),
        (
            "expected u32",
            "expected an integer from 0 to 4,294,967,295",
        ),
        ("expected u64", "expected an integer from 0 upwards"),
        ("expected usize", "expected an integer from 0 upwards"),
        (
            "expected i32",
            "expected an integer from -2,147,483,648 to 2,147,483,647",
        ),
    ];
    for (rust, plain) in RANGES {
        if let Some(before) = message.strip_suffix(rust) {
            return format!("{before}{plain}");
        }
    }
    message
}

struct Problems {
    found: Vec<(String, String)>,
}

impl Problems {
    fn add(&mut self, argument: &str, message: impl Into<String>) {
        self.found.push((argument.to_owned(), message.into()));
    }

    fn into_error(self) -> ToolError {
        let mut message: Vec<_> = self
            .found
            .iter()
            .take(LISTED_PROBLEMS)
            .map(|(_, line)| line.as_str())
            .collect();
        let note = bound::list_note(message.len(), self.found.len(), "mend these first");
        message.extend(note.as_deref());
        let listed = self.found.iter().take(LISTED_PROBLEMS);
        let problems: Vec<_> = listed
            .map(|(name, line)| json!({ "argument": name, "message": line }))
            .collect();
        ToolError::invalid_arguments(message.join("\n"))
            .with_details(json!({ "problems": problems }))
    }
}

fn not_an_object(came: &Value) -> ToolError {
    let mut problems = Problems { found: Vec::new() };
    problems.add(
        "",
        format!(
            "the arguments must be one JSON object, but {} came",
            coerce::described(came)
        ),
    );
    problems.into_error()
}

/// The arguments, or an object within them, at `path`.
fn object(
    schema: &Value,
    mut arguments: Map<String, Value>,
    path: &str,
    hints: &BTreeMap<String, String>,
    problems: &mut Problems,
) -> Map<String, Value> {
    let none = Map::new();
    let properties = schema::properties(schema).unwrap_or(&none);
    let mut checked = Map::new();
    for (name, property) in properties {
        let place = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let required = schema::requires(schema, name);
        let value = arguments.shift_remove(name).unwrap_or_default();
        if value.is_null() || (!required && coerce::is_blank_for(property, &value)) {
            if required {
                problems.add(&place, missing(&place, property));
            }
            continue;
        }
        if let Some(value) = coerce::value(property, value, &place, problems) {
            checked.insert(name.clone(), value);
        }
    }
    let open = match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => *open,
        Some(_) => true,
        // A schema that names no properties says nothing about them.
        None => schema::properties(schema).is_none(),
    };
    if open {
        checked.extend(arguments);
    } else {
        for name in arguments.keys() {
            let place = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            problems.add(&place, unknown(name, path, properties, hints));
        }
    }
    checked
}

fn missing(place: &str, property: &Value) -> String {
    let wanted = coerce::wanted(property);
    let said = property
        .get("description")
        .and_then(Value::as_str)
        .map(|text| format!(": {}", bound::line(text, 160)));
    format!(
        "`{place}` is missing ({wanted}){}",
        said.unwrap_or_default()
    )
}

fn unknown(
    name: &str,
    path: &str,
    properties: &Map<String, Value>,
    hints: &BTreeMap<String, String>,
) -> String {
    let shown = bound::line(&bound::sanitise(name), 60);
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" in `{path}`")
    };
    if let Some(hint) = hints.get(name) {
        return format!("unknown argument `{shown}`{place}: {hint}");
    }
    let names = || properties.keys().map(String::as_str);
    if let Some(nearest) = suggest::nearest(name, names()) {
        return format!("unknown argument `{shown}`{place}; did you mean `{nearest}`?");
    }
    if properties.is_empty() {
        return format!("unknown argument `{shown}`{place}: there are no arguments");
    }
    let listed: Vec<_> = names().map(|name| format!("`{name}`")).collect();
    format!(
        "unknown argument `{shown}`{place}: the arguments are {}",
        listed.join(", ")
    )
}

#[cfg(test)]
mod tests;
