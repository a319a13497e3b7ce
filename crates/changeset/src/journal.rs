//! What a commit writes down about itself before it touches a file, for whoever finds it after a crash.
//!
//! The journal is a text file: a line with the format and the hash of the next, the [`Plan`] as JSON, and then a line
//! for each state reached. A line that was cut short by a crash is a state that was not reached.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::fs;
use crate::plan::Plan;

const FORMAT: &str = "terret-changeset journal 1";
const PREPARED: &str = "PREPARED\n";
const COMMITTED: &str = "COMMITTED\n";

/// How far a commit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// Hidden files are being written; no target has been touched.
    Preparing,
    /// All hidden files are durable; targets may have been touched.
    Prepared,
    /// All targets are in place and durable; hidden files may have been removed.
    Committed,
}

/// The journal of a running commit.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
}

pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("journal")
}

fn draft(folder: &Path) -> PathBuf {
    folder.join("journal.tmp")
}

impl Journal {
    /// Writes the plan down durably. After an error nothing is left that would matter: a journal whose state is
    /// [`State::Preparing`] names hidden files that were never made.
    pub(crate) fn begin(folder: &Path, plan: &Plan) -> io::Result<Self> {
        let body = serde_json::to_string(plan).map_err(io::Error::other)?;
        let text = format!("{FORMAT} {}\n{body}\n", Digest::of(body.as_bytes()).hex());
        let (draft, path) = (draft(folder), path(folder));
        fs::unlink(&draft)?;
        let begun = (|| {
            let mut file = fs::create(&draft, true)?;
            fs::write_all(&mut file, &draft, text.as_bytes())?;
            fs::sync(&file, &draft)?;
            fs::rename(&draft, &path)?;
            fs::sync_folder(folder)?;
            Ok(file)
        })();
        match begun {
            Ok(file) => Ok(Self {
                path,
                file,
                length: text.len() as u64,
            }),
            Err(error) => {
                // Removing is tidiness: either file is harmless, and replaced or removed by the next commit.
                let _ = fs::unlink(&draft);
                let _ = fs::unlink(&path);
                Err(error)
            }
        }
    }

    /// Notes durably that a state is reached. After an error it may or may not be noted.
    pub(crate) fn mark(&mut self, state: State) -> io::Result<()> {
        let line = match state {
            State::Preparing => "",
            State::Prepared => PREPARED,
            State::Committed => COMMITTED,
        };
        fs::write_all(&mut self.file, &self.path, line.as_bytes())?;
        fs::sync(&self.file, &self.path)?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Takes back durably what a failed [`mark`](Self::mark) may have noted.
    pub(crate) fn take_back_mark(&mut self) -> io::Result<()> {
        fs::truncate(&self.file, &self.path, self.length)?;
        fs::sync(&self.file, &self.path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the journal in `folder`.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    fs::unlink(&path(folder))?;
    fs::sync_folder(folder)
}

/// Moves the journal in `folder` out of the way of later commits, for a person to look at. Returns its new path.
pub(crate) fn set_aside(folder: &Path) -> io::Result<PathBuf> {
    let path = path(folder);
    for n in 1..=MOST_SET_ASIDE {
        let aside = folder.join(format!("journal.kept-{n}"));
        if fs::stat(&aside)?.is_none() {
            fs::rename(&path, &aside)?;
            fs::sync_folder(folder)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other(format!(
        "{MOST_SET_ASIDE} journals have been kept in {} already",
        folder.display()
    )))
}

const MOST_SET_ASIDE: u32 = 1000;

/// A journal that was found.
pub(crate) enum Found {
    Nothing,
    Read(Box<Plan>, State),
    /// It is not as it was written, in these words.
    Damaged(String),
    /// It was written by another version, which can read it.
    Foreign,
}

/// Looks for the journal of an earlier commit.
pub(crate) fn find(folder: &Path, root: &Path) -> io::Result<Found> {
    let path = path(folder);
    if fs::stat(&path)?.is_none() {
        return Ok(Found::Nothing);
    }
    let mut file = fs::open(&path)?;
    let bytes = fs::read_all(&mut file, &path)?;
    Ok(parse(&bytes, root))
}

fn parse(bytes: &[u8], root: &Path) -> Found {
    let damaged = |what: &str| Found::Damaged(what.to_owned());
    let Ok(text) = std::str::from_utf8(bytes) else {
        return damaged("it is not text");
    };
    let Some((header, rest)) = text.split_once('\n') else {
        return damaged("its first line is incomplete");
    };
    let Some(hash) = header
        .strip_prefix(FORMAT)
        .and_then(|hash| hash.strip_prefix(' '))
    else {
        let ours = FORMAT.trim_end_matches(|c: char| c.is_ascii_digit());
        return if header.starts_with(ours) {
            Found::Foreign
        } else {
            damaged("its first line is unknown")
        };
    };
    let Some((body, marks)) = rest.split_once('\n') else {
        return damaged("its plan is incomplete");
    };
    if Digest::of(body.as_bytes()).hex() != hash {
        return damaged("its plan does not have the hash that was noted");
    }
    let plan: Plan = match serde_json::from_str(body) {
        Ok(plan) => plan,
        Err(error) => return Found::Damaged(format!("its plan makes no sense: {error}")),
    };
    if plan.root != root {
        return Found::Damaged(format!(
            "it is of another workspace, {}",
            plan.root.display()
        ));
    }
    if !plan.members.iter().all(|member| member.is_plausible(root))
        || !plan.folders.iter().all(|folder| folder.0.starts_with(root))
    {
        return damaged("its plan names files that no commit would");
    }
    let all = format!("{PREPARED}{COMMITTED}");
    if !all.starts_with(marks) {
        return damaged("the states that it notes are unknown");
    }
    let state = match marks.len() {
        reached if reached == all.len() => State::Committed,
        reached if reached >= PREPARED.len() => State::Prepared,
        _ => State::Preparing,
    };
    Found::Read(Box::new(plan), state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(marks: &str) -> Vec<u8> {
        let body = serde_json::to_string(&Plan {
            root: "/w".into(),
            folders: vec![],
            members: vec![],
        })
        .unwrap();
        format!(
            "{FORMAT} {}\n{body}\n{marks}",
            Digest::of(body.as_bytes()).hex()
        )
        .into_bytes()
    }

    #[test]
    fn a_line_cut_short_is_a_state_not_reached() {
        let whole = format!("{PREPARED}{COMMITTED}");
        for cut in 0..=whole.len() {
            let Found::Read(_, state) = parse(&journal(&whole[..cut]), Path::new("/w")) else {
                panic!("at {cut}")
            };
            let expected = match cut {
                19 => State::Committed,
                9..19 => State::Prepared,
                _ => State::Preparing,
            };
            assert_eq!(state, expected, "at {cut}");
        }
    }

    #[test]
    fn anything_else_is_damage() {
        let whole = journal(PREPARED);
        for cut in 0..whole.len() - PREPARED.len() {
            assert!(
                matches!(parse(&whole[..cut], Path::new("/w")), Found::Damaged(_)),
                "at {cut}"
            );
        }
        for at in FORMAT.len() + 1..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            assert!(
                matches!(parse(&bytes, Path::new("/w")), Found::Damaged(_)),
                "at {at}"
            );
        }
        assert!(matches!(
            parse(&whole, Path::new("/other")),
            Found::Damaged(_)
        ));
        assert!(matches!(
            parse(b"terret-changeset journal 2 x\n", Path::new("/w")),
            Found::Foreign
        ));
    }
}
