//! A JSON value as its text.

use std::fmt;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value that is kept as its text until somebody asks what is in it: parameters and results pass through here
/// without being taken apart and put together again.
///
/// ```
/// use terret_wire::Json;
///
/// let json = Json::of(&("a", 1))?;
/// assert_eq!(json.as_str(), r#"["a",1]"#);
/// let (name, number): (String, u32) = json.parse()?;
/// assert_eq!((name.as_str(), number), ("a", 1));
/// assert!(Json::default().is_null());
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<RawValue>);

static NULL: LazyLock<Box<RawValue>> = LazyLock::new(|| RawValue::NULL.to_owned());

impl Default for Json {
    /// `null`, which is also what something that is left out counts as.
    fn default() -> Self {
        Self(NULL.clone())
    }
}

impl Json {
    /// A value as JSON.
    ///
    /// # Errors
    ///
    /// If it has no form in JSON: a map whose keys are no strings, or what its own `Serialize` refuses.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// What it holds.
    ///
    /// # Errors
    ///
    /// If that is something else.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

impl fmt::Debug for Json {
    /// Its length only: what is in it belongs to somebody's code, and in no log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.as_str().len())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(Self)
    }
}
