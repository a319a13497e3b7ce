//! The tests' hold on file-system calls: each is counted, and one can be made to fail or to be the last.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::Op;

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Goes,
    /// It fails without having done anything.
    Fails,
    /// It takes effect and reports a failure all the same.
    FailsAfter,
    /// It answers as a file system that does not know it.
    Unsupported,
    /// The process ends before it, as by a power cut.
    Dies,
}

type Judge = Box<dyn FnMut(usize, Op, &Path) -> Fate>;

#[derive(Default)]
struct Hook {
    judge: Option<Judge>,
    calls: Vec<(Op, PathBuf)>,
    fails_after: bool,
}

thread_local! {
    static HOOK: RefCell<Hook> = RefCell::default();
}

/// Runs `body` with `judge` deciding over each of this thread's calls, which come back with the result.
pub(crate) fn with<T>(
    judge: impl FnMut(usize, Op, &Path) -> Fate + 'static,
    body: impl FnOnce() -> T,
) -> (T, Vec<(Op, PathBuf)>) {
    HOOK.with_borrow_mut(|hook| {
        *hook = Hook {
            judge: Some(Box::new(judge)),
            ..Hook::default()
        }
    });
    let value = body();
    (value, HOOK.take().calls)
}

/// Ends the process as a power cut does: nothing runs, not even the handlers of an abort.
fn die() -> ! {
    let this = rustix::process::getpid();
    rustix::process::kill_process(this, rustix::process::Signal::KILL)
        .expect("a process may kill itself");
    unreachable!("it is dead")
}

pub(super) fn before(op: Op, path: &Path) -> io::Result<()> {
    // The judge is taken out while it runs, since it may itself use the file system through this crate.
    let Some((mut judge, number)) = HOOK.with_borrow_mut(|hook| {
        let judge = hook.judge.take()?;
        hook.calls.push((op, path.to_owned()));
        hook.fails_after = false;
        Some((judge, hook.calls.len() - 1))
    }) else {
        return Ok(());
    };
    let fate = judge(number, op, path);
    HOOK.with_borrow_mut(|hook| hook.judge = Some(judge));
    match fate {
        Fate::Goes => Ok(()),
        Fate::Fails => Err(io::Error::other("made to fail")),
        Fate::FailsAfter => {
            HOOK.with_borrow_mut(|hook| hook.fails_after = true);
            Ok(())
        }
        Fate::Unsupported => Err(io::ErrorKind::Unsupported.into()),
        Fate::Dies => die(),
    }
}

pub(super) fn after(_op: Op, _path: &Path) -> io::Result<()> {
    if HOOK.with_borrow_mut(|hook| std::mem::take(&mut hook.fails_after)) {
        return Err(io::Error::other("made to fail after it took effect"));
    }
    Ok(())
}
