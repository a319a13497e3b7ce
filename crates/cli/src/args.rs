//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use terret::tiers::Tier;

use crate::exit;

/// Tools for coding agents that need a live resource behind them, in the terminal.
#[derive(Debug, Parser)]
#[command(name = "terret", version, propagate_version = true)]
pub(crate) struct Cli {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,

    /// When to colour the output; NO_COLOR is honoured too
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,

    /// Trust this workspace for this one run, as `terret trust` does for good
    #[arg(long, global = true)]
    pub(crate) trust: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools
    Tools(ToolsArgs),
    /// Call one tool
    #[command(after_long_help = exit::HELP)]
    Call(CallArgs),
    /// Answer calls, one JSON object a line, that share one state
    ///
    /// A line in is {"id": …, "tool": "…", "arguments": {…}}; a line out is {"id": …, "text": "…",
    /// "details": …, "images": […], "error": …}. Calls are answered in their order. The session ends
    /// with its input.
    Session(SessionArgs),
    /// Show what is usable here, and how to get what is not
    Doctor(DoctorArgs),
    /// Let this workspace run what it brings: its own programs, build scripts, macros
    ///
    /// Without trust, terret.toml of the workspace names no programs, no programs of its own (such
    /// as those in node_modules/.bin) are used, and no server is started that would run its code.
    /// The trust is for the folder with all below it, for this user.
    Trust(TrustArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    pub(crate) cap: Cap,

    /// Print an array of {name, tier, description, parameters}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Calls one tool and prints its text.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The name of the tool; `terret tools` lists them
    pub(crate) tool: String,

    /// The arguments, as a JSON object; `-` reads it from standard input
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<String>,

    /// One argument: KEY=TEXT, or KEY:=JSON for what is no text; wins over the same in JSON
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) pairs: Vec<Pair>,

    #[command(flatten)]
    pub(crate) cap: Cap,

    /// Print {text, details, images, error}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    #[command(flatten)]
    pub(crate) cap: Cap,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print {grammars: […], language_servers: […], trusted}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust it no more
    #[arg(long)]
    pub(crate) revoke: bool,

    /// Print the folders that are trusted, a line each
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) list: bool,
}

/// The tools that there are.
#[derive(Debug, Args)]
pub(crate) struct Cap {
    /// Leave out the tools above this tier
    #[arg(long, value_name = "TIER", default_value = "exec", value_parser = tiers())]
    pub(crate) tier: Tier,
}

fn tiers() -> impl TypedValueParser<Value = Tier> {
    // The list of possible values has refused any other word before.
    PossibleValuesParser::new(Tier::ALL.map(Tier::as_str)).try_map(|word| word.parse::<Tier>())
}

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Decides for every stream of this process.
    pub(crate) fn write_global(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// One `--arg`.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: serde_json::Value,
}

fn pair(text: &str) -> Result<Pair, String> {
    let Some((key, value)) = text.split_once('=') else {
        return Err("it is KEY=TEXT or KEY:=JSON".to_owned());
    };
    let pair = |key: &str, value| match key {
        "" => Err("the key before `=` is missing".to_owned()),
        key => Ok(Pair {
            key: key.to_owned(),
            value,
        }),
    };
    match key.strip_suffix(':') {
        Some(key) => {
            let value = serde_json::from_str(value)
                .map_err(|error| format!("what follows `:=` is no JSON: {error}"))?;
            pair(key, value)
        }
        None => pair(key, value.into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn pairs_are_text_or_json() {
        let table = [
            ("pattern=$A = $B", Ok(("pattern", json!("$A = $B")))),
            ("max_results=7", Ok(("max_results", json!("7")))),
            ("max_results:=7", Ok(("max_results", json!(7)))),
            ("edits:=[{\"a\": 1}]", Ok(("edits", json!([{"a": 1}])))),
            ("rewrite=", Ok(("rewrite", json!("")))),
            ("pattern=:=", Ok(("pattern", json!(":=")))),
            ("pattern", Err("it is KEY=TEXT or KEY:=JSON")),
            ("=x", Err("the key before `=` is missing")),
            (":=1", Err("the key before `=` is missing")),
        ];
        for (text, expected) in table {
            let found = pair(text).map(|pair| (pair.key, pair.value));
            let expected = expected
                .map(|(key, value)| (key.to_owned(), value))
                .map_err(str::to_owned);
            assert_eq!(found, expected, "{text}");
        }
        assert!(
            pair("edits:=[")
                .unwrap_err()
                .starts_with("what follows `:=` is no JSON")
        );
    }
}
