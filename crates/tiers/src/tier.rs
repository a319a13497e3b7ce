//! The tier of a tool: what it may do to the world, and therefore who sees it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a tool may do, ordered from harmless to powerful.
///
/// The order is the meaning: a [`Surface`](crate::Surface) capped at a tier holds the tools whose
/// tier is at most that one, and a gate is asked from a tier upwards. Written and read as the words
/// `read`, `write`, `exec`; any other word is an error, since taking an unknown tier for a low one
/// would show a tool to those who must not see it. A harness that registers a tool about which it
/// knows nothing gives it [`Tier::Exec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No side effects on files or processes of the user's.
    Read,
    /// Changes files.
    Write,
    /// Starts or drives a process.
    Exec,
}

impl Tier {
    /// Every tier, lowest first.
    pub const ALL: [Tier; 3] = [Tier::Read, Tier::Write, Tier::Exec];

    /// The word for this tier: `read`, `write` or `exec`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tier::Read => "read",
            Tier::Write => "write",
            Tier::Exec => "exec",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(word: &str) -> Result<Tier, UnknownTier> {
        Tier::ALL
            .into_iter()
            .find(|tier| tier.as_str() == word)
            .ok_or_else(|| UnknownTier {
                word: word.to_owned(),
            })
    }
}

/// A word that names no [`Tier`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTier {
    word: String,
}

impl fmt::Display for UnknownTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown tier {:?}: it is one of `read`, `write`, `exec`",
            self.word
        )
    }
}

impl std::error::Error for UnknownTier {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_read_write_exec() {
        assert!(Tier::Read < Tier::Write && Tier::Write < Tier::Exec);
    }

    #[test]
    fn words_round_trip() {
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse::<Tier>(), Ok(tier));
            let json = serde_json::to_value(tier).unwrap();
            assert_eq!(json, tier.as_str());
            assert_eq!(serde_json::from_value::<Tier>(json).unwrap(), tier);
        }
    }

    #[test]
    fn an_unknown_word_is_an_error_and_never_the_lowest_tier() {
        for word in ["", "Read", "READ", "readonly", "admin", " read", "w"] {
            let error = word.parse::<Tier>().unwrap_err().to_string();
            assert!(error.contains("`read`, `write`, `exec`"), "{error}");
            assert!(
                serde_json::from_value::<Tier>(word.into()).is_err(),
                "{word:?}"
            );
        }
    }
}
