//! Tests of `arguments`.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;
use crate::{ErrorKind, Tier, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Args {
    /// The file to look at.
    file: String,
    /// The line, counted from 1.
    line: Option<u32>,
    /// A share.
    share: Option<f64>,
    /// Whether to.
    flag: Option<bool>,
    /// How.
    mode: Option<Mode>,
    /// Where.
    paths: Option<Vec<String>>,
    /// Which lines.
    lines: Option<Vec<u32>>,
    /// Which.
    options: Option<Vec<Choice>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    GoToDefinition,
    Hover,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Choice {
    /// The choice.
    label: String,
    /// What it means.
    note: Option<String>,
}

fn schema() -> Value {
    crate::schema::of::<Args>()
}

/// Arguments that are valid but for `name`.
fn with(name: &str, value: Value) -> Value {
    let mut arguments = json!({ "file": "a.rs" });
    arguments[name] = value;
    arguments
}

#[test]
fn what_has_one_meaning_is_taken_as_that() {
    let table = [
        ("line", json!(42), json!(42)),
        ("line", json!("42"), json!(42)),
        ("line", json!(" 42 "), json!(42)),
        ("line", json!(42.0), json!(42)),
        ("line", json!("42.0"), json!(42)),
        ("share", json!("1.5"), json!(1.5)),
        ("share", json!("2"), json!(2)),
        ("share", json!(2), json!(2)),
        ("flag", json!("true"), json!(true)),
        ("flag", json!("False"), json!(false)),
        ("file", json!(42), json!("42")),
        ("file", json!(true), json!("true")),
        ("mode", json!("Hover"), json!("hover")),
        ("mode", json!("goToDefinition"), json!("go_to_definition")),
        ("mode", json!("go-to-definition"), json!("go_to_definition")),
        ("paths", json!("src"), json!(["src"])),
        ("paths", json!(r#"["src", "docs"]"#), json!(["src", "docs"])),
        ("paths", json!("[ab]*.rs"), json!(["[ab]*.rs"])),
        ("paths", json!([1, "a"]), json!(["1", "a"])),
        ("lines", json!(7), json!([7])),
        ("lines", json!("7"), json!([7])),
        ("lines", json!(["7", 8.0]), json!([7, 8])),
        (
            "options",
            json!({ "label": "a" }),
            json!([{ "label": "a" }]),
        ),
        (
            "options",
            json!(["a", { "label": "b" }]),
            json!([{ "label": "a" }, { "label": "b" }]),
        ),
        (
            "options",
            json!([{ "label": "a", "note": null }]),
            json!([{ "label": "a" }]),
        ),
        (
            "options",
            json!([r#"{"label": "a"}"#]),
            json!([{ "label": "a" }]),
        ),
        (
            "options",
            json!(r#"[{"label": "a"}]"#),
            json!([{ "label": "a" }]),
        ),
    ];
    for (name, came, expected) in table {
        let checked = check(&schema(), with(name, came.clone()));
        let checked = checked.unwrap_or_else(|error| panic!("{name} {came}: {error}"));
        assert_eq!(checked[name], expected, "{name} {came}");
        assert_eq!(
            check(&schema(), checked.clone()).unwrap(),
            checked,
            "idempotent"
        );
        assert!(jsonschema::is_valid(&schema(), &checked), "{checked}");
        read::<Args>(checked).unwrap();
    }
}

#[test]
fn null_is_absent_and_so_is_an_empty_string_where_it_can_be_nothing_else() {
    for name in ["line", "share", "flag", "mode", "paths", "lines", "options"] {
        for came in [Value::Null, json!(""), json!(" ")] {
            let checked = check(&schema(), with(name, came.clone())).unwrap();
            assert_eq!(checked, json!({ "file": "a.rs" }), "{name} {came}");
        }
    }
    // An empty string is a string.
    assert_eq!(
        check(&schema(), json!({ "file": "" })).unwrap(),
        json!({ "file": "" })
    );
}

#[test]
fn the_arguments_may_be_written_as_a_string() {
    let empty = crate::schema::empty();
    for none in [
        Value::Null,
        json!(""),
        json!("{}"),
        json!("null"),
        json!({}),
        json!(" "),
    ] {
        assert_eq!(check(&empty, none.clone()).unwrap(), json!({}), "{none}");
    }
    let checked = check(&schema(), json!(r#"{"file": "a.rs", "line": "3"}"#)).unwrap();
    assert_eq!(checked, json!({ "file": "a.rs", "line": 3 }));
}

fn refused(arguments: Value, expected: Expect) {
    let error = check(&schema(), arguments).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    expected.assert_eq(&error.message);
}

#[test]
fn the_rest_is_refused_with_what_came_and_what_is_wanted() {
    refused(
        json!([1]),
        expect!["the arguments must be one JSON object, but the list [1] came"],
    );
    refused(
        json!("look at a.rs"),
        expect![[r#"the arguments must be one JSON object, but the string "look at a.rs" came"#]],
    );
    refused(
        json!({}),
        expect!["`file` is missing (a string): The file to look at."],
    );
    refused(
        json!({ "file": null }),
        expect!["`file` is missing (a string): The file to look at."],
    );
    refused(
        json!({ "file": ["a"] }),
        expect![[r#"`file` must be a string, but the list ["a"] came"#]],
    );
    refused(
        json!({ "file": 1.5 }),
        expect!["`file` must be a string, but the number 1.5 came"],
    );
    refused(
        with("line", json!(1.5)),
        expect!["`line` must be an integer, but the number 1.5 came"],
    );
    refused(
        with("line", json!("1e3")),
        expect![[r#"`line` must be an integer, but the string "1e3" came"#]],
    );
    refused(
        with("line", json!(true)),
        expect!["`line` must be an integer, but true came"],
    );
    refused(
        with("flag", json!(1)),
        expect!["`flag` must be true or false, but the number 1 came"],
    );
    refused(
        with("flag", json!("yes")),
        expect![[r#"`flag` must be true or false, but the string "yes" came"#]],
    );
    refused(
        with("share", json!("inf")),
        expect![[r#"`share` must be a number, but the string "inf" came"#]],
    );
    refused(
        with("mode", json!("hovr")),
        expect![[
            r#"`mode` must be one of `go_to_definition`, `hover`, but the string "hovr" came; did you mean `hover`?"#
        ]],
    );
    refused(
        with("mode", json!(3)),
        expect!["`mode` must be one of `go_to_definition`, `hover`, but the number 3 came"],
    );
    refused(
        with("lines", json!([1, "x", null])),
        expect![[r#"
        `lines[1]` must be an integer, but the string "x" came
        `lines[2]` must be an integer, but null came"#]],
    );
    refused(
        with("paths", json!({ "a": 1 })),
        expect![[r#"`paths[0]` must be a string, but the object {"a":1} came"#]],
    );
    refused(
        with("options", json!([{ "lable": "a" }])),
        expect![[r#"
        `options[0].label` is missing (a string): The choice.
        unknown argument `lable` in `options[0]`; did you mean `label`?"#]],
    );
    refused(
        with("options", json!([3])),
        expect!["`options[0]` must be an object {label, note?}, but the number 3 came"],
    );
}

#[test]
fn an_unknown_argument_is_never_ignored() {
    refused(
        with("fiel", json!("x")),
        expect!["unknown argument `fiel`; did you mean `file`?"],
    );
    refused(
        with("LINE", json!(null)),
        expect!["unknown argument `LINE`; did you mean `line`?"],
    );
    refused(
        with("completely_else", json!(1)),
        expect![
            "unknown argument `completely_else`: the arguments are `file`, `line`, `share`, `flag`, `mode`, `paths`, `lines`, `options`"
        ],
    );
    refused(
        with("\u{1b}[2J", json!(1)),
        expect![
            "unknown argument `␛[2J`: the arguments are `file`, `line`, `share`, `flag`, `mode`, `paths`, `lines`, `options`"
        ],
    );
    let error = check(&crate::schema::empty(), json!({ "verbose": true })).unwrap_err();
    expect!["unknown argument `verbose`: there are no arguments"].assert_eq(&error.message);
}

#[test]
fn a_hint_says_more_than_the_nearest_name() {
    let spec = ToolSpec::new("lsp", Tier::Read, "Asks.")
        .parameters::<Args>()
        .hint("column", "say which symbol with `line` and `symbol`");
    let error = spec.check(with("column", json!(3))).unwrap_err();
    assert_eq!(
        error.message,
        "unknown argument `column`: say which symbol with `line` and `symbol`"
    );
}

#[test]
fn every_problem_is_told_up_to_a_bound() {
    let error = check(&schema(), json!({ "line": "x", "flag": 2, "z": 1 })).unwrap_err();
    expect![[r#"
        `file` is missing (a string): The file to look at.
        `line` must be an integer, but the string "x" came
        `flag` must be true or false, but the number 2 came
        unknown argument `z`: the arguments are `file`, `line`, `share`, `flag`, `mode`, `paths`, `lines`, `options`"#]].assert_eq(&error.message);
    assert_eq!(error.details["problems"][0]["argument"], "file");
    let many: Map<_, _> = (0..100)
        .map(|n| (format!("unknown{n}"), json!(1)))
        .collect();
    let error = check(&schema(), many.into()).unwrap_err();
    assert!(
        error.message.ends_with("8 of 101 shown; mend these first"),
        "{}",
        error.message
    );
}

#[test]
fn the_bounds_of_the_type_are_enforced_with_the_name_of_the_argument() {
    let error = parse::<Args>(&schema(), with("line", json!(-1))).unwrap_err();
    expect!["`line`: invalid value: integer `-1`, expected an integer from 0 to 4,294,967,295"]
        .assert_eq(&error.message);
    assert_eq!(error.details["problems"][0]["argument"], "line");
    let error = parse::<Args>(&schema(), with("lines", json!([1, -2]))).unwrap_err();
    expect!["`lines[1]`: invalid value: integer `-2`, expected an integer from 0 to 4,294,967,295"]
        .assert_eq(&error.message);
}

#[test]
fn the_normal_form_is_in_the_order_of_the_schema() {
    let checked = check(&schema(), json!({ "flag": true, "line": 1, "file": "a" })).unwrap();
    assert_eq!(checked.to_string(), r#"{"file":"a","line":1,"flag":true}"#);
}

#[test]
fn a_schema_beyond_the_safe_core_is_left_to_its_tool() {
    let schema = json!({
        "type": "object",
        "properties": {
            "any": {},
            "either": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            "nullable": { "type": ["integer", "null"] },
        },
    });
    let came = json!({ "any": [1], "either": "3", "nullable": "3" });
    let expected = json!({ "any": [1], "either": "3", "nullable": 3 });
    assert_eq!(check(&schema, came).unwrap(), expected);
    assert!(check(&schema, json!({ "other": 1 })).is_err());
    let open = json!({ "type": "object", "additionalProperties": true });
    assert_eq!(
        check(&open, json!({ "other": 1 })).unwrap(),
        json!({ "other": 1 })
    );
    assert_eq!(
        check(&json!({}), json!({ "other": 1 })).unwrap(),
        json!({ "other": 1 })
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}|[0-9.\\-]{0,6}|\\[[0-9, ]*\\]|true|hover".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let name = "file|line|label|note|[a-z]{1,4}";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_is_refused_or_made_valid_once_and_for_all(
        names in prop::collection::vec("file|line|share|flag|mode|paths|lines|options", 0..6),
        values in prop::collection::vec(any_json(), 6),
    ) {
        let arguments: Map<_, _> = names.into_iter().zip(values).collect();
        match check(&schema(), arguments.into()) {
            Ok(checked) => {
                prop_assert!(jsonschema::is_valid(&schema(), &checked), "{checked}");
                prop_assert_eq!(check(&schema(), checked.clone()).unwrap(), checked);
            }
            Err(error) => {
                prop_assert_eq!(error.kind, ErrorKind::InvalidArguments);
                prop_assert!(error.message.len() < 8_000);
            }
        }
    }
}
