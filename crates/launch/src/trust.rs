//! Whether what a checkout brings may be run.

use std::fmt;

/// Whether the people who run this trust what the workspace brings: programs in its folders, programs that its files
/// name, its build scripts.
///
/// A library that is told nothing trusts: its host opened the workspace. A program that opens what it was pointed at
/// should not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// It may run what it brings.
    #[default]
    Trusted,
    /// It may not.
    Untrusted {
        /// How a person grants it, as a sentence's end: `` run `terret trust` ``.
        grant: String,
    },
}

impl Trust {
    /// No trust, and how a person grants it.
    #[must_use]
    pub fn untrusted(grant: impl Into<String>) -> Self {
        Self::Untrusted {
            grant: grant.into(),
        }
    }

    /// Whether it may run what it brings.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }

    /// Nothing if it may; otherwise why `what` is not done, to be shown to a person.
    ///
    /// ```
    /// use terret_launch::Trust;
    ///
    /// assert!(Trust::default().check("`cargo check` is not run").is_ok());
    /// let error = Trust::untrusted("run `terret trust`").check("`cargo check` is not run").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`cargo check` is not run, because this workspace is not trusted: run `terret trust`"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// If the workspace is not trusted.
    pub fn check(&self, what: impl Into<String>) -> Result<(), Untrusted> {
        match self {
            Self::Trusted => Ok(()),
            Self::Untrusted { grant } => Err(Untrusted {
                what: what.into(),
                grant: grant.clone(),
            }),
        }
    }
}

/// What is not done because a workspace is not trusted, and how to grant it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    what: String,
    grant: String,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, grant } = self;
        write!(f, "{what}, because this workspace is not trusted: {grant}")
    }
}

impl std::error::Error for Untrusted {}
