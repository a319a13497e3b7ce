//! Tests of `schema`.

use expect_test::expect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;

/// Says nothing to a model.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Args {
    /// What to look for,
    /// over two lines.
    zeta: String,
    /// How many at most.
    alpha: Option<u64>,
    /// How sure to be.
    mode: Mode,
    /// How sure to be the second time.
    second_mode: Option<Mode>,
    /// Plain words.
    plain: Option<Plain>,
    /// Whether to.
    #[serde(default)]
    flag: bool,
    /// A share.
    share: f64,
    /// Where.
    paths: Vec<String>,
    /// What to choose from.
    #[serde(default)]
    options: Vec<Choice>,
}

/// An answer.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Choice {
    /// The choice itself.
    label: String,
    /// What it means.
    description: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code)]
enum Mode {
    /// For mechanical work.
    Fast,
    /// For judgement.
    VeryGood,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)]
enum Plain {
    On,
    Off,
}

#[test]
fn a_derived_schema_is_the_safe_core_in_the_order_of_the_fields() {
    let schema = of::<Args>();
    expect![[r#"
        {
          "type": "object",
          "properties": {
            "zeta": {
              "type": "string",
              "description": "What to look for, over two lines."
            },
            "alpha": {
              "type": "integer",
              "description": "How many at most."
            },
            "mode": {
              "type": "string",
              "description": "How sure to be. `fast`: For mechanical work; `very_good`: For judgement.",
              "enum": [
                "fast",
                "very_good"
              ]
            },
            "second_mode": {
              "type": "string",
              "description": "How sure to be the second time. `fast`: For mechanical work; `very_good`: For judgement.",
              "enum": [
                "fast",
                "very_good"
              ]
            },
            "plain": {
              "type": "string",
              "description": "Plain words.",
              "enum": [
                "on",
                "off"
              ]
            },
            "flag": {
              "type": "boolean",
              "description": "Whether to."
            },
            "share": {
              "type": "number",
              "description": "A share."
            },
            "paths": {
              "type": "array",
              "description": "Where.",
              "items": {
                "type": "string"
              }
            },
            "options": {
              "type": "array",
              "description": "What to choose from.",
              "items": {
                "type": "object",
                "description": "An answer.",
                "properties": {
                  "label": {
                    "type": "string",
                    "description": "The choice itself."
                  },
                  "description": {
                    "type": "string",
                    "description": "What it means."
                  }
                },
                "required": [
                  "label"
                ],
                "additionalProperties": false
              }
            }
          },
          "required": [
            "zeta",
            "mode",
            "share",
            "paths"
          ],
          "additionalProperties": false
        }
    "#]]
    .assert_eq(&format!("{schema:#}\n"));
    assert_eq!(lint(&schema), Ok(()));
    assert_eq!(of::<Args>().to_string(), schema.to_string());
}

#[test]
fn a_tool_without_arguments_has_an_empty_object() {
    #[derive(JsonSchema)]
    struct None {}
    #[derive(JsonSchema)]
    struct Unit;
    assert_eq!(of::<None>(), empty());
    assert_eq!(of::<Unit>(), empty());
    assert_eq!(lint(&empty()), Ok(()));
}

#[test]
fn what_cant_be_reduced_is_named_by_the_lint() {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        /// More of the same.
        children: Vec<Tree>,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Map {
        /// Names and values.
        env: std::collections::BTreeMap<String, String>,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[serde(tag = "kind")]
    enum Data {
        One { a: u32 },
        Two { b: u32 },
    }
    for schema in [of::<Tree>(), of::<Map>(), of::<Data>()] {
        assert!(lint(&schema).is_err(), "{schema:#}");
    }
}

/// A valid schema with `change` made to it.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "description": "A." },
            "list": {
                "type": "array",
                "description": "L.",
                "items": {
                    "type": "object",
                    "properties": { "b": { "type": "string", "description": "B." } },
                    "required": ["b"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["a"],
        "additionalProperties": false,
    });
    change(&mut schema);
    schema
}

#[test]
fn lint_finds_each_banned_construct() {
    assert_eq!(lint(&changed(|_| {})), Ok(()));
    type Change = fn(&mut Value);
    let table: &[(&str, Change)] = &[
        ("`$ref`", |s| s["properties"]["a"]["$ref"] = "#/x".into()),
        ("`$defs`", |s| s["$defs"] = json!({})),
        ("`$schema`", |s| s["$schema"] = "x".into()),
        ("`oneOf`", |s| s["oneOf"] = json!([])),
        ("`anyOf`", |s| s["anyOf"] = json!([])),
        ("`allOf`", |s| s["properties"]["a"]["allOf"] = json!([])),
        ("`not`", |s| s["properties"]["a"]["not"] = json!({})),
        ("`default`", |s| {
            s["properties"]["a"]["default"] = "x".into()
        }),
        ("`title`", |s| s["title"] = "X".into()),
        ("`format`", |s| {
            s["properties"]["a"]["format"] = "uint64".into()
        }),
        ("`pattern`", |s| {
            s["properties"]["a"]["pattern"] = "x".into()
        }),
        ("`minimum`", |s| s["properties"]["a"]["minimum"] = 0.into()),
        ("`exclusiveMinimum`", |s| {
            s["properties"]["a"]["exclusiveMinimum"] = 0.into()
        }),
        ("`minItems`", |s| {
            s["properties"]["list"]["minItems"] = 1.into()
        }),
        ("`maxLength`", |s| {
            s["properties"]["a"]["maxLength"] = 1.into()
        }),
        ("`const`", |s| s["properties"]["a"]["const"] = "x".into()),
        ("`propertyNames`", |s| s["propertyNames"] = json!({})),
        ("`patternProperties`", |s| {
            s["patternProperties"] = json!({})
        }),
        ("several types", |s| {
            s["properties"]["a"]["type"] = json!(["string", "null"])
        }),
        ("`enum` is a list of strings", |s| {
            s["properties"]["a"]["enum"] = json!([1])
        }),
        ("`enum` is a list of strings", |s| {
            s["properties"]["a"]["enum"] = json!([])
        }),
        ("`enum` whose type", |s| {
            s["properties"]["a"] = json!({ "type": "integer", "description": "A.", "enum": ["1"] });
        }),
        ("has no type", |s| {
            s["properties"]["a"] = json!({ "description": "A." })
        }),
        ("has no description", |s| {
            s["properties"]["a"] = json!({ "type": "string" })
        }),
        ("white space", |s| {
            s["properties"]["a"]["description"] = " A.".into()
        }),
        ("longer than", |s| {
            s["properties"]["a"]["description"] = "x".repeat(1_025).into()
        }),
        ("type `object`", |s| {
            s["properties"]["a"]["type"] = "object".into()
        }),
        ("`items` is missing", |s| {
            s["properties"]["a"]["type"] = "array".into()
        }),
        ("`list`[].`b`: has no description", |s| {
            s["properties"]["list"]["items"]["properties"]["b"] = json!({ "type": "string" });
        }),
        ("not flat", |s| {
            let items = s["properties"]["list"]["items"].clone();
            s["properties"]["list"]["items"]["properties"]["b"] =
                json!({ "type": "array", "description": "B.", "items": items });
        }),
        ("`additionalProperties` is not false", |s| {
            s["additionalProperties"] = true.into()
        }),
        ("`list`[]: `additionalProperties`", |s| {
            s["properties"]["list"]["items"]["additionalProperties"] = Value::Null;
        }),
        ("`required` is missing", |s| s["required"] = Value::Null),
        ("which is no property", |s| s["required"] = json!(["x"])),
        ("twice", |s| s["required"] = json!(["a", "a"])),
        ("the type is not `object`", |s| s["type"] = "array".into()),
        ("`properties` is missing", |s| s["properties"] = Value::Null),
        ("keyword of JSON Schema", |s| {
            s["properties"]["title"] = json!({ "type": "string", "description": "T." });
        }),
        ("lower-case letters", |s| {
            s["properties"]["maxResults"] = json!({ "type": "string", "description": "M." });
        }),
        ("not an object schema", |s| *s = true.into()),
    ];
    for (expected, change) in table {
        let schema = changed(change);
        let findings = lint(&schema).unwrap_err();
        assert!(
            findings.iter().any(|f| f.contains(expected)),
            "{expected}: {findings:?}"
        );
    }
}

#[test]
fn the_dialects_change_every_depth() {
    let schema = changed(|s| {
        s["properties"]["mode"] =
            json!({ "type": "string", "description": "M.", "enum": ["x", "y"] });
        s["properties"]["list"]["items"]["properties"]["c"] =
            json!({ "type": "integer", "description": "C." });
    });
    let strict = openai_strict(&schema);
    assert_eq!(strict["required"], json!(["a", "list", "mode"]));
    assert_eq!(strict["properties"]["a"]["type"], "string");
    assert_eq!(
        strict["properties"]["list"]["type"],
        json!(["array", "null"])
    );
    assert_eq!(
        strict["properties"]["mode"]["type"],
        json!(["string", "null"])
    );
    assert_eq!(
        strict["properties"]["mode"]["enum"],
        json!(["x", "y", null])
    );
    let item = &strict["properties"]["list"]["items"];
    assert_eq!(item["required"], json!(["b", "c"]));
    assert_eq!(item["properties"]["c"]["type"], json!(["integer", "null"]));
    assert_eq!(openai_strict(&strict), strict, "strict already");

    let plain = gemini(&schema);
    assert!(
        !plain.to_string().contains("additionalProperties"),
        "{plain:#}"
    );
    assert_eq!(plain["required"], json!(["a"]));
    // From the strict dialect too, whose null types it does not know.
    let from_strict = gemini(&strict);
    assert!(
        !from_strict.to_string().contains("null\""),
        "{from_strict:#}"
    );
    assert_eq!(from_strict["properties"]["mode"]["nullable"], true);
    assert_eq!(from_strict["properties"]["mode"]["enum"], json!(["x", "y"]));
}

#[test]
fn a_property_that_is_called_like_a_keyword_survives() {
    let property = json!({ "type": "string", "description": "X." });
    let schema = json!({
        "type": "object",
        "properties": { "additionalProperties": property, "required": property },
        "required": [],
        "additionalProperties": false,
    });
    assert_eq!(gemini(&schema)["properties"], schema["properties"]);
    assert!(openai_strict(&schema)["properties"]["required"]["type"].is_array());
}

#[test]
fn gemini_gets_no_parameters_for_a_tool_without_arguments() {
    assert_eq!(gemini(&empty()), Value::Null);
    assert_eq!(openai_strict(&empty()), empty());
}

#[test]
fn what_a_strict_provider_sends_is_valid_and_passes_the_check() {
    let schema = of::<Args>();
    let arguments = json!({
        "zeta": "x", "alpha": null, "mode": "fast", "second_mode": null, "plain": null,
        "flag": null, "share": 0.5, "paths": [], "options": [{ "label": "a", "description": null }],
    });
    assert!(jsonschema::is_valid(&openai_strict(&schema), &arguments));
    let checked = crate::arguments::check(&schema, arguments).unwrap();
    assert_eq!(
        checked,
        json!({
            "zeta": "x", "mode": "fast", "share": 0.5, "paths": [], "options": [{ "label": "a" }],
        })
    );
    assert!(jsonschema::is_valid(&schema, &checked));
    let args: Args = crate::arguments::parse(&schema, checked).unwrap();
    assert_eq!(args.options[0].label, "a");
}
