//! The floor of a search: reading and parsing.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use terret_grammars::{GrammarSource, Shipped};
use tree_sitter::Parser;

/// The files of this extension, as a search walks.
pub(crate) fn found(folder: &str, extension: &str) -> Vec<PathBuf> {
    ignore::Walk::new(folder)
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|found| found == extension)
        })
        .map(ignore::DirEntry::into_path)
        .collect()
}

/// Reads and parses on all cores, with one parser and one buffer a thread.
pub(crate) fn parse(files: Vec<PathBuf>, language: &str) -> Result<usize, Box<dyn Error>> {
    let grammar = Shipped.grammar(language)?;
    let files = Mutex::new(files.into_iter());
    let parsed = AtomicUsize::new(0);
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
                    if read.is_ok() {
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
