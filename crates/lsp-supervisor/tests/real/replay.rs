//! Many edits in a row, each compared with a fresh check of the whole project by the language's own command: nothing that
//! is wrong is passed over, and nothing that is mended is held against it.
//!
//! `TERRET_REPLAY` says how many edits; `cargo xtask soak replay` makes 200 of each server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::project::Project;
use crate::projects::{C, DART, GO, PYTHON, RUST, TYPESCRIPT};

/// How many edits are made if nothing is said.
const EDITS: usize = 20;

/// A language: its files, what is edited in them, and how to check the project.
struct Play {
    program: &'static str,
    id: &'static str,
    project: &'static str,
    /// The file that most edits are made in, and one that uses it.
    file: &'static str,
    user: &'static str,
    comment: &'static str,
    /// A line with a mistake, and the same behind an emoji.
    broken: &'static str,
    emoji: &'static str,
    /// A change of a signature of a file, which breaks its users.
    changed: &'static str,
    signature: (&'static str, &'static str),
    /// A module that is made and deleted again, and what uses it: at the top of a file, or at its end.
    module: (&'static str, &'static str),
    uses: (&'static str, Use),
    check: &'static [&'static str],
    errors: fn(&str, &Path) -> BTreeSet<Error>,
}

enum Use {
    Top(&'static str),
    End(&'static str),
}

/// A file and a line with an error.
type Error = (String, usize);

/// An edit: what it is called, the file, and what it holds then; nothing if it is deleted.
type Edit = (&'static str, String, Option<String>);

impl Play {
    /// One round of edits, which ends as it began.
    fn round(&self, project: &Project) -> Vec<Edit> {
        let clean = project.text(self.file);
        let file = |what, text: String| (what, self.file.to_owned(), Some(text));
        let Self {
            comment,
            broken,
            emoji,
            signature: (from, to),
            module: (module, content),
            ..
        } = self;
        let sound = project.text(self.changed);
        let user = project.text(self.uses.0);
        let using = match self.uses.1 {
            Use::Top(line) => format!("{line}{user}"),
            Use::End(line) => format!("{user}{line}"),
        };
        let changed = |what, text: String| (what, self.changed.to_owned(), Some(text));
        let uses = |what, text: &str| (what, self.uses.0.to_owned(), Some(text.to_owned()));
        vec![
            file("break", format!("{clean}{broken}")),
            file("comment above", format!("{comment}{clean}{broken}")),
            file("fix", format!("{comment}{clean}")),
            file("comment again", format!("{comment}{comment}{clean}")),
            file("emoji", format!("{clean}{emoji}")),
            file("two mistakes", format!("{clean}{emoji}{broken}")),
            file("one of them fixed", format!("{clean}{broken}")),
            file(
                "lines that end with CRLF",
                format!("{clean}{broken}").replace('\n', "\r\n"),
            ),
            file("CRLF, fixed", clean.replace('\n', "\r\n")),
            file("LF again", clean.clone()),
            changed("another signature", sound.replace(from, to)),
            changed("the signature back", sound.clone()),
            uses("use of a module that is not there", &using),
            (
                "the module is made",
                (*module).to_owned(),
                Some((*content).to_owned()),
            ),
            (
                "the module is broken",
                (*module).to_owned(),
                Some(format!("{content}{broken}")),
            ),
            (
                "the module is mended",
                (*module).to_owned(),
                Some((*content).to_owned()),
            ),
            ("the module is deleted", (*module).to_owned(), None),
            uses("its use is gone", &user),
            file("both at once", format!("{comment}{clean}{broken}{comment}")),
            file("the end", clean.clone()),
        ]
    }

    /// What a fresh check of the project finds.
    #[allow(
        clippy::disallowed_methods,
        reason = "it is the check that a person would run"
    )]
    fn fresh(&self, root: &Path) -> BTreeSet<Error> {
        let [program, args @ ..] = self.check else {
            panic!("there is a command");
        };
        let output = Command::new(program)
            .args(args)
            .current_dir(root)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (self.errors)(&said, root)
    }

    async fn run(&self) {
        let Some(project) = Project::new(self.program, self.id, self.project) else {
            return;
        };
        let root = project.tree.root().join("shop");
        let edits = std::env::var("TERRET_REPLAY").ok();
        let edits = edits.and_then(|count| count.parse().ok()).unwrap_or(EDITS);
        let files = [self.file, self.user];
        for file in files {
            project.diagnostics(file).await;
        }
        let mut before = self.fresh(&root);
        assert_eq!(before, BTreeSet::new(), "{}: it is sound", self.id);
        let round = self.round(&project);
        for (number, (what, file, text)) in round.iter().cycle().take(edits).enumerate() {
            let at = format!("{}, edit {number}: {what}", self.id);
            let (new, _) = match text {
                Some(text) => project.write(file, text).await,
                None => project.delete(file).await,
            };
            let after = self.fresh(&root);
            let new: BTreeSet<Error> = new.iter().map(|new| place(new)).collect();
            let known: BTreeSet<Error> = new.intersection(&after).cloned().collect();
            assert_eq!(new, known, "{at}: told of what is not wrong: {after:?}");
            let more = after.len().saturating_sub(before.len());
            assert!(
                new.len() >= more,
                "{at}: told of {new:?} only, of {after:?}"
            );
            for file in files {
                let told = project.diagnostics(file).await;
                let told: BTreeSet<Error> = told
                    .iter()
                    .map(|told| place(&format!("{file}:{told}")))
                    .collect();
                let wrong = after.iter().filter(|(wrong, _)| wrong == file);
                assert_eq!(told, wrong.cloned().collect(), "{at}: {file}");
            }
            before = after;
        }
        project.end().await;
    }
}

/// `PATH:LINE error` taken apart.
fn place(told: &str) -> Error {
    let (path, line) = told.trim_end_matches(" error").rsplit_once(':').unwrap();
    (path.to_owned(), line.parse().unwrap())
}

/// The lines `PATH:LINE:COLUMN` with an error, by what follows behind.
fn of_lines(said: &str, root: &Path, is_error: fn(&str) -> bool) -> BTreeSet<Error> {
    let root = format!("{}/", root.display());
    let one = |text: &str| {
        let text = text
            .trim()
            .trim_start_matches("vet: ")
            .trim_start_matches("./");
        let text = text.strip_prefix(root.as_str()).unwrap_or(text);
        let mut parts = text.splitn(3, ':');
        let (path, line, rest) = (parts.next()?, parts.next()?, parts.next()?);
        is_error(rest).then_some((path.to_owned(), line.parse().ok()?))
    };
    said.lines().filter_map(one).collect()
}

fn of_cargo(said: &str, root: &Path) -> BTreeSet<Error> {
    of_lines(said, root, |rest| rest.contains(" error"))
}

fn of_go(said: &str, root: &Path) -> BTreeSet<Error> {
    of_lines(said, root, |_| true)
}

fn of_pyright(said: &str, root: &Path) -> BTreeSet<Error> {
    of_lines(said, root, |rest| rest.contains(" - error"))
}

fn of_tsc(said: &str, root: &Path) -> BTreeSet<Error> {
    let plain = said
        .replace('(', ":")
        .replace("): error", ": error")
        .replace(',', ":");
    of_lines(&plain, root, |rest| rest.contains(": error"))
}

fn of_clangd(said: &str, _: &Path) -> BTreeSet<Error> {
    let mut file = String::new();
    let mut all = BTreeSet::new();
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("FILE ") {
            name.clone_into(&mut file);
        } else if let Some((_, rest)) = line.split_once("] Line ")
            && line.starts_with('E')
            && let Some((number, _)) = rest.split_once(':')
        {
            all.insert((file.clone(), number.parse().unwrap()));
        }
    }
    all
}

fn of_dart(said: &str, root: &Path) -> BTreeSet<Error> {
    let root = format!("{}/", root.display());
    let one = |line: &str| {
        let mut fields = line.split('|');
        let is_error = fields.next() == Some("ERROR");
        let path = fields.nth(2)?.strip_prefix(root.as_str())?;
        is_error.then_some((path.to_owned(), fields.next()?.parse().ok()?))
    };
    said.lines().filter_map(one).collect()
}

#[tokio::test]
async fn rust_analyzer() {
    let play = Play {
        program: "rust-analyzer",
        id: "rust-analyzer",
        project: RUST,
        file: "src/cart.rs",
        user: "src/till.rs",
        comment: "// why\n",
        broken: "pub fn wrong() -> u32 { \"\" }\n",
        emoji: "pub fn odd() -> u32 { let _ = \"漢字 😀\"; missing }\n",
        changed: "src/cart.rs",
        signature: (
            "total(prices: &[u32]) -> u32",
            "total(prices: &[u32]) -> u64",
        ),
        module: ("src/extra.rs", "pub fn extra() -> u32 { 1 }\n"),
        uses: ("src/lib.rs", Use::Top("pub mod extra;\n")),
        check: &[
            "cargo",
            "check",
            "--all-targets",
            "--message-format",
            "short",
        ],
        errors: of_cargo,
    };
    play.run().await;
}

#[tokio::test]
async fn gopls() {
    let play = Play {
        program: "gopls",
        id: "gopls",
        project: GO,
        file: "cart/cart.go",
        user: "main.go",
        comment: "// why\n",
        broken: "func wrong() int { return missing }\n",
        emoji: "func odd() int { _ = \"漢字 😀\"; return absent }\n",
        changed: "cart/cart.go",
        signature: (
            "Total(prices []int) int",
            "Total(prices []int, more int) int",
        ),
        module: (
            "cart/extra.go",
            "package cart\n\nfunc Extra() int { return 1 }\n",
        ),
        uses: ("cart/cart.go", Use::End("var Used = Extra()\n")),
        check: &["go", "build", "-gcflags=-e", "./..."],
        errors: of_go,
    };
    play.run().await;
}

const PYTHON_PLAY: Play = Play {
    program: "pyright-langserver",
    id: "pyright",
    project: PYTHON,
    file: "cart.py",
    user: "main.py",
    comment: "# why\n",
    broken: "wrong: int = missing\n",
    emoji: "odd = \"漢字 😀\" + absent\n",
    changed: "cart.py",
    signature: (
        "total(prices: list[int])",
        "total(prices: list[int], more: int)",
    ),
    module: ("extra.py", "value = 1\n"),
    uses: ("main.py", Use::Top("from extra import value\n")),
    check: &["pyright"],
    errors: of_pyright,
};

#[tokio::test]
async fn pyright() {
    PYTHON_PLAY.run().await;
}

#[tokio::test]
async fn basedpyright() {
    let play = Play {
        program: "basedpyright-langserver",
        id: "basedpyright",
        check: &["basedpyright"],
        ..PYTHON_PLAY
    };
    play.run().await;
}

#[tokio::test]
async fn ty() {
    let play = Play {
        program: "ty",
        id: "ty",
        check: &["ty", "check", "--output-format", "concise"],
        errors: of_cargo,
        ..PYTHON_PLAY
    };
    play.run().await;
}

const TYPESCRIPT_PLAY: Play = Play {
    program: "typescript-language-server",
    id: "typescript-language-server",
    project: TYPESCRIPT,
    file: "cart.ts",
    user: "main.ts",
    comment: "// why\n",
    broken: "export const wrong: number = missing;\n",
    emoji: "export const odd = \"漢字 😀\" + absent;\n",
    changed: "cart.ts",
    signature: (
        "total(prices: number[])",
        "total(prices: number[], more: number)",
    ),
    module: ("extra.ts", "export const value = 1;\n"),
    uses: (
        "main.ts",
        Use::Top("import { value } from \"./extra\"; console.log(value);\n"),
    ),
    check: &["tsc", "--noEmit", "--pretty", "false"],
    errors: of_tsc,
};

#[tokio::test]
async fn typescript_language_server() {
    TYPESCRIPT_PLAY.run().await;
}

#[tokio::test]
async fn typescript_native() {
    let play = Play {
        program: "tsc",
        id: "typescript-native",
        ..TYPESCRIPT_PLAY
    };
    play.run().await;
}

#[tokio::test]
async fn clangd() {
    let play = Play {
        program: "clangd",
        id: "clangd",
        project: C,
        file: "cart.c",
        user: "cart.h",
        comment: "// why\n",
        broken: "int wrong(void) { return missing; }\n",
        emoji: "int odd(void) { const char *word = \"漢字 😀\"; return word[0] + absent; }\n",
        changed: "cart.h",
        signature: (
            "int total(const int *prices, int count)",
            "int total(int count)",
        ),
        module: ("extra.h", "int extra(void);\n"),
        uses: ("cart.c", Use::Top("#include \"extra.h\"\n")),
        check: &[
            "sh",
            "-c",
            "for file in *.c *.h; do echo FILE $file; clangd --check=$file --log=error 2>&1; done",
        ],
        errors: of_clangd,
    };
    play.run().await;
}

#[tokio::test]
async fn dart() {
    let play = Play {
        program: "dart",
        id: "dart",
        project: DART,
        file: "lib/cart.dart",
        user: "lib/main.dart",
        comment: "// why\n",
        broken: "int wrong() => missing;\n",
        emoji: "int odd() => '漢字 😀'.length + absent;\n",
        changed: "lib/cart.dart",
        signature: (
            "total(List<int> prices)",
            "total(List<int> prices, int more)",
        ),
        module: ("lib/extra.dart", "const value = 1;\n"),
        uses: ("lib/main.dart", Use::Top("import 'extra.dart';\n")),
        check: &["dart", "analyze", "--format=machine"],
        errors: of_dart,
    };
    play.run().await;
}
