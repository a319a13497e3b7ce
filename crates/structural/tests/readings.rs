//! How the fragments of the golden files are read. Each entry of `readings/LANGUAGE.txt` is a name,
//! a fragment, the readings that are matched (`=`), those of later contexts (`~`) or the error
//! (`!`), and the reason where a reading is not the obvious one (`#`). `UPDATE_EXPECT=1` rewrites
//! all but the reasons.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::expect_file;
use terret_grammars::{GrammarSource, Shipped};
use terret_structural::pattern::Pattern;

fn rendered(language: &str, golden: &str) -> String {
    let grammar = Shipped.grammar(language).unwrap();
    let entries = golden.split("\n\n").map(|entry| {
        let mut lines = entry.trim().lines();
        let head = lines.next().unwrap_or_default();
        let (_, fragment) = head
            .split_once(": ")
            .expect("an entry begins with `name: fragment`");
        let mut text = head.to_owned();
        match Pattern::compile(&grammar, &fragment.replace("\\n", "\n"), None) {
            Ok(pattern) => {
                for reading in pattern.readings() {
                    text += &format!("\n  = {reading}");
                }
                for reading in pattern.later_readings() {
                    text += &format!("\n  ~ {reading}");
                }
            }
            Err(error) => text += &format!("\n  ! {error}"),
        }
        for reason in lines.filter(|line| line.trim_start().starts_with('#')) {
            text += &format!("\n{reason}");
        }
        text
    });
    entries.collect::<Vec<_>>().join("\n\n") + "\n"
}

macro_rules! golden {
    ($($language:ident)*) => {$(
        #[test]
        fn $language() {
            let golden = include_str!(concat!("readings/", stringify!($language), ".txt"));
            expect_file![concat!("readings/", stringify!($language), ".txt")]
                .assert_eq(&rendered(stringify!($language), golden));
        }
    )*};
}

golden! { bash c cmake cpp csharp css dart elixir erlang fortran go haskell hcl html java javascript json julia kotlin lua make markdown nix objc ocaml perl php proto python r ruby rust scala solidity sql svelte swift toml tsx typescript xml yaml zig }
