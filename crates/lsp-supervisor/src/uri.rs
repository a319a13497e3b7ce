//! Paths as the protocol writes them, and back.
//!
//! A document keeps the URI that it was opened with, and what a server sends is compared by the path that it decodes
//! to: servers escape other characters than we do (gopls sends back `+` where it was sent `%2B`).

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The URI of an absolute path.
#[must_use]
pub fn of_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path of a URI; absent for what is no file of this machine: `jdt://…`, `untitled:…`.
#[must_use]
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/')?);
            let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            is_here.then_some(path)?
        }
        // Some servers leave out the empty host.
        None => rest,
    };
    let path = path.split(['?', '#']).next()?;
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) if is_hex(*high) && is_hex(*low) => {
                bytes.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    // No file is called so, and system calls would end the path there.
    (!bytes.contains(&0)).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn hex(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        byte => (byte | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_there_and_back() {
        let odd = "/p[id] (a)+@b,c=d;e&!'$~é%20#h?漢.go";
        for path in ["/", "/a/b.rs", odd, "/sp ace/\u{1f600}"] {
            assert_eq!(
                to_path(&of_path(Path::new(path))),
                Some(path.into()),
                "{path}"
            );
        }
        assert_eq!(of_path(Path::new("/a b#é")), "file:///a%20b%23%C3%A9");
        let bytes = PathBuf::from(OsString::from_vec(b"/\xff\xfe".to_vec()));
        assert_eq!(to_path(&of_path(&bytes)), Some(bytes));
    }

    #[test]
    fn other_spellings_are_read() {
        let rows = [
            ("file:///a%2Fb", Some("/a/b")),
            ("FILE:///a", Some("/a")),
            ("file:/a", Some("/a")),
            ("file://localhost/a", Some("/a")),
            ("file://else/a", None),
            ("file:///a+@b,c=d;e&!'$(x)", Some("/a+@b,c=d;e&!'$(x)")),
            ("file:///a%zz%4", Some("/a%zz%4")),
            ("file:///a#L3", Some("/a")),
            ("file:///a%00b", None),
            ("file:a", None),
            ("jdt://contents/x.class", None),
            ("untitled:Untitled-1", None),
            ("/a", None),
            ("", None),
        ];
        for (uri, path) in rows {
            assert_eq!(to_path(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
