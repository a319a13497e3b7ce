//! What can go wrong, and the test that shows that it does not: `docs/catalogue/*.toml`.
//!
//! ```toml
//! [[row]]
//! id = "S1"
//! symptom = "a fragment is read as a declaration"
//! test = "terret-structural::golden::ladders"    # or a list, or `why_not = "…"` in its place
//! ```

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Deserialize;

use crate::libtest::Verdict;
use crate::report::{Report, Totals};
use crate::test;
use crate::workspace::{Files, Workspace};

const FOLDER: &str = "docs/catalogue/";

/// Tests by their full name: `package::module::test`, `package::file::test` for one of `tests/`.
pub(crate) type Tests = BTreeMap<String, Verdict>;

/// What is asked of a test that a row names.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Want {
    /// That there is such a test.
    Exists,
    /// That it ran and passed just now.
    Ran,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    symptom: String,
    test: Option<OneOrMore>,
    why_not: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn as_slice(&self) -> &[String] {
        match self {
            OneOrMore::One(test) => std::slice::from_ref(test),
            OneOrMore::More(tests) => tests,
        }
    }
}

/// The task by itself: whether the named tests ran is known in `test` only.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let tests = test::list(workspace)?;
    report.step("catalogue", || step(workspace, &tests, Want::Exists));
    println!("\nthe named tests are looked for; that they ran is checked in `cargo xtask test`");
    Ok(())
}

pub(crate) fn step(workspace: &Workspace, tests: &Tests, want: Want) -> Result<(Totals, String)> {
    let files = workspace.files()?;
    let outcome = check(&files, tests, want);
    for line in outcome.problems.iter().chain(&outcome.skipped) {
        println!("{line}");
    }
    let note = format!("{} rows in {} files", outcome.rows, outcome.files);
    Ok(match outcome {
        Outcome { problems, .. } if !problems.is_empty() => (
            Totals::FAILED,
            format!("{} problems in {note}", problems.len()),
        ),
        Outcome { rows: 0, .. } => (Totals::SKIPPED, format!("no rows in {FOLDER}")),
        Outcome { skipped, .. } if !skipped.is_empty() => (
            Totals::SKIPPED,
            format!("{} rows lack a tool, of {note}", skipped.len()),
        ),
        _ => (Totals::PASSED, note),
    })
}

#[derive(Default)]
struct Outcome {
    files: usize,
    rows: usize,
    problems: Vec<String>,
    /// Rows whose test skipped itself.
    skipped: Vec<String>,
}

fn check(files: &Files, tests: &Tests, want: Want) -> Outcome {
    let mut outcome = Outcome::default();
    let catalogues = files
        .iter()
        .filter(|(path, _)| path.starts_with(FOLDER) && path.ends_with(".toml"));
    for (path, text) in catalogues {
        outcome.files += 1;
        match toml::from_str::<Catalogue>(text) {
            Ok(catalogue) => check_rows(path, &catalogue.row, tests, want, &mut outcome),
            Err(error) => outcome.problems.push(format!("{path}: {error}")),
        }
    }
    outcome
}

fn check_rows(path: &str, rows: &[Row], tests: &Tests, want: Want, outcome: &mut Outcome) {
    let mut ids = BTreeSet::new();
    for row in rows {
        outcome.rows += 1;
        let mut problem =
            |what: String| outcome.problems.push(format!("{path}: {}: {what}", row.id));
        if !ids.insert(&row.id) {
            problem("the id is there twice".to_owned());
        }
        if row.id.trim().is_empty() || row.symptom.trim().is_empty() {
            problem("a row has an id and a symptom".to_owned());
        }
        let named = match (&row.test, &row.why_not) {
            (Some(named), None) if !named.as_slice().is_empty() => named.as_slice(),
            (None, Some(why)) if !why.trim().is_empty() => continue,
            _ => {
                problem("a row has either `test` or `why_not`".to_owned());
                continue;
            }
        };
        for name in named {
            match (tests.get(name), want) {
                (None, _) => problem(format!("there is no test `{name}`{}", nearest(name, tests))),
                (Some(Verdict::Skipped), Want::Ran) => {
                    outcome
                        .skipped
                        .push(format!("{path}: {}: `{name}` skipped itself", row.id));
                }
                (Some(Verdict::Ok), Want::Ran) | (Some(_), Want::Exists) => {}
                (Some(verdict), Want::Ran) => problem(format!("`{name}`: {}", verdict.word())),
            }
        }
    }
}

/// A test of the same name elsewhere: it was moved, mostly.
fn nearest(name: &str, tests: &Tests) -> String {
    let last = |path: &str| path.rsplit("::").next().map(str::to_owned);
    match tests.keys().find(|other| last(other) == last(name)) {
        Some(other) => format!("; is it `{other}`?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check_text(rows: &str, want: Want, expected: Expect) {
        let verdicts = [
            ("p::a", Verdict::Ok),
            ("p::deep::b", Verdict::Failed),
            ("p::c", Verdict::Ignored),
            ("p::d", Verdict::Skipped),
        ];
        let tests = verdicts
            .map(|(name, verdict)| (name.to_owned(), verdict))
            .into();
        let files = [("docs/catalogue/x.toml".to_owned(), rows.to_owned())].into();
        let outcome = check(&files, &tests, want);
        let lines = outcome.problems.iter().chain(&outcome.skipped);
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        expected.assert_eq(&format!("{text}{} rows", outcome.rows));
    }

    const NAMED: &str = "
        [[row]]
        id = 'G1'
        symptom = 's'
        test = 'p::a'
        [[row]]
        id = 'G2'
        symptom = 's'
        test = ['p::a', 'p::deep::b', 'p::c', 'p::d']
        [[row]]
        id = 'G4'
        symptom = 's'
        why_not = 'it cannot happen here'
        [[row]]
        id = 'G5'
        symptom = 's'
        test = 'p::b'
        [[row]]
        id = 'G6'
        symptom = 's'
        test = 'p::gone'
        ";

    #[test]
    fn a_named_test_must_have_passed() {
        check_text(
            NAMED,
            Want::Ran,
            expect![[r#"
                docs/catalogue/x.toml: G2: `p::deep::b`: FAILED
                docs/catalogue/x.toml: G2: `p::c`: ignored
                docs/catalogue/x.toml: G5: there is no test `p::b`; is it `p::deep::b`?
                docs/catalogue/x.toml: G6: there is no test `p::gone`
                docs/catalogue/x.toml: G2: `p::d` skipped itself
                5 rows"#]],
        );
    }

    #[test]
    fn by_itself_the_names_are_checked() {
        check_text(
            NAMED,
            Want::Exists,
            expect![[r#"
                docs/catalogue/x.toml: G5: there is no test `p::b`; is it `p::deep::b`?
                docs/catalogue/x.toml: G6: there is no test `p::gone`
                5 rows"#]],
        );
    }

    #[test]
    fn a_row_is_whole() {
        check_text(
            "
            [[row]]
            id = 'S1'
            symptom = 's'
            [[row]]
            id = 'S1'
            symptom = ''
            test = 'p::a'
            [[row]]
            id = 'S2'
            symptom = 's'
            test = 'p::a'
            why_not = 'both'
            [[row]]
            id = 'S3'
            symptom = 's'
            test = []
            [[row]]
            id = 'S4'
            symptom = 's'
            why_not = ' '
            ",
            Want::Exists,
            expect![[r#"
                docs/catalogue/x.toml: S1: a row has either `test` or `why_not`
                docs/catalogue/x.toml: S1: the id is there twice
                docs/catalogue/x.toml: S1: a row has an id and a symptom
                docs/catalogue/x.toml: S2: a row has either `test` or `why_not`
                docs/catalogue/x.toml: S3: a row has either `test` or `why_not`
                docs/catalogue/x.toml: S4: a row has either `test` or `why_not`
                5 rows"#]],
        );
    }

    #[test]
    fn an_unknown_key_is_a_problem() {
        let files = [(
            "docs/catalogue/x.toml".to_owned(),
            "[[row]]\nid = 'a'\nwhy = 'x'\n".to_owned(),
        )];
        assert_eq!(
            check(&files.into(), &Tests::new(), Want::Exists)
                .problems
                .len(),
            1
        );
    }
}
