//! What a commit does to the disk, in terms that a journal can hold.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::capture::{self, Found};
use crate::digest::Digest;
use crate::fs;
use crate::reason::Kind;

/// Everything that recovery must know about a commit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    #[serde(with = "escaped")]
    pub(crate) root: PathBuf,
    /// The folders to be made, outer ones first.
    pub(crate) folders: Vec<Folder>,
    /// In the order in which they are put in place.
    pub(crate) members: Vec<Member>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Folder(#[serde(with = "escaped")] pub(crate) PathBuf);

/// One path that changes. Without `old` the file is created, without `new` deleted, with both replaced.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    #[serde(with = "escaped")]
    pub(crate) target: PathBuf,
    /// The hidden name of the new file until it is in place; of the old one after an exchange.
    #[serde(with = "escaped")]
    pub(crate) incoming: PathBuf,
    /// The hidden name of the old file where it is moved out instead of exchanged.
    #[serde(with = "escaped")]
    pub(crate) outgoing: PathBuf,
    pub(crate) old: Option<Print>,
    pub(crate) new: Option<Print>,
}

impl Plan {
    /// The folders whose names the plan changes before any new folder is made.
    pub(crate) fn present_folders(&self) -> BTreeSet<&Path> {
        self.members
            .iter()
            .filter_map(|member| member.incoming.parent())
            .collect()
    }

    /// The folders whose names the plan changes.
    pub(crate) fn all_folders(&self) -> BTreeSet<&Path> {
        let mut folders = self.present_folders();
        folders.extend(
            self.members
                .iter()
                .filter_map(|member| member.target.parent()),
        );
        folders.extend(
            self.folders
                .iter()
                .flat_map(|Folder(folder)| [Some(&**folder), folder.parent()])
                .flatten(),
        );
        folders
    }
}

impl Member {
    /// Whether all three names are where a plan of this crate would have them.
    pub(crate) fn is_plausible(&self, root: &Path) -> bool {
        let inside = |path: &Path| {
            path.starts_with(root)
                && path
                    .components()
                    .all(|part| !matches!(part, std::path::Component::ParentDir))
        };
        inside(&self.target)
            && [&self.incoming, &self.outgoing].into_iter().all(|path| {
                let name = path.file_name().unwrap_or_default().as_bytes();
                inside(path) && name.starts_with(b".") && name.ends_with(b".tmp")
            })
            && (self.old.is_some() || self.new.is_some())
    }
}

/// By what the content and mode of a file are known again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Print {
    pub(crate) length: u64,
    pub(crate) sha256: String,
    /// `None` for a file that gets its mode from the process's umask.
    pub(crate) mode: Option<u32>,
}

impl Print {
    pub(crate) fn of(bytes: &[u8], mode: Option<u32>) -> Self {
        Self {
            length: bytes.len() as u64,
            sha256: Digest::of(bytes).hex(),
            mode,
        }
    }

    fn is_of(&self, other: &Self) -> bool {
        let same_mode = self.mode.is_none() || other.mode.is_none() || self.mode == other.mode;
        self.length == other.length && self.sha256 == other.sha256 && same_mode
    }
}

/// What stands at a path, links not followed.
#[derive(Debug)]
pub(crate) enum Seen {
    Nothing,
    Other(Kind),
    File { print: Print, identity: (u64, u64) },
}

impl Seen {
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(match capture::read(path) {
            Ok(Found::Nothing) => Self::Nothing,
            Ok(Found::Other(kind)) => Self::Other(kind),
            Ok(Found::File(found)) => Self::File {
                print: Print::of(&found.bytes, Some(found.mode)),
                identity: found.identity,
            },
            Err(error) if crate::workspace::is_missing(&error) => Self::Nothing,
            Err(error) => return Err(error),
        })
    }

    pub(crate) fn is(&self, print: Option<&Print>) -> bool {
        matches!((self, print), (Self::File { print: seen, .. }, Some(print)) if print.is_of(seen))
    }

    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Whether both are one file under two names.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        matches!((self, other), (Self::File { identity: a, .. }, Self::File { identity: b, .. }) if a == b)
    }
}

/// Makes up the hidden names of one commit.
pub(crate) struct Names {
    id: u64,
}

impl Names {
    pub(crate) fn new() -> Self {
        // Two maps must not collide in the same way, so the standard library has a random number at hand.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        Self {
            id: hasher.finish(),
        }
    }

    /// The names for the new and the old content of a member, in `folder`.
    pub(crate) fn of(&self, folder: &Path, target: &Path, index: usize) -> (PathBuf, PathBuf) {
        let name = target.file_name().unwrap_or_default();
        let hidden =
            |side: char| folder.join(hidden_name(name, &format!("{:016x}{side}{index}", self.id)));
        (hidden('n'), hidden('o'))
    }
}

/// `.name.<id>.tmp`, with as much of the name as fits: file systems allow 255 bytes.
fn hidden_name(name: &OsStr, id: &str) -> OsString {
    const LONGEST: usize = 255;
    let room = LONGEST - id.len() - "...tmp".len();
    let bytes = name.as_bytes();
    let mut end = bytes.len().min(room);
    // Not in the middle of a character: some file systems allow only whole ones.
    while end > 0 && end < bytes.len() && bytes[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let mut hidden = OsString::from(".");
    hidden.push(OsStr::from_bytes(&bytes[..end]));
    hidden.push(format!(".{id}.tmp"));
    hidden
}

/// The folders that must be made for `target` to be, outer ones first, and the deepest one that is there.
pub(crate) fn missing_folders(target: &Path) -> io::Result<(Vec<PathBuf>, PathBuf)> {
    let mut missing = Vec::new();
    for folder in target.ancestors().skip(1) {
        if fs::stat(folder)?.is_some() {
            missing.reverse();
            return Ok((missing, folder.to_owned()));
        }
        missing.push(folder.to_owned());
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Paths as text that any bytes survive: what is not printable ASCII, and `%`, becomes `%` and two digits.
pub(crate) mod escaped {
    use super::*;

    pub(crate) fn serialize<S: serde::Serializer>(
        path: &Path,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for &byte in path.as_os_str().as_bytes() {
            match byte {
                b' '..=b'~' if byte != b'%' => text.push(char::from(byte)),
                _ => text.push_str(&format!("%{byte:02x}")),
            }
        }
        serializer.serialize_str(&text)
    }

    pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'%' {
                bytes.push(byte);
                continue;
            }
            let digits = after
                .get(..2)
                .and_then(|digits| std::str::from_utf8(digits).ok());
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.push(value.ok_or_else(|| serde::de::Error::custom("a bad escape in a path"))?);
            rest = &after[2..];
        }
        Ok(OsString::from_vec(bytes).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_fit_and_keep_characters_whole() {
        let name = "é".repeat(127);
        let hidden = hidden_name(OsStr::new(&name), "0123456789abcdefn999");
        assert!(hidden.len() <= 255, "{} bytes", hidden.len());
        assert!(hidden.to_str().is_some(), "a character was cut in two");
        assert_eq!(hidden_name(OsStr::new("a.rs"), "7"), ".a.rs.7.tmp");
    }

    #[test]
    fn any_bytes_of_a_path_survive_the_journal() {
        let path = PathBuf::from(OsString::from_vec((1..=255).collect()));
        let text = serde_json::to_string(&Folder(path.clone())).unwrap();
        assert!(text.is_ascii());
        assert_eq!(serde_json::from_str::<Folder>(&text).unwrap().0, path);
        assert!(serde_json::from_str::<Folder>("\"%f\"").is_err());
    }
}
