//! `terret call`: one call in a run of its own.

use std::io::Read;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use terret::Run;
use terret::tiers::{ErrorKind, Output, ToolError};

use crate::args::{CallArgs, Pair};
use crate::exit::{self, Usage};
use crate::host::{Calls, Place};
use crate::images::Images;
use crate::reply::Reply;
use crate::signals::Interrupts;
use crate::{host, out, progress};

pub(crate) fn run(place: &Place, args: CallArgs) -> Result<ExitCode> {
    let CallArgs {
        tool,
        arguments,
        pairs,
        cap,
        json,
    } = args;
    let arguments = merged(arguments, pairs)?;
    let run = place.run(Calls::One)?;
    let surface = host::surface(&run, cap.tier);
    let request = run.request("1");
    let cancel = request.cancel().clone();
    let result = host::runtime()?.block_on(async {
        let mut interrupts = Interrupts::listen()?;
        let (request, shown) = progress::show(request);
        let call = surface.call(&tool, arguments, request);
        let result = interrupts.during(call, &cancel).await?;
        drop(shown);
        tell_cold_starts(&run).await;
        interrupts.during(run.shutdown(), &cancel).await?;
        anyhow::Ok(result)
    })?;

    let staged = result.as_ref().ok().and_then(staged);
    let result = result.map_err(|error| explained(&tool, error));
    let reply = Reply::new(result, &mut Images::default())?;
    if json {
        out::json(&reply.to_json())?;
    } else if reply.error.is_none() {
        out::text(&reply.text)?;
    }
    if let Some(id) = staged {
        let lost = format!("note: {id} ends with this process. {TOGETHER}");
        // It corrects what the text tells the reader to do next, so it belongs beside the text.
        if json {
            exit::note(&lost)
        } else {
            out::text(&lost)?
        }
    }
    let Some(error) = &reply.error else {
        return Ok(ExitCode::SUCCESS);
    };
    if !json {
        exit::say(&format!("error[{}]", error.kind), &error.message);
    }
    Ok(exit::code(error.kind).into())
}

/// What took less is not worth a line.
const NOTABLE: Duration = Duration::from_secs(1);

/// Says how long the call has waited for language servers to be ready: in a session the next one would not.
async fn tell_cold_starts(run: &Run) {
    let Some(servers) = run.servers() else { return };
    for server in servers.status().await {
        if let Some(after) = server.ready_after.filter(|after| *after >= NOTABLE) {
            let seconds = after.as_secs_f64().round();
            exit::note(&format!(
                "note: {} was ready after {seconds} s",
                server.name
            ));
        }
    }
}

/// How a change is staged and resolved.
const TOGETHER: &str = "\
A staged change lives in the process that staged it: make both calls in one `terret session`, where \
a line is {\"id\": 1, \"tool\": \"ast_edit\", \"arguments\": {…}} and the next \
{\"id\": 2, \"tool\": \"resolve\", \"arguments\": {\"edit_id\": \"edit_1\", \"action\": \"accept\"}}";

/// The id of the change that a call has staged.
fn staged(output: &Output) -> Option<String> {
    let proposed = output.to_text().starts_with("(proposed)");
    output.details["edit_id"]
        .as_str()
        .filter(|_| proposed)
        .map(str::to_owned)
}

/// The error with what only this command knows about it: no staged change is ever found here.
fn explained(tool: &str, mut error: ToolError) -> ToolError {
    if tool == "resolve" && error.kind == ErrorKind::NotFound {
        error.message = format!("{}\n{TOGETHER}", error.message.trim_end());
    }
    error
}

/// The arguments of JSON and of pairs together.
fn merged(json: Option<String>, pairs: Vec<Pair>) -> Result<Value> {
    let mut arguments = match json.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("standard input")?;
            parsed(&text)?
        }
        Some(text) => parsed(text)?,
        None => Map::new(),
    };
    let mut named = Vec::new();
    for Pair { key, value } in pairs {
        if named.contains(&key) {
            let message = format!("--arg {key} is given twice; a list is `--arg '{key}:=[…]'`");
            return Err(Usage(message).into());
        }
        arguments.insert(key.clone(), value);
        named.push(key);
    }
    Ok(arguments.into())
}

fn parsed(text: &str) -> Result<Map<String, Value>> {
    let read = serde_json::from_str(text);
    let usage = |error| Usage(format!("the arguments are no JSON object: {error}"));
    Ok(read.map_err(usage)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pair(key: &str, value: Value) -> Pair {
        Pair {
            key: key.to_owned(),
            value,
        }
    }

    #[test]
    fn a_pair_wins_over_json() {
        let json = || Some(r#"{"a": 1, "b": 2}"#.to_owned());
        let merge = |pairs| merged(json(), pairs).map_err(|error| error.to_string());
        assert_eq!(
            merge(vec![pair("b", json!("x"))]),
            Ok(json!({"a": 1, "b": "x"}))
        );
        let twice = merge(vec![pair("b", json!(1)), pair("b", json!(2))]);
        assert_eq!(
            twice.unwrap_err(),
            "--arg b is given twice; a list is `--arg 'b:=[…]'`"
        );
    }

    #[test]
    fn only_a_proposal_is_staged() {
        let staged_by = |text: &str| {
            let output = Output::text(text).with_details(json!({"edit_id": "edit_1"}));
            staged(&output)
        };
        assert_eq!(
            staged_by("(proposed) 2 replacements").as_deref(),
            Some("edit_1")
        );
        assert_eq!(staged_by("0 matches"), None);
    }
}
