//! `terret tools`: the tools that there are.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use terret::tiers::{Surface, ToolSpec};

use crate::args::ToolsArgs;
use crate::host::{Calls, Place};
use crate::{host, out, paint};

pub(crate) fn run(place: &Place, args: &ToolsArgs) -> Result<ExitCode> {
    let run = place.run(Calls::One)?;
    let surface = host::surface(&run, args.cap.tier);
    if args.json {
        out::json(&Value::Array(surface.specs().map(described).collect()))?;
    } else {
        out::text(&table(&surface))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn described(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "tier": spec.tier,
        "description": spec.description,
        "parameters": spec.parameters,
    })
}

fn table(surface: &Surface) -> String {
    if surface.is_empty() {
        return "no tools".to_owned();
    }
    let width = surface
        .specs()
        .map(|spec| spec.name.len())
        .max()
        .unwrap_or_default();
    let name = paint::NAME;
    let row = |spec: &ToolSpec| {
        let sentence = first_sentence(&spec.description);
        format!(
            "{name}{:width$}{name:#}  {:5}  {sentence}\n",
            spec.name, spec.tier
        )
    };
    surface.specs().map(row).collect()
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |dot| dot + 1);
    text[..end].lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        assert_eq!(
            first_sentence("Finds a.b by c. Then more."),
            "Finds a.b by c."
        );
        assert_eq!(first_sentence("One"), "One");
        assert_eq!(first_sentence("One\ntwo. Three"), "One");
        assert_eq!(first_sentence(""), "");
    }
}
