//! What is in folders, remembered for as long as they do not change.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The names in a folder; none if it cannot be read.
pub(crate) type Names = HashSet<OsString>;

/// How many folders are remembered.
const MOST: usize = 4096;

/// The time stamps of some file systems and kernels are this coarse: a change so soon after the last one may not show.
const COARSE: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(crate) struct Listings {
    folders: HashMap<PathBuf, Listing>,
}

#[derive(Debug)]
struct Listing {
    changed: Option<SystemTime>,
    /// It was read so soon after its last change that another one may go unseen.
    doubtful: bool,
    names: Arc<Names>,
}

impl Listings {
    pub(crate) fn clear(&mut self) {
        self.folders.clear();
    }

    /// A look at folders during which each is checked once.
    pub(crate) fn look(&mut self) -> Look<'_> {
        if self.folders.len() > MOST {
            self.folders.clear();
        }
        Look {
            listings: self,
            checked: HashSet::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Look<'a> {
    listings: &'a mut Listings,
    checked: HashSet<PathBuf>,
}

impl Look<'_> {
    /// The names in `folder`.
    pub(crate) fn names(&mut self, folder: &Path) -> Arc<Names> {
        if let Some(known) = self.listings.folders.get(folder) {
            let as_it_was = || !known.doubtful && changed(folder) == known.changed;
            if self.checked.contains(folder) || as_it_was() {
                self.checked.insert(folder.to_owned());
                return Arc::clone(&known.names);
            }
        }
        // Asked for before it is read: a change in between makes the next look read it again.
        let changed = changed(folder);
        let now = SystemTime::now();
        let listing = Listing {
            changed,
            doubtful: changed.is_some_and(|changed| now < changed + COARSE),
            names: Arc::new(read(folder)),
        };
        let names = Arc::clone(&listing.names);
        self.checked.insert(folder.to_owned());
        self.listings.folders.insert(folder.to_owned(), listing);
        names
    }

    /// Whether something of that name is in `folder`.
    pub(crate) fn has(&mut self, folder: &Path, name: &OsStr) -> bool {
        self.names(folder).contains(name)
    }
}

fn changed(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder)
        .and_then(|metadata| metadata.modified())
        .ok()
}

fn read(folder: &Path) -> Names {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .collect()
}

#[cfg(test)]
mod tests {
    use terret_testkit::Tree;

    use super::*;

    #[test]
    fn a_change_is_seen_by_the_next_look() {
        let tree = Tree::new("//- /a\n");
        let root = tree.root();
        let mut listings = Listings::default();
        for round in 0..20 {
            let name = format!("file-{round}");
            assert!(!listings.look().has(&root, OsStr::new(&name)));
            fs::write(root.join(&name), "").unwrap();
            assert!(listings.look().has(&root, OsStr::new(&name)), "{round}");
            fs::remove_file(root.join(&name)).unwrap();
        }
        assert!(!listings.look().has(&root.join("none"), OsStr::new("a")));
        fs::create_dir(root.join("none")).unwrap();
        fs::write(root.join("none/a"), "").unwrap();
        assert!(listings.look().has(&root.join("none"), OsStr::new("a")));
    }

    #[test]
    fn what_did_not_change_is_not_read_again() {
        let tree = Tree::new("//- /a\n");
        let root = tree.root();
        // Long enough ago to be certain.
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(&root).unwrap().set_modified(past).unwrap();
        let mut listings = Listings::default();
        let first = listings.look().names(&root);
        assert!(Arc::ptr_eq(&first, &listings.look().names(&root)));
        listings.clear();
        assert!(!Arc::ptr_eq(&first, &listings.look().names(&root)));
    }
}
