//! The grammars that are compiled in, and those that are not.

use serde_json::{Value, json};
use terret::grammars::{GrammarSource, Shipped};

/// A language that Terret knows.
pub(super) struct Language<'a> {
    id: &'a str,
    /// The cargo feature that brings its grammar.
    feature: &'a str,
    compiled_in: bool,
}

pub(super) fn known() -> Vec<Language<'static>> {
    let compiled_in = Shipped.ids();
    let known = Shipped::known().into_iter();
    known
        .map(|(id, feature)| Language {
            id,
            feature,
            compiled_in: compiled_in.contains(&id),
        })
        .collect()
}

pub(super) fn details(languages: &[Language<'_>]) -> Value {
    let one = |language: &Language<'_>| {
        json!({
            "language": language.id,
            "compiled_in": language.compiled_in,
            "feature": language.feature,
        })
    };
    languages.iter().map(one).collect()
}

pub(super) fn report(languages: &[Language<'_>]) -> String {
    let (here, missing): (Vec<_>, Vec<_>) =
        languages.iter().partition(|language| language.compiled_in);
    let ids = here
        .iter()
        .map(|language| language.id)
        .collect::<Vec<_>>()
        .join(", ");
    let mut text = match here.len() {
        0 => "grammars: none is compiled in, so there is no structural search\n".to_owned(),
        count => format!("grammars: {count} compiled in: {ids}\n"),
    };
    for Language { id, feature, .. } in &missing {
        text.push_str(&format!(
            "  {id}: not compiled in; brought by the feature `{feature}` of terret-grammars\n"
        ));
    }
    if !missing.is_empty() {
        text.push_str("all of them: cargo install terret-cli --features all-grammars\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_is_missing_comes_with_how_to_get_it() {
        let language = |id, feature, compiled_in| Language {
            id,
            feature,
            compiled_in,
        };
        let languages = [
            language("dart", "dart", true),
            language("kotlin", "kotlin", false),
            language("tsx", "typescript", true),
        ];
        expect![[r#"
            grammars: 2 compiled in: dart, tsx
              kotlin: not compiled in; brought by the feature `kotlin` of terret-grammars
            all of them: cargo install terret-cli --features all-grammars
        "#]]
        .assert_eq(&report(&languages));
        expect!["grammars: 1 compiled in: dart\n"].assert_eq(&report(&languages[..1]));
        expect![[r#"
            grammars: none is compiled in, so there is no structural search
              kotlin: not compiled in; brought by the feature `kotlin` of terret-grammars
            all of them: cargo install terret-cli --features all-grammars
        "#]]
        .assert_eq(&report(&languages[1..2]));
    }
}
