//! Others at work on the same files at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use terret_changeset::{ChangeSet, CommitErrorKind};

use crate::bench::{Bench, edited};

#[test]
fn a_program_that_saves_all_the_time_loses_nothing() {
    // It writes a number by rename and reads it back until somebody has changed the file; what it finds then must be
    // made from its last number, never from an earlier one.
    let bench = Bench::new(&[("a", b"0"), ("b", b"b")]);
    let path = bench.root.join("a");
    let done = AtomicBool::new(false);
    let started = Barrier::new(2);
    let (mut committed, mut refused) = (0, 0);
    let saved = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            started.wait();
            let mut saved = 0u64;
            while !done.load(Ordering::Relaxed) {
                saved += 1;
                let draft = path.with_extension("draft");
                std::fs::write(&draft, saved.to_string()).unwrap();
                std::fs::rename(&draft, &path).unwrap();
                // Long enough for some commits to fit in, short enough for most not to.
                for _ in 0..saved % 64 {
                    std::thread::yield_now();
                    std::fs::metadata(&path).unwrap();
                }
            }
            saved
        });
        started.wait();
        for _ in 0..400 {
            let captured = bench.workspace.capture("a").unwrap();
            let number = numbers(captured.bytes()).1;
            let mut set = ChangeSet::new(&bench.workspace);
            set.edit(&captured, format!("new {number}").into_bytes())
                .unwrap();
            set.write("b", number.to_string().into_bytes()).unwrap();
            match set.commit(&|| false) {
                Ok(_) => {
                    committed += 1;
                    // What is there now is what was committed, or a later save: never a number from before.
                    let (_, now) = numbers(&bench.read("a"));
                    assert!(now >= number, "{now} after {number} was captured");
                    assert_eq!(bench.read("b"), number.to_string().into_bytes());
                }
                Err(error) => match error.kind() {
                    CommitErrorKind::Refused(_) => refused += 1,
                    CommitErrorKind::NotRolledBack { .. } => {
                        // Saved again while an earlier save was put back. That one is kept, and so is this.
                        refused += 1;
                    }
                    _ => panic!("{error}"),
                },
            }
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    println!("{committed} committed, {refused} refused, {saved} saved");
    assert!(refused > 0, "the race was never met");
    // The last save is there, by itself or as the last commit has it.
    assert_eq!(numbers(&bench.read("a")).1, saved);
}

/// Whether a content was committed, and the number in it.
fn numbers(bytes: &[u8]) -> (bool, u64) {
    let text = std::str::from_utf8(bytes).unwrap();
    match text.strip_prefix("new ") {
        Some(number) => (true, number.parse().unwrap()),
        None => (false, text.parse().unwrap()),
    }
}

#[test]
fn of_commits_at_once_each_is_whole_or_refused() {
    const THREADS: usize = 8;
    for _ in 0..10 {
        let bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c")]);
        let begin = Barrier::new(THREADS);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|n| {
                    let (bench, begin) = (&bench, &begin);
                    scope.spawn(move || {
                        let mut set = ChangeSet::new(&bench.workspace);
                        for name in ["a", "b", "c"] {
                            set.write(name, format!("{n}").into_bytes()).unwrap();
                        }
                        set.create(format!("by {n}"), *b"").unwrap();
                        begin.wait();
                        set.commit(&|| false)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let winners: Vec<_> = (0..THREADS).filter(|&n| outcomes[n].is_ok()).collect();
        let [winner] = winners[..] else {
            panic!("{winners:?}")
        };
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(
                matches!(error.kind(), CommitErrorKind::Refused(differences) if differences.len() == 3),
                "{error}"
            );
        }
        let mut wanted = vec![format!("by {winner}")];
        wanted.extend(["a", "b", "c"].map(String::from));
        wanted.sort();
        assert_eq!(bench.files().into_keys().collect::<Vec<_>>(), wanted);
        assert!(
            ["a", "b", "c"]
                .iter()
                .all(|name| bench.read(name) == winner.to_string().into_bytes())
        );
        bench.assert_tidy();
    }
}

#[test]
fn commits_of_different_files_all_go_through() {
    let names: Vec<_> = (0..12).map(|n| format!("f{n}")).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), &b"x"[..]))
        .collect();
    let bench = Bench::new(&files);
    std::thread::scope(|scope| {
        for name in &names {
            let set = bench.edit(&[name]);
            scope.spawn(move || set.commit(&|| false).unwrap());
        }
    });
    assert!(bench.files().values().all(|bytes| *bytes == edited(b"x")));
    bench.assert_tidy();
}
