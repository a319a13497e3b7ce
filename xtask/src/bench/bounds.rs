//! What is wanted of a search, and whether it holds: rows that are worked out from what was
//! measured.

use super::page::number;
use super::{Measured, Outcome, corpora};

/// Commands of others on a machine that is busier leave no second core to use.
const IDLE: f64 = 0.5;
/// How much of what no search can do without a search may cost.
const OVER_FLOOR: f64 = 1.25;

/// A wanted bound.
pub(super) struct Row {
    corpus: String,
    what: String,
    bound: Bound,
    pub(super) measured: Option<f64>,
    unit: &'static str,
    note: String,
}

enum Bound {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
    /// It is told, and nothing is wanted.
    Told,
}

impl Row {
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.corpus, self.what).trim().to_owned()
    }

    fn holds(&self) -> &'static str {
        let Some(measured) = self.measured else {
            return "not measured";
        };
        match self.bound {
            Bound::AtMost(bound) if measured <= bound => "yes",
            Bound::Below(bound) if measured < bound => "yes",
            Bound::AtLeast(bound) if measured >= bound => "yes",
            Bound::Told => "",
            _ => "**no**",
        }
    }
}

/// Every row that is wanted, measured or not.
pub(super) fn rows(outcome: &Outcome) -> Vec<Row> {
    let mut rows = Vec::new();
    for corpus in &outcome.corpora {
        rows.extend(of_corpus(outcome, &corpus.name, &corpus.language));
    }
    for name in corpora::MEASURED {
        let found = outcome.corpora.iter().any(|corpus| corpus.name == *name);
        if !found && *name != corpora::AT_HAND {
            rows.push(row(name, "the tree", Bound::Told, "", None));
        }
    }
    let largest = outcome.corpora.iter().max_by_key(|corpus| corpus.bytes);
    let largest = largest.map_or("", |corpus| corpus.name.as_str());
    let wall = |name| find(outcome, largest, name, "terret").map(|case| case.wall_ms);
    let bound = Bound::AtMost(100.0);
    rows.push(row(
        largest,
        "50 results, the largest tree: wall time",
        bound,
        " ms",
        wall("fifty"),
    ));
    // What is left of a search that stops early is the start of the process, and noise.
    let grows = ratio(wall("fifty"), wall("fifty in a part"));
    let bound = Bound::AtMost(1.5);
    rows.push(row(
        largest,
        "50 results: the whole tree ÷ its first folder, wall time",
        bound,
        "×",
        grows,
    ));
    let start = find(outcome, "", "start", "terret").map(|case| case.wall_ms);
    let bound = Bound::AtMost(5.0);
    rows.push(row(
        "",
        "start to first byte of `terret tools`",
        bound,
        " ms",
        start,
    ));
    rows
}

fn of_corpus(outcome: &Outcome, corpus: &str, language: &str) -> Vec<Row> {
    let case = |name, by| find(outcome, corpus, name, by);
    let cpu = |name, by| case(name, by).map(|case| case.cpu_ms);
    let times = |name, by| ratio(cpu(name, by), cpu(name, "terret"));
    let part = |name, by| ratio(cpu(name, "terret"), cpu(name, by));
    let row = |what: &str, bound, measured| row(corpus, what, bound, "×", measured);

    let floor = Some(
        cpu("selective", "rg").unwrap_or(f64::NAN) + cpu("selective", "parse").unwrap_or(f64::NAN),
    )
    .filter(|floor| floor.is_finite());
    let selective = match language {
        "python" => Bound::AtLeast(15.0),
        "typescript" => Bound::AtLeast(2.5),
        _ => Bound::Told,
    };
    let counted = "all, counted";
    let rendered = "all, rendered";
    let cores = ratio(
        case(counted, "terret").map(|case| case.wall_ms),
        cpu(counted, "terret"),
    );
    let mut rows = vec![
        row(
            "selective: CPU ÷ (`rg -l` + reading and parsing the files with the literals)",
            Bound::AtMost(OVER_FLOOR),
            ratio(cpu("selective", "terret"), floor),
        ),
        row(
            "selective: `ast-grep`'s CPU ÷ ours",
            selective,
            times("selective", "ast-grep"),
        ),
        row(
            "no match possible: `ast-grep`'s CPU ÷ ours",
            Bound::AtLeast(40.0),
            times("none", "ast-grep"),
        ),
        row(
            "no match possible: CPU ÷ `rg -l`",
            Bound::AtMost(2.0),
            part("none", "rg"),
        ),
        row(
            "all, counted: CPU ÷ reading and parsing every file",
            Bound::AtMost(OVER_FLOOR),
            part(counted, "parse"),
        ),
        row(
            "all, counted: CPU ÷ `ast-grep`",
            Bound::Below(1.0),
            part(counted, "ast-grep"),
        ),
        row(
            "all, counted: wall time ÷ CPU, on an idle machine",
            Bound::Below(0.7),
            cores,
        ),
        row(
            "all, rendered: CPU ÷ `ast-grep --json`",
            Bound::Below(1.0),
            part(rendered, "ast-grep"),
        ),
        row(
            "all, rendered: CPU ÷ `ast-grep --json=stream`",
            Bound::Below(1.0),
            part(rendered, "ast-grep, stream"),
        ),
        memory(outcome, corpus),
    ];
    if outcome.load > IDLE
        && let Some(cores) = rows
            .iter_mut()
            .find(|row| row.what.ends_with("idle machine"))
    {
        cores.bound = match cores.holds() {
            "yes" => Bound::Below(0.7),
            _ => Bound::Told,
        };
        cores.note = format!("< 0.7×; other programs ran (load {})", outcome.load);
    }
    rows
}

/// The worst of all cases that `ast-grep` has, too.
fn memory(outcome: &Outcome, corpus: &str) -> Row {
    let names = ["selective", "none", "all, counted", "all, rendered"];
    let peak = |name, by| find(outcome, corpus, name, by).map(|case| case.peak_mib);
    let ratios: Option<Vec<(f64, &str)>> = names
        .iter()
        .map(|name| {
            let others = ["ast-grep", "ast-grep, stream"].map(|by| peak(name, by));
            let least = others.into_iter().flatten().min_by(f64::total_cmp);
            Some((ratio(peak(name, "terret"), least)?, *name))
        })
        .collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)));
    let what = match worst {
        Some((_, name)) => format!("peak memory ÷ `ast-grep`, in the worst case ({name})"),
        None => "peak memory ÷ `ast-grep`".to_owned(),
    };
    row(
        corpus,
        &what,
        Bound::Below(1.0),
        "×",
        worst.map(|worst| worst.0),
    )
}

fn row(corpus: &str, what: &str, bound: Bound, unit: &'static str, measured: Option<f64>) -> Row {
    Row {
        corpus: corpus.to_owned(),
        what: what.to_owned(),
        bound,
        measured,
        unit,
        note: String::new(),
    }
}

fn find<'o>(outcome: &'o Outcome, corpus: &str, name: &str, by: &str) -> Option<&'o Measured> {
    let is = |case: &&Measured| case.corpus == corpus && case.name == name && case.by == by;
    outcome.cases.iter().find(is)
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?).filter(|ratio| ratio.is_finite())
}

pub(super) fn table(outcome: &Outcome) -> String {
    let mut text = "| tree | what | wanted | measured | holds |\n".to_owned();
    text += "| --- | --- | ---: | ---: | --- |\n";
    for row in rows(outcome) {
        let unit = row.unit;
        let wanted = match (row.note.as_str(), &row.bound) {
            ("", Bound::AtMost(bound)) => format!("≤ {bound}{unit}"),
            ("", Bound::Below(bound)) => format!("< {bound}{unit}"),
            ("", Bound::AtLeast(bound)) => format!("≥ {bound}{unit}"),
            ("", Bound::Told) => String::new(),
            (note, _) => note.to_owned(),
        };
        let measured = row.measured.map(|measured| number(measured) + unit);
        text += &format!(
            "| {} | {} | {wanted} | {} | {} |\n",
            row.corpus,
            row.what,
            measured.unwrap_or_default(),
            row.holds()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Corpus, Family};
    use super::*;

    fn outcome(cases: &[(&str, &str, &str, f64)]) -> Outcome {
        let case = |&(corpus, name, by, ms): &(&str, &str, &str, f64)| Measured {
            corpus: corpus.to_owned(),
            name: name.to_owned(),
            by: by.to_owned(),
            command: String::new(),
            answer: String::new(),
            wall_ms: ms,
            cpu_ms: ms,
            peak_mib: ms,
        };
        Outcome {
            family: Family::Structural,
            cores: 2,
            load: 0.0,
            runs: 5,
            tools: Vec::new(),
            corpora: vec![Corpus {
                name: "t".to_owned(),
                language: "python".to_owned(),
                about: String::new(),
                files: 1,
                bytes: 1,
            }],
            missing: Vec::new(),
            cases: cases.iter().map(case).collect(),
        }
    }

    fn row_of(outcome: &Outcome, start: &str) -> (Option<f64>, &'static str) {
        let row = rows(outcome)
            .into_iter()
            .find(|row| row.what.starts_with(start))
            .expect("it is wanted");
        (row.measured, row.holds())
    }

    #[test]
    fn a_bound_holds_or_does_not() {
        let floor = |ours: f64| {
            outcome(&[
                ("t", "selective", "terret", ours),
                ("t", "selective", "rg", 10.0),
                ("t", "selective", "parse", 90.0),
                ("t", "selective", "ast-grep", 1500.0),
            ])
        };
        assert_eq!(row_of(&floor(125.0), "selective: CPU"), (Some(1.25), "yes"));
        assert_eq!(
            row_of(&floor(126.0), "selective: CPU"),
            (Some(1.26), "**no**")
        );
        assert_eq!(
            row_of(&floor(100.0), "selective: `ast-grep`"),
            (Some(15.0), "yes")
        );
        assert_eq!(row_of(&floor(101.0), "selective: `ast-grep`").1, "**no**");
    }

    #[test]
    fn what_was_not_measured_is_told() {
        let without_floor = outcome(&[
            ("t", "selective", "terret", 1.0),
            ("t", "selective", "parse", 1.0),
        ]);
        assert_eq!(
            row_of(&without_floor, "selective: CPU"),
            (None, "not measured")
        );
        let missing = rows(&outcome(&[]))
            .into_iter()
            .filter(|row| row.measured.is_none());
        assert_eq!(missing.count(), rows(&outcome(&[])).len());
        assert_eq!(row_of(&outcome(&[]), "the tree"), (None, "not measured"));
    }

    #[test]
    fn a_busy_machine_is_no_proof_against_us() {
        let mut busy = outcome(&[("t", "all, counted", "terret", 1.0)]);
        assert_eq!(row_of(&busy, "all, counted: wall").1, "**no**");
        busy.load = 2.0;
        assert_eq!(row_of(&busy, "all, counted: wall").1, "");
    }
}
