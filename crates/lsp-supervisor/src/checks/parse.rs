//! What checkers print, read: pure functions from text to problems.

use serde::Deserialize;
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Severity};
use crate::position::{Position, Range};

/// How the output of a checker is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    Cargo,
    Clangd,
    Dart,
    Eslint,
    Go,
    Mypy,
    Pyright,
    Ruff,
    Tsc,
    Ty,
    Vet,
}

/// What a checker has printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    /// Who says it, where the output does not tell.
    pub(crate) source: &'a str,
    /// The file that it was about, where it was about one.
    pub(crate) file: &'a str,
}

/// A problem and its file, as the checker names that: an absolute path, or one from the folder that the checker ran in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: String,
    pub(crate) diagnostic: Diagnostic,
}

/// What is read of an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub(crate) problems: Vec<Problem>,
    /// Why it cannot be all that there is to say.
    pub(crate) incomplete: Option<&'static str>,
}

/// Reads what a checker has printed.
pub(crate) fn read(format: Format, said: Said<'_>) -> Read {
    match format {
        Format::Cargo => cargo(said),
        Format::Clangd => complete(clangd(said)),
        Format::Dart => complete(dart(said)),
        Format::Eslint => json(said, '[', eslint),
        Format::Go => complete(go(said)),
        Format::Mypy => ended(mypy(said), said, &["Success", "Found "]),
        Format::Pyright => json(said, '{', pyright),
        Format::Ruff => json(said, '[', ruff),
        Format::Tsc => complete(tsc(said)),
        Format::Ty => ended(ty(said), said, &["All checks passed", "Found "]),
        Format::Vet => complete(vet(said)),
    }
}

fn complete(problems: Vec<Problem>) -> Read {
    let incomplete = None;
    Read {
        problems,
        incomplete,
    }
}

/// Those of a checker whose output ends with a line that begins with one of these.
fn ended(problems: Vec<Problem>, said: Said<'_>, ends: &[&str]) -> Read {
    let is_end = |line: &str| ends.iter().any(|end| line.starts_with(end));
    let is_whole = said.stdout.lines().any(is_end);
    Read {
        problems,
        incomplete: (!is_whole).then_some("its output does not end as it should"),
    }
}

/// A problem at a place, both counted from 1.
struct At<'a> {
    path: &'a str,
    line: u64,
    column: u64,
}

impl At<'_> {
    fn problem(
        &self,
        severity: Severity,
        source: &str,
        code: Option<&str>,
        message: impl Into<String>,
    ) -> Problem {
        let zero = |number: u64| u32::try_from(number.saturating_sub(1)).unwrap_or(u32::MAX);
        let start = Position {
            line: zero(self.line),
            character: zero(self.column),
        };
        let code = code.filter(|code| !code.is_empty());
        Problem {
            path: self.path.strip_prefix("./").unwrap_or(self.path).to_owned(),
            diagnostic: Diagnostic {
                range: Range { start, end: start },
                severity,
                code: code.map(str::to_owned),
                source: Some(source.to_owned()),
                message: message.into(),
                related: Vec::new(),
                unnecessary: false,
                data: Value::Null,
            },
        }
    }
}

/// `PATH:LINE:COLUMN: REST`, or without the column.
fn place(text: &str) -> Option<(At<'_>, &str)> {
    if text.starts_with([' ', '\t']) {
        return None;
    }
    for (colon, _) in text.match_indices(':') {
        let path = &text[..colon];
        let Some((line, rest)) = counted(&text[colon + 1..]) else {
            continue;
        };
        let (column, rest) = counted(rest).unwrap_or((1, rest));
        let is_path = !path.is_empty() && !path.contains("://");
        return is_path.then(|| (At { path, line, column }, rest.trim_start()));
    }
    None
}

/// `NUMBER:` at the beginning of a text, and the rest.
fn counted(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.split_once(':')?;
    Some((digits(number)?, rest))
}

fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// Adds a line to the problem that it goes on about.
fn goes_on(problems: &mut [Problem], line: &str) {
    if let Some(last) = problems.last_mut() {
        last.diagnostic.message += &format!("\n{}", line.trim());
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(1)
}

/// A single JSON value in the standard output, behind whatever a wrapper of the program has to say first.
fn json(said: Said<'_>, opening: char, read: fn(&Value, Said<'_>) -> Option<Read>) -> Read {
    let mut at = 0;
    for line in said.stdout.split_inclusive('\n') {
        if line.starts_with(opening) {
            let mut stream = serde_json::Deserializer::from_str(&said.stdout[at..]).into_iter();
            if let Some(Ok(value)) = stream.next()
                && let Some(read) = read(&value, said)
            {
                return read;
            }
        }
        at += line.len();
    }
    Read {
        problems: Vec::new(),
        incomplete: Some("its output is not what is known of it"),
    }
}

fn cargo(said: Said<'_>) -> Read {
    let mut read = Read {
        problems: Vec::new(),
        incomplete: Some("it did not finish"),
    };
    for line in said.stdout.lines().filter(|line| line.starts_with('{')) {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        match text(&value["reason"]) {
            "build-finished" => read.incomplete = None,
            "compiler-message" => read.problems.extend(of_rustc(&value)),
            _ => {}
        }
    }
    read
}

fn of_rustc(value: &Value) -> Option<Problem> {
    let said = &value["message"];
    let severity = match text(&said["level"]) {
        "warning" => Severity::Warning,
        level if level.starts_with("error") => Severity::Error,
        _ => return None,
    };
    let mut message = text(&said["message"]).to_owned();
    let code = said["code"]["code"].as_str();
    let is_clippy = code.is_some_and(|code| code.starts_with("clippy::"));
    let source = if is_clippy { "clippy" } else { "rustc" };
    let spans = said["spans"].as_array().into_iter().flatten();
    let mut primary = spans.filter(|span| span["is_primary"] == true);
    let Some(span) = primary.next() else {
        // What the linker says, for one, is about the target. A count of warnings is about nothing.
        let (path, line, column) = (text(&value["target"]["src_path"]), 1, 1);
        let at = At { path, line, column };
        return (severity == Severity::Error).then(|| at.problem(severity, source, code, message));
    };
    if let Some(label) = span["label"].as_str()
        && !label.is_empty()
    {
        message += &format!(": {label}");
    }
    let span = in_project(span);
    let at = At {
        path: text(&span["file_name"]),
        line: number(&span["line_start"]),
        column: number(&span["column_start"]),
    };
    Some(at.problem(severity, source, code, message))
}

/// Where a macro of somebody else's is used, and not where it is written: files of the project have relative paths.
fn in_project(mut span: &Value) -> &Value {
    let is_foreign = |span: &Value| text(&span["file_name"]).starts_with(['/', '<']);
    while is_foreign(span) && span["expansion"]["span"].is_object() {
        span = &span["expansion"]["span"];
    }
    span
}

fn tsc(said: Said<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for line in said.stdout.lines() {
        match of_tsc(line, said.source) {
            Some(problem) => problems.push(problem),
            None if line.starts_with(' ') => goes_on(&mut problems, line),
            None => {}
        }
    }
    problems
}

/// `PATH(LINE,COLUMN): error TS1: words`, or without a place where it is about the configuration.
fn of_tsc(line: &str, source: &str) -> Option<Problem> {
    let (before, rest) = match line.strip_prefix("error TS") {
        Some(rest) => (None, rest),
        None => {
            let (before, rest) = line.split_once("): error TS")?;
            (Some(before), rest)
        }
    };
    let (code, message) = rest.split_once(": ")?;
    let at = match before {
        None => At {
            path: "tsconfig.json",
            line: 1,
            column: 1,
        },
        Some(before) => {
            // The path may have parentheses of its own.
            let (path, numbers) = before.rsplit_once('(')?;
            let (line, column) = numbers.split_once(',')?;
            let (line, column) = (digits(line)?, digits(column)?);
            At { path, line, column }
        }
    };
    Some(at.problem(Severity::Error, source, Some(code), message))
}

fn pyright(value: &Value, said: Said<'_>) -> Option<Read> {
    let all = value["generalDiagnostics"].as_array()?;
    let files = value["summary"]["filesAnalyzed"].as_u64()?;
    let one = |found: &Value| {
        let start = &found["range"]["start"];
        let at = At {
            path: text(&found["file"]),
            line: start["line"].as_u64().unwrap_or(0) + 1,
            column: start["character"].as_u64().unwrap_or(0) + 1,
        };
        let severity = match text(&found["severity"]) {
            "warning" => Severity::Warning,
            "information" => Severity::Information,
            _ => Severity::Error,
        };
        let (rule, message) = (found["rule"].as_str(), text(&found["message"]));
        at.problem(severity, said.source, rule, message)
    };
    Some(Read {
        problems: all.iter().map(one).collect(),
        incomplete: (files == 0 && all.is_empty()).then_some("it looked at no file"),
    })
}

fn ruff(value: &Value, said: Said<'_>) -> Option<Read> {
    let one = |found: &Value| {
        let start = &found["location"];
        let at = At {
            path: text(&found["filename"]),
            line: number(&start["row"]),
            column: number(&start["column"]),
        };
        let code = found["code"].as_str();
        // As its language server has it: these do not run, the others are matters of style.
        let severity = match code {
            None | Some("invalid-syntax" | "F821" | "E902" | "E999") => Severity::Error,
            Some(_) => Severity::Warning,
        };
        at.problem(severity, said.source, code, text(&found["message"]))
    };
    Some(complete(value.as_array()?.iter().map(one).collect()))
}

fn eslint(value: &Value, said: Said<'_>) -> Option<Read> {
    let mut problems = Vec::new();
    for file in value.as_array()? {
        let path = file["filePath"].as_str()?;
        for found in file["messages"].as_array()? {
            let (line, column) = (number(&found["line"]), number(&found["column"]));
            let at = At { path, line, column };
            let severity = match found["severity"].as_u64() {
                Some(1) => Severity::Warning,
                _ => Severity::Error,
            };
            let (rule, message) = (found["ruleId"].as_str(), text(&found["message"]));
            problems.push(at.problem(severity, said.source, rule, message));
        }
    }
    Some(complete(problems))
}

/// `PATH:LINE:COLUMN: error: words  [code]`.
fn mypy(said: Said<'_>) -> Vec<Problem> {
    let one = |line| {
        let (at, rest) = place(line)?;
        let (severity, rest) = severity(rest)?;
        let rest = rest.strip_prefix(": ")?;
        let coded = rest
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once("  ["));
        let (message, code) = match coded {
            Some((message, code)) => (message, Some(code)),
            None => (rest, None),
        };
        Some(at.problem(severity, said.source, code, message))
    };
    said.stdout.lines().filter_map(one).collect()
}

/// `PATH:LINE:COLUMN: error[code] words`.
fn ty(said: Said<'_>) -> Vec<Problem> {
    let one = |line| {
        let (at, rest) = place(line)?;
        let (severity, rest) = severity(rest)?;
        let (code, message) = rest.strip_prefix('[')?.split_once(']')?;
        Some(at.problem(severity, said.source, Some(code), message.trim_start()))
    };
    said.stdout.lines().filter_map(one).collect()
}

/// The severity that a text begins with, if it matters.
fn severity(text: &str) -> Option<(Severity, &str)> {
    let names = [
        ("error", Severity::Error),
        ("fatal", Severity::Error),
        ("warning", Severity::Warning),
    ];
    let mut names = names.into_iter();
    names.find_map(|(name, severity)| Some((severity, text.strip_prefix(name)?)))
}

/// Go's compiler tells errors only.
fn go(said: Said<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for line in said.stderr.lines() {
        match place(line) {
            Some((at, message)) => {
                problems.push(at.problem(Severity::Error, said.source, None, message));
            }
            None if line.starts_with('\t') => goes_on(&mut problems, line),
            None => {}
        }
    }
    problems
}

/// Below `# package` an analysis tells what it suspects, and `vet: ` what does not compile. Before that, packages could not
/// even be found.
fn vet(said: Said<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut in_package = false;
    for line in said.stderr.lines() {
        in_package |= line.starts_with("# ");
        let plain = line.strip_prefix("vet: ");
        let (severity, source) = match (plain, in_package) {
            (None, true) => (Severity::Warning, said.source),
            _ => (Severity::Error, "compiler"),
        };
        match place(plain.unwrap_or(line)) {
            Some((at, message)) => problems.push(at.problem(severity, source, None, message)),
            None if line.starts_with('\t') => goes_on(&mut problems, line),
            None => {}
        }
    }
    problems
}

/// `SEVERITY|KIND|CODE|PATH|LINE|COLUMN|LENGTH|WORDS`.
fn dart(said: Said<'_>) -> Vec<Problem> {
    let one = |line: &str| {
        let fields = fields(line);
        let [severity, _, code, path, line, column, _, message] = fields.as_slice() else {
            return None;
        };
        let severity = match severity.as_str() {
            "ERROR" => Severity::Error,
            "WARNING" => Severity::Warning,
            "INFO" => Severity::Information,
            _ => return None,
        };
        let (line, column) = (digits(line)?, digits(column)?);
        let at = At { path, line, column };
        let code = code.to_ascii_lowercase();
        Some(at.problem(severity, said.source, Some(&code), message.clone()))
    };
    // Older ones print to their standard error.
    let lines = said.stdout.lines().chain(said.stderr.lines());
    lines.filter_map(one).collect()
}

/// The fields between bars; a backslash before one makes it plain.
fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '|' => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(characters.next()),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

/// `E[TIME] [code] Line LINE: words`, about one file.
fn clangd(said: Said<'_>) -> Vec<Problem> {
    let one = |line: &str| {
        let (_, rest) = line.strip_prefix("E[")?.split_once("] [")?;
        let (code, rest) = rest.split_once("] Line ")?;
        let (line, message) = counted(rest)?;
        let (path, column) = (said.file, 1);
        let at = At { path, line, column };
        let message = message.trim_start();
        Some(at.problem(Severity::Error, said.source, Some(code), message))
    };
    said.stderr.lines().filter_map(one).collect()
}
