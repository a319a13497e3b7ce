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
