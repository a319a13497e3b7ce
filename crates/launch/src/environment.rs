//! The variables that a program gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variables that programs get from the host: those on a list, and no others.
///
/// What a host has in its environment besides (keys of model providers, tokens) is none of a language server's business,
/// and could be read by every program that one starts.
///
/// ```
/// use terret_launch::Environment;
///
/// let host = [("PATH", "/usr/bin"), ("LC_ALL", "C"), ("API_KEY", "secret"), ("MY_TOOL", "1")];
/// let environment = Environment::filtered(host, Environment::PASSED.iter().chain(&["MY_*"]));
/// let names: Vec<_> = environment.iter().map(|(name, _)| name.to_str().unwrap()).collect();
/// assert_eq!(names, ["LC_ALL", "MY_TOOL", "PATH"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// What is passed unless a host says otherwise. `*` at the end stands for any ending.
    ///
    /// It covers the user and locale, proxies and certificates, and what tool chains are found and set up by.
    pub const PASSED: &'static [&'static str] = &[
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "LC_*",
        "TZ",
        "TMPDIR",
        "XDG_*",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "SSL_CERT_*",
        "LD_LIBRARY_PATH",
        "NIX_*",
        "CARGO_HOME",
        "RUSTUP_*",
        "RUSTFLAGS",
        "GOPATH",
        "GOROOT",
        "GOFLAGS",
        "GOPROXY",
        "GOTOOLCHAIN",
        "GOMODCACHE",
        "GOCACHE",
        "JAVA_HOME",
        "JDK_HOME",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "NVM_DIR",
        "PNPM_HOME",
        "VOLTA_HOME",
        "DENO_DIR",
        "BUN_INSTALL",
        "VIRTUAL_ENV",
        "CONDA_*",
        "PYENV_*",
        "PYTHONPATH",
        "PYTHONHOME",
        "UV_CACHE_DIR",
        "PUB_CACHE",
        "FLUTTER_ROOT",
        "DOTNET_*",
        "GEM_*",
        "RBENV_*",
        "DOCKER_HOST",
        "DOCKER_CONTEXT",
    ];

    /// Nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// This process's variables that are [passed](Self::PASSED).
    #[must_use]
    pub fn inherited() -> Self {
        Self::filtered(std::env::vars_os(), Self::PASSED)
    }

    /// Those of `variables` that `passed` names.
    #[must_use]
    pub fn filtered<N, V, P>(
        variables: impl IntoIterator<Item = (N, V)>,
        passed: impl IntoIterator<Item = P>,
    ) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
        P: AsRef<str>,
    {
        let passed: Vec<P> = passed.into_iter().collect();
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        Self {
            variables: variables
                .filter(|(name, _)| passed.iter().any(|pattern| matches(pattern.as_ref(), name)))
                .collect(),
        }
    }

    /// With a variable set.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The folders of `PATH` in their order. Relative ones are left out: they would name other programs in each folder,
    /// and hand the choice to a checkout.
    #[must_use]
    pub fn path(&self) -> Vec<PathBuf> {
        let path = self.get("PATH").unwrap_or_default();
        let mut folders = Vec::new();
        for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_not_passed() {
        for (name, passed) in [
            ("PATH", true),
            ("PATHS", false),
            ("LC_", true),
            ("LC_CTYPE", true),
            ("LC", false),
            ("SSH_AUTH_SOCK", false),
            ("OPENAI_API_KEY", false),
            ("GITHUB_TOKEN", false),
            ("CARGO_REGISTRY_TOKEN", false),
        ] {
            let environment = Environment::filtered([(name, "x")], Environment::PASSED);
            assert_eq!(environment.get(name).is_some(), passed, "{name}");
        }
    }

    #[test]
    fn folders_of_path_are_absolute_and_once() {
        let environment = Environment::empty().set("PATH", "/a:.:/b::bin:/a:../c");
        let folders = ["/a", "/b"].map(PathBuf::from);
        assert_eq!(environment.path(), folders);
        assert_eq!(Environment::empty().path(), [] as [PathBuf; 0]);
    }
}
