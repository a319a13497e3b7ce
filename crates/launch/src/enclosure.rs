//! Where programs run when that is not the host: a sandbox or container that the conversation already has.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::command::Command;
use crate::error::{Error, ErrorKind};

/// A place of its own that programs can be run in: the port that a host fills in.
///
/// It only says how to get in. Nothing here starts, changes or ends such a place.
///
/// What runs inside may not be a descendant of what runs here (`docker exec` talks to a daemon): then the end of its
/// standard input is what ends it, and whoever needs more sends a signal from inside, by another command through the same
/// enclosure.
pub trait Enclosure: fmt::Debug + Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> String;

    /// What to run on the host so that `command` runs inside. [`Command::wrapped`] keeps the rest of it.
    ///
    /// # Errors
    ///
    /// [`Outside`](ErrorKind::Outside) if the folder of the command has no name inside.
    fn enclose(&self, command: &Command) -> Result<Command, Error>;

    /// What a path of the host is called inside. `None` if it is not there.
    fn to_inside(&self, host: &Path) -> Option<PathBuf>;

    /// What a path from inside is called on the host. `None` if it is not there.
    fn to_host(&self, inside: &Path) -> Option<PathBuf>;
}

/// The host: no enclosure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host;

impl Enclosure for Host {
    fn name(&self) -> String {
        "the host".to_owned()
    }

    fn enclose(&self, command: &Command) -> Result<Command, Error> {
        Ok(command.clone())
    }

    fn to_inside(&self, host: &Path) -> Option<PathBuf> {
        Some(host.to_owned())
    }

    fn to_host(&self, inside: &Path) -> Option<PathBuf> {
        Some(inside.to_owned())
    }
}

/// An enclosure that is entered by a command before the command: `docker exec -i NAME`, `nsenter …`, `bwrap …`.
///
/// Inside, a program gets the folder and the [variables](Command::env) of its own command, and nothing of the host's
/// environment. Where the prefix has no option for them, `env` does it inside (`-C` is in GNU coreutils since 8.28).
///
/// ```
/// use std::path::Path;
/// use terret_launch::{Command, Enclosure, Environment, Flag, Prefix};
///
/// let docker = Prefix::new(["docker", "exec", "-i"])
///     .cwd(Flag::Separate("-w".into()))
///     .env(Flag::Separate("-e".into()))
///     .then(["box"])
///     .mount("/srv/project", "/src");
/// let command = Command::new("node", "/srv/project/web", &Environment::empty()).env("CI", "1").arg("a.js");
///
/// let real = docker.enclose(&command)?;
/// assert_eq!(real.program(), "docker");
/// assert_eq!(real.arguments(), ["exec", "-i", "-w", "/src/web", "-e", "CI=1", "box", "node", "a.js"]);
/// assert_eq!(docker.to_host(Path::new("/src/a.js")).unwrap(), Path::new("/srv/project/a.js"));
/// # Ok::<_, terret_launch::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    before: Vec<OsString>,
    after: Vec<OsString>,
    cwd: Option<Flag>,
    env: Option<Flag>,
    mounts: Vec<(PathBuf, PathBuf)>,
}

/// How an option takes its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flag {
    /// In one argument, right behind the option: `--wd=` of `nsenter`.
    Joined(OsString),
    /// As the next argument: `-w` of `docker exec`.
    Separate(OsString),
    /// A variable's name and its value as the next two arguments: `--setenv` of `bwrap`.
    Pair(OsString),
}

impl Flag {
    fn push(&self, args: &mut Vec<OsString>, value: &OsStr) {
        match self {
            Self::Joined(flag) => args.push([flag, value].into_iter().collect()),
            Self::Separate(flag) | Self::Pair(flag) => {
                args.extend([flag.clone(), value.to_owned()]);
            }
        }
    }

    fn push_variable(&self, args: &mut Vec<OsString>, name: &OsStr, value: &OsStr) {
        match self {
            Self::Pair(flag) => args.extend([flag.clone(), name.to_owned(), value.to_owned()]),
            Self::Joined(_) | Self::Separate(_) => self.push(args, &assignment(name, value)),
        }
    }
}

fn assignment(name: &OsStr, value: &OsStr) -> OsString {
    [name, OsStr::new("="), value].into_iter().collect()
}

impl Prefix {
    /// The program to enter by and its first arguments.
    #[must_use]
    pub fn new<A: Into<OsString>>(before: impl IntoIterator<Item = A>) -> Self {
        Self {
            before: before.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The option that sets the folder.
    #[must_use]
    pub fn cwd(mut self, flag: Flag) -> Self {
        self.cwd = Some(flag);
        self
    }

    /// The option that sets a variable.
    #[must_use]
    pub fn env(mut self, flag: Flag) -> Self {
        self.env = Some(flag);
        self
    }

    /// Arguments that come after those options, right before the program.
    #[must_use]
    pub fn then<A: Into<OsString>>(mut self, after: impl IntoIterator<Item = A>) -> Self {
        self.after.extend(after.into_iter().map(Into::into));
        self
    }

    /// A folder of the host that is there inside, under another name or the same. Without any, all paths are the same
    /// inside; with one, only what is mounted is there. The longest that fits counts.
    #[must_use]
    pub fn mount(mut self, host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        self.mounts.push((host.into(), inside.into()));
        self
    }

    fn map<'a>(
        &'a self,
        path: &Path,
        direction: impl Fn(&'a (PathBuf, PathBuf)) -> (&'a Path, &'a Path),
    ) -> Option<PathBuf> {
        if self.mounts.is_empty() {
            return Some(path.to_owned());
        }
        let fitting = self.mounts.iter().map(direction);
        let fitting =
            fitting.filter_map(|(from, to)| Some((from, to, path.strip_prefix(from).ok()?)));
        let (_, to, rest) = fitting.max_by_key(|(from, _, _)| from.components().count())?;
        // Joining nothing would add a slash.
        Some(if rest.as_os_str().is_empty() {
            to.to_owned()
        } else {
            to.join(rest)
        })
    }
}

impl Enclosure for Prefix {
    fn name(&self) -> String {
        let words = self.before.iter().chain(&self.after);
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        format!("`{}`", words.join(" "))
    }

    fn enclose(&self, command: &Command) -> Result<Command, Error> {
        let Some((enter, before)) = self.before.split_first() else {
            return Ok(command.clone());
        };
        let outside = || {
            let path = command.cwd().to_owned();
            let enclosure = self.name();
            Error::new(command.program(), ErrorKind::Outside { path, enclosure })
        };
        let cwd = self.to_inside(command.cwd()).ok_or_else(outside)?;
        // A program that is named by a path of the host moves along with it.
        let program = Path::new(command.program());
        let program = match program.is_absolute() {
            true => self.to_inside(program).map(PathBuf::into_os_string),
            false => None,
        };
        let program = program.unwrap_or_else(|| command.program().to_owned());

        let mut args = before.to_vec();
        let mut inside = Vec::new();
        match &self.cwd {
            Some(flag) => flag.push(&mut args, cwd.as_os_str()),
            None => inside.extend([OsString::from("-C"), cwd.into_os_string()]),
        }
        for (name, value) in command.variables() {
            match &self.env {
                Some(flag) => flag.push_variable(&mut args, name, value),
                None => inside.push(assignment(name, value)),
            }
        }
        args.extend(self.after.iter().cloned());
        if !inside.is_empty() {
            args.push("env".into());
            args.append(&mut inside);
        }
        args.push(program);
        args.extend(command.arguments().iter().cloned());
        Ok(command.wrapped(enter, args, command.cwd()))
    }

    fn to_inside(&self, host: &Path) -> Option<PathBuf> {
        self.map(host, |(host, inside)| (host, inside))
    }

    fn to_host(&self, inside: &Path) -> Option<PathBuf> {
        self.map(inside, |(host, inside)| (inside, host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    fn line(prefix: &Prefix) -> String {
        let command = Command::new("prog", "/w/a b", &Environment::inherited())
            .args(["x", "y z"])
            .env("A", "1")
            .env("B", "two words");
        let real = prefix.enclose(&command).unwrap();
        assert_eq!(real.variables().len(), 0);
        assert_eq!(real.cwd(), Path::new("/w/a b"));
        let words =
            std::iter::once(real.program()).chain(real.arguments().iter().map(OsString::as_os_str));
        words
            .map(|word| word.to_str().unwrap())
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn prefixes_of_many_kinds() {
        let separate = |flag: &str| Flag::Separate(flag.into());
        for (prefix, expected) in [
            (Prefix::default(), "prog|x|y z"),
            (
                Prefix::new(["docker", "exec", "-i"])
                    .cwd(separate("-w"))
                    .env(separate("-e"))
                    .then(["box"]),
                "docker|exec|-i|-w|/w/a b|-e|A=1|-e|B=two words|box|prog|x|y z",
            ),
            (
                Prefix::new(["nsenter", "-t", "7", "-m"]).cwd(Flag::Joined("--wdns=".into())),
                "nsenter|-t|7|-m|--wdns=/w/a b|env|A=1|B=two words|prog|x|y z",
            ),
            (
                Prefix::new(["bwrap"])
                    .cwd(separate("--chdir"))
                    .env(Flag::Pair("--setenv".into()))
                    .then(["--"]),
                "bwrap|--chdir|/w/a b|--setenv|A|1|--setenv|B|two words|--|prog|x|y z",
            ),
            (
                Prefix::new(["chroot", "/new"]),
                "chroot|/new|env|-C|/w/a b|A=1|B=two words|prog|x|y z",
            ),
        ] {
            if prefix.before.is_empty() {
                let command = Command::new("prog", "/", &Environment::empty());
                assert_eq!(prefix.enclose(&command).unwrap().program(), "prog");
                continue;
            }
            assert_eq!(line(&prefix), expected);
        }
    }

    #[test]
    fn paths_map_both_ways_by_the_longest_mount() {
        let prefix = Prefix::new(["in"])
            .mount("/w", "/src")
            .mount("/w/deep", "/d")
            .mount("/opt", "/opt");
        for (host, inside) in [
            ("/w", Some("/src")),
            ("/w/a.rs", Some("/src/a.rs")),
            ("/w/deep", Some("/d")),
            ("/w/deep/b", Some("/d/b")),
            ("/w/deeper", Some("/src/deeper")),
            ("/opt/x", Some("/opt/x")),
            ("/etc", None),
        ] {
            let mapped = prefix.to_inside(Path::new(host));
            assert_eq!(mapped.as_deref(), inside.map(Path::new), "{host}");
            if let Some(inside) = inside {
                assert_eq!(
                    prefix.to_host(Path::new(inside)).as_deref(),
                    Some(Path::new(host))
                );
            }
        }
        let everywhere = Prefix::new(["in"]);
        assert_eq!(
            everywhere.to_inside(Path::new("/etc")).as_deref(),
            Some(Path::new("/etc"))
        );
    }

    #[test]
    fn a_folder_that_is_not_inside_is_refused() {
        let prefix = Prefix::new(["docker", "exec", "-i", "box"]).mount("/w", "/src");
        let command = Command::new("/w/bin/tool", "/home", &Environment::empty());
        let error = prefix.enclose(&command).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`tool` could not be started in `docker exec -i box`: /home has no name there; run it in a folder that is \
             mapped into it"
        );
        let command = Command::new("/w/bin/tool", "/w", &Environment::empty());
        let real = prefix.enclose(&command).unwrap();
        assert_eq!(real.arguments().last().unwrap(), "/src/bin/tool");
    }
}
