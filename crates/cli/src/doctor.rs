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
    let trusted = place.trust()?.is_trusted();
    if args.json {
        out::json(&json!({
            "grammars": grammars::details(&languages),
            "language_servers": servers::details(place.workspace(), &servers),
            "trusted": trusted,
        }))?;
    } else {
        let mut report = grammars::report(&languages);
        report += &servers::report(place.workspace(), &servers);
        report += match trusted {
            true => "trust: this workspace may run what it brings\n",
            false => {
                "trust: this workspace may not run what it brings; to allow it: terret trust\n"
            }
        };
        out::text(&report)?;
    }
    Ok(ExitCode::SUCCESS)
}
