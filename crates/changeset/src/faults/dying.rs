//! The process dies in the middle, and what recovery makes of what it leaves.

use std::path::{Path, PathBuf};

use super::{Bench, baseline, old_or_new, plain};
use crate::fs::Op;
use crate::fs::hook::{self, Fate};
use crate::{ChangeSet, CommitErrorKind, Outcome};

/// Set for the child that dies: the folder, the call to die at, and whether exchanges are unsupported.
const CHILD: &str = "TERRET_CHANGESET_DIES";

#[test]
fn child_that_dies() {
    // A test by itself it is not; only as the child of the next one does it do anything.
    let Ok(order) = std::env::var(CHILD) else {
        return;
    };
    let mut order = order.splitn(3, ' ');
    let at: usize = order.next().unwrap().parse().unwrap();
    let unsupported = order.next().unwrap() == "true";
    let folder = PathBuf::from(order.next().unwrap());
    let set = Bench::set(&Bench::open(&folder));
    let judge = move |number, op, _: &Path| {
        if number == at {
            Fate::Dies
        } else {
            plain(unsupported, op)
        }
    };
    let (result, _) = hook::with(judge, || set.commit(&|| false));
    panic!("it should have died: {result:?}");
}

#[test]
fn dying_at_every_call() {
    for unsupported in [false, true] {
        let (old, new, calls) = baseline(unsupported);
        let mut seen = [0, 0];
        for (at, call) in calls.iter().enumerate() {
            let what = format!("dead at call {at} of {}, {:?}", calls.len(), call);
            let bench = Bench::new();
            kill_child(&bench, at, unsupported);
            let recovered = bench.workspace.recover(&|| false).unwrap();
            assert!(
                recovered
                    .as_ref()
                    .is_none_or(|recovery| recovery.is_complete()),
                "{what}: {recovered:?}"
            );
            let forward =
                recovered.is_some_and(|recovery| *recovery.outcome() == Outcome::RolledForward);
            let found = bench.tree();
            let is_new = found == new;
            assert!(is_new || !forward, "{what}");
            old_or_new(&found, &old, &new, is_new, &what);
            seen[usize::from(is_new)] += 1;
            assert!(
                bench.journals().iter().all(|name| name == "journal.tmp"),
                "{what}: {:?}",
                bench.journals()
            );
            // The lock went with the process, and the next commit works.
            let mut set = ChangeSet::new(&bench.workspace);
            set.delete("untouched.txt").unwrap();
            assert!(set.commit(&|| false).unwrap().recovered().is_none());
            assert_eq!(bench.journals(), Vec::<String>::new(), "{what}");
        }
        assert!(seen[0] > 30 && seen[1] > 5, "both ends are met: {seen:?}");
    }
}

fn kill_child(bench: &Bench, at: usize, unsupported: bool) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the child is this test, which has to die to show what is left"
    )]
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faults::dying::child_that_dies", "--nocapture"])
        .env(
            CHILD,
            format!("{at} {unsupported} {}", bench.folder.path().display()),
        )
        .output()
        .unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(
        signal,
        Some(9),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_next_commit_recovers_first_and_says_so() {
    let (_, _, calls) = baseline(false);
    let at = calls
        .iter()
        .rposition(|(op, _)| *op == Op::Exchange)
        .unwrap();
    let bench = Bench::new();
    let before = bench.tree();
    kill_child(&bench, at, false);
    assert_ne!(bench.tree(), before, "it died too early for this test");

    // Reading recovers nothing, and neither does looking at a set.
    let mid = bench.tree();
    let mut set = ChangeSet::new(&bench.workspace);
    set.edit(
        &bench.workspace.capture("untouched.txt").unwrap(),
        *b"edited\n",
    )
    .unwrap();
    assert_eq!(set.verify(), vec![]);
    assert_eq!(bench.tree(), mid);

    let committed = set.commit(&|| false).unwrap();
    let recovery = committed.recovered().expect("it recovered");
    assert_eq!(recovery.outcome(), &Outcome::RolledBack);
    assert!(recovery.to_string().contains("a.txt"), "{recovery}");
    let mut wanted = before;
    wanted.get_mut(Path::new("untouched.txt")).unwrap().1 = b"edited\n".to_vec();
    assert_eq!(bench.tree(), wanted);

    // A refused commit has recovered too, and says so too.
    kill_child(&bench, at, false);
    std::fs::write(
        bench.workspace.root().join("untouched.txt"),
        "by somebody\n",
    )
    .unwrap();
    let error = set.commit(&|| false).unwrap_err();
    assert!(
        matches!(error.kind(), CommitErrorKind::Refused(_)),
        "{error}"
    );
    assert_eq!(
        error.recovered().expect("it recovered").outcome(),
        &Outcome::RolledBack
    );
}

#[test]
fn a_file_changed_after_the_crash_is_reported_and_kept() {
    let (_, _, calls) = baseline(false);
    let at = calls
        .iter()
        .rposition(|(op, _)| *op == Op::Exchange)
        .unwrap();
    let bench = Bench::new();
    let root = bench.workspace.root().to_owned();
    kill_child(&bench, at, false);
    assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"new old a\n");
    std::fs::write(root.join("a.txt"), "new and more\n").unwrap();

    let mut set = ChangeSet::new(&bench.workspace);
    set.delete("untouched.txt").unwrap();
    let error = set.commit(&|| false).unwrap_err();
    assert!(
        matches!(error.kind(), CommitErrorKind::Unrecovered),
        "{error}"
    );
    let recovery = error.recovered().unwrap();
    let [left] = recovery.left() else {
        panic!("{recovery}")
    };
    assert_eq!(left.path(), root.join("a.txt"));
    assert_eq!(
        std::fs::read(left.kept().unwrap()).unwrap(),
        b"old a\n",
        "the captured content is kept"
    );
    assert_eq!(
        std::fs::read(root.join("a.txt")).unwrap(),
        b"new and more\n",
        "and so is the later one"
    );
    assert_eq!(
        std::fs::read(root.join("b.txt")).unwrap(),
        b"old b, no line feed",
        "what is known is rolled back"
    );
    assert!(root.join("untouched.txt").exists(), "nothing was begun");
    assert!(recovery.journal().unwrap().exists());

    // It was said once; now it is up to a person, and work goes on.
    set.commit(&|| false).unwrap();
    assert!(left.kept().unwrap().exists());
}

#[test]
fn a_damaged_journal_is_moved_aside() {
    let (_, _, calls) = baseline(false);
    let at = calls
        .iter()
        .rposition(|(op, _)| *op == Op::Exchange)
        .unwrap();
    for damage in ["", "nonsense\n", "terret-changeset journal 1 00\n{}\n"] {
        let bench = Bench::new();
        kill_child(&bench, at, false);
        let before = bench.tree();
        std::fs::write(bench.workspace.state_dir().join("journal"), damage).unwrap();
        let recovery = bench.workspace.recover(&|| false).unwrap().unwrap();
        assert!(
            matches!(recovery.outcome(), Outcome::Unreadable { .. }),
            "{recovery}"
        );
        assert_eq!(bench.tree(), before, "nothing is touched");
        assert_eq!(
            std::fs::read_to_string(recovery.journal().unwrap()).unwrap(),
            damage
        );
        assert!(bench.workspace.recover(&|| false).unwrap().is_none());
    }
    // One of a later version is left for that version, as often as it is met.
    let bench = Bench::new();
    std::fs::create_dir(bench.workspace.state_dir()).unwrap();
    std::fs::write(
        bench.workspace.state_dir().join("journal"),
        "terret-changeset journal 2 x\n",
    )
    .unwrap();
    for _ in 0..2 {
        let error = Bench::set(&bench.workspace).commit(&|| false).unwrap_err();
        assert!(
            matches!(error.kind(), CommitErrorKind::Unrecovered),
            "{error}"
        );
    }
}

#[test]
fn a_failing_recovery_is_done_again() {
    let (old, new, calls) = baseline(false);
    let exchanges: Vec<_> = (0..calls.len())
        .filter(|&at| calls[at].0 == Op::Exchange)
        .collect();
    // As a crash would: nothing works from the second exchange on.
    let from = exchanges[1];
    let crashed = || {
        let bench = Bench::new();
        let set = Bench::set(&bench.workspace);
        let judge = move |number, _, _: &Path| {
            if number > from {
                Fate::Fails
            } else {
                Fate::Goes
            }
        };
        let (result, _) = hook::with(judge, || set.commit(&|| false));
        assert!(matches!(
            result.unwrap_err().kind(),
            CommitErrorKind::NotRolledBack { .. }
        ));
        assert_ne!(bench.tree(), old);
        bench
    };
    let bench = crashed();
    let (recovery, calls) = hook::with(|_, _, _| Fate::Goes, || bench.workspace.recover(&|| false));
    assert_eq!(recovery.unwrap().unwrap().outcome(), &Outcome::RolledBack);
    old_or_new(&bench.tree(), &old, &new, false, "recovery without failure");
    for (at, call) in calls.iter().enumerate() {
        for fate in [Fate::Fails, Fate::FailsAfter] {
            let what = format!("{fate:?} at call {at} of recovery, {:?}", call);
            let bench = crashed();
            let judge = move |number, _, _: &Path| if number == at { fate } else { Fate::Goes };
            // What this says is not the point; that the next one comes to the end is.
            let _ = hook::with(judge, || bench.workspace.recover(&|| false));
            let recovered = bench.workspace.recover(&|| false).unwrap();
            assert!(
                recovered.is_none_or(|recovery| recovery.is_complete()),
                "{what}"
            );
            old_or_new(&bench.tree(), &old, &new, false, &what);
            assert_eq!(bench.journals(), Vec::<String>::new(), "{what}");
        }
    }
}
