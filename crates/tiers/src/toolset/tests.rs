//! Tests of `toolset`.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::*;
use crate::{CallContext, Output, ToolError};

struct Named(ToolSpec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Value, _: &CallContext) -> Result<Output, ToolError> {
        Ok(Output::new())
    }
}

fn named(name: &str) -> Arc<dyn Tool> {
    Arc::new(Named(ToolSpec::new(name, Tier::Read, "Does it.")))
}

#[test]
fn a_second_tool_of_the_same_name_is_an_error() {
    let error = Toolset::new([named("a"), named("b"), named("a")]).unwrap_err();
    assert_eq!(
        (error.kind(), error.name()),
        (ToolsetErrorKind::DuplicateName, "a")
    );
    assert_eq!(error.to_string(), "two tools are called `a`");
}

#[test]
fn names_are_what_every_provider_takes() {
    for name in ["a", "_", "ask_user", "mcp-x", &"a".repeat(64)] {
        assert!(Toolset::new([named(name)]).is_ok(), "{name}");
    }
    for name in [
        "",
        "1a",
        "-a",
        "a b",
        "a.b",
        "é",
        "a/b",
        "a\n",
        &"a".repeat(65),
    ] {
        let error = Toolset::new([named(name)]).unwrap_err();
        assert_eq!(error.kind(), ToolsetErrorKind::InvalidName, "{name}");
    }
}

#[test]
fn the_order_does_not_depend_on_that_of_registration() {
    let names = ["lsp", "ast_grep", "resolve", "eval"];
    let mut orders = vec![names.to_vec(), names.iter().rev().copied().collect()];
    orders.push(vec!["resolve", "eval", "lsp", "ast_grep"]);
    let listings: Vec<_> = orders
        .into_iter()
        .map(|order| {
            let toolset = Toolset::new(order.into_iter().map(named)).unwrap();
            let names: Vec<_> = toolset.specs().map(|spec| spec.name.clone()).collect();
            (names, toolset.surface(Tier::Exec).fingerprint())
        })
        .collect();
    assert_eq!(listings[0].0, ["ast_grep", "eval", "lsp", "resolve"]);
    assert!(listings.iter().all(|listing| *listing == listings[0]));
}

#[test]
fn lint_names_the_tool() {
    let good = Named(ToolSpec::new("good", Tier::Read, "Does it."));
    let bad = Named(
        ToolSpec::new("bad", Tier::Read, " ").schema(json!({ "type": "object", "oneOf": [] })),
    );
    assert_eq!(
        Toolset::builder().tool(good).build().unwrap().lint(),
        Ok(())
    );
    let findings = Toolset::builder()
        .tool(bad)
        .build()
        .unwrap()
        .lint()
        .unwrap_err();
    assert!(
        findings.iter().all(|finding| finding.starts_with("bad: ")),
        "{findings:?}"
    );
    assert!(
        findings.iter().any(|finding| finding.contains("oneOf")),
        "{findings:?}"
    );
}
