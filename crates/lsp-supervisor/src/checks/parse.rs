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
    /// A folder that a relative path is from, or from one above it, where the checker is not run for a single project.
    pub(crate) folder: Option<String>,
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
            folder: None,
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
            "compiler-message" => {
                // The paths are from the root of the workspace, which may be above where the check was asked for.
                let package = text(&value["manifest_path"]).rsplit_once('/');
                let folder = package.map(|(folder, _)| folder.to_owned());
                let problem = of_rustc(&value);
                read.problems
                    .extend(problem.map(|problem| Problem { folder, ..problem }));
            }
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn said<'a>(stdout: &'a str, stderr: &'a str) -> Said<'a> {
        Said {
            stdout,
            stderr,
            source: "source",
            file: "src/a.c",
        }
    }

    fn check(format: Format, stdout: &str, stderr: &str, expected: &Expect) {
        let read = read(format, said(stdout, stderr));
        let mut shown = String::new();
        for Problem {
            path, diagnostic, ..
        } in &read.problems
        {
            let Diagnostic { severity, code, .. } = diagnostic;
            let at = diagnostic.range.start;
            let (line, column) = (at.line + 1, at.character + 1);
            let source = diagnostic.source.as_deref().unwrap_or_default();
            let code = code.as_deref().unwrap_or("-");
            let message = &diagnostic.message;
            shown += &format!("{path}:{line}:{column} {severity} {message:?} [{source} {code}]\n");
        }
        if let Some(why) = read.incomplete {
            shown += &format!("incomplete: {why}\n");
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn cargo_tells_in_lines_of_json() {
        let error = r#"{"reason":"compiler-message","target":{"src_path":"/p/src/lib.rs"},"message":{"level":"error","message":"mismatched types","spans":[{"column_start":15,"file_name":"src/lib.rs","is_primary":false,"label":"because","line_start":1},{"column_start":21,"expansion":null,"file_name":"src/lib.rs","is_primary":true,"label":"expected `u32`","line_start":1}],"code":{"code":"E0308"}}}"#;
        let foreign = r#"{"reason":"compiler-message","target":{"src_path":"/p/src/lib.rs"},"message":{"level":"warning","message":"odd","spans":[{"column_start":9,"file_name":"/registry/x/src/lib.rs","is_primary":true,"label":null,"line_start":70,"expansion":{"span":{"column_start":5,"file_name":"src/b.rs","line_start":7,"expansion":null}}}],"code":{"code":"clippy::odd"}}}"#;
        let linker = r#"{"reason":"compiler-message","target":{"src_path":"/p/src/main.rs"},"message":{"level":"error","message":"linking with `cc` failed","spans":[],"code":null}}"#;
        let notes = r#"{"reason":"compiler-message","target":{},"message":{"level":"failure-note","message":"For more information","spans":[],"code":null}}
{"reason":"compiler-message","target":{},"message":{"level":"warning","message":"1 warning emitted","spans":[],"code":null}}
{"reason":"compiler-artifact"}
what a build script prints
{"reason":"#;
        let end = r#"{"reason":"build-finished","success":false}"#;
        let all = [error, foreign, linker, notes, end].join("\n");
        check(
            Format::Cargo,
            &all,
            "",
            &expect![[r#"
                src/lib.rs:1:21 error "mismatched types: expected `u32`" [rustc E0308]
                src/b.rs:7:5 warning "odd" [clippy clippy::odd]
                /p/src/main.rs:1:1 error "linking with `cc` failed" [rustc -]
            "#]],
        );
        check(Format::Cargo, end, "", &expect![""]);
        check(
            Format::Cargo,
            "",
            "error: no manifest",
            &expect![[r#"
                incomplete: it did not finish
            "#]],
        );
    }

    #[test]
    fn tsc_tells_of_files_and_of_its_configuration() {
        let stdout = "\
app/(shop)/a b.ts(1,26): error TS2304: Cannot find name 'missing'.
a.ts(2,14): error TS2322: Type 'X' is not assignable to type 'Y'.
  Types of parameters are incompatible.
error TS18003: No inputs were found in config file.
Version 7.0.2
";
        check(
            Format::Tsc,
            stdout,
            "",
            &expect![[r#"
                app/(shop)/a b.ts:1:26 error "Cannot find name 'missing'." [source 2304]
                a.ts:2:14 error "Type 'X' is not assignable to type 'Y'.\nTypes of parameters are incompatible." [source 2322]
                tsconfig.json:1:1 error "No inputs were found in config file." [source 18003]
            "#]],
        );
        check(Format::Tsc, "", "", &expect![""]);
    }

    #[test]
    fn pyright_tells_in_json() {
        let stdout = r#"* Installing the tool
{
    "version": "1.1.414",
    "generalDiagnostics": [
        { "file": "/p/a.py", "severity": "error", "message": "\"missing\" is not defined", "range": { "start": { "line": 1, "character": 9 } }, "rule": "reportUndefinedVariable" },
        { "file": "/p/a.py", "severity": "warning", "message": "unused", "range": { "start": { "line": 0, "character": 0 } } },
        { "file": "/p/a.py", "severity": "information", "message": "so", "range": { "start": { "line": 0, "character": 0 } } }
    ],
    "summary": { "filesAnalyzed": 1, "errorCount": 1 }
}
"#;
        check(
            Format::Pyright,
            stdout,
            "",
            &expect![[r#"
                /p/a.py:2:10 error "\"missing\" is not defined" [source reportUndefinedVariable]
                /p/a.py:1:1 warning "unused" [source -]
                /p/a.py:1:1 info "so" [source -]
            "#]],
        );
        check(
            Format::Pyright,
            r#"{ "generalDiagnostics": [], "summary": { "filesAnalyzed": 0 } }"#,
            "",
            &expect![[r#"
                incomplete: it looked at no file
            "#]],
        );
        check(
            Format::Pyright,
            "{ \"generalDiagnostics\": [",
            "",
            &expect![[r#"
                incomplete: its output is not what is known of it
            "#]],
        );
    }

    #[test]
    fn mypy_tells_in_lines() {
        let stdout = "\
a.py:2:10: error: Name \"missing\" is not defined  [name-defined]
a.py:2:10: note: Did you forget an import?
b.py:1: error: unexpected [x]
b.py:3:1: warning: odd  [misc]
Found 2 errors in 2 files (checked 2 source files)
";
        check(
            Format::Mypy,
            stdout,
            "",
            &expect![[r#"
                a.py:2:10 error "Name \"missing\" is not defined" [source name-defined]
                b.py:1:1 error "unexpected [x]" [source -]
                b.py:3:1 warning "odd" [source misc]
            "#]],
        );
        let clean = "Success: no issues found in 2 source files\n";
        check(Format::Mypy, clean, "", &expect![""]);
        check(
            Format::Mypy,
            "",
            "",
            &expect![[r#"
                incomplete: its output does not end as it should
            "#]],
        );
    }

    #[test]
    fn ty_tells_in_lines() {
        let stdout = "\
a.py:2:10: error[unresolved-reference] Name `missing` used when not defined
a.py:3:10: warning[odd] Odd: so
a.py:4:10: info[so] so
Found 3 diagnostics
";
        check(
            Format::Ty,
            stdout,
            "",
            &expect![[r#"
                a.py:2:10 error "Name `missing` used when not defined" [source unresolved-reference]
                a.py:3:10 warning "Odd: so" [source odd]
            "#]],
        );
        check(Format::Ty, "All checks passed!\n", "", &expect![""]);
    }

    #[test]
    fn go_tells_on_its_standard_error() {
        let build = "\
go: finding module for package example.com/x
go.mod:5: unknown directive: bogus
# shop/cart
cart/c.go:3:23: undefined: missing
./main.go:4:35: too many arguments in call to A
\thave (number)
\twant ()
go: warning: \"./...\" matched no packages
";
        check(
            Format::Go,
            "",
            build,
            &expect![[r#"
                go.mod:5:1 error "unknown directive: bogus" [source -]
                cart/c.go:3:23 error "undefined: missing" [source -]
                main.go:4:35 error "too many arguments in call to A\nhave (number)\nwant ()" [source -]
            "#]],
        );
        let vet = "\
x.go:2:8: no required module provides package example.com/x; to add it:
\tgo get example.com/x
# shop/cart
# [shop/cart]
vet: cart/c.go:3:23: undefined: missing
# shop
main.go:3:27: fmt.Printf format %d has arg \"x\" of wrong type string
";
        check(
            Format::Vet,
            "",
            vet,
            &expect![[r#"
                x.go:2:8 error "no required module provides package example.com/x; to add it:\ngo get example.com/x" [compiler -]
                cart/c.go:3:23 error "undefined: missing" [compiler -]
                main.go:3:27 warning "fmt.Printf format %d has arg \"x\" of wrong type string" [source -]
            "#]],
        );
    }

    #[test]
    fn dart_escapes_its_bars() {
        let stdout = "\
ERROR|COMPILE_TIME_ERROR|UNDEFINED_IDENTIFIER|/p/lib/a\\|b.dart|2|12|7|Undefined name 'a\\|b\\\\'.
WARNING|STATIC_WARNING|DEAD_CODE|/p/lib/a.dart|3|3|9|Dead code.
INFO|LINT|AVOID_PRINT|/p/lib/a.dart|3|3|9|Don't.
Analyzing shop...
";
        check(
            Format::Dart,
            stdout,
            "",
            &expect![[r#"
                /p/lib/a|b.dart:2:12 error "Undefined name 'a|b\\'." [source undefined_identifier]
                /p/lib/a.dart:3:3 warning "Dead code." [source dead_code]
                /p/lib/a.dart:3:3 info "Don't." [source avoid_print]
            "#]],
        );
    }

    #[test]
    fn clangd_tells_of_the_file_that_it_looked_at() {
        let stderr = "\
E[12:59:40.461] [undeclared_var_use] Line 2: use of undeclared identifier 'missing'
E[12:59:40.461] [-Wint-conversion] Line 3: incompatible: really
E[12:59:40.462] IncludeCleaner: Failed to get an entry
I[12:59:40.467] All checks completed, 2 errors
";
        check(
            Format::Clangd,
            "",
            stderr,
            &expect![[r#"
                src/a.c:2:1 error "use of undeclared identifier 'missing'" [source undeclared_var_use]
                src/a.c:3:1 error "incompatible: really" [source -Wint-conversion]
            "#]],
        );
    }

    #[test]
    fn linters_tell_in_json() {
        let eslint = r#"[{"filePath":"/p/a.mjs","messages":[{"ruleId":"no-unused-vars","severity":1,"message":"unused","line":1,"column":7},{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error","line":2}]},{"filePath":"/p/b.mjs","messages":[]}]"#;
        check(
            Format::Eslint,
            eslint,
            "",
            &expect![[r#"
                /p/a.mjs:1:7 warning "unused" [source no-unused-vars]
                /p/a.mjs:2:1 error "Parsing error" [source -]
            "#]],
        );
        let ruff = r#"[
  { "code": "F401", "filename": "/p/a.py", "location": { "column": 8, "row": 1 }, "message": "unused", "severity": "error" },
  { "code": "F821", "filename": "/p/a.py", "location": { "column": 10, "row": 2 }, "message": "undefined" },
  { "code": null, "filename": "/p/b.py", "location": { "column": 5, "row": 1 }, "message": "no syntax" }
]"#;
        check(
            Format::Ruff,
            ruff,
            "",
            &expect![[r#"
                /p/a.py:1:8 warning "unused" [source F401]
                /p/a.py:2:10 error "undefined" [source F821]
                /p/b.py:1:5 error "no syntax" [source -]
            "#]],
        );
        check(Format::Ruff, "[]", "", &expect![""]);
        check(
            Format::Eslint,
            "Oops! Something went wrong!",
            "",
            &expect![[r#"
                incomplete: its output is not what is known of it
            "#]],
        );
    }
}
