//! Questions about code, diagnostics and renames.

use rustix::process::{Pid, Signal, kill_process};
use terret_lsp_supervisor::State;

use crate::project::{Project, Row};
use crate::projects::{C, DART, GO, PYTHON, RUST, TYPESCRIPT};

#[tokio::test]
async fn rust_analyzer() {
    let Some(project) = Project::new("rust-analyzer", "rust-analyzer", RUST) else {
        return;
    };
    project
        .check(&[
            ("definition", "use", "total", &["def"]),
            (
                "references",
                "def",
                "total",
                &["def", "import", "till", "use", "use3"],
            ),
            (
                "hover",
                "use3",
                "total",
                &["pub fn total", "What a basket comes to"],
            ),
            ("type_definition", "use2", "apple", &["struct"]),
            ("implementation", "trait", "Priced", &["impl"]),
        ])
        .await;
    let symbols = project.symbols("src/cart.rs").await;
    assert!(
        symbols.contains(&"total".to_owned()) && symbols.contains(&"Priced".to_owned()),
        "{symbols:?}"
    );
    let wrong = "pub fn wrong() -> u32 { \"\" }\n";
    project.check_diagnostics("src/cart.rs", wrong).await;
    let error = project
        .ask("definition", "use2", "missing")
        .await
        .unwrap_err();
    assert!(
        error.message.contains("`missing` is not on line"),
        "{}",
        error.message
    );
    project
        .check_rename("def", "total", "costs", &["src/cart.rs", "src/till.rs"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn gopls() {
    let Some(project) = Project::new("gopls", "gopls", GO) else {
        return;
    };
    project
        .check(&[
            ("definition", "use", "Total", &["def"]),
            ("references", "def", "Total", &["def", "use", "use3"]),
            (
                "hover",
                "use",
                "Total",
                &["func cart.Total", "What a basket comes to"],
            ),
            ("type_definition", "use2", "apple", &["struct"]),
            ("implementation", "iface", "Priced", &["struct"]),
        ])
        .await;
    let wrong = "func wrong() int { return missing }\n";
    project.check_diagnostics("cart/cart.go", wrong).await;
    let symbols = project.symbols("cart/cart.go").await;
    assert!(symbols.contains(&"Total".to_owned()), "{symbols:?}");
    let files = ["cart/cart.go", "main.go"];
    project.check_rename("def", "Total", "Costs", &files).await;
    // Killed, it is started again by the next question, and knows what it has to know.
    for _ in 0..2 {
        let State::Running {
            process, memory, ..
        } = project.supervisor.status().await[0].state
        else {
            panic!("it runs");
        };
        assert!(memory.is_some_and(|bytes| bytes > 1 << 20), "{memory:?}");
        let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        let row: &[Row] = &[("references", "def", "Total", &["def", "use", "use3"])];
        project.check(row).await;
    }
    assert_eq!(project.supervisor.status().await[0].starts, 3);
    project.end().await;
}

const PYTHON_ROWS: &[Row] = &[
    ("definition", "use", "total", &["def"]),
    (
        "references",
        "def",
        "total",
        &["def", "import", "use", "use3"],
    ),
    (
        "hover",
        "use",
        "total",
        &["total", "What a basket comes to"],
    ),
    ("type_definition", "use2", "apple", &["class"]),
];

#[tokio::test]
async fn pyright() {
    let Some(project) = Project::new("pyright-langserver", "pyright", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    project
        .check_diagnostics("cart.py", "wrong: int = missing\n")
        .await;
    assert_eq!(project.symbols("cart.py").await[..2], ["total", "prices"]);
    project
        .check_rename("def", "total", "costs", &["cart.py", "main.py"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn basedpyright() {
    let Some(project) = Project::new("basedpyright-langserver", "basedpyright", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    project
        .check_diagnostics("cart.py", "wrong: int = missing\n")
        .await;
    project
        .check_rename("def", "total", "costs", &["cart.py", "main.py"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn ty() {
    let Some(project) = Project::new("ty", "ty", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    project
        .check_diagnostics("cart.py", "wrong: int = missing\n")
        .await;
    project
        .check_rename("def", "total", "costs", &["cart.py", "main.py"])
        .await;
    project.end().await;
}

const TYPESCRIPT_ROWS: &[Row] = &[
    ("definition", "use", "total", &["def"]),
    (
        "references",
        "def",
        "total",
        &["def", "import", "use", "use3"],
    ),
    (
        "hover",
        "use",
        "total",
        &["total(prices: number[])", "What a basket comes to"],
    ),
    ("type_definition", "use2", "apple", &["class"]),
    ("implementation", "iface", "Priced", &["class"]),
];

#[tokio::test]
async fn typescript_language_server() {
    let id = "typescript-language-server";
    let Some(project) = Project::new(id, id, TYPESCRIPT) else {
        return;
    };
    project.check(TYPESCRIPT_ROWS).await;
    let wrong = "export const wrong: number = missing;\n";
    project.check_diagnostics("cart.ts", wrong).await;
    project
        .check_rename("def", "total", "costs", &["cart.ts", "main.ts"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn typescript_native() {
    let id = "typescript-native";
    let Some(project) = Project::new("tsc", id, TYPESCRIPT) else {
        return;
    };
    project.check(TYPESCRIPT_ROWS).await;
    let wrong = "export const wrong: number = missing;\n";
    project.check_diagnostics("cart.ts", wrong).await;
    project
        .check_rename("def", "total", "costs", &["cart.ts", "main.ts"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn clangd() {
    let Some(project) = Project::new("clangd", "clangd", C) else {
        return;
    };
    project
        .check(&[
            ("definition", "use", "total", &["def"]),
            ("references", "def", "total", &["decl", "def", "use"]),
            ("hover", "use", "total", &["function `total`"]),
        ])
        .await;
    let wrong = "int wrong(void) { return missing; }\n";
    project.check_diagnostics("cart.c", wrong).await;
    assert_eq!(project.symbols("cart.c").await[..1], ["total"]);
    project
        .check_rename("def", "total", "costs", &["cart.c", "cart.h"])
        .await;
    project.end().await;
}

#[tokio::test]
async fn dart() {
    let Some(project) = Project::new("dart", "dart", DART) else {
        return;
    };
    project
        .check(&[
            ("definition", "use", "total", &["def"]),
            ("references", "def", "total", &["def", "use", "use3"]),
            (
                "hover",
                "use",
                "total",
                &["int total", "What a basket comes to"],
            ),
            ("type_definition", "use2", "apple", &["class"]),
            ("implementation", "iface", "Priced", &["class"]),
        ])
        .await;
    let wrong = "int wrong() => missing;\n";
    project.check_diagnostics("lib/cart.dart", wrong).await;
    let files = ["lib/cart.dart", "lib/main.dart"];
    project.check_rename("def", "total", "costs", &files).await;
    project.end().await;
}

/// What servers offer to do at a symbol is told, and nothing is done.
#[tokio::test]
async fn fixes_and_refactorings() {
    let rust = "//- /Cargo.toml\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        //- /src/lib.rs\nmod a { pub struct Basket; }\n«at»pub fn f() -> Basket { a::Basket }\n";
    let go = "//- /go.mod\nmodule shop\n\ngo 1.21\n//- /main.go\npackage main\n\nfunc main() {\n«at»\tunused := 1\n}\n";
    let typescript = "//- /tsconfig.json\n{}\n//- /a.ts\nexport class Basket {}\n//- /b.ts\n\
        «at»export const basket = new Basket();\n";
    let python = "//- /pyproject.toml\n[project]\nname = \"shop\"\nversion = \"1\"\n//- /a.py\n«at»import os\n";
    let dart = "//- /pubspec.yaml\nname: shop\nenvironment:\n  sdk: ^3.0.0\n//- /lib/a.dart\n\
        «at»int f() => Basket();\n";
    let c = "//- /compile_commands.json\n[{ \"directory\": \"ROOT\", \"file\": \"a.c\", \
        \"arguments\": [\"cc\", \"-c\", \"a.c\"] }]\n//- /a.c\nint total;\n«at»int f(void) { return totl; }\n";
    let rows = [
        (
            "rust-analyzer",
            "rust-analyzer",
            rust,
            "Basket#1",
            "Import `crate::a::Basket`",
        ),
        ("gopls", "gopls", go, "unused", "Remove"),
        (
            "typescript-language-server",
            "typescript-language-server",
            typescript,
            "Basket",
            "Add import from \"./a\"",
        ),
        (
            "tsc",
            "typescript-native",
            typescript,
            "Basket",
            "Add import from \"./a\"",
        ),
        ("ruff", "ruff", python, "os", "Remove unused import: `os`"),
        ("dart", "dart", dart, "Basket", "Create class 'Basket'"),
        ("clangd", "clangd", c, "totl", "change 'totl' to 'total'"),
    ];
    for (program, id, text, symbol, expected) in rows {
        let Some(project) = Project::new(program, id, text) else {
            return;
        };
        let output = project.ask("code_actions", "at", symbol).await;
        let output = output.unwrap_or_else(|error| panic!("{id}: {}", error.message));
        assert!(
            output.to_text().contains(expected),
            "{id}: {}",
            output.to_text()
        );
        project.end().await;
    }
}

/// Servers for data and scripts know the symbols of a file.
#[tokio::test]
async fn symbols_of_data_and_scripts() {
    let rows = [
        (
            "bash-language-server",
            "bash",
            "run.sh",
            "total() {\n  echo 1\n}\n",
            "total",
        ),
        (
            "yaml-language-server",
            "yaml",
            "a.yaml",
            "shop:\n  total: 1\n",
            "total",
        ),
        (
            "vscode-json-language-server",
            "json",
            "a.json",
            "{ \"shop\": { \"total\": 1 } }\n",
            "total",
        ),
        (
            "vscode-css-language-server",
            "css",
            "a.css",
            ".total { color: red }\n",
            ".total",
        ),
        (
            "vscode-html-language-server",
            "html",
            "a.html",
            "<html><body id='total'></body></html>\n",
            "body#total",
        ),
    ];
    for (server, id, file, text, name) in rows {
        let Some(project) = Project::new(server, id, &format!("//- /{file}\n{text}")) else {
            return;
        };
        let symbols = project.symbols(file).await;
        assert!(
            symbols.iter().any(|symbol| symbol == name),
            "{server}: {symbols:?}"
        );
        project.end().await;
    }
}
