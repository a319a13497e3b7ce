//! Tests of `wrapper`.

use serde_json::json;

use super::*;
use crate::{Tier, WORKSPACE};

struct Write(ToolSpec);

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn summary(&self, _: &Value) -> String {
        "writes".to_owned()
    }

    async fn recheck(&self, _: &Value, _: &CallContext) -> Result<(), ToolError> {
        Err(ToolError::refused("moved"))
    }

    async fn call(&self, arguments: Value, _: &CallContext) -> Result<Output, ToolError> {
        Ok(Output::text("written").with_details(json!({ "paths": [arguments["path"]] })))
    }
}

fn write() -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    Arc::new(Write(
        ToolSpec::new("write", Tier::Write, "Writes.")
            .schema(schema)
            .exclusive(WORKSPACE),
    ))
}

fn paths(value: &Value) -> Vec<PathBuf> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(PathBuf::from)
        .collect()
}

fn writer() -> Writer {
    Writer::new(
        write(),
        |arguments, context| {
            Box::pin(async move {
                // As a tool that must look up what its argument stands for.
                context
                    .cancel()
                    .run_until_cancelled(std::future::ready(()))
                    .await;
                paths(&json!([arguments["path"]]))
            })
        },
        |details| paths(&details["paths"]),
    )
}

/// Says what was about to be touched and what was.
struct Report(Writer);

#[async_trait]
impl Around for Report {
    async fn around(
        &self,
        inner: Inner<'_>,
        arguments: Value,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let before = self.0.about_to_touch(&arguments, context).await;
        let output = inner.call(arguments).await?;
        let after = self.0.touched(&output);
        Ok(output.with_text(format!("{before:?} {after:?}")))
    }
}

#[tokio::test]
async fn a_wrapper_changes_the_call_and_nothing_else() {
    let writer = writer();
    let wrapped = writer.wrap(Report(writer.clone()));
    let twice = wrap(wrapped.clone(), Report(writer.clone()));
    let context = CallContext::detached();
    for tool in [&wrapped, &twice] {
        assert!(
            std::ptr::eq(tool.spec(), writer.tool().spec()),
            "not even a copy"
        );
        assert_eq!(tool.summary(&json!({})), "writes");
        assert_eq!(
            tool.recheck(&json!({}), &context)
                .await
                .unwrap_err()
                .message,
            "moved"
        );
        assert!(tool.validate(json!({ "pth": "a" })).is_err());
    }
    let output = wrapped
        .call(json!({ "path": "a" }), &context)
        .await
        .unwrap();
    assert_eq!(output.to_text(), "written\n[\"a\"] [\"a\"]");
}
