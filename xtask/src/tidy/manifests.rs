//! One manifest decides and the crates inherit, so that each stays fit to be published without
//! anyone remembering how.

use toml::{Table, Value};

use crate::workspace::Files;

/// What every crate takes from the workspace.
const INHERITED: &[&str] = &["edition", "rust-version", "license"];

/// The limits of crates.io.
const MOST_KEYWORDS: usize = 5;
const LONGEST_KEYWORD: usize = 20;

pub(super) fn problems(files: &Files) -> Vec<String> {
    let mut problems = Vec::new();
    let mut manifests = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_manifest(path)) {
        match text.parse::<Table>() {
            Ok(manifest) => manifests.push((path.as_str(), manifest)),
            Err(error) => problems.push(format!("{path}: {error}")),
        }
    }
    let shared = manifests.iter().find(|(path, _)| *path == "Cargo.toml");
    let shared = shared.and_then(|(_, root)| get(root, &["workspace", "dependencies"])?.as_table());
    let private: Vec<&str> = manifests
        .iter()
        .filter(|(_, manifest)| get(manifest, &["package", "publish"]).is_some())
        .filter_map(|(_, manifest)| get(manifest, &["package", "name"])?.as_str())
        .collect();
    for (name, dependency) in shared.into_iter().flatten() {
        let versioned = dependency.get("version").is_some();
        if dependency.get("path").is_some() && versioned == private.contains(&name.as_str()) {
            problems.push(match versioned {
                false => format!("Cargo.toml: {name} needs a version beside its path, or what uses it cannot be published"),
                true => format!("Cargo.toml: {name} is for tests only, so it has a path and no version"),
            });
        }
    }
    for (path, manifest) in manifests
        .iter()
        .filter(|(_, manifest)| manifest.contains_key("package"))
    {
        let found = of_crate(manifest, &private);
        problems.extend(
            found
                .into_iter()
                .map(|problem| format!("{path}: {problem}")),
        );
    }
    problems
}

fn is_manifest(path: &str) -> bool {
    (path == "Cargo.toml" || path.ends_with("/Cargo.toml")) && !super::sources::is_data(path)
}

fn of_crate(manifest: &Table, private: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    let yes = |value: Option<&Value>| value.and_then(Value::as_bool) == Some(true);
    for field in INHERITED {
        if !yes(get(manifest, &["package", field, "workspace"])) {
            problems.push(format!("`{field}.workspace = true` is missing"));
        }
    }
    if !yes(get(manifest, &["lints", "workspace"])) {
        problems.push("`[lints] workspace = true` is missing".to_owned());
    }
    let text = |field| {
        get(manifest, &["package", field])
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if text("description").trim().is_empty() {
        problems.push("a description is missing".to_owned());
    }
    let published = !private.contains(&text("name"));
    if published {
        keywords(get(manifest, &["package", "keywords"]), &mut problems);
    }
    for (section, dependencies) in sections(manifest) {
        for (name, dependency) in dependencies {
            if dependency.get("path").is_some() {
                problems.push(format!(
                    "{name} has a path: it belongs into the workspace's dependencies"
                ));
            }
            if private.contains(&name.as_str()) && published && section != "dev-dependencies" {
                problems.push(format!(
                    "{name} is not published, so it can be a dev-dependency only"
                ));
            }
        }
    }
    problems
}

fn keywords(value: Option<&Value>, problems: &mut Vec<String>) {
    let keywords: Vec<&str> = value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if keywords.is_empty() {
        problems.push("keywords are missing".to_owned());
    }
    if keywords.len() > MOST_KEYWORDS {
        problems.push(format!(
            "{} keywords are more than {MOST_KEYWORDS}",
            keywords.len()
        ));
    }
    for keyword in keywords
        .iter()
        .filter(|keyword| keyword.len() > LONGEST_KEYWORD)
    {
        problems.push(format!(
            "the keyword {keyword} is longer than {LONGEST_KEYWORD}"
        ));
    }
}

/// The tables of dependencies, those for one platform too.
fn sections(manifest: &Table) -> Vec<(&str, &Table)> {
    const NAMES: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table());
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| NAMES.map(|name| Some((name, table.get(name)?.as_table()?))))
        .flatten()
        .collect()
}

fn get<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(table.get(*first)?, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(root: &str, krate: &str, expected: Expect) {
        let kit =
            "[package]\nname = 'kit'\ndescription = 'd'\npublish = false\nedition.workspace = true
rust-version.workspace = true\nlicense.workspace = true\n[lints]\nworkspace = true\n";
        let files = [
            ("Cargo.toml", root),
            ("crates/a/Cargo.toml", krate),
            ("kit/Cargo.toml", kit),
        ];
        let files = files
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
        expected.assert_eq(&problems(&files).join("\n"));
    }

    const ROOT: &str = "[workspace.dependencies]
a = { path = 'crates/a', version = '0.1.0' }
kit = { path = 'kit' }
serde = '1'
";

    const GOOD: &str = "[package]
name = 'a'
description = 'd'
keywords = ['k']
edition.workspace = true
rust-version.workspace = true
license.workspace = true
[dependencies]
serde.workspace = true
[dev-dependencies]
kit.workspace = true
[lints]
workspace = true
";

    #[test]
    fn a_crate_that_inherits_is_fine() {
        check(ROOT, GOOD, expect![[""]]);
    }

    #[test]
    fn a_crate_of_its_own_mind_is_not() {
        check(
            ROOT,
            "[package]\nname = 'a'\nedition = '2021'\nlicense.workspace = true
            keywords = ['1', '2', '3', '4', '5', 'a-very-long-keyword-indeed']
            [dependencies]\nb = { path = '../b' }
            [target.'cfg(unix)'.dependencies]\nkit.workspace = true",
            expect![[r#"
                crates/a/Cargo.toml: `edition.workspace = true` is missing
                crates/a/Cargo.toml: `rust-version.workspace = true` is missing
                crates/a/Cargo.toml: `[lints] workspace = true` is missing
                crates/a/Cargo.toml: a description is missing
                crates/a/Cargo.toml: 6 keywords are more than 5
                crates/a/Cargo.toml: the keyword a-very-long-keyword-indeed is longer than 20
                crates/a/Cargo.toml: b has a path: it belongs into the workspace's dependencies
                crates/a/Cargo.toml: kit is not published, so it can be a dev-dependency only"#]],
        );
    }

    #[test]
    fn a_path_has_a_version_where_it_is_published() {
        check(
            "[workspace.dependencies]\na = { path = 'crates/a' }\nkit = { path = 'kit', version = '1' }",
            &GOOD.replace("keywords = ['k']\n", ""),
            expect![[r#"
                Cargo.toml: a needs a version beside its path, or what uses it cannot be published
                Cargo.toml: kit is for tests only, so it has a path and no version
                crates/a/Cargo.toml: keywords are missing"#]],
        );
    }

    #[test]
    fn a_broken_manifest_is_named() {
        let files = [("crates/a/Cargo.toml".to_owned(), "[package".to_owned())].into();
        assert!(problems(&files)[0].starts_with("crates/a/Cargo.toml: "));
    }
}
