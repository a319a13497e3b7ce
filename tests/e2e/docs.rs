//! The consoles of the documentation, run again: what a page shows is what the binary says.

use expect_test::expect_file;
use terret_testkit::{Bin, Tree};

use crate::configure;

/// The page with the output of each of its commands as it is now.
///
/// A block of kind `console` holds commands, `$ …` with `> …` for what goes on, and their output.
/// The files that they run over are in the block that begins with `//- /`; each console starts from
/// them anew.
fn replayed(page: &str) -> String {
    let mut blocks = page.split("```").filter_map(|block| block.split_once('\n'));
    let files = blocks.find(|(_, block)| block.starts_with("//- /"));
    let (_, files) = files.expect("a block of files");
    let mut replayed = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        replayed.push_str(&format!("{line}\n"));
        if line != "```console" {
            continue;
        }
        let tree = Tree::new(files);
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(first) = line.strip_prefix("$ ") else {
                continue;
            };
            let mut command = first.to_owned();
            replayed.push_str(&format!("$ {first}\n"));
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                replayed.push_str(&format!("{more}\n"));
                command.push_str(&more.replacen("> ", "\n", 1));
            }
            replayed.push_str(&said(&tree, &command));
        }
    }
    replayed
}

fn said(tree: &Tree, command: &str) -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_terret"));
    let folder = binary.parent().expect("a binary is in a folder");
    let bin = Bin::new("sh")
        .args(["-c", command])
        .cwd(tree.root())
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    // A page shows the same wherever it is run, whichever servers there are.
    configure(&bin, "lsp.enabled = false");
    let outcome = bin.run();
    let mut said = outcome.stdout + &outcome.stderr;
    if !said.is_empty() && !said.ends_with('\n') {
        said.push('\n');
    }
    said
}

macro_rules! pages {
    ($($page:ident)*) => {$(
        #[test]
        fn $page() {
            let page = include_str!(concat!("../../docs/tools/", stringify!($page), ".md"));
            expect_file![concat!("../../docs/tools/", stringify!($page), ".md")]
                .assert_eq(&replayed(page));
        }
    )*};
}

pages! { ast_edit ast_grep resolve }
