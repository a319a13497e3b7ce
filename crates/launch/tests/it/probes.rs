//! Programs that are there and do not work, and those that do.

use std::time::Duration;

use expect_test::expect;
use terret_launch::{Candidate, Detector, Environment, Marker, Probe, Program, Trust};
use terret_testkit::Tree;

const TOOLS: &str = r#"
    //- /w/go.mod
    //- /w/.venv/bin/python mode=755
    #!/bin/sh
    echo "$PWD" >> "$HOME/log"
    echo "No module named debugpy" >&2
    exit 1
    //- /bin/python mode=755
    #!/bin/sh
    echo "$PWD" >> "$HOME/log"
    //- /bin/shim mode=755
    #!/bin/sh
    echo x >> "$HOME/log"
    echo "error: 'rust-analyzer' is not installed for the toolchain" >&2
    exit 1
    //- /bin/slow mode=755
    #!/bin/sh
    sleep 1000
    //- /bin/no-interpreter mode=755
    #!/no/such/interpreter
    //- /bin/compiler mode=755
    #!/bin/sh
    echo "Version 6.0.3"
    //- /user/log
"#;

fn detector(tree: &Tree) -> Detector {
    let root = tree.root();
    let path = std::env::var("PATH").unwrap();
    let environment = Environment::empty()
        .set("PATH", format!("{}:{path}", root.join("bin").display()))
        .set("HOME", root.join("user"));
    Detector::new(root.join("w"), environment)
}

fn log(tree: &Tree) -> String {
    let log = String::from_utf8(tree.read("user/log")).unwrap();
    log.replace(tree.root().canonicalize().unwrap().to_str().unwrap(), "")
        .replace('\n', " ")
}

fn candidate(program: &str) -> Candidate {
    let program = Program::new(program).local();
    Candidate::new("x")
        .marker(Marker::new("go.mod").unwrap())
        .program(program)
        .probe(Probe::new(["-c", "import debugpy"]))
}

#[tokio::test]
async fn the_first_that_works_is_taken() {
    let tree = Tree::new(TOOLS);
    let detector = detector(&tree);
    let python = candidate("python");
    // Unknown yet: the first one.
    let local = tree.root().join("w/.venv/bin/python");
    assert_eq!(
        detector.detect(&python, ".").program(),
        Some(local.as_path())
    );
    assert_eq!(log(&tree), "");
    let global = tree.root().join("bin/python");
    for _ in 0..3 {
        assert_eq!(
            detector.check(&python, ".").await.program(),
            Some(global.as_path())
        );
        assert_eq!(
            detector.detect(&python, ".").program(),
            Some(global.as_path())
        );
    }
    assert_eq!(log(&tree), "/w /w ", "each was run once");
    detector.reload();
    detector.check(&python, ".").await;
    assert_eq!(log(&tree), "/w /w /w /w ");

    let untrusted = self::detector(&tree).trust(Trust::untrusted("ask"));
    assert_eq!(
        untrusted.check(&python, ".").await.program(),
        Some(global.as_path())
    );
    assert_eq!(
        log(&tree),
        "/w /w /w /w / ",
        "not in a folder that chooses what it loads"
    );
}

#[tokio::test]
async fn one_that_does_not_work_says_so_in_its_words() {
    let tree = Tree::new(TOOLS);
    let detector = detector(&tree);
    let mut text = String::new();
    for name in ["shim", "slow", "no-interpreter"] {
        let probe = Probe::new(["--version"]).time(Duration::from_millis(if name == "slow" {
            200
        } else {
            60_000
        }));
        let found = detector.check(&candidate(name).probe(probe), ".").await;
        assert_eq!(found.usable(), None);
        text += &format!("{found}\n").replace(&format!("{}/", tree.root().display()), "");
    }
    expect![[r#"
        `go.mod` found in ./, bin/shim does not work: with `--version` it exited with 1: error: 'rust-analyzer' is not installed for the toolchain
        `go.mod` found in ./, bin/slow does not work: with `--version` it was not done after 200ms
        `go.mod` found in ./, bin/no-interpreter does not work: `no-interpreter` could not be started: what runs it does not exist, the interpreter that its first line names or its dynamic loader; install it again
    "#]]
    .assert_eq(&text);
}

/// A program may be called the same for years, and do something new from some version on.
#[tokio::test]
async fn one_of_another_version_is_told_from_it() {
    let tree = Tree::new(TOOLS);
    let detector = detector(&tree);
    let check = async |says: &str| {
        let probe = Probe::new(["--version"]).says(says);
        let found = detector
            .check(&candidate("compiler").probe(probe), ".")
            .await;
        found
            .to_string()
            .replace(&format!("{}/", tree.root().display()), "")
    };
    assert_eq!(
        check("Version 7.").await,
        "`go.mod` found in ./, bin/compiler does not work: with `--version` it says `Version 6.0.3`"
    );
    assert_eq!(
        check("Version 6.").await,
        "`go.mod` found in ./, bin/compiler"
    );
}

#[tokio::test]
async fn a_program_that_changes_is_tried_again() {
    let tree = Tree::new(TOOLS);
    let detector = detector(&tree);
    let shim = candidate("shim");
    assert_eq!(detector.check(&shim, ".").await.usable(), None);
    let path = tree.root().join("bin/shim");
    std::fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    std::fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert!(detector.check(&shim, ".").await.usable().is_some());
}

#[tokio::test]
async fn without_a_marker_no_probe_is_run() {
    let tree = Tree::new(TOOLS);
    std::fs::remove_file(tree.root().join("w/go.mod")).unwrap();
    let found = detector(&tree).check(&candidate("shim"), ".").await;
    assert!(
        found.to_string().contains("`shim` found, no go.mod"),
        "{found}"
    );
    assert_eq!(log(&tree), "");
}
