//! Checking that a schema stays within the safe core.

use serde_json::{Map, Value};

/// Longest description of a property, in characters.
const LONGEST_DESCRIPTION: usize = 1_024;

const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];

/// Checks that a schema is within the safe core (see [the module](crate::schema)), which every
/// common provider takes.
///
/// # Errors
///
/// One line for each finding, beginning with the place in the schema.
pub fn lint(schema: &Value) -> Result<(), Vec<String>> {
    let mut lint = Lint {
        findings: Vec::new(),
    };
    match schema {
        Value::Object(root) => lint.object("the root", root, true, false),
        _ => lint.say("the root", "is not an object schema"),
    }
    if lint.findings.is_empty() {
        Ok(())
    } else {
        Err(lint.findings)
    }
}

struct Lint {
    findings: Vec<String>,
}

impl Lint {
    fn say(&mut self, place: &str, finding: impl AsRef<str>) {
        self.findings.push(format!("{place}: {}", finding.as_ref()));
    }

    fn keywords(&mut self, place: &str, schema: &Map<String, Value>, allowed: &[&str]) {
        for key in schema.keys().filter(|key| !allowed.contains(&key.as_str())) {
            self.say(place, format!("`{key}` is not in the safe core"));
        }
    }

    /// An object: the root, or, flat, an item of a list.
    fn object(&mut self, place: &str, schema: &Map<String, Value>, is_root: bool, described: bool) {
        let allowed: &[&str] = if is_root {
            &["type", "properties", "required", "additionalProperties"]
        } else {
            &[
                "type",
                "description",
                "properties",
                "required",
                "additionalProperties",
            ]
        };
        self.keywords(place, schema, allowed);
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.say(place, "the type is not `object`");
        }
        if described || schema.contains_key("description") {
            self.description(place, schema);
        }
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.say(place, "`additionalProperties` is not false");
        }
        let properties = match schema.get("properties") {
            Some(Value::Object(properties)) => properties,
            _ => return self.say(place, "`properties` is missing"),
        };
        match schema.get("required") {
            Some(Value::Array(required)) => self.required(place, required, properties),
            _ => self.say(place, "`required` is missing"),
        }
        for (name, property) in properties {
            let place = if is_root {
                format!("`{name}`")
            } else {
                format!("{place}.`{name}`")
            };
            self.name(&place, name);
            match property {
                Value::Object(property) => self.property(&place, property, is_root),
                _ => self.say(&place, "is not a schema"),
            }
        }
    }

    fn required(&mut self, place: &str, required: &[Value], properties: &Map<String, Value>) {
        for (index, name) in required.iter().enumerate() {
            match name.as_str() {
                Some(word) if !properties.contains_key(word) => {
                    self.say(
                        place,
                        format!("`required` names `{word}`, which is no property"),
                    );
                }
                Some(word) if required[..index].contains(name) => {
                    self.say(place, format!("`required` names `{word}` twice"));
                }
                Some(_) => {}
                None => self.say(place, "`required` holds something that is not a name"),
            }
        }
    }

    fn name(&mut self, place: &str, name: &str) {
        let mut characters = name.chars();
        let is_plain = characters
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
            && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_plain || name.len() > 64 {
            self.say(
                place,
                "a name is lower-case letters, digits and `_`, 64 at most",
            );
        }
        // Converters that know no better drop or rewrite these wherever they stand.
        if ["type", "title", "properties", "required", "items", "enum"].contains(&name) {
            self.say(place, "the name is that of a keyword of JSON Schema");
        }
    }

    fn description(&mut self, place: &str, schema: &Map<String, Value>) {
        let text = match schema.get("description") {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            _ => return self.say(place, "has no description"),
        };
        if text.trim() != text {
            self.say(place, "the description begins or ends with white space");
        }
        if text.chars().count() > LONGEST_DESCRIPTION {
            self.say(
                place,
                format!("the description is longer than {LONGEST_DESCRIPTION} characters"),
            );
        }
    }

    fn property(&mut self, place: &str, schema: &Map<String, Value>, objects_allowed: bool) {
        self.description(place, schema);
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => {
                self.keywords(place, schema, &["type", "description", "items"]);
                let place = format!("{place}[]");
                match schema.get("items") {
                    Some(Value::Object(items))
                        if items.get("type").and_then(Value::as_str) == Some("object") =>
                    {
                        if objects_allowed {
                            self.object(&place, items, false, false);
                        } else {
                            self.say(&place, "a list of objects within an object is not flat");
                        }
                    }
                    Some(Value::Object(items)) => self.scalar(&place, items),
                    _ => self.say(&place, "`items` is missing"),
                }
            }
            _ => self.scalar(place, schema),
        }
    }

    fn scalar(&mut self, place: &str, schema: &Map<String, Value>) {
        match schema.get("type") {
            Some(Value::String(kind)) if SCALARS.contains(&kind.as_str()) => {}
            Some(Value::String(kind)) => self.say(
                place,
                format!("the type `{kind}` is not in the safe core here"),
            ),
            Some(Value::Array(_)) => {
                self.say(place, "several types: optional is not to be in `required`")
            }
            _ => self.say(place, "has no type"),
        }
        self.keywords(place, schema, &["type", "description", "enum"]);
        match schema.get("enum") {
            None => {}
            Some(Value::Array(words))
                if words.is_empty() || !words.iter().all(Value::is_string) =>
            {
                self.say(place, "an `enum` is a list of strings");
            }
            Some(Value::Array(_))
                if schema.get("type").and_then(Value::as_str) == Some("string") => {}
            Some(_) => self.say(place, "an `enum` whose type is not `string`"),
        }
    }
}
