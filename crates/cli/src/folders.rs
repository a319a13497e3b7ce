//! The user's folders for configuration and state.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// Where the user's configuration is.
pub(crate) fn config() -> Result<PathBuf> {
    of("XDG_CONFIG_HOME", ".config")
}

/// Where what this program remembers is.
pub(crate) fn state() -> Result<PathBuf> {
    of("XDG_STATE_HOME", ".local/state")
}

fn of(variable: &str, below_home: &str) -> Result<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from);
    // By the standard, a path that is not absolute is as good as none.
    set.filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(below_home)))
        .map(|base| base.join("terret"))
        .with_context(|| format!("neither {variable} nor HOME is set"))
}
