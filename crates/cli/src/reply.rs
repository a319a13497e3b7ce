//! What a call gave, in the form that it is printed in.

use anyhow::Result;
use serde_json::{Value, json};
use terret::tiers::{Output, ToolError};

use crate::images::{Images, Saved};

/// The result of a call. Of an error it is the error alone: the rest is empty.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) images: Vec<Saved>,
    pub(crate) error: Option<ToolError>,
}

impl Reply {
    /// The reply that says how a call went, its images saved.
    pub(crate) fn new(result: Result<Output, ToolError>, images: &mut Images) -> Result<Reply> {
        let output = match result {
            Ok(output) => output,
            Err(error) => {
                return Ok(Reply {
                    error: Some(error),
                    ..Reply::default()
                });
            }
        };
        let (text, images) = images.save(&output)?;
        Ok(Reply {
            text,
            details: output.details,
            images,
            error: None,
        })
    }

    /// `{text, details, images, error}`, all of them always there.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "text": self.text,
            "details": self.details,
            "images": self.images,
            "error": self.error,
        })
    }
}
