//! What a write introduces is told, and nothing else.

use crate::project::Project;
use crate::projects::{C, DART, GO, PYTHON, RUST, TYPESCRIPT};

/// What is written to the project of a language.
struct Case {
    program: &'static str,
    id: &'static str,
    project: &'static str,
    /// The file that is written.
    file: &'static str,
    comment: &'static str,
    /// A line with one mistake, about `wrong`.
    broken: &'static str,
    /// A change of a file that breaks another one, and that one.
    changed: &'static str,
    change: (&'static str, &'static str),
    other: &'static str,
}

const RUST_CASE: Case = Case {
    program: "rust-analyzer",
    id: "rust-analyzer",
    project: RUST,
    file: "src/cart.rs",
    comment: "// why\n",
    broken: "pub fn wrong() -> u32 { \"\" }\n",
    changed: "src/cart.rs",
    change: (
        "total(prices: &[u32]) -> u32",
        "total(prices: &[u32]) -> u64",
    ),
    other: "src/till.rs",
};

async fn check(case: &Case) {
    let Some(project) = Project::new(case.program, case.id, case.project) else {
        return;
    };
    let Case {
        file,
        comment,
        broken,
        changed,
        change: (from, to),
        other,
        ..
    } = case;
    // Whoever changes a file has read it, and most often those that use it.
    project.diagnostics(file).await;
    project.diagnostics(changed).await;
    project.diagnostics(other).await;
    let clean = project.text(file);
    let line = clean.lines().count() + 1;
    let at = |line: usize| vec![format!("{file}:{line} error")];
    let told = |new: Vec<String>, fixed| (new, fixed);
    let unrelated = project.write(file, &format!("{clean}{comment}")).await;
    assert_eq!(unrelated, told(vec![], 0), "an unrelated write");
    let new = project.write(file, &format!("{clean}{broken}")).await;
    assert_eq!(new, told(at(line), 0), "a write that breaks the build");
    let text = format!("{clean}{comment}{broken}");
    assert_eq!(project.write(file, &text).await, told(vec![], 0), "moved");
    let second = broken.replace("wrong", "wrong2");
    let text = format!("{clean}{broken}{comment}{second}");
    let new = project.write(file, &text).await;
    assert_eq!(new, told(at(line + 2), 0), "a second occurrence");
    let all = project.told.take();
    assert!(all >= 2, "{all}");
    assert_eq!(
        project.write(file, &clean).await,
        told(vec![], all),
        "a fix"
    );
    // A break in another file, and its end.
    let sound = project.text(changed);
    let (new, _) = project.write(changed, &sound.replace(from, to)).await;
    assert!(
        !new.is_empty() && new.iter().any(|new| new.starts_with(other)),
        "{other} is broken: {new:?}"
    );
    let (back, fixed) = project.write(changed, &sound).await;
    assert_eq!((back, fixed), (vec![], project.told.take()), "{new:?}");
    project.end().await;
}

#[tokio::test]
async fn rust_analyzer() {
    check(&RUST_CASE).await;
}

#[tokio::test]
async fn gopls() {
    check(&Case {
        program: "gopls",
        id: "gopls",
        project: GO,
        file: "cart/cart.go",
        comment: "// why\n",
        broken: "func wrong() int { return missing }\n",
        changed: "cart/cart.go",
        change: (
            "Total(prices []int) int",
            "Total(prices []int, more int) int",
        ),
        other: "main.go",
    })
    .await;
}

const PYTHON_CASE: Case = Case {
    program: "pyright-langserver",
    id: "pyright",
    project: PYTHON,
    file: "cart.py",
    comment: "# why\n",
    broken: "wrong: int = missing\n",
    changed: "cart.py",
    change: (
        "total(prices: list[int])",
        "total(prices: list[int], more: int)",
    ),
    other: "main.py",
};

#[tokio::test]
async fn pyright() {
    check(&PYTHON_CASE).await;
}

#[tokio::test]
async fn basedpyright() {
    check(&Case {
        program: "basedpyright-langserver",
        id: "basedpyright",
        ..PYTHON_CASE
    })
    .await;
}

#[tokio::test]
async fn ty() {
    check(&Case {
        program: "ty",
        id: "ty",
        ..PYTHON_CASE
    })
    .await;
}

const TYPESCRIPT_CASE: Case = Case {
    program: "typescript-language-server",
    id: "typescript-language-server",
    project: TYPESCRIPT,
    file: "cart.ts",
    comment: "// why\n",
    broken: "export const wrong: number = missing;\n",
    changed: "cart.ts",
    change: (
        "total(prices: number[])",
        "total(prices: number[], more: number)",
    ),
    other: "main.ts",
};

#[tokio::test]
async fn typescript_language_server() {
    check(&TYPESCRIPT_CASE).await;
}

#[tokio::test]
async fn typescript_native() {
    check(&Case {
        program: "tsc",
        id: "typescript-native",
        ..TYPESCRIPT_CASE
    })
    .await;
}

#[tokio::test]
async fn clangd() {
    check(&Case {
        program: "clangd",
        id: "clangd",
        project: C,
        file: "cart.c",
        comment: "// why\n",
        broken: "int wrong(void) { return missing; }\n",
        changed: "cart.h",
        change: (
            "int total(const int *prices, int count)",
            "int total(int count)",
        ),
        other: "cart.c",
    })
    .await;
}

#[tokio::test]
async fn dart() {
    check(&Case {
        program: "dart",
        id: "dart",
        project: DART,
        file: "lib/cart.dart",
        comment: "// why\n",
        broken: "int wrong() => missing;\n",
        changed: "lib/cart.dart",
        change: (
            "total(List<int> prices)",
            "total(List<int> prices, int more)",
        ),
        other: "lib/main.dart",
    })
    .await;
}
