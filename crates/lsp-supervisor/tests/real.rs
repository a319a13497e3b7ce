//! The tool `lsp` with real servers, each on a small project of its language.
//!
//! `«name»` in a project marks its line; it is taken out before the server sees it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terret_lsp_supervisor::catalog::Catalog;
use terret_lsp_supervisor::{Options, State, Supervisor};
use terret_testkit::{Tree, require_tool};
use terret_tiers::{AllowUpTo, Output, Request, Surface, Tier, ToolError, Toolset};

/// What is asked, about which symbol of which marked line, and the marked lines of the answer.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// A project with one server.
struct Project {
    tree: Tree,
    /// The file and the line of each mark.
    marks: BTreeMap<String, (String, usize)>,
    surface: Surface,
    supervisor: Supervisor,
}

impl Project {
    fn new(program: &str, id: &str, project: &str) -> Option<Self> {
        require_tool(program)?;
        let mut marks = BTreeMap::new();
        let (mut file, mut line, mut plain) = (String::new(), 0, String::new());
        for text in project.lines() {
            line += 1;
            if let Some(path) = text.strip_prefix("//- /") {
                (file, line) = (path.to_owned(), 0);
            }
            let mut text = text.to_owned();
            while let (Some(start), Some(end)) = (text.find('«'), text.find('»')) {
                let name = text[start + '«'.len_utf8()..end].to_owned();
                marks.insert(name, (file.clone(), line));
                text.replace_range(start..end + '»'.len_utf8(), "");
            }
            plain += &text.replace("//- /", "//- /shop/");
            plain.push('\n');
        }
        let tree = Tree::new(&plain);
        let commands = tree.path("shop/compile_commands.json");
        if let Ok(text) = std::fs::read_to_string(&commands) {
            let root = tree.root().join("shop").display().to_string();
            tree.write("shop/compile_commands.json", text.replace("ROOT", &root));
        }
        let mut catalog = Catalog::shipped();
        let ids: Vec<String> = catalog
            .entries()
            .iter()
            .map(|entry| entry.id().to_owned())
            .collect();
        for other in ids.iter().filter(|other| *other != id) {
            catalog.disable(other);
        }
        let options = Options::default().catalog(catalog);
        // Go looks into no folder whose name begins with a dot, as those of temporary files do.
        let supervisor = Supervisor::new(tree.root().join("shop"), options);
        let toolset = Toolset::builder()
            .tools(supervisor.tools())
            .build()
            .unwrap();
        Some(Self {
            tree,
            marks,
            surface: toolset
                .surface(Tier::Write)
                .with_gate(Arc::new(AllowUpTo(Tier::Write))),
            supervisor,
        })
    }

    async fn call(&self, arguments: Value) -> Result<Output, ToolError> {
        self.surface
            .call("lsp", arguments, Request::new("call"))
            .await
    }

    /// Asks about a symbol on a marked line.
    async fn ask(&self, action: &str, mark: &str, symbol: &str) -> Result<Output, ToolError> {
        let (file, line) = &self.marks[mark];
        let place = json!({ "action": action, "file": file, "line": line, "symbol": symbol });
        self.call(place).await
    }

    async fn check(&self, rows: &[Row]) {
        let mut wrong = Vec::new();
        for (action, mark, symbol, expected) in rows {
            let output = match self.ask(action, mark, symbol).await {
                Ok(output) => output,
                Err(error) => {
                    wrong.push(format!(
                        "{action} of `{symbol}` at {mark}: {}",
                        error.message
                    ));
                    continue;
                }
            };
            if *action == "hover" {
                let text = output.to_text();
                let missing = expected.iter().filter(|part| !text.contains(*part));
                wrong.extend(
                    missing.map(|part| format!("hover of `{symbol}`: no {part:?} in {text}")),
                );
                continue;
            }
            let mut found: Vec<String> = Vec::new();
            for place in output.details["places"].as_array().unwrap() {
                let at = (
                    place["path"].as_str().unwrap_or_default().to_owned(),
                    usize::try_from(place["line"].as_u64().unwrap()).unwrap(),
                );
                let mark = self.marks.iter().find(|(_, known)| **known == at);
                found.push(mark.map_or_else(|| format!("{at:?}"), |(name, _)| name.clone()));
            }
            found.sort();
            let mut expected: Vec<&str> = expected.to_vec();
            expected.sort_unstable();
            if found != expected {
                wrong.push(format!(
                    "{action} of `{symbol}` at {mark}: {found:?}, not {expected:?}"
                ));
            }
        }
        assert!(
            wrong.is_empty(),
            "{}\n{:#?}",
            wrong.join("\n"),
            self.supervisor.status().await
        );
    }

    /// The errors of a file as `LINE SEVERITY`, with nothing left pending.
    async fn diagnostics(&self, file: &str) -> Vec<String> {
        let output = self
            .call(json!({ "action": "diagnostics", "file": file }))
            .await;
        let output = output.unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(output.details["pending"], json!([]), "{}", output.to_text());
        let all = output.details["diagnostics"].as_array().unwrap();
        let one =
            |found: &Value| format!("{} {}", found["line"], found["severity"].as_str().unwrap());
        all.iter()
            .map(one)
            .filter(|found| found.ends_with("error"))
            .collect()
    }

    /// A file is clean, is broken, changes without getting better, and is mended: each is told as it is.
    async fn check_diagnostics(&self, file: &str, broken: &str) {
        let clean = String::from_utf8(self.tree.read(format!("shop/{file}"))).unwrap();
        let comment = if file.ends_with(".py") {
            "# why\n"
        } else {
            "// why\n"
        };
        let lines = clean.lines().count();
        assert_eq!(self.diagnostics(file).await, [""; 0], "clean");
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{broken}"));
        assert_eq!(
            self.diagnostics(file).await,
            [format!("{} error", lines + 1)],
            "broken"
        );
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{comment}{broken}"));
        assert_eq!(
            self.diagnostics(file).await,
            [format!("{} error", lines + 2)],
            "moved"
        );
        self.tree.write(format!("shop/{file}"), &clean);
        assert_eq!(self.diagnostics(file).await, [""; 0], "mended");
        self.tree
            .write(format!("shop/{file}"), format!("{clean}{comment}"));
        assert_eq!(self.diagnostics(file).await, [""; 0], "clean still");
    }

    /// Renames the symbol of a marked line in these files, which are sound afterwards, and as before once it is renamed back.
    async fn check_rename(&self, mark: &str, old: &str, new: &str, files: &[&str]) {
        let (file, line) = &self.marks[mark];
        let text = |file: &str| String::from_utf8(self.tree.read(format!("shop/{file}"))).unwrap();
        let before: Vec<String> = files.iter().map(|file| text(file)).collect();
        for (from, to) in [(old, new), (new, old)] {
            let arguments = json!({ "file": file, "line": line, "symbol": from, "new_name": to });
            let output = self
                .surface
                .call("lsp_rename", arguments, Request::new("call"))
                .await;
            let output = output.unwrap_or_else(|error| panic!("{}", error.message));
            let changed = output.details["files"].as_array().unwrap();
            let mut changed: Vec<&str> = changed
                .iter()
                .map(|file| file["path"].as_str().unwrap())
                .collect();
            changed.sort_unstable();
            assert_eq!(changed, files, "{}", output.to_text());
            for (file, before) in files.iter().zip(&before) {
                let expected = match to == new {
                    true => before.replace(old, new),
                    false => before.clone(),
                };
                assert_eq!(text(file), expected);
                assert_eq!(self.diagnostics(file).await, [""; 0], "{file}");
            }
        }
        let arguments = json!({ "file": file, "line": line, "symbol": old, "new_name": old });
        let same = self
            .surface
            .call("lsp_rename", arguments, Request::new("call"))
            .await;
        let error = same.unwrap_err();
        assert_eq!(error.message, format!("`{old}` is its name already"));
    }

    /// The names of the symbols of a file.
    async fn symbols(&self, file: &str) -> Vec<String> {
        let output = self
            .call(json!({ "action": "symbols", "file": file }))
            .await;
        let output = output.unwrap_or_else(|error| panic!("{}", error.message));
        let all = output.details["symbols"].as_array().unwrap();
        let names = all.iter().filter_map(|symbol| symbol["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// Ends the server: nothing of it is left.
    async fn end(self) {
        assert_eq!(self.supervisor.reload(None).await, 1);
        drop(self.tree);
    }
}

const RUST: &str = "\
//- /Cargo.toml
[package]
name = \"shop\"
version = \"0.1.0\"
edition = \"2024\"
//- /src/lib.rs
pub mod cart;
//- /src/cart.rs
/// What a basket comes to.
«def»pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

«trait»pub trait Priced {
    fn price(&self) -> u32;
}

«struct»pub struct Apple;

«impl»impl Priced for Apple {
    fn price(&self) -> u32 {
«use»        let émoji = \"😀👩‍💻\"; let _ = émoji; total(&[1, 2])
    }
}

pub fn both() -> u32 {
«use2»    let apple = Apple;
«use3»    total(&[apple.price()])
}
";

#[tokio::test]
async fn rust_analyzer() {
    let Some(project) = Project::new("rust-analyzer", "rust-analyzer", RUST) else {
        return;
    };
    project
        .check(&[
            ("definition", "use", "total", &["def"]),
            ("references", "def", "total", &["def", "use", "use3"]),
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
        .check_rename("def", "total", "costs", &["src/cart.rs"])
        .await;
    project.end().await;
}

const GO: &str = "\
//- /go.mod
module shop

go 1.21
//- /cart/cart.go
package cart

// What a basket comes to.
«def»func Total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}

«iface»type Priced interface{ Price() int }

«struct»type Apple struct{}

func (Apple) Price() int { return 1 }
//- /main.go
package main

import \"shop/cart\"

func main() {
«use»	println(\"漢字 😀\", cart.Total([]int{1}))
«use2»	apple := cart.Apple{}
«use3»	println(cart.Total(nil), apple.Price())
}
";

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
        let State::Running { process, .. } = project.supervisor.status().await[0].state else {
            panic!("it runs");
        };
        let process = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        let row: &[Row] = &[("references", "def", "Total", &["def", "use", "use3"])];
        project.check(row).await;
    }
    assert_eq!(project.supervisor.status().await[0].starts, 3);
    project.end().await;
}

const PYTHON: &str = "\
//- /pyproject.toml
[project]
name = \"shop\"
version = \"1\"
//- /cart.py
«def»def total(prices: list[int]) -> int:
    \"\"\"What a basket comes to.\"\"\"
    return sum(prices)


«class»class Apple:
    price = 1
//- /main.py
«import»from cart import Apple, total

«use»print(\"漢字 😀👩‍💻 é\", total([1]))
«use2»apple = Apple()
«use3»print(total([apple.price]))
";

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

const TYPESCRIPT: &str = "\
//- /tsconfig.json
{ \"compilerOptions\": { \"strict\": true, \"module\": \"esnext\", \"target\": \"esnext\", \"moduleResolution\": \"bundler\" } }
//- /cart.ts
/** What a basket comes to. */
«def»export function total(prices: number[]): number {
  return prices.length;
}

«iface»export interface Priced { price(): number }

«class»export class Apple implements Priced {
  price() { return 1; }
}
//- /main.ts
«import»import { Apple, total } from \"./cart\";

«use»console.log(\"漢字 😀👩‍💻 é\", total([1]));
«use2»const apple = new Apple();
«use3»console.log(total([apple.price()]));
";

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

const C: &str = "\
//- /compile_commands.json
[{ \"directory\": \"ROOT\", \"file\": \"cart.c\", \"arguments\": [\"cc\", \"-c\", \"cart.c\"] }]
//- /cart.h
// What a basket comes to.
«decl»int total(const int *prices, int count);
//- /cart.c
#include \"cart.h\"

«def»int total(const int *prices, int count) {
  return count ? prices[0] : 0;
}

int both(void) {
  int prices[] = {1, 2};
«use»  const char *word = \"漢字 😀\"; return word[0] + total(prices, 2);
}
";

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

const DART: &str = "\
//- /pubspec.yaml
name: shop
environment:
  sdk: ^3.0.0
//- /lib/cart.dart
/// What a basket comes to.
«def»int total(List<int> prices) => prices.length;

«iface»abstract class Priced {
  int get price;
}

«class»class Apple implements Priced {
  @override
  int get price => 1;
}
//- /lib/main.dart
import 'cart.dart';

void main() {
«use»  print('漢字 😀👩‍💻 ${total([1])}');
«use2»  final apple = Apple();
«use3»  print(total([apple.price]));
}
";

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
