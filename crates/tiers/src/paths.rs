//! How paths are shown.

use std::path::{Component, Path, PathBuf};

use crate::bound;

/// A path as text: relative to the workspace with `/`, or absolute if it is outside.
///
/// Purely by its words: nothing is looked up, links are not followed. A relative path is taken from
/// the workspace; the workspace itself is `.`. Bytes that are not UTF-8, and control characters,
/// are made visible: the result is for reading, not for opening.
pub fn show(workspace: &Path, path: &Path) -> String {
    let workspace = normal(workspace);
    let path = normal(&workspace.join(path));
    let text = match path.strip_prefix(&workspace) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => {
            let parts: Vec<_> = inside
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect();
            parts.join("/")
        }
        Err(_) => absolute(&path),
    };
    // A file may be called anything, a line break included.
    bound::sanitise(&text).replace('\n', "␊").replace('\t', "␉")
}

fn absolute(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.strip_prefix(r"\\?\")
            .unwrap_or(&text)
            .replace('\\', "/")
    } else {
        text.into_owned()
    }
}

/// Without `.` and `..`, as far as that can be done by words alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => {
                    normal.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => normal.push(".."),
            },
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_is_relative_and_outside_is_absolute() {
        let table = [
            ("/ws", "/ws/src/lib.rs", "src/lib.rs"),
            ("/ws", "src/lib.rs", "src/lib.rs"),
            ("/ws/", "/ws/./src/../a.rs", "a.rs"),
            ("/ws", "/ws", "."),
            ("/ws", "/wsx/a.rs", "/wsx/a.rs"),
            ("/ws", "../other/a.rs", "/other/a.rs"),
            ("/ws", "/../../etc/passwd", "/etc/passwd"),
            ("/ws", "/ws/a\nb\u{1b}[2J.rs", "a␊b␛[2J.rs"),
            ("/ws", "/ws/with space.rs", "with space.rs"),
        ];
        for (workspace, path, expected) in table {
            assert_eq!(
                show(Path::new(workspace), Path::new(path)),
                expected,
                "{path}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_text_are_shown_as_replacements() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/ws/\xff.rs"));
        assert_eq!(show(Path::new("/ws"), path), "\u{fffd}.rs");
    }
}
