//! Reads what `cargo test` prints: which test of which package ran, and how it went.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::Totals;

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Ok,
    Failed,
    Ignored,
    /// It returned at once since its tool is missing.
    Skipped,
    /// It is there; whether it runs was not asked.
    Listed,
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "FAILED",
            Verdict::Ignored => "ignored",
            Verdict::Skipped => "skipped",
            Verdict::Listed => "listed",
        }
    }
}

/// What the tests of a package are called in front of their own name: `package` for the unit tests
/// of a library or a binary and for its documentation, `package::target` for a file of `tests/`.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// By the file name of the test binary, which has a hash in it and so is unique.
    pub(crate) binaries: BTreeMap<String, String>,
    /// By the name of the library, as the documentation tests have it.
    pub(crate) libraries: BTreeMap<String, String>,
}

/// Takes the output line by line.
pub(crate) struct Reader<'a> {
    targets: &'a Targets,
    prefix: String,
    /// A test whose verdict has not come yet: something else was printed in between.
    pending: Option<String>,
    started: BTreeSet<String>,
    /// Every test by its full name.
    pub(crate) tests: BTreeMap<String, Verdict>,
    /// From the line at the end of each binary.
    pub(crate) totals: Totals,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(targets: &'a Targets) -> Reader<'a> {
        Reader {
            targets,
            prefix: String::new(),
            pending: None,
            started: BTreeSet::new(),
            tests: BTreeMap::new(),
            totals: Totals::default(),
        }
    }

    pub(crate) fn line(&mut self, line: &str) {
        if let Some(prefix) = self.header(line) {
            self.prefix = prefix;
            self.pending = None;
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.totals.add(result(counts));
        } else if let Some((name, rest)) = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... "))
        {
            match verdict(rest) {
                Some(verdict) => self.add(name, verdict),
                None => self.pending = Some(name.to_owned()),
            }
        } else if let Some(name) = line.strip_suffix(": test") {
            self.add(name, Verdict::Listed);
        } else if let Some(name) = self.pending.take() {
            match verdict(line) {
                Some(verdict) => self.add(&name, verdict),
                None => self.pending = Some(name),
            }
        }
    }

    /// Moves the tests of a skip log from the passed to the skipped ones.
    pub(crate) fn skip(&mut self, log: &str) {
        for line in log.lines() {
            let mut words = line.split('\t');
            let (Some(package), Some(test)) = (words.next(), words.next()) else {
                continue;
            };
            let of_package = |id: &str| {
                id.strip_prefix(package)
                    .and_then(|rest| rest.strip_prefix("::"))
                    .is_some_and(|rest| rest == test || rest.ends_with(&format!("::{test}")))
            };
            let passed = |(id, verdict): &(&String, &mut Verdict)| {
                **verdict == Verdict::Ok && of_package(id)
            };
            if let Some((_, verdict)) = self.tests.iter_mut().find(passed) {
                *verdict = Verdict::Skipped;
                self.totals.passed = self.totals.passed.saturating_sub(1);
                self.totals.skipped += 1;
            }
        }
    }

    /// How many of the test binaries ran.
    pub(crate) fn started(&self) -> usize {
        self.started.len()
    }

    fn add(&mut self, name: &str, verdict: Verdict) {
        let name = name.split(" - should panic").next().unwrap_or(name);
        self.tests
            .insert(format!("{}::{name}", self.prefix), verdict);
    }

    /// The prefix of the tests that follow, if this line announces some.
    fn header(&mut self, line: &str) -> Option<String> {
        let line = line.trim_start();
        if let Some(library) = line.strip_prefix("Doc-tests ") {
            return self.targets.libraries.get(library).cloned();
        }
        let (_, binary) = line.strip_prefix("Running ")?.rsplit_once('(')?;
        let file = binary.strip_suffix(')')?.rsplit(['/', '\\']).next()?;
        let prefix = self.targets.binaries.get(file)?;
        self.started.insert(file.to_owned());
        Some(prefix.clone())
    }
}

fn verdict(text: &str) -> Option<Verdict> {
    match text {
        "ok" => Some(Verdict::Ok),
        "FAILED" => Some(Verdict::Failed),
        _ if text.starts_with("ignored") => Some(Verdict::Ignored),
        // With a time limit the harness adds what it took.
        _ if text.starts_with("ok <") => Some(Verdict::Ok),
        _ => None,
    }
}

/// `ok. 5 passed; 0 failed; 1 ignored; 0 measured; …`
fn result(counts: &str) -> Totals {
    let mut totals = Totals::default();
    let counts = counts.split_once(". ").map_or(counts, |(_, counts)| counts);
    for part in counts.split("; ") {
        let Some((number, word)) = part.split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<usize>() else {
            continue;
        };
        match word {
            "passed" => totals.passed = number,
            "failed" => totals.failed = number,
            "ignored" => totals.skipped = number,
            _ => {}
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const OUTPUT: &str = "   Compiling terret-tiers v0.1.0
     Running unittests src/lib.rs (target/debug/deps/terret_tiers-0123)

running 4 tests
test surface::tests::caps ... ok
test surface::tests::panics - should panic ... ok
test slow ... ignored, takes an hour
test loud ... said by a child
ok

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

     Running tests/golden.rs (target/debug/deps/golden-4567)

running 2 tests
test rows ... FAILED
test needs_a_server ... ok

failures:
     Running nothing of ours (target/debug/deps/other-89)

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests terret_tiers

running 1 test
test crates/tiers/src/lib.rs - (line 7) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s
";

    fn targets() -> Targets {
        let map = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
                .collect()
        };
        Targets {
            binaries: map(&[
                ("terret_tiers-0123", "terret-tiers"),
                ("golden-4567", "terret-tiers::golden"),
            ]),
            libraries: map(&[("terret_tiers", "terret-tiers")]),
        }
    }

    fn table(reader: &Reader<'_>) -> String {
        let row = |(id, verdict): (&String, &Verdict)| format!("{id} {}\n", verdict.word());
        reader.tests.iter().map(row).collect::<String>() + &reader.totals.to_string()
    }

    #[test]
    fn every_test_finds_its_package() {
        let targets = targets();
        let mut reader = Reader::new(&targets);
        OUTPUT.lines().for_each(|line| reader.line(line));
        reader.skip("terret-tiers\tneeds_a_server\trust-analyzer\nother\tloud\tx\n");
        expect![[r#"
            terret-tiers::crates/tiers/src/lib.rs - (line 7) ok
            terret-tiers::golden::needs_a_server skipped
            terret-tiers::golden::rows FAILED
            terret-tiers::loud ok
            terret-tiers::slow ignored
            terret-tiers::surface::tests::caps ok
            terret-tiers::surface::tests::panics ok
            4 passed, 1 failed, 2 skipped"#]]
        .assert_eq(&table(&reader));
        assert_eq!(reader.started(), 2);
    }

    #[test]
    fn a_skip_counts_once() {
        let targets = targets();
        let mut reader = Reader::new(&targets);
        OUTPUT.lines().for_each(|line| reader.line(line));
        reader.skip("terret-tiers\tloud\ta\nterret-tiers\tloud\tb\n");
        assert_eq!(
            reader.totals,
            Totals {
                passed: 4,
                failed: 1,
                skipped: 2
            }
        );
    }

    #[test]
    fn a_list_is_read_too() {
        let targets = targets();
        let mut reader = Reader::new(&targets);
        for line in [
            "     Running tests/golden.rs (target/debug/deps/golden-4567)",
            "rows: test",
            "1 test, 0 benchmarks",
        ] {
            reader.line(line);
        }
        expect![[r#"
            terret-tiers::golden::rows listed
            0 passed, 0 failed, 0 skipped"#]]
        .assert_eq(&table(&reader));
    }
}
