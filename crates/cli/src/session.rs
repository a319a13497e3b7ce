//! `terret session`: calls that share one run, a line of JSON each.

mod lines;

use std::io::IsTerminal;

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use terret::Run;
use terret::tiers::{Surface, ToolError};

use crate::args::SessionArgs;
use crate::exit::Usage;
use crate::host::{Calls, Place};
use crate::images::Images;
use crate::reply::Reply;
use crate::signals::Interrupts;
use crate::{host, out, progress};

const AT_A_TERMINAL: &str = "\
a session reads its calls from standard input, one JSON object a line, and standard input is a \
terminal; pipe them in: echo '{\"id\": 1, \"tool\": \"ast_grep\", \"arguments\": {\"pattern\": \
\"f($X)\"}}' | terret session, or terret session < calls.jsonl";

pub(crate) fn run(place: &Place, args: &SessionArgs) -> Result<ExitCode> {
    if std::io::stdin().is_terminal() {
        return Err(Usage(AT_A_TERMINAL.to_owned()).into());
    }
    let run = place.run(Calls::Many)?;
    let surface = host::surface(&run, args.cap.tier);
    host::runtime()?.block_on(serve(run, surface))?;
    Ok(ExitCode::SUCCESS)
}

/// Answers the lines in their order, until there are no more.
async fn serve(run: Run, surface: Surface) -> Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let mut images = Images::default();
    let mut lines = lines::of_stdin()?;
    let mut number: u64 = 0;
    while let Some(line) = interrupts.between(lines.recv()).await? {
        let line = line.context("standard input")?;
        number += 1;
        if matches!(&line, Ok(text) if text.trim().is_empty()) {
            continue;
        }
        let (id, call) = read(line, number);
        let result = match call {
            Err(error) => Err(error),
            Ok(call) => {
                let request = run.request(number.to_string());
                let cancel = request.cancel().clone();
                let (request, _shown) = progress::show(request);
                let call = surface.call(
                    &call.tool,
                    call.arguments.unwrap_or_default().into(),
                    request,
                );
                interrupts.during(call, &cancel).await?
            }
        };
        let Value::Object(reply) = Reply::new(result, &mut images)?.to_json() else {
            continue;
        };
        let mut answer = Map::from_iter([("id".to_owned(), id)]);
        answer.extend(reply);
        out::json_line(&answer.into())?;
    }
    let cancel = run.request("shutdown").cancel().clone();
    interrupts.during(run.shutdown(), &cancel).await?;
    Ok(())
}

/// A line that comes in, but for its id.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    /// Absent, or null: none.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

/// The id of a line, as far as it has one, and what it asks for.
fn read(line: Result<String, String>, number: u64) -> (Value, Result<Call, ToolError>) {
    let wrong = |why: String| {
        Err(ToolError::invalid_arguments(format!(
            "line {number} is no call, which is {{\"id\": …, \"tool\": \"…\", \"arguments\": {{…}}}}: {why}"
        )))
    };
    let value = line.and_then(|line| {
        serde_json::from_str::<Value>(&line).map_err(|error| format!("it is no JSON: {error}"))
    });
    match value {
        Err(why) => (Value::Null, wrong(why)),
        Ok(Value::Object(mut fields)) => {
            let id = fields.remove("id").unwrap_or_default();
            let call = serde_json::from_value(fields.into());
            (
                id,
                call.or_else(|error: serde_json::Error| wrong(error.to_string())),
            )
        }
        Ok(_) => (Value::Null, wrong("it is no JSON object".to_owned())),
    }
}
