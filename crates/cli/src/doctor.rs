//! `terret doctor`: what is usable here, and how to get what is not.

mod grammars;
mod servers;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::host::Place;
use crate::out;

pub(crate) fn run(place: &Place, args: &DoctorArgs) -> Result<ExitCode> {
    let languages = grammars::known();
    let servers = servers::found(place)?;
    if args.json {
        out::json(&json!({
            "grammars": grammars::details(&languages),
            "language_servers": servers::details(place.workspace(), &servers),
        }))?;
    } else {
        let report = grammars::report(&languages) + &servers::report(place.workspace(), &servers);
        out::text(&report)?;
    }
    Ok(ExitCode::SUCCESS)
}
