//! What this crate costs on top of the servers: `cargo xtask bench lsp` runs it and shows what it prints, a row of JSON a
//! line.
//!
//! `overhead` measures; `overhead tap LOG PROGRAM ARGS…` stands between a client and a server and notes when the server's
//! diagnostics are on the wire.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "it is a measurement: it prints, it starts what it measures beside, and what goes wrong ends it"
)]

#[path = "../../tests/real/projects.rs"]
mod projects;
mod raw;
mod side;
mod tap;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use terret_lsp_supervisor::catalog::Catalog;
use terret_testkit::Tree;

use projects::{C, DART, GO, Marks, PYTHON, RUST, TYPESCRIPT, marked};
use raw::Raw;
use side::Side;

/// A server with a project of its language: where `total` is used, and a line with a mistake.
pub(crate) struct Case {
    id: &'static str,
    project: &'static str,
    mark: &'static str,
    symbol: &'static str,
    comment: &'static str,
    broken: &'static str,
}

const fn case(
    id: &'static str,
    project: &'static str,
    symbol: &'static str,
    comment: &'static str,
    broken: &'static str,
) -> Case {
    Case {
        id,
        project,
        mark: "use",
        symbol,
        comment,
        broken,
    }
}

const WRONG_PYTHON: &str = "wrong: int = missing\n";
const WRONG_TYPESCRIPT: &str = "export const wrong: number = missing;\n";

const CASES: &[Case] = &[
    case(
        "rust-analyzer",
        RUST,
        "total",
        "// why\n",
        "pub fn wrong() -> u32 { \"\" }\n",
    ),
    case(
        "gopls",
        GO,
        "Total",
        "// why\n",
        "func wrong() int { return missing }\n",
    ),
    case("pyright", PYTHON, "total", "# why\n", WRONG_PYTHON),
    case("basedpyright", PYTHON, "total", "# why\n", WRONG_PYTHON),
    case("ty", PYTHON, "total", "# why\n", WRONG_PYTHON),
    case(
        "clangd",
        C,
        "total",
        "// why\n",
        "int wrong(void) { return missing; }\n",
    ),
    case(
        "typescript-language-server",
        TYPESCRIPT,
        "total",
        "// why\n",
        WRONG_TYPESCRIPT,
    ),
    case(
        "typescript-native",
        TYPESCRIPT,
        "total",
        "// why\n",
        WRONG_TYPESCRIPT,
    ),
    case(
        "dart",
        DART,
        "total",
        "// why\n",
        "int wrong() => missing;\n",
    ),
];

/// How often a warm question is asked.
const QUESTIONS: usize = 200;
/// How often a file is written.
const WRITES: usize = 20;
/// How often a server is started.
const STARTS: usize = 3;

/// A project on disk.
pub(crate) struct Project {
    tree: Tree,
    marks: Marks,
}

impl Project {
    fn new(text: &str) -> Self {
        let (plain, marks) = marked(text);
        let tree = Tree::new(&plain);
        let commands = tree.path("shop/compile_commands.json");
        if let Ok(text) = std::fs::read_to_string(&commands) {
            let root = tree.root().join("shop").display().to_string();
            tree.write("shop/compile_commands.json", text.replace("ROOT", &root));
        }
        Self { tree, marks }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.tree.root().join("shop")
    }
}

/// The shipped catalog with one server only.
pub(crate) fn only(id: &str) -> Catalog {
    let mut catalog = Catalog::shipped();
    let others: Vec<String> = catalog
        .entries()
        .iter()
        .map(|entry| entry.id().to_owned())
        .filter(|other| other != id)
        .collect();
    for other in others {
        catalog.disable(&other);
    }
    catalog
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [tap, log, program, args @ ..] = args.as_slice()
        && tap == "tap"
    {
        return tap::run(Path::new(log), program, args);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let wanted = |id: &str| args.is_empty() || args.iter().any(|arg| arg == id);
    for case in CASES.iter().filter(|case| wanted(case.id)) {
        eprintln!("{}", case.id);
        runtime.block_on(questions(case));
        runtime.block_on(writes(case));
        runtime.block_on(starts(case));
    }
    if args.is_empty() || wanted("sharing") {
        runtime.block_on(no_server());
        runtime.block_on(sharing());
        runtime.block_on(documents());
    }
}

/// One figure: what was measured of which server, beside what it is compared with.
fn row(what: &str, server: &str, ours: f64, raw: Option<f64>, unit: &str) {
    let row = json!({ "what": what, "server": server, "ours": ours, "raw": raw, "unit": unit });
    println!("{row}");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The value below which this part of them lies.
fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values[((last as f64) * part).round() as usize]
}

/// Warm questions, in turn by the minimal client and by the tool.
async fn questions(case: &Case) {
    let (mine, theirs) = (Project::new(case.project), Project::new(case.project));
    let side = Side::new(&mine, only(case.id));
    let (file, line) = &mine.marks[case.mark];
    let mut raw = Raw::start(case, &theirs.root());
    raw.open(file);
    let position = raw.position(file, *line, case.symbol);
    raw.until_answered(&position);
    let ask = |action: &str| json!({ "action": action, "file": file, "line": line, "symbol": case.symbol });
    side.call("lsp", ask("definition")).await;
    for (action, method) in [
        ("definition", "textDocument/definition"),
        ("references", "textDocument/references"),
        ("hover", "textDocument/hover"),
    ] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for round in 0..QUESTIONS + 10 {
            let begun = Instant::now();
            raw.ask(method, &position).expect("an answer");
            let theirs = ms(begun.elapsed());
            let begun = Instant::now();
            side.call("lsp", ask(action)).await;
            let took = ms(begun.elapsed());
            if round >= 10 {
                ours.push(took);
                bare.push(theirs);
            }
        }
        for (name, part) in [("median", 0.5), ("95 %", 0.95)] {
            let (ours, bare) = (quantile(&mut ours, part), quantile(&mut bare, part));
            row(
                &format!("{action}, {name}"),
                case.id,
                ours,
                Some(bare),
                "ms",
            );
        }
    }
    raw.end();
    side.end().await;
}

/// From the moment that the server's last word about a text is on the wire to the end of the call that wrote it.
async fn writes(case: &Case) {
    let project = Project::new(case.project);
    let log = project.tree.path("tap.log");
    let side = Side::new(&project, tap::between(case.id, &log));
    let file = &project.marks[if case.id == "clangd" { "use" } else { "def" }].0;
    let clean = std::fs::read_to_string(project.root().join(file)).unwrap();
    side.call("lsp", json!({ "action": "diagnostics", "file": file }))
        .await;
    let mut slack = Vec::new();
    let mut whole = Vec::new();
    for round in 0..WRITES {
        let text = match round % 4 {
            0 => format!("{clean}{}", case.broken),
            1 => format!("{clean}{}{}", case.comment, case.broken),
            2 => clean.clone(),
            _ => format!("{clean}{}", case.comment),
        };
        let (begun, since) = (Instant::now(), tap::now());
        let details = side
            .call("write", json!({ "path": file, "text": text }))
            .await;
        let returned = tap::now();
        whole.push(ms(begun.elapsed()));
        assert_eq!(details["diagnostics"]["pending"], json!([]));
        // What stands between notes it a moment later.
        std::thread::sleep(Duration::from_millis(50));
        let said = tap::last_before(&log, since, returned);
        let said = said.unwrap_or_else(|| panic!("{} said nothing", case.id));
        slack.push((returned - said) as f64 / 1e6);
    }
    let median = quantile(&mut slack, 0.5);
    row(
        "write: after the last word, median",
        case.id,
        median,
        None,
        "ms",
    );
    let worst = quantile(&mut slack, 1.0);
    row(
        "write: after the last word, worst",
        case.id,
        worst,
        None,
        "ms",
    );
    row(
        "write: the whole call, median",
        case.id,
        quantile(&mut whole, 0.5),
        None,
        "ms",
    );
    side.end().await;
}

/// From nothing to the first answer.
async fn starts(case: &Case) {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let project = Project::new(case.project);
        let (file, line) = project.marks[case.mark].clone();
        let begun = Instant::now();
        let mut raw = Raw::start(case, &project.root());
        raw.open(&file);
        let position = raw.position(&file, line, case.symbol);
        raw.until_answered(&position);
        bare.push(ms(begun.elapsed()));
        raw.end();
        let project = Project::new(case.project);
        let begun = Instant::now();
        let side = Side::new(&project, only(case.id));
        let ask =
            json!({ "action": "definition", "file": file, "line": line, "symbol": case.symbol });
        side.call("lsp", ask).await;
        ours.push(ms(begun.elapsed()));
        side.end().await;
    }
    let (ours, bare) = (quantile(&mut ours, 0.5), quantile(&mut bare, 0.5));
    row("start to the first answer", case.id, ours, Some(bare), "ms");
}

/// What the wrapper costs where no server is for a file.
async fn no_server() {
    let project = Project::new("//- /a.zz\nx\n");
    let side = Side::new(&project, Catalog::shipped());
    let (mut wrapped, mut plain) = (Vec::new(), Vec::new());
    for round in 0..500 {
        let arguments = json!({ "path": "a.zz", "text": format!("{round}\n") });
        for (tool, times) in [("write", &mut wrapped), ("plain", &mut plain)] {
            let begun = Instant::now();
            side.call(tool, arguments.clone()).await;
            times.push(ms(begun.elapsed()));
        }
    }
    let (ours, raw) = (quantile(&mut wrapped, 0.5), quantile(&mut plain, 0.5));
    row(
        "write without a server, median",
        "none",
        ours,
        Some(raw),
        "ms",
    );
    side.end().await;
}

/// A hundred runs over one root have one server.
async fn sharing() {
    let project = Project::new(PYTHON);
    let pool = terret_lsp_supervisor::Pool::new();
    let (file, line) = project.marks["use"].clone();
    let ask = json!({ "action": "hover", "file": file, "line": line, "symbol": "total" });
    let mut runs: Vec<Side> = Vec::new();
    let mut first = 0;
    let catalog = only("ty");
    for run in 0..=100 {
        let side = Side::in_pool(&project, catalog.clone(), pool.clone());
        side.call("lsp", ask.clone()).await;
        runs.push(side);
        if run == 0 {
            first = memory();
        }
    }
    let mut processes = Vec::new();
    for run in &runs {
        processes.extend(run.processes().await);
    }
    processes.sort_unstable();
    processes.dedup();
    let each = memory().saturating_sub(first) as f64 / 100.0;
    row(
        "100 runs over one root: servers",
        "ty",
        processes.len() as f64,
        None,
        "",
    );
    row(
        "100 runs over one root: memory for a further run",
        "ty",
        each,
        None,
        "KiB",
    );
    for run in runs {
        run.end().await;
    }
}

/// A thousand documents are opened, edited and asked about.
async fn documents() {
    let project = Project::new(PYTHON);
    let side = Side::new(&project, only("ty"));
    let mut half = 0;
    for at in 0..1000 {
        let file = format!("m{at}.py");
        for text in ["value = 1\n", "# why\nvalue = 2\n"] {
            std::fs::write(project.root().join(&file), text).unwrap();
            let line = text.lines().count();
            let ask = json!({ "action": "hover", "file": file, "line": line, "symbol": "value" });
            side.call("lsp", ask).await;
        }
        if at == 499 {
            half = memory();
        }
    }
    let more = memory().saturating_sub(half) as f64 / 1024.0;
    row(
        "1,000 documents: open at the end",
        "ty",
        side.documents().await as f64,
        None,
        "",
    );
    row(
        "1,000 documents: memory, less that of 500",
        "ty",
        more,
        None,
        "MiB",
    );
    side.end().await;
}

/// The resident memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}
