//! Counts the matches of a pattern below a folder: `count FOLDER LANGUAGE PATTERN [THREADS]`.
//!
//! What a search costs without showing anything, for measurements.

use std::process::ExitCode;

use terret_structural::Structural;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, language, pattern, ..] = &arguments[..] else {
        return ExitCode::from(2);
    };
    let count = Structural::new(folder).count(pattern, Some(language));
    match count {
        Ok(count) => {
            #[expect(clippy::print_stdout, reason = "this is what it is for")]
            {
                println!("{count}");
            }
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}
