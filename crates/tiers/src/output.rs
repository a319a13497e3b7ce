//! What a successful call gives: parts for the model, details for a program.

use serde_json::Value;

/// One piece of content, shown to the model in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text, bounded and free of control sequences (see [`bound`](crate::bound)).
    Text(String),
    /// An image. What every common provider takes: `image/png`, `image/jpeg`, `image/webp` or
    /// `image/gif`, at most 5 MB once written as base64 and 8,000 pixels a side. What is bigger is
    /// better saved and named in a text part.
    Image {
        /// The media type, such as `image/png`.
        mime: String,
        /// The image itself, not base64.
        bytes: Vec<u8>,
    },
}

/// The output of a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// Text and images in the order in which they are to be read.
    pub parts: Vec<Part>,
    /// The same result for a program or a user interface; `null` when there is nothing to add.
    pub details: Value,
    /// Whether anything was left out of `parts` or `details`; the text says what.
    pub truncated: bool,
}

impl Output {
    /// An output without parts, to be added to.
    pub fn new() -> Output {
        Output::default()
    }

    /// An output of one text part.
    pub fn text(text: impl Into<String>) -> Output {
        Output::new().with_text(text)
    }

    /// The same output with a text part at its end.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Output {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// The same output with an image at its end.
    #[must_use]
    pub fn with_image(mut self, mime: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Output {
        self.parts.push(Part::Image {
            mime: mime.into(),
            bytes: bytes.into(),
        });
        self
    }

    /// The same output with these details.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Value>) -> Output {
        self.details = details.into();
        self
    }

    /// The same output, marked as truncated if `truncated`. It never unmarks one.
    #[must_use]
    pub fn with_truncated(mut self, truncated: bool) -> Output {
        self.truncated |= truncated;
        self
    }

    /// The text parts joined by line breaks; an image is a line that says it is one.
    ///
    /// For consumers without images: a terminal, a log, a cell that asked for the text of a call.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Image { mime, bytes } => {
                    text.push_str(&format!(
                        "[image: {mime}, {}]",
                        crate::bound::size(bytes.len())
                    ));
                }
            }
        }
        text
    }
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Output {
        Output::text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_order() {
        let output = Output::text("before\n")
            .with_image("image/png", vec![0; 1500])
            .with_text("after");
        assert_eq!(
            output.to_text(),
            "before\n[image: image/png, 1.5 KB]\nafter"
        );
        assert_eq!(output.parts.len(), 3);
    }

    #[test]
    fn truncated_is_sticky() {
        assert!(
            Output::text("")
                .with_truncated(true)
                .with_truncated(false)
                .truncated
        );
    }
}
