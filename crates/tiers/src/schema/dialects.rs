//! Dialects of schema that want something else than the safe core.

use serde_json::{Map, Value, json};

/// The schema for a provider's strict mode as OpenAI defines it: every property is required, and an
/// optional one may be null instead. At every depth.
///
/// A call that was made by it passes [`arguments::check`](crate::arguments::check) under the
/// original schema, which takes null for absent.
pub fn openai_strict(schema: &Value) -> Value {
    map_objects(schema, &|object| {
        let Some(Value::Object(properties)) = object.get_mut("properties") else {
            return;
        };
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        let required = object
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for (_, property) in properties
                .iter_mut()
                .filter(|(name, _)| !required.contains(&name.as_str().into()))
            {
                nullable(property);
            }
        }
        object.insert("required".to_owned(), Value::Array(names));
        object.insert("additionalProperties".to_owned(), json!(false));
    })
}

/// The schema for the `parameters` of a Gemini function declaration: without
/// `additionalProperties`, with `nullable` instead of a null type, without an empty `required`. At
/// every depth.
///
/// `Value::Null` for a tool without arguments, since an object without properties is refused:
/// `parameters` is then left out.
pub fn gemini(schema: &Value) -> Value {
    if super::properties(schema).is_some_and(Map::is_empty) {
        return Value::Null;
    }
    map_objects(schema, &|object| {
        object.shift_remove("additionalProperties");
        if object
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            object.shift_remove("required");
        }
        let is_nullable = object
            .get("type")
            .and_then(Value::as_array)
            .is_some_and(|types| types.contains(&"null".into()));
        if is_nullable
            && let Some(kind) = super::type_of(&Value::Object(object.clone())).map(str::to_owned)
        {
            object.insert("type".to_owned(), kind.into());
            object.insert("nullable".to_owned(), json!(true));
            if let Some(Value::Array(words)) = object.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
        }
    })
}

fn nullable(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if let Some(Value::String(kind)) = property.get("type") {
        let kind = kind.clone();
        property.insert("type".to_owned(), json!([kind, "null"]));
    }
    if let Some(Value::Array(words)) = property.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
}

/// Applies `change` to every schema within `schema`, innermost first. A property's name is never
/// taken for a keyword.
fn map_objects(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    let Value::Object(source) = schema else {
        return schema.clone();
    };
    let mut object: Map<String, Value> = source
        .iter()
        .map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => properties
                    .iter()
                    .map(|(name, property)| (name.clone(), map_objects(property, change)))
                    .collect(),
                ("items", items) => map_objects(items, change),
                (_, other) => other.clone(),
            };
            (key.clone(), value)
        })
        .collect();
    change(&mut object);
    Value::Object(object)
}
