//! A whole project, checked by the real commands of its language.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use terret_lsp_supervisor::{Options, Supervisor, Trust};
use terret_testkit::{Tree, require_tool};
use terret_tiers::{AllowUpTo, ErrorKind, Output, Request, Surface, Tier, ToolError, Toolset};

use crate::projects::{C, DART, GO, PYTHON, RUST, TYPESCRIPT, marked};

/// A project of a language, and what breaks it.
struct Case {
    programs: &'static [&'static str],
    project: &'static str,
    /// Where a line with one mistake goes.
    file: &'static str,
    broken: &'static str,
    /// The checkers that run.
    checkers: &'static [&'static str],
}

fn surface(tree: &Tree, folder: &str, trust: Trust) -> Surface {
    let options = Options::default().trust(trust);
    let supervisor = Supervisor::new(tree.root().join(folder), options);
    let toolset = Toolset::builder().tools(supervisor.tools()).build();
    let surface = toolset.unwrap().surface(Tier::Read);
    surface.with_gate(std::sync::Arc::new(AllowUpTo(Tier::Read)))
}

async fn check(surface: &Surface) -> Result<Output, ToolError> {
    let arguments = json!({ "action": "diagnostics", "file": "*" });
    surface.call("lsp", arguments, Request::new("call")).await
}

async fn checked(surface: &Surface) -> Output {
    let checked = check(surface).await;
    checked.unwrap_or_else(|error| panic!("{}", error.message))
}

fn tree(project: &str) -> Tree {
    let tree = Tree::new(&marked(project).0);
    let commands = tree.path("shop/compile_commands.json");
    if let Ok(text) = std::fs::read_to_string(&commands) {
        let root = tree.root().join("shop").display().to_string();
        tree.write("shop/compile_commands.json", text.replace("ROOT", &root));
    }
    tree
}

/// The errors as `PATH:LINE`.
fn errors(output: &Output) -> Vec<String> {
    let all = output.details["diagnostics"].as_array().unwrap().iter();
    let errors = all.filter(|found| found["severity"] == "error");
    let place = |found: &Value| format!("{}:{}", found["path"].as_str().unwrap(), found["line"]);
    errors.map(place).collect()
}

fn states(output: &Output) -> Vec<String> {
    let all = output.details["checkers"].as_array().unwrap().iter();
    let state = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap();
        format!("{}: {}", text("name"), text("state"))
    };
    all.map(state).collect()
}

impl Case {
    async fn run(&self) {
        if { self.programs.iter() }.any(|program| require_tool(program).is_none()) {
            return;
        }
        let tree = tree(self.project);
        let untrusted = Trust::untrusted("say that you trust it");
        let error = check(&surface(&tree, "shop", untrusted)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_eq!(
            error.message,
            "the project's checkers, which run code of the project, are not started, because this workspace is not \
             trusted: say that you trust it"
        );
        let path = format!("shop/{}", self.file);
        let clean = String::from_utf8(tree.read(&path)).unwrap();
        let line = clean.lines().count() + 1;
        // From the folder itself, and from the one above it.
        for (folder, prefix) in [("shop", ""), ("", "shop/")] {
            let surface = surface(&tree, folder, Trust::default());
            let all = |state: &str| -> Vec<String> {
                let each = self.checkers.iter();
                each.map(|name| format!("{name}: {state}")).collect()
            };
            let sound = checked(&surface).await;
            assert_eq!(states(&sound), all("clean"), "{}", sound.to_text());
            assert_eq!(errors(&sound), [""; 0], "{}", sound.to_text());
            tree.write(&path, format!("{clean}{}", self.broken));
            let broken = checked(&surface).await;
            let expected = [format!("{prefix}{}:{line}", self.file)];
            assert_eq!(errors(&broken), expected, "{}", broken.to_text());
            assert_eq!(states(&broken), all("problems"), "{}", broken.to_text());
            let first = format!("{prefix}{}:{line} error ", self.file);
            assert!(broken.to_text().starts_with(&first), "{}", broken.to_text());
            tree.write(&path, &clean);
        }
    }
}

#[tokio::test]
async fn cargo() {
    let case = Case {
        programs: &["cargo"],
        project: RUST,
        file: "src/cart.rs",
        broken: "pub fn wrong() -> u32 { \"\" }\n",
        checkers: &["cargo check"],
    };
    case.run().await;
}

/// The paths that Cargo tells are from the root of its workspace, wherever the check is asked for.
#[tokio::test]
async fn a_member_of_a_workspace() {
    if require_tool("cargo").is_none() {
        return;
    }
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
    let tree = Tree::new(&format!(
        "//- /shop/Cargo.toml\n[workspace]\nmembers = [\"till\"]\n{}//- /shop/src/lib.rs\n\
         //- /shop/till/Cargo.toml\n{}//- /shop/till/src/lib.rs\n\npub fn wrong() -> u32 {{ \"\" }}\n",
        package("shop"),
        package("till"),
    ));
    let surface = surface(&tree, "shop/till", Trust::default());
    let output = checked(&surface).await;
    assert_eq!(errors(&output), ["src/lib.rs:2"], "{}", output.to_text());
    tree.write("shop/src/lib.rs", "fn odd() -> u32 { 1.0 }\n");
    let output = checked(&surface).await;
    let root = tree.path("shop/src/lib.rs").display().to_string();
    assert!(
        errors(&output).contains(&format!("{root}:1")),
        "{}",
        output.to_text()
    );
}

#[tokio::test]
async fn go() {
    let case = Case {
        programs: &["go"],
        project: GO,
        file: "cart/cart.go",
        broken: "func wrong() int { return missing }\n",
        checkers: &["go build", "go vet"],
    };
    case.run().await;
}

#[tokio::test]
async fn python() {
    let case = Case {
        programs: &["pyright"],
        project: PYTHON,
        file: "cart.py",
        broken: "wrong: int = missing\n",
        checkers: &["pyright"],
    };
    case.run().await;
}

/// What a project has a configuration of is what checks it.
#[tokio::test]
async fn chosen() {
    for (program, file, text) in [
        ("basedpyright", "pyproject.toml", "[tool.basedpyright]\n"),
        ("ty", "ty.toml", ""),
    ] {
        if require_tool(program).is_none() {
            continue;
        }
        let tree = tree(PYTHON);
        tree.write(format!("shop/{file}"), text);
        tree.write("shop/cart.py", "wrong: int = missing\n");
        tree.write("shop/main.py", "");
        let output = checked(&surface(&tree, "shop", Trust::default())).await;
        assert_eq!(states(&output), [format!("{program}: problems")]);
        assert_eq!(errors(&output), ["cart.py:1"], "{}", output.to_text());
    }
}

#[tokio::test]
async fn ruff() {
    if require_tool("ruff").is_none() || require_tool("pyright").is_none() {
        return;
    }
    let tree = tree(PYTHON);
    tree.write("shop/ruff.toml", "[lint]\nselect = [\"F\"]\n");
    tree.write("shop/cart.py", "import os\n");
    tree.write("shop/main.py", "print(missing)\n");
    let output = checked(&surface(&tree, "shop", Trust::default())).await;
    assert_eq!(states(&output), ["pyright: problems", "ruff: problems"]);
    assert_eq!(errors(&output), ["main.py:1"; 2], "{}", output.to_text());
    let unused = "cart.py:1 warning `os` imported but unused [ruff F401]";
    assert!(output.to_text().contains(unused), "{}", output.to_text());
}

#[tokio::test]
async fn tsc() {
    let case = Case {
        programs: &["tsc"],
        project: TYPESCRIPT,
        file: "cart.ts",
        broken: "export const wrong: number = missing;\n",
        checkers: &["tsc"],
    };
    case.run().await;
}

/// A project that is nothing but its references is looked into.
#[tokio::test]
async fn references() {
    if require_tool("tsc").is_none() {
        return;
    }
    let tree = Tree::new(
        "//- /shop/tsconfig.json\n{ \"files\": [], \"references\": [{ \"path\": \"./app\" }] }\n\
         //- /shop/app/tsconfig.json\n{ \"compilerOptions\": { \"composite\": true } }\n\
         //- /shop/app/a.ts\nexport const wrong: number = \"\";\n",
    );
    let output = checked(&surface(&tree, "shop", Trust::default())).await;
    assert_eq!(errors(&output), ["app/a.ts:1"], "{}", output.to_text());
}

#[tokio::test]
async fn dart() {
    let case = Case {
        programs: &["dart"],
        project: DART,
        file: "lib/cart.dart",
        broken: "int wrong() => missing;\n",
        checkers: &["dart analyze"],
    };
    case.run().await;
}

#[tokio::test]
async fn clangd() {
    for file in ["cart.c", "cart.h"] {
        let case = Case {
            programs: &["clangd"],
            project: C,
            file,
            broken: "static inline int wrong(void) { return missing; }\n",
            checkers: &["clangd --check"],
        };
        case.run().await;
    }
}

/// A build that ends before it compiles anything is no clean project.
#[tokio::test]
async fn what_fails_is_not_clean() {
    if require_tool("cargo").is_none() {
        return;
    }
    let tree = tree(RUST);
    tree.write("shop/build.rs", "fn main() { panic!(\"no luck\") }\n");
    let surface = surface(&tree, "shop", Trust::default());
    let error = check(&surface).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(
        error
            .message
            .contains("cargo check: failed: it exited with 101")
    );
    assert!(error.message.contains("no luck"), "{}", error.message);
    tree.write("shop/build.rs", "fn main() {}\n");
    tree.write("shop/Cargo.toml", "[package\n");
    let error = check(&surface).await.unwrap_err();
    assert!(error.message.contains("Cargo.toml"), "{}", error.message);
}

#[tokio::test]
async fn nothing_to_check_is_an_error() {
    let tree = Tree::new("//- /notes.txt\nnothing\n");
    let error = check(&surface(&tree, "", Trust::default())).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.message.contains("Cargo.toml, go.mod, tsconfig.json"));
}

/// A call that is given up leaves nothing that runs.
#[tokio::test]
async fn a_check_that_is_given_up_is_killed() {
    if require_tool("cargo").is_none() {
        return;
    }
    let tree = tree(RUST);
    let script = "fn main() { std::fs::write(\"id\", std::process::id().to_string()).unwrap();\n\
                  std::thread::sleep(std::time::Duration::from_secs(600)); }\n";
    tree.write("shop/build.rs", script);
    let surface = surface(&tree, "shop", Trust::default());
    let begun = async {
        loop {
            let id = std::fs::read_to_string(tree.path("shop/id"));
            if let Ok(id) = id.unwrap_or_default().parse::<u32>() {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let id = tokio::select! {
        id = begun => id,
        checked = check(&surface) => panic!("it ended: {checked:?}"),
    };
    let late = Instant::now() + Duration::from_secs(10);
    while std::path::Path::new(&format!("/proc/{id}")).exists() {
        assert!(Instant::now() < late, "{id} runs on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
