//! What the parts of a search cost, for measurements; each mode prints one line at its end.
//!
//! - `measure count FOLDER LANGUAGE PATTERN`: all matches, counted
//! - `measure render FOLDER LANGUAGE PATTERN`: all matches, each printed as an answer shows it
//! - `measure parse FOLDER EXTENSION LANGUAGE [LITERAL…]`: the floor of a search: reads every file of
//!   that extension, and parses those that hold all the literals

use std::error::Error;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memmem;
use terret_grammars::{GrammarSource, Shipped};
use terret_structural::Structural;
use tree_sitter::Parser;

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
        ["parse", folder, extension, language, ref literals @ ..] => {
            let bytes = parse(folder, extension, language, literals)?;
            writeln!(out, "{bytes} bytes parsed")?;
        }
        _ => return Err("see the first lines of this example".into()),
    }
    Ok(())
}

/// Reads and parses on all cores, with one parser and one buffer a thread.
fn parse(
    folder: &str,
    extension: &str,
    language: &str,
    literals: &[&str],
) -> Result<usize, Box<dyn Error>> {
    let grammar = Shipped.grammar(language)?;
    let files: Vec<_> = ignore::Walk::new(folder)
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|found| found == extension)
        })
        .map(ignore::DirEntry::into_path)
        .collect();
    let files = Mutex::new(files.into_iter());
    let parsed = AtomicUsize::new(0);
    let finders: Vec<_> = literals
        .iter()
        .map(|text| memmem::Finder::new(*text))
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut parser = Parser::new();
                parser.set_language(grammar.language()).expect("it loads");
                let mut source = Vec::new();
                loop {
                    let Some(path) = files.lock().expect("nobody panics").next() else {
                        return;
                    };
                    source.clear();
                    let read = std::fs::File::open(path)
                        .and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut source));
                    if read.is_ok() && finders.iter().all(|text| text.find(&source).is_some()) {
                        parser
                            .parse(&source, None)
                            .expect("nothing stops the parser");
                        parsed.fetch_add(source.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Ok(parsed.into_inner())
}
