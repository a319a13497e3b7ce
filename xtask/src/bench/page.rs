//! A page of the documentation with parts that a task makes: each stands between two comments that
//! name it.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Puts each part in its place.
pub(crate) fn write(workspace: &Workspace, page: &str, blocks: &[(&str, String)]) -> Result<()> {
    let file = workspace.root.join(page);
    let mut text = fs::read_to_string(&file).with_context(|| page.to_owned())?;
    for (name, block) in blocks {
        text = replace(&text, name, block).with_context(|| page.to_owned())?;
    }
    fs::write(&file, text).with_context(|| page.to_owned())
}

/// What is not as it would be written.
pub(crate) fn problems(
    workspace: &Workspace,
    page: &str,
    blocks: &[(&str, String)],
) -> Result<Vec<String>> {
    let text = fs::read_to_string(workspace.root.join(page)).with_context(|| page.to_owned())?;
    let mut problems = Vec::new();
    for (name, block) in blocks {
        match replace(&text, name, block) {
            Ok(same) if same == text => {}
            Ok(_) => problems.push(format!("{page}: `{name}` is not what its JSON gives")),
            Err(error) => problems.push(format!("{page}: {error:#}")),
        }
    }
    Ok(problems)
}

fn replace(page: &str, name: &str, block: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- {name}: made by a task -->\n"),
        format!("<!-- {name}: end -->"),
    );
    let around = page
        .split_once(&begin)
        .and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let Some((before, after)) = around else {
        bail!("there is no place for `{name}`");
    };
    Ok(format!(
        "{before}{begin}\n{}\n\n{end}{after}",
        block.trim_end()
    ))
}

/// Three digits or more, as a person reads them.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_place_is_written() {
        let page = "# A\n<!-- x: made by a task -->\nold\n<!-- x: end -->\nb\n";
        let new = replace(page, "x", "new\n").expect("there is a place");
        assert_eq!(
            new,
            "# A\n<!-- x: made by a task -->\n\nnew\n\n<!-- x: end -->\nb\n"
        );
        assert_eq!(replace(&new, "x", "new").expect("again"), new);
        assert!(replace(page, "y", "").is_err());
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.5, 12.34, 1234.5].map(number);
        assert_eq!(shown, ["0.50", "12.3", "1234"]);
    }
}
