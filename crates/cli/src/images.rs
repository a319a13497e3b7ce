//! Images of results, which a terminal or a line of JSON has no place for: they become files.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use terret::tiers::{Output, Part};

/// Where the images of this process go: a folder that is made for the first one, and stays.
#[derive(Debug, Default)]
pub(crate) struct Images {
    folder: Option<PathBuf>,
    saved: usize,
}

/// An image that was written to a file.
#[derive(Debug, PartialEq, serde::Serialize)]
pub(crate) struct Saved {
    pub(crate) path: String,
    pub(crate) mime: String,
}

impl Images {
    /// The text of an output in which every image is named by its file, and those files.
    pub(crate) fn save(&mut self, output: &Output) -> Result<(String, Vec<Saved>)> {
        let mut text = String::new();
        let mut saved = Vec::new();
        for part in &output.parts {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Image { mime, bytes } => {
                    let path = self.write(mime, bytes)?.display().to_string();
                    text.push_str(&format!("[image: {mime}, saved as {path}]"));
                    saved.push(Saved {
                        path,
                        mime: mime.clone(),
                    });
                }
            }
        }
        Ok((text, saved))
    }

    fn write(&mut self, mime: &str, bytes: &[u8]) -> Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => {
                // For nobody else to look into or to put links into.
                let made = tempfile::Builder::new().prefix("terret-images-").tempdir();
                self.folder
                    .insert(made.context("no folder for images")?.keep())
                    .clone()
            }
        };
        self.saved += 1;
        let path = folder.join(format!("{}.{}", self.saved, ending(mime)));
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

fn ending(mime: &str) -> &str {
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        _ => "img",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_files_that_the_text_names() {
        let output = Output::text("before\n")
            .with_image("image/png", b"one".to_vec())
            .with_text("between")
            .with_image("image/jpeg", b"two".to_vec());
        let mut images = Images::default();
        let (text, saved) = images.save(&output).unwrap();
        let folder = images.folder.clone().unwrap();
        let at = folder.display();
        assert_eq!(
            text,
            format!(
                "before\n[image: image/png, saved as {at}/1.png]\nbetween\n\
                 [image: image/jpeg, saved as {at}/2.jpg]"
            )
        );
        let contents: Vec<_> = saved
            .iter()
            .map(|saved| fs::read(&saved.path).unwrap())
            .collect();
        assert_eq!(contents, [b"one", b"two"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn text_alone_makes_no_folder() {
        let mut images = Images::default();
        assert_eq!(
            images.save(&Output::text("a")).unwrap(),
            ("a".to_owned(), Vec::new())
        );
        assert_eq!(images.folder, None);
    }
}
