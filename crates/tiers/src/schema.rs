//! JSON Schemas that every common provider takes.
//!
//! Providers differ in what they accept, and some refuse a whole request over one tool's schema.
//! The *safe core* is what all of them take: an object of described properties, each a string, an
//! integer, a number, a boolean, or a list of those or of flat objects; enums of strings;
//! `required`; nothing else. Ranges are said in descriptions and checked by the tool. [`of`]
//! derives such a schema from a type, [`lint`] checks one, and [`openai_strict`] and [`gemini`]
//! turn one into the dialects that want something else.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

mod dialects;
mod lint;
mod reduce;

pub use self::dialects::{gemini, openai_strict};
pub use self::lint::lint;

/// The schema of a tool's arguments, derived from the type that they are read as.
///
/// Everything is inlined and reduced to the safe core; properties are in the order of the fields.
/// The doc comment of a field is its description, and an enum's variants are described in the
/// description of the enum. What can't be reduced (a type that contains itself, a map, an enum with
/// data) is left for [`lint`] to name.
///
/// ```
/// use terret_tiers::schema;
///
/// #[derive(schemars::JsonSchema)]
/// #[allow(dead_code)]
/// struct Args {
///     /// What to look for.
///     pattern: String,
///     /// How many at most.
///     max_results: Option<u32>,
/// }
///
/// assert_eq!(
///     schema::of::<Args>(),
///     serde_json::json!({
///         "type": "object",
///         "properties": {
///             "pattern": { "type": "string", "description": "What to look for." },
///             "max_results": { "type": "integer", "description": "How many at most." },
///         },
///         "required": ["pattern"],
///         "additionalProperties": false,
///     })
/// );
/// ```
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    reduce::root(schema.to_value())
}

/// The schema of a tool without arguments.
pub fn empty() -> Value {
    json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false })
}

/// The properties of an object schema.
pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// Whether an object schema requires a property.
pub(crate) fn requires(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|other| other == name))
}

/// The one type of a schema, `null` beside it aside.
pub(crate) fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut names = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null");
            let first = names.next()?;
            names.next().is_none().then_some(first)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
