//! A part of a tree, or all of it, copied so that both programs see just the files of a language.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Generated sources of many megabytes say the same over and over.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// Copies every so many files, in the order of their paths, so that it comes to about `mib`; says how
/// many they are, and their bytes.
pub(super) fn take(
    from: &Path,
    to: &Path,
    extensions: &[String],
    mib: Option<u64>,
) -> Result<(usize, u64)> {
    let mut files = Vec::new();
    list(from, extensions, &mut files)?;
    files.sort();
    let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let step = mib.map_or(1, |mib| all.div_ceil(mib * 1024 * 1024).max(1));
    let step = usize::try_from(step).context("a huge tree")?;
    let (mut count, mut total) = (0, 0);
    for (file, bytes) in files.iter().skip(step / 2).step_by(step) {
        let target = to.join(file.strip_prefix(from).context("it is inside")?);
        fs::create_dir_all(target.parent().context("it is in a folder")?)?;
        fs::copy(file, &target).with_context(|| file.display().to_string())?;
        count += 1;
        total += bytes;
    }
    fs::create_dir_all(to)?;
    Ok((count, total))
}

fn list(folder: &Path, extensions: &[String], files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for item in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let item = item.context("a folder")?;
        let (kind, path) = (item.file_type().context("a file")?, item.path());
        let extension = path.extension().and_then(|extension| extension.to_str());
        let wanted = extension.is_some_and(|found| extensions.iter().any(|other| other == found));
        if kind.is_dir() {
            list(&path, extensions, files)?;
        } else if kind.is_file() && wanted {
            let bytes = item.metadata().context("a file")?.len();
            files.extend((bytes <= MOST_BYTES).then_some((path, bytes)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_every_so_many_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("from");
        fs::create_dir_all(&from).expect("made");
        for name in ["a.rs", "b.rs", "c.rs", "d.rs", "e.txt"] {
            fs::write(from.join(name), vec![b' '; 1024 * 1024]).expect("written");
        }
        let to = folder.path().join("to");
        let (files, bytes) = take(&from, &to, &["rs".to_owned()], Some(2)).expect("copied");
        assert_eq!((files, bytes), (2, 2 * 1024 * 1024));
        assert!(to.join("b.rs").exists() && to.join("d.rs").exists());
    }
}
