//! The tool `lsp` with real servers, each on a small project of its language.
//!
//! `«name»` in a project marks its line; it is taken out before the server sees it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use terret_launch::Environment;
use terret_lsp_supervisor::catalog::Catalog;
use terret_lsp_supervisor::{Options, Supervisor};
use terret_testkit::Tree;
use terret_tiers::{Output, Request, Surface, Tier, ToolError, Toolset};

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

/// What `cargo xtask servers` has installed; absent where it was not asked to.
fn installed(server: &str) -> Option<Environment> {
    let folder = PathBuf::from(std::env::var_os("TERRET_SERVERS")?);
    let text = std::fs::read_to_string(folder.join("env.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let entry = &all[server];
    let program = PathBuf::from(entry["command"][0].as_str()?);
    let mut path = vec![program.parent()?.to_owned()];
    let more = entry["path"].as_array().into_iter().flatten();
    path.extend(more.filter_map(|folder| folder.as_str().map(PathBuf::from)));
    let mut environment = Environment::inherited();
    path.extend(environment.path());
    environment = environment.set("PATH", std::env::join_paths(path).unwrap());
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        environment = environment.set(name, value.as_str().unwrap());
    }
    Some(environment)
}

impl Project {
    fn new(server: &str, id: &str, project: &str) -> Option<Self> {
        let environment = installed(server)?;
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
            plain += &text;
            plain.push('\n');
        }
        let tree = Tree::new(&plain);
        let mut catalog = Catalog::shipped();
        let ids: Vec<String> = catalog
            .entries()
            .iter()
            .map(|entry| entry.id().to_owned())
            .collect();
        for other in ids.iter().filter(|other| *other != id) {
            catalog.disable(other);
        }
        let options = Options::default().catalog(catalog).environment(environment);
        let supervisor = Supervisor::new(tree.root(), options);
        let toolset = Toolset::builder()
            .tools(supervisor.tools())
            .build()
            .unwrap();
        Some(Self {
            tree,
            marks,
            surface: toolset.surface(Tier::Read),
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
/// What a basket costs.
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
            ("references", "def", "total", &["def", "use", "use2"]),
            (
                "hover",
                "use2",
                "total",
                &["pub fn total", "What a basket costs"],
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
    let error = project
        .ask("definition", "use2", "missing")
        .await
        .unwrap_err();
    assert!(
        error.message.contains("`missing` is not on line"),
        "{}",
        error.message
    );
    project.end().await;
}

const GO: &str = "\
//- /go.mod
module shop

go 1.21
//- /cart/cart.go
package cart

// Total is what a basket costs.
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
                &["func cart.Total", "what a basket costs"],
            ),
            ("type_definition", "use2", "apple", &["struct"]),
            ("implementation", "iface", "Priced", &["struct"]),
        ])
        .await;
    let symbols = project.symbols("cart/cart.go").await;
    assert!(symbols.contains(&"Total".to_owned()), "{symbols:?}");
    project.end().await;
}

const PYTHON: &str = "\
//- /pyproject.toml
[project]
name = \"shop\"
version = \"1\"
//- /cart.py
«def»def total(prices: list[int]) -> int:
    \"\"\"What a basket costs.\"\"\"
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
    ("hover", "use", "total", &["total", "What a basket costs"]),
    ("type_definition", "use2", "apple", &["class"]),
];

#[tokio::test]
async fn pyright() {
    let Some(project) = Project::new("pyright", "pyright", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    assert_eq!(project.symbols("cart.py").await[..2], ["total", "prices"]);
    project.end().await;
}

#[tokio::test]
async fn basedpyright() {
    let Some(project) = Project::new("basedpyright", "basedpyright", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    project.end().await;
}

#[tokio::test]
async fn ty() {
    let Some(project) = Project::new("ty", "ty", PYTHON) else {
        return;
    };
    project.check(PYTHON_ROWS).await;
    project.end().await;
}

const TYPESCRIPT: &str = "\
//- /tsconfig.json
{ \"compilerOptions\": { \"strict\": true, \"module\": \"esnext\", \"target\": \"esnext\", \"moduleResolution\": \"bundler\" } }
//- /cart.ts
/** What a basket costs. */
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
        &["function total", "What a basket costs"],
    ),
    ("type_definition", "use2", "apple", &["class"]),
    ("implementation", "iface", "Priced", &["class"]),
];

#[tokio::test]
async fn typescript_language_server() {
    let server = "typescript-language-server";
    let Some(project) = Project::new(server, server, TYPESCRIPT) else {
        return;
    };
    project.check(TYPESCRIPT_ROWS).await;
    project.end().await;
}

#[tokio::test]
async fn typescript_native() {
    let server = "typescript-native";
    let Some(project) = Project::new(server, server, TYPESCRIPT) else {
        return;
    };
    project.check(TYPESCRIPT_ROWS).await;
    project.end().await;
}

const C: &str = "\
//- /compile_flags.txt
-std=c11
//- /cart.h
// What a basket costs.
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
            ("hover", "use", "total", &["total", "What a basket costs"]),
        ])
        .await;
    assert_eq!(project.symbols("cart.c").await[..1], ["total"]);
    project.end().await;
}

const DART: &str = "\
//- /pubspec.yaml
name: shop
environment:
  sdk: ^3.0.0
//- /lib/cart.dart
/// What a basket costs.
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
            ("references", "def", "total", &["use", "use3"]),
            (
                "hover",
                "use",
                "total",
                &["int total", "What a basket costs"],
            ),
            ("type_definition", "use2", "apple", &["class"]),
            ("implementation", "iface", "Priced", &["class"]),
        ])
        .await;
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
            "json",
            "json",
            "a.json",
            "{ \"shop\": { \"total\": 1 } }\n",
            "total",
        ),
        ("css", "css", "a.css", ".total { color: red }\n", ".total"),
        (
            "html",
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
