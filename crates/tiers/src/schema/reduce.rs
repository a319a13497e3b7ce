//! From what schemars derives to the safe core.

use serde_json::{Map, Value, json};

/// Keywords that say nothing that the safe core needs: ranges and formats are checked when
/// arguments are read.
const DROPPED: [&str; 17] = [
    "$schema",
    "title",
    "format",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// A whole schema: its description, which is that of the Rust type, says nothing to a model.
pub(super) fn root(schema: Value) -> Value {
    let mut schema = reduce(schema);
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("description");
        // A unit struct has no type of its own that would do.
        if object.get("type").is_none_or(|kind| kind == "null") {
            object.shift_remove("type");
            if object.is_empty() {
                return super::empty();
            }
        }
    }
    schema
}

fn reduce(schema: Value) -> Value {
    let mut source = match schema {
        Value::Object(source) => source,
        // `true` is any value: nothing to say about it, and `lint` says that.
        Value::Bool(true) => Map::new(),
        other => return other,
    };
    unwrap_option(&mut source);
    collect_words(&mut source);
    drop_null(&mut source);

    let mut reduced = Map::new();
    // In one order, whatever the order in which they were derived.
    for key in [
        "type",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "additionalProperties",
    ] {
        let Some(value) = source.shift_remove(key) else {
            continue;
        };
        let value = match key {
            "items" => reduce(value),
            "properties" => match value {
                Value::Object(map) => map
                    .into_iter()
                    .map(|(name, schema)| (name, reduce(schema)))
                    .collect(),
                other => other,
            },
            "description" => value
                .as_str()
                .map_or(Value::Null, |text| unwrapped(text).into()),
            _ => value,
        };
        reduced.insert(key.to_owned(), value);
    }
    let is_map = reduced
        .get("additionalProperties")
        .is_some_and(|extra| extra != &json!(false));
    if reduced.get("type") == Some(&json!("object")) && !is_map {
        reduced.shift_remove("additionalProperties");
        let required = reduced
            .shift_remove("required")
            .unwrap_or_else(|| json!([]));
        reduced.entry("properties").or_insert_with(|| json!({}));
        reduced.insert("required".to_owned(), required);
        reduced.insert("additionalProperties".to_owned(), json!(false));
    }
    source.retain(|key, _| !DROPPED.contains(&key.as_str()));
    reduced.extend(source);
    Value::Object(reduced)
}

/// `Option<T>` of a described type is a choice between it and null.
fn unwrap_option(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get("anyOf") else {
        return;
    };
    let is_null = |choice: &Value| choice == &json!({ "type": "null" });
    if choices.len() != 2 || !choices.iter().any(is_null) {
        return;
    }
    let Some(Value::Array(choices)) = schema.shift_remove("anyOf") else {
        return;
    };
    let Some(Value::Object(inner)) = choices.into_iter().find(|choice| !is_null(choice)) else {
        return;
    };
    for (key, value) in inner {
        // What is said about the property comes before what is said about its type.
        schema.entry(key).or_insert(value);
    }
}

/// An enum with described variants is a choice between constants; it becomes a list of words whose
/// descriptions join that of the enum.
fn collect_words(schema: &mut Map<String, Value>) {
    if let Some(constant) = schema.shift_remove("const") {
        schema.insert("enum".to_owned(), json!([constant]));
    }
    let Some(Value::Array(choices)) = schema.get("oneOf") else {
        return;
    };
    let mut words = Vec::new();
    let mut said = Vec::new();
    for choice in choices {
        let of_choice = match (choice.get("const"), choice.get("enum")) {
            (Some(constant), _) => vec![constant.clone()],
            (None, Some(Value::Array(words))) => words.clone(),
            _ => return,
        };
        if !of_choice.iter().all(Value::is_string) {
            return;
        }
        if let (Some(description), [Value::String(word)]) =
            (choice.get("description"), of_choice.as_slice())
        {
            let description = unwrapped(description.as_str().unwrap_or_default());
            said.push(format!("`{word}`: {}", description.trim_end_matches('.')));
        }
        words.extend(of_choice);
    }
    schema.shift_remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(words));
    if !said.is_empty() {
        let before = schema
            .get("description")
            .and_then(Value::as_str)
            .map(|text| format!("{text} "))
            .unwrap_or_default();
        schema.insert(
            "description".to_owned(),
            format!("{before}{}.", said.join("; ")).into(),
        );
    }
}

/// Optional means optional: null is taken for an absent argument, and need not be a type.
fn drop_null(schema: &mut Map<String, Value>) {
    if let Some(kind) = super::type_of(&Value::Object(schema.clone())).map(str::to_owned) {
        schema.insert("type".to_owned(), kind.into());
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// A doc comment's lines are broken for whoever reads the source.
fn unwrapped(text: &str) -> String {
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}
