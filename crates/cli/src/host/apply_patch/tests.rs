//! Patches that go in, and those that do not.

use super::*;

fn wrap(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}*** End Patch\n")
}

/// A file with the hunks of an update in it.
fn update(text: &str, hunks: &str) -> Result<String, String> {
    let patch = wrap(&format!("*** Update File: a\n{hunks}"));
    let sections = envelope::parse(&patch)?;
    let What::Update { hunks, .. } = &sections[0].what else {
        panic!("an update");
    };
    hunks::apply(text, hunks)
}

#[test]
fn hunks_find_their_places() {
    let rows = [
        // Plain, and with the line ends of the file.
        ("a\nb\nc\n", "@@\n a\n-b\n+x\n+y\n c\n", "a\nx\ny\nc\n"),
        ("a\r\nb\r\n", " a\n+x\n-b\n", "a\r\nx\r\n"),
        // The first hunk needs no `@@`; an empty line is one of the file.
        ("a\n\nb\n", " a\n\n-b\n+c\n", "a\n\nc\n"),
        // Without a line end at the end it stays so.
        ("a\nb", "@@\n-b\n+c\n", "a\nc"),
        ("a\nb", "@@\n b\n+c\n", "a\nb\nc"),
        // Below a line that is named, and below several.
        ("f\n1\ng\n1\n", "@@ g\n-1\n+2\n", "f\n1\ng\n2\n"),
        (
            "A\nf\n1\nB\nf\n1\n",
            "@@ B\n@@ f\n-1\n+2\n",
            "A\nf\n1\nB\nf\n2\n",
        ),
        ("f\n1\n", "@@ f\n+0\n", "f\n0\n1\n"),
        // Numbers, as in a unified diff, are passed over.
        ("f\n1\n", "@@ -1,2 +1,2 @@ f\n-1\n+2\n", "f\n2\n"),
        // Only something to add goes to the end.
        ("a\n", "@@\n+b\n", "a\nb\n"),
        ("", "@@\n+b\n", "b\n"),
        ("1\nx\n1\n", "@@\n-1\n+2\n*** End of File\n", "1\nx\n2\n"),
        // Blanks that differ do not matter, and the file's stay.
        (
            "\tif a:  \n\t\tb\n",
            " if a:\n-b\n+\t\tc\n",
            "\tif a:  \n\t\tc\n",
        ),
        // Several, in their order.
        ("a\nb\nc\nd\n", "@@\n-a\n+1\n@@\n-d\n+4\n", "1\nb\nc\n4\n"),
        ("a\n", "@@\n-a\n", ""),
    ];
    for (text, hunks, expected) in rows {
        assert_eq!(
            update(text, hunks).as_deref(),
            Ok(expected),
            "{text:?} {hunks:?}"
        );
    }
}

#[test]
fn a_hunk_without_one_place_says_what_it_looked_for() {
    let rows = [
        (
            "a\n",
            "@@\n-b\n-c\n+d\n",
            "hunk 1 of 1: these lines are not in the file; read the file",
        ),
        ("a\n", "@@\n-b\n-c\n+d\n", "\n  b\n  c"),
        (
            "a\nb\n",
            "@@\n-b\n+c\n@@\n-a\n+d\n",
            "hunk 2 of 2: these lines are not below line 2",
        ),
        (
            "a\nb\n",
            "@@\n-b\n+c\n@@\n-a\n+d\n",
            "they are at line 1, above: hunks come in the order",
        ),
        (
            "a\nb\na\n",
            "@@\n-a\n+c\n",
            "it fits at lines 1 and 3 (1 first): show more lines",
        ),
        ("a\n", "@@ def f\n-a\n+b\n", "no line `def f` in the file"),
        (
            "a\nb\n",
            "@@\n-a\n+b\n*** End of File\n",
            "they are at line 1, and not at the end",
        ),
    ];
    for (text, hunks, why) in rows {
        let error = update(text, hunks).expect_err(hunks);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn an_envelope_that_is_none_says_on_which_line() {
    let rows = [
        ("x", "the patch begins with a line `*** Begin Patch`"),
        ("*** Begin Patch\n", "which is missing"),
        (&wrap(""), "the patch names no file"),
        (
            &wrap("*** Add File: a\nx\n"),
            "line 3 of the patch: each line of an added file",
        ),
        (&wrap("*** Update File: a\n"), "the update changes nothing"),
        (&wrap("*** Update File: a\n@@ f\n"), "no lines follow `@@`"),
        (
            &wrap("*** Update File: a\n@@\nx\n"),
            "line 4 of the patch: it begins neither",
        ),
        (
            &wrap("*** Change File: a\n"),
            "line 2 of the patch: `*** Change File: a` is none of",
        ),
        (&wrap("*** Delete File:\n"), "the path is missing"),
        (&(wrap("*** Delete File: a\n") + "x"), "something follows"),
    ];
    for (patch, why) in rows {
        let error = envelope::parse(patch).expect_err(patch);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn sections_tell_their_paths() {
    let patch = wrap(
        "*** Add File: a\n+1\n+\n*** Delete File: b c\n*** Update File: d\n*** Move to: e\n@@\n-x\n+y\n",
    );
    let sections = envelope::parse(&patch).unwrap();
    let add = What::Add {
        content: "1\n\n".to_owned(),
    };
    assert_eq!(sections[0].what, add);
    let paths: Vec<&str> = sections.iter().flat_map(Section::paths).collect();
    assert_eq!(paths, ["a", "b c", "d", "e"]);
    let said: Vec<String> = sections.iter().map(Section::summary).collect();
    assert_eq!(said, ["create a", "delete b c", "edit d and move it to e"]);
    assert_eq!(about_to_touch(&json!({ "patch": patch })).len(), 4);
}
