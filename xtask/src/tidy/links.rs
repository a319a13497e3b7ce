//! Relative links of Markdown pages lead somewhere.

use std::collections::BTreeSet;

use crate::workspace::Files;

pub(super) fn problems(files: &Files) -> Vec<String> {
    let places = places(files);
    let mut problems = Vec::new();
    for (path, text) in files
        .iter()
        .filter(|(path, _)| path.ends_with(".md") && !super::sources::is_data(path))
    {
        for (number, target) in targets(text) {
            if let Err(why) = resolve(path, &target, files, &places) {
                problems.push(format!(
                    "{path}:{number}: the link `{target}` leads nowhere: {why}"
                ));
            }
        }
    }
    problems
}

/// The files and every folder above one.
fn places(files: &Files) -> BTreeSet<String> {
    let mut places = BTreeSet::from([String::new()]);
    for path in files.keys() {
        places.insert(path.clone());
        places.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
    }
    places
}

/// What a page links to, with the line; code is no link.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            let end = rest.find([')', ' ']).unwrap_or(rest.len());
            targets.push((number, rest[..end].trim_matches(['<', '>']).to_owned()));
        }
        let reference = line
            .trim_start()
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "));
        if let Some((_, target)) = reference {
            targets.push((
                number,
                target.split(' ').next().unwrap_or_default().to_owned(),
            ));
        }
    }
    targets
}

/// The lines outside fenced blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => lines.push((number, line)),
            _ => {}
        }
    }
    lines
}

fn without_code(line: &str) -> String {
    line.split('`')
        .enumerate()
        .filter(|(part, _)| part % 2 == 0)
        .map(|(_, text)| text)
        .collect()
}

fn resolve(
    page: &str,
    target: &str,
    files: &Files,
    places: &BTreeSet<String>,
) -> Result<(), String> {
    let (target, anchor) = target.split_once('#').unwrap_or((target, ""));
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let place = match target {
        "" => page.to_owned(),
        _ => join(page, target).ok_or("it leaves the repository")?,
    };
    if !places.contains(&place) {
        return Err(format!("there is no {place}"));
    }
    match files
        .get(&place)
        .filter(|_| place.ends_with(".md") && !anchor.is_empty())
    {
        Some(text) if !headings(text).contains(&anchor.to_owned()) => {
            Err(format!("{place} has no heading for #{anchor}"))
        }
        _ => Ok(()),
    }
}

/// A relative target from where a page is; none if it is not one, or leads out.
fn join(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            "" => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of a page's headings, as GitHub makes them.
fn headings(text: &str) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = |char: char| match char {
            ' ' => Some('-'),
            '-' | '_' => Some(char),
            _ if char.is_alphanumeric() => Some(char),
            _ => None,
        };
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(kept)
            .collect();
        let again = slugs
            .iter()
            .filter(|other| {
                other
                    .trim_end_matches(|c: char| c.is_ascii_digit())
                    .trim_end_matches('-')
                    == slug
            })
            .count();
        slugs.push(match again {
            0 => slug,
            again => format!("{slug}-{again}"),
        });
    }
    slugs
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn links_lead_somewhere_or_are_named() {
        let page = "# One page\n
[up](../README.md) [folder](.) [here](#one-page) [part](b.md#two-of-them-all)
[web](https://example.org/x) `[code](nowhere)` [image](img/a.png \"title\")
```
[fenced](nowhere)
```
[gone](c.md) [out](../../x) [no part](b.md#three) [absolute](/a.md)
[ref]: d.md
";
        let files = [
            ("README.md", "x"),
            ("docs/a.md", page),
            ("docs/b.md", "## Two, of `them` all\n"),
            ("docs/img/a.png", ""),
            ("docs/fixtures/bad.md", "[x](nowhere)"),
        ];
        let files = files
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
        expect![[r#"
            docs/a.md:8: the link `c.md` leads nowhere: there is no docs/c.md
            docs/a.md:8: the link `../../x` leads nowhere: it leaves the repository
            docs/a.md:8: the link `b.md#three` leads nowhere: docs/b.md has no heading for #three
            docs/a.md:8: the link `/a.md` leads nowhere: it leaves the repository
            docs/a.md:9: the link `d.md` leads nowhere: there is no docs/d.md"#]]
        .assert_eq(&problems(&files).join("\n"));
    }

    #[test]
    fn a_heading_that_comes_again_has_a_number() {
        assert_eq!(headings("# A b\n## A b\n#no\n"), ["a-b", "a-b-1"]);
    }
}
