//! Random sets of changes against the simplest thing that could be right: a map.

use std::collections::BTreeMap;

use proptest::prelude::*;
use terret_changeset::{ChangeSet, DiffBounds, StageErrorKind};

use crate::bench::Bench;
use crate::diff::apply;

#[derive(Clone, Debug)]
enum Op {
    Write(usize, String),
    Create(usize, String),
    Delete(usize),
    Rename(usize, usize),
}

const NAMES: [&str; 7] = ["a", "b", "c", "sub/a", "sub/b", "new/deep/a", "new/b"];

fn content() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["[a-c]{0,2}\n", "[a-c]{0,2}\r\n", "é?x"], 0..12)
        .prop_map(|parts| parts.concat())
}

fn op() -> impl Strategy<Value = Op> {
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (name.clone(), content()).prop_map(|(n, text)| Op::Write(n, text)),
        2 => (name.clone(), content()).prop_map(|(n, text)| Op::Create(n, text)),
        1 => name.clone().prop_map(Op::Delete),
        2 => (name.clone(), name).prop_map(|(from, to)| Op::Rename(from, to)),
    ]
}

/// Does to a map what the set does; `None` where it must fail.
fn model(files: &mut BTreeMap<String, Vec<u8>>, op: &Op) -> Option<()> {
    match op {
        Op::Write(n, text) => *files.get_mut(NAMES[*n])? = text.clone().into(),
        Op::Create(n, text) => {
            if files.contains_key(NAMES[*n]) {
                return None;
            }
            files.insert(NAMES[*n].into(), text.clone().into());
        }
        Op::Delete(n) => drop(files.remove(NAMES[*n])?),
        Op::Rename(from, to) => {
            if !files.contains_key(NAMES[*from]) || files.contains_key(NAMES[*to]) {
                return None;
            }
            let bytes = files.remove(NAMES[*from])?;
            files.insert(NAMES[*to].into(), bytes);
        }
    }
    Some(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_committed_set_is_what_a_map_would_be(
        texts in proptest::collection::vec(content(), 4),
        ops in proptest::collection::vec(op(), 0..14),
        fails in any::<bool>(),
    ) {
        let files: Vec<_> = NAMES.iter().copied().zip(texts.iter().map(String::as_bytes)).collect();
        let bench = Bench::in_memory(&files);
        let before = bench.files();
        let mut wanted = before.clone();
        let mut set = ChangeSet::new(&bench.workspace);
        for op in &ops {
            let result = match op {
                Op::Write(n, text) => set.write(NAMES[*n], text.clone().into_bytes()),
                Op::Create(n, text) => set.create(NAMES[*n], text.clone().into_bytes()),
                Op::Delete(n) => set.delete(NAMES[*n]),
                Op::Rename(from, to) => set.rename(NAMES[*from], NAMES[*to]),
            };
            let ok = model(&mut wanted, op).is_some();
            prop_assert_eq!(ok, result.is_ok(), "{:?}: {:?}", op, result);
            if let Err(error) = result {
                prop_assert!(matches!(error.kind(), StageErrorKind::Missing | StageErrorKind::Exists), "{}", error);
            }
        }
        for name in NAMES {
            prop_assert_eq!(set.exists(name).unwrap(), wanted.contains_key(name));
        }
        prop_assert_eq!(set.is_empty(), set.files().is_empty());
        let diff = set.diff(&DiffBounds::unbounded()).to_string();
        prop_assert_eq!(&apply(&before, &diff), &wanted, "{}", diff);

        if fails && !set.is_empty() {
            // Somebody writes to the last file that the set touches.
            let last = set.files().last().unwrap().path().to_owned();
            let path = bench.root.join(last);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "theirs, and longer than any").unwrap();
            let now = bench.files();
            set.commit(&|| false).unwrap_err();
            prop_assert_eq!(bench.files(), now);
        } else {
            let committed = set.commit(&|| false).unwrap();
            prop_assert_eq!(committed.files().len(), set.files().len());
            prop_assert_eq!(bench.files(), wanted);
        }
        bench.assert_tidy();
    }
}
