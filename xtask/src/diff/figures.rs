//! What came out, as JSON and as tables.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::patterns::Language;
use super::rules::RULES;
use super::sample::MOST_BYTES;

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Figures {
    /// How much of each tree was taken; all of it when absent.
    mib: Option<u64>,
    ast_grep: String,
    /// How long each language took.
    pub(super) seconds: BTreeMap<String, u64>,
    /// The names of the rules, in the order of the counts of a row.
    rules: Vec<String>,
    pub(super) trees: Vec<Tree>,
    pub(super) rows: Vec<Row>,
}

/// A tree, as far as it was taken.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Tree {
    pub(super) language: String,
    pub(super) name: String,
    pub(super) about: String,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

/// One pattern over all trees of its language.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Row {
    pub(super) language: String,
    pub(super) pattern: String,
    /// The matches of each, and how many of them are the same.
    pub(super) terret: usize,
    pub(super) ast_grep: usize,
    pub(super) same: usize,
    /// For each rule how many differences it explains, those of Terret first.
    pub(super) explained: Vec<[usize; 2]>,
    pub(super) unexplained: usize,
}

impl Row {
    pub(super) fn new(language: &str, pattern: &str) -> Row {
        Row {
            language: language.to_owned(),
            pattern: pattern.to_owned(),
            explained: vec![[0, 0]; RULES.len()],
            ..Row::default()
        }
    }

    fn only(&self, side: usize) -> usize {
        self.explained.iter().map(|counts| counts[side]).sum()
    }
}

impl Figures {
    pub(super) fn new(mib: Option<u64>, ast_grep: &str) -> Figures {
        Figures {
            mib,
            ast_grep: ast_grep.to_owned(),
            seconds: BTreeMap::new(),
            rules: RULES.iter().map(|rule| rule.name.to_owned()).collect(),
            trees: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Takes over what is there of other languages and patterns, if it was made in the same way. That there are more
    /// reasons now changes nothing for differences that had one.
    pub(super) fn keep(&mut self, old: Figures, languages: &BTreeMap<String, Language>) {
        let alike = (&old.mib, &old.ast_grep) == (&self.mib, &self.ast_grep);
        if !alike || !self.rules.starts_with(&old.rules) {
            return;
        }
        for mut row in old.rows {
            let is_it = |new: &Row| (&new.language, &new.pattern) == (&row.language, &row.pattern);
            if !self.rows.iter().any(is_it) {
                row.explained.resize(self.rules.len(), [0, 0]);
                self.rows.push(row);
            }
        }
        for tree in old.trees {
            let is_it = |new: &Tree| (&new.language, &new.name) == (&tree.language, &tree.name);
            if !self.trees.iter().any(is_it) {
                self.trees.push(tree);
            }
        }
        for (language, seconds) in old.seconds {
            self.seconds.entry(language).or_insert(seconds);
        }
        self.trees.sort_by(|a, b| a.language.cmp(&b.language));
        let place = |row: &Row| {
            let patterns = &languages.get(&row.language)?.patterns;
            patterns
                .iter()
                .position(|pattern| pattern.text() == row.pattern)
        };
        self.rows.retain(|row| place(row).is_some());
        self.rows
            .sort_by(|a, b| (&a.language, place(a)).cmp(&(&b.language, place(b))));
    }

    /// The patterns with differences that have no reason.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &str)> {
        let open = self.rows.iter().filter(|row| row.unexplained > 0);
        open.map(|row| (row.language.as_str(), row.pattern.as_str()))
    }

    /// What they lack of what is wanted.
    pub(super) fn problems(&self, languages: &BTreeMap<String, Language>) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.rules.iter().eq(RULES.iter().map(|rule| rule.name)) {
            problems.push("the differential run knew other reasons".to_owned());
        }
        for (name, language) in languages {
            for pattern in &language.patterns {
                let row = self
                    .rows
                    .iter()
                    .find(|row| row.language == *name && row.pattern == pattern.text());
                match row {
                    None => problems.push(format!("no run of {name} {:?}", pattern.text())),
                    Some(row) if row.unexplained > 0 => problems.push(format!(
                        "{name} {:?}: {} differences without a reason",
                        row.pattern, row.unexplained
                    )),
                    Some(_) => {}
                }
            }
        }
        problems
    }

    /// A row a language, and a row a reason.
    pub(super) fn tables(&self) -> String {
        let part = match self.mib {
            Some(mib) => {
                format!("`cargo xtask diff-structural --mib {mib}`: about {mib} MiB of each tree")
            }
            None => "`cargo xtask diff-structural`: the whole trees".to_owned(),
        };
        let mut text = format!(
            "{part}, without files of more than {} MiB; {}; {} minutes.\n\n",
            MOST_BYTES / 1024 / 1024,
            self.ast_grep,
            self.seconds.values().sum::<u64>().div_ceil(60)
        );
        text += "| language | trees | files | MiB | patterns | Terret | `ast-grep` | same | only Terret | only `ast-grep` | unclassified |\n";
        text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        let languages: BTreeSet<&str> = self.rows.iter().map(|row| row.language.as_str()).collect();
        for language in &languages {
            let rows = self.rows.iter().filter(|row| row.language == *language);
            text += &self.line(language, &rows.collect::<Vec<_>>());
        }
        text += &self.line("all", &self.rows.iter().collect::<Vec<_>>());
        text += "\n| why | only Terret | only `ast-grep` | what it means |\n";
        text += "| --- | ---: | ---: | --- |\n";
        for (index, rule) in RULES.iter().enumerate() {
            let sum = |side: usize| {
                let counts = self.rows.iter().filter_map(|row| row.explained.get(index));
                counts.map(|counts| counts[side]).sum::<usize>()
            };
            text += &format!(
                "| {} | {} | {} | {} For example {}. |\n",
                rule.name,
                sum(0),
                sum(1),
                rule.why,
                rule.example
            );
        }
        let abouts: BTreeSet<String> = self
            .trees
            .iter()
            .map(|tree| format!("{} is {}", tree.name, tree.about))
            .collect();
        let abouts: Vec<String> = abouts.into_iter().collect();
        text + &format!("\nThe trees: {}.\n", abouts.join("; "))
    }

    fn line(&self, language: &str, rows: &[&Row]) -> String {
        let trees = self
            .trees
            .iter()
            .filter(|tree| tree.language == language || language == "all");
        let trees: Vec<&Tree> = trees.collect();
        let names: BTreeSet<&str> = trees.iter().map(|tree| tree.name.as_str()).collect();
        let sum = |of: fn(&Row) -> usize| rows.iter().map(|row| of(row)).sum::<usize>();
        format!(
            "| {language} | {} | {} | {:.1} | {} | {} | {} | {} | {} | {} | {} |\n",
            names.into_iter().collect::<Vec<_>>().join(", "),
            trees.iter().map(|tree| tree.files).sum::<usize>(),
            trees.iter().map(|tree| tree.bytes).sum::<u64>() as f64 / 1048576.0,
            rows.len(),
            sum(|row| row.terret),
            sum(|row| row.ast_grep),
            sum(|row| row.same),
            sum(|row| row.only(0)),
            sum(|row| row.only(1)),
            sum(|row| row.unexplained)
        )
    }

    /// A row a pattern, with the reasons of its differences.
    pub(super) fn by_pattern(&self) -> String {
        let mut text = "| language | pattern | Terret | `ast-grep` | same | why they differ (only Terret/only `ast-grep`) | unclassified |\n".to_owned();
        text += "| --- | --- | ---: | ---: | ---: | --- | ---: |\n";
        for row in &self.rows {
            let reasons = self.rules.iter().zip(&row.explained);
            let reasons = reasons.filter(|(_, counts)| **counts != [0, 0]);
            let reasons: Vec<String> = reasons
                .map(|(name, [ours, theirs])| format!("{name} {ours}/{theirs}"))
                .collect();
            text += &format!(
                "| {} | `{}` | {} | {} | {} | {} | {} |\n",
                row.language,
                row.pattern.replace('\n', "⏎").replace('|', "\\|"),
                row.terret,
                row.ast_grep,
                row.same,
                reasons.join(", "),
                row.unexplained
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages() -> BTreeMap<String, Language> {
        toml::from_str("[c]\ntrees = ['t']\nfiles = ['c']\npatterns = ['a', 'b']\n")
            .expect("a table")
    }

    fn figures() -> Figures {
        let mut figures = Figures::new(Some(2), "ast-grep 1");
        figures.rows = vec![Row::new("c", "a"), Row::new("c", "b")];
        figures.trees.push(Tree {
            language: "c".to_owned(),
            name: "t".to_owned(),
            about: "a tree".to_owned(),
            files: 3,
            bytes: 2 * 1024 * 1024,
        });
        figures
    }

    #[test]
    fn a_row_that_is_missing_or_unexplained_is_a_problem() {
        let mut figures = figures();
        assert!(figures.problems(&languages()).is_empty());
        figures.rows[0].unexplained = 2;
        figures.rows.pop();
        let problems = figures.problems(&languages());
        assert_eq!(
            problems,
            [
                "c \"a\": 2 differences without a reason",
                "no run of c \"b\""
            ]
        );
        figures.rules.pop();
        assert_eq!(figures.problems(&languages()).len(), 3);
    }

    #[test]
    fn what_was_not_run_again_is_kept() {
        let mut new = Figures::new(Some(2), "ast-grep 1");
        new.rules.push("a reason that came later".to_owned());
        new.rows = vec![Row::new("c", "b")];
        new.rows[0].terret = 7;
        let mut old = figures();
        old.rows[0].unexplained = 1;
        // A pattern that is no more.
        old.rows.push(Row::new("c", "z"));
        assert_eq!(old.open().collect::<Vec<_>>(), [("c", "a")]);
        new.keep(old, &languages());
        let rows = new
            .rows
            .iter()
            .map(|row| (row.pattern.as_str(), row.terret));
        assert_eq!(rows.collect::<Vec<_>>(), [("a", 0), ("b", 7)]);
        assert_eq!(new.rows[0].explained.len(), new.rules.len());
        assert_eq!(new.trees.len(), 1);
        let mut whole = Figures::new(None, "ast-grep 1");
        whole.keep(figures(), &languages());
        assert!(whole.rows.is_empty(), "it was made in another way");
    }

    #[test]
    fn counts_are_added_up() {
        let mut figures = figures();
        figures.rows[0] = Row {
            terret: 5,
            ast_grep: 4,
            same: 3,
            ..Row::new("c", "a")
        };
        figures.rows[0].explained[0] = [2, 1];
        let tables = figures.tables();
        assert!(
            tables.contains("| c | t | 3 | 2.0 | 2 | 5 | 4 | 3 | 2 | 1 | 0 |"),
            "{tables}"
        );
        assert!(tables.contains("t is a tree"), "{tables}");
        let patterns = figures.by_pattern();
        assert!(
            patterns.contains(&format!(
                "| c | `a` | 5 | 4 | 3 | {} 2/1 | 0 |",
                RULES[0].name
            )),
            "{patterns}"
        );
    }
}
