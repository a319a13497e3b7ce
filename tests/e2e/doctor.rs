//! What is usable here.

use serde_json::json;
use terret_testkit::Tree;

use crate::terret;

#[test]
fn grammars_are_listed_with_the_feature_that_brings_them() {
    let tree = Tree::new("");
    let bin = || terret(&tree).arg("doctor");
    let report = bin().run().success().stdout;
    assert!(
        report.starts_with("grammars: ") && report.contains("dart"),
        "{report}"
    );
    let details = bin().arg("--json").run().success().json();
    let grammars = details["grammars"].as_array().unwrap();
    let tsx = json!({"language": "tsx", "compiled_in": true, "feature": "typescript"});
    assert!(grammars.contains(&tsx), "{details}");
}

#[test]
fn language_servers_are_listed_with_what_keeps_them_away() {
    let tree = Tree::new("//- /app/go.mod\nmodule a\n//- /app/a.go\npackage a\n//- /bin dir\n");
    tree.write("bin/placeholder", "");
    let elsewhere = Tree::new("");
    let doctor = || {
        let bin = terret(&elsewhere).arg("-C").arg(tree.root());
        bin.arg("doctor").env("PATH", tree.path("bin"))
    };
    let report = doctor().run().success().stdout;
    let gopls = "  gopls: `go.mod` found in app/, `gopls` is not on PATH; to get it: go install ";
    assert!(report.contains(gopls), "{report}");
    assert!(
        report.contains(" more are known, for what is not here\n"),
        "{report}"
    );
    assert!(report.ends_with("to allow it: terret trust\n"), "{report}");
    let details = doctor().arg("--json").run().success().json();
    let servers = details["language_servers"].as_array().unwrap();
    let gopls = servers
        .iter()
        .find(|server| server["id"] == "gopls")
        .unwrap();
    assert_eq!(gopls["usable"], false);
    assert_eq!(gopls["roots"][0]["root"], "app");
    let dart = servers
        .iter()
        .find(|server| server["id"] == "dart")
        .unwrap();
    assert_eq!(dart["roots"], json!([]));
    assert_eq!(details["trusted"], false);
}
