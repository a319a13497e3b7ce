//! One value, made to be of the type that is wanted where it has only one meaning.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::Problems;
use crate::{bound, schema, suggest};

/// Beyond this a float no longer stands for one integer.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// The value in its normal form; `None` after adding a problem.
pub(super) fn value(
    schema: &Value,
    value: Value,
    place: &str,
    problems: &mut Problems,
) -> Option<Value> {
    let coerced = match schema::type_of(schema) {
        Some("string") => match words(schema) {
            Some(words) => return word(&words, value, place, problems),
            None => string(value),
        },
        Some("integer") => integer(value),
        Some("number") => number(value),
        Some("boolean") => boolean(value),
        Some("array") => return list(schema, value, place, problems),
        Some("object") => return object(schema, value, place, problems),
        // Beyond the safe core: the tool's own affair.
        _ => Ok(value),
    };
    match coerced {
        Ok(value) => Some(value),
        Err(came) => {
            problems.add(
                place,
                format!(
                    "`{place}` must be {}, but {} came",
                    wanted(schema),
                    described(&came)
                ),
            );
            None
        }
    }
}

/// Whether an empty string can only mean that an argument is absent.
pub(super) fn is_blank_for(schema: &Value, value: &Value) -> bool {
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    is_blank
        && match schema::type_of(schema) {
            Some("string") => words(schema)
                .is_some_and(|words| !words.iter().any(|word| Some(*word) == value.as_str())),
            Some("integer" | "number" | "boolean" | "array" | "object") => true,
            _ => false,
        }
}

fn words(schema: &Value) -> Option<Vec<&str>> {
    schema
        .get("enum")
        .and_then(Value::as_array)
        .map(|words| words.iter().filter_map(Value::as_str).collect())
}

fn string(value: Value) -> Result<Value, Value> {
    match value {
        Value::String(_) => Ok(value),
        Value::Bool(bool) => Ok(bool.to_string().into()),
        // A float can be written in several ways, so it is not clear which string was meant.
        Value::Number(number) if !number.is_f64() => Ok(number.to_string().into()),
        other => Err(other),
    }
}

fn word(words: &[&str], value: Value, place: &str, problems: &mut Problems) -> Option<Value> {
    let all = || words.iter().copied();
    let Some(came) = value.as_str() else {
        problems.add(
            place,
            format!(
                "`{place}` must be {}, but {} came",
                one_of(words),
                described(&value)
            ),
        );
        return None;
    };
    if words.contains(&came) {
        return Some(value);
    }
    if let Some(word) = suggest::same(came.trim(), all()) {
        return Some(word.into());
    }
    let nearest = suggest::nearest(came, all())
        .map(|word| format!("; did you mean `{word}`?"))
        .unwrap_or_default();
    problems.add(
        place,
        format!(
            "`{place}` must be {}, but {} came{nearest}",
            one_of(words),
            described(&value)
        ),
    );
    None
}

fn integer(value: Value) -> Result<Value, Value> {
    let number = match &value {
        Value::Number(number) if !number.is_f64() => return Ok(value),
        Value::Number(number) => number.as_f64().and_then(whole),
        Value::String(text) => {
            let text = text.trim();
            let parsed = text
                .parse::<i64>()
                .map(Number::from)
                .or_else(|_| text.parse::<u64>().map(Number::from));
            parsed.ok().or_else(|| decimal(text).and_then(whole))
        }
        _ => None,
    };
    number.map(Value::Number).ok_or(value)
}

fn whole(float: f64) -> Option<Number> {
    #[allow(clippy::cast_possible_truncation)] // Checked to be whole and exact.
    (float.fract() == 0.0 && float.abs() <= LARGEST_EXACT).then(|| Number::from(float as i64))
}

fn number(value: Value) -> Result<Value, Value> {
    let number = match &value {
        Value::Number(_) => return Ok(value),
        Value::String(text) => {
            let text = text.trim();
            let whole = text.parse::<i64>().map(Number::from).ok();
            whole.or_else(|| decimal(text).and_then(Number::from_f64))
        }
        _ => None,
    };
    number.map(Value::Number).ok_or(value)
}

/// A plain decimal: no exponent, no `inf`, none of the other words that Rust reads as floats.
fn decimal(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    if is_plain { text.parse().ok() } else { None }
}

fn boolean(value: Value) -> Result<Value, Value> {
    match &value {
        Value::Bool(_) => Ok(value),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Ok(true.into()),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Ok(false.into()),
        _ => Err(value),
    }
}

fn list(schema: &Value, value: Value, place: &str, problems: &mut Problems) -> Option<Value> {
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => items,
            _ => vec![Value::String(text)],
        },
        other => vec![other],
    };
    let unknown = Value::Null;
    let schema = schema.get("items").unwrap_or(&unknown);
    let before = problems.found.len();
    let checked = items.into_iter().enumerate().filter_map(|(index, item)| {
        self::value(schema, item, &format!("{place}[{index}]"), problems)
    });
    let checked: Vec<_> = checked.collect();
    (problems.found.len() == before).then_some(Value::Array(checked))
}

fn object(schema: &Value, value: Value, place: &str, problems: &mut Problems) -> Option<Value> {
    let map = match value {
        Value::Object(map) => Ok(map),
        Value::String(text) => match (serde_json::from_str(&text), only_required_string(schema)) {
            (Ok(Value::Object(map)), _) => Ok(map),
            (_, Some(name)) => Ok(Map::from_iter([(name.to_owned(), Value::String(text))])),
            _ => Err(Value::String(text)),
        },
        other => Err(other),
    };
    let before = problems.found.len();
    match map {
        Ok(map) => {
            let checked = super::object(schema, map, place, &BTreeMap::new(), problems);
            (problems.found.len() == before).then_some(Value::Object(checked))
        }
        Err(came) => {
            problems.add(
                place,
                format!(
                    "`{place}` must be {}, but {} came",
                    wanted(schema),
                    described(&came)
                ),
            );
            None
        }
    }
}

/// The one argument that a lone string can stand for: `["yes", "no"]` for a list of `{label,
/// description?}`.
fn only_required_string(schema: &Value) -> Option<&str> {
    let [Value::String(name)] = schema.get("required")?.as_array()?.as_slice() else {
        return None;
    };
    let property = schema::properties(schema)?.get(name)?;
    (schema::type_of(property) == Some("string") && words(property).is_none()).then_some(name)
}

/// What a schema wants, for a reader.
pub(super) fn wanted(schema: &Value) -> String {
    match schema::type_of(schema) {
        Some("string") => match words(schema) {
            Some(words) => one_of(&words),
            None => "a string".to_owned(),
        },
        Some("integer") => "an integer".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => match schema.get("items").and_then(schema::type_of) {
            Some("string") => "a list of strings".to_owned(),
            Some("integer") => "a list of integers".to_owned(),
            Some("number") => "a list of numbers".to_owned(),
            Some("object") => "a list of objects".to_owned(),
            _ => "a list".to_owned(),
        },
        Some("object") => match schema::properties(schema) {
            Some(properties) if !properties.is_empty() => {
                let names: Vec<_> = properties
                    .keys()
                    .map(|name| {
                        if schema::requires(schema, name) {
                            name.clone()
                        } else {
                            format!("{name}?")
                        }
                    })
                    .collect();
                format!("an object {{{}}}", names.join(", "))
            }
            _ => "an object".to_owned(),
        },
        _ => "a value".to_owned(),
    }
}

fn one_of(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [word] => word.clone(),
        _ => format!("one of {}", words.join(", ")),
    }
}

/// What came, for a reader: its type, and as much of it as is worth reading.
pub(super) fn described(value: &Value) -> String {
    let excerpt = |value: &Value| bound::line(&bound::sanitise(&value.to_string()), 60);
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => format!("the string {}", excerpt(value)),
        Value::Array(_) => format!("the list {}", excerpt(value)),
        Value::Object(_) => format!("the object {}", excerpt(value)),
    }
}
