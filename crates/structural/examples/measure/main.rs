//! What the parts of a search cost, for measurements; each mode prints one line at its end.
//!
//! - `measure count FOLDER LANGUAGE PATTERN`: all matches, counted
//! - `measure render FOLDER LANGUAGE PATTERN`: all matches, each printed as an answer shows it
//! - `measure parse FOLDER EXTENSION LANGUAGE`: the floor of a search: reads and parses every file of
//!   that extension
//! - `measure parse-listed LIST LANGUAGE`: the same of the files that a file names, a line each
//! - `measure ranges FOLDER LANGUAGE PATTERN`: where the matches are, a line of JSON each, then
//!   the files that were not searched to their end
//! - `measure facts FOLDER LANGUAGE PATTERN <PLACES`: what can be said of other places, given and told
//!   in the same form

mod facts;
mod parse;

use std::error::Error;
use std::io::Write;
use std::ops::ControlFlow;

use serde_json::json;
use terret_structural::Structural;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match arguments[..] {
        ["count", folder, language, pattern] => {
            let count = Structural::new(folder).count(pattern, Some(language))?;
            writeln!(out, "{count} matches")?;
        }
        ["render", folder, language, pattern] => {
            let mut count = 0_usize;
            Structural::new(folder).each(pattern, Some(language), &mut |found| {
                count += 1;
                match out.write_all(found.as_bytes()) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })?;
            writeln!(out, "{count} matches")?;
        }
        ["parse", folder, extension, language] => {
            let bytes = parse::parse(parse::found(folder, extension), language)?;
            writeln!(out, "{bytes} bytes parsed")?;
        }
        ["parse-listed", list, language] => {
            let list = std::fs::read_to_string(list)?;
            let files = list.lines().map(std::path::PathBuf::from).collect();
            let bytes = parse::parse(files, language)?;
            writeln!(out, "{bytes} bytes parsed")?;
        }
        ["ranges", folder, language, pattern] => {
            let mut count = 0_usize;
            let skipped =
                Structural::new(folder).ranges(pattern, Some(language), &mut |path, range| {
                    count += 1;
                    let line = json!({ "path": path, "start": range.start, "end": range.end });
                    match writeln!(out, "{line}") {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                })?;
            for path in skipped {
                writeln!(out, "{}", json!({ "skipped": path }))?;
            }
            writeln!(out, "{count} matches")?;
        }
        ["facts", folder, language, pattern] => {
            let count = facts::tell(folder, language, pattern, &mut out)?;
            writeln!(out, "{count} places")?;
        }
        _ => return Err("see the first lines of this example".into()),
    }
    Ok(())
}
