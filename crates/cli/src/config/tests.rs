use super::*;

/// Every key of the documentation, as if somebody wanted them all.
fn documented() -> String {
    let page = include_str!("../../../../docs/terret.toml");
    let keys = page.lines().filter_map(|line| line.strip_prefix("#: "));
    keys.map(|line| format!("{line}\n")).collect()
}

fn parse(text: &str) -> Result<File, String> {
    let file = File::parse("a/terret.toml".into(), text);
    file.map_err(|error| error.to_string())
}

fn config(texts: &[&str]) -> Result<Config, String> {
    let files: Result<Vec<File>, String> = texts.iter().map(|text| parse(text)).collect();
    Config::of(files?.iter()).map_err(|error| error.to_string())
}

fn servers(config: &Config) -> &Catalog {
    config.servers.as_ref().expect("they are enabled")
}

#[test]
fn the_documented_example_is_read_and_leaves_nothing_but_comments() {
    let page = include_str!("../../../../docs/terret.toml");
    assert_eq!(toml::from_str(page), Ok(toml::Table::new()));
    let config = config(&[&documented()]).expect("every key is known");
    assert_eq!(config.write_wait, Some(Duration::from_secs(3)));
    let mine = servers(&config).get("mine").expect("it was added").spec();
    assert_eq!(mine.programs, ["my-language-server"]);
    assert!(servers(&config).get("eslint").is_none());
    let gopls = servers(&config).get("gopls").expect("it stays").spec();
    assert_eq!(gopls.args, ["-remote=auto"]);
    assert_eq!(gopls.programs, ["gopls"]);
}

#[test]
fn the_documented_example_has_every_key_of_a_server() {
    let error = parse("lsp.x = 1").expect_err("an unknown key");
    assert_eq!(
        error,
        "a/terret.toml: line 1: unknown key `x`; the keys are enabled, write_wait, disable, servers"
    );
    let documented = documented();
    for inside in ["", "diagnostics."] {
        let unknown = Catalog::shipped().change("gopls", &format!("{inside}zzzzzzzzzzzz = 1"));
        let unknown = unknown.expect_err("an unknown key").to_string();
        let (_, known) = unknown.split_once("expected one of ").expect("a list");
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(known.len() > 5);
        for key in known {
            let key = format!("{inside}{key}");
            let is_there = documented.lines().any(|line| {
                line.starts_with(&format!("{key} = "))
                    || line.starts_with(&format!("{key}."))
                    || line.starts_with('[') && line.contains(&format!(".{key}"))
            });
            assert!(is_there, "{key}");
        }
    }
}

#[test]
fn what_is_wrong_is_named_with_its_file_and_what_was_meant() {
    let rows = [
        (
            "lps.enabled = true",
            "line 1: unknown key `lps`; did you mean `lsp`?",
        ),
        (
            "[lsp]\nwirte_wait = 3",
            "line 2: unknown key `wirte_wait`; did you mean `write_wait`?",
        ),
        (
            "[lsp]\n\nenabled = 3",
            "line 3: invalid type: integer `3`, expected a boolean",
        ),
        (
            "lsp.write_wait = 601",
            "`lsp.write_wait` is 601; it is seconds, from 0 to 600",
        ),
        (
            "lsp.write_wait = nan",
            "`lsp.write_wait` is NaN; it is seconds, from 0 to 600",
        ),
        (
            "lsp.disable = ['eslnt']",
            "`lsp.disable` names no known server with `eslnt`; did you mean `eslint`?",
        ),
        (
            "lsp.servers.gopls.arg = []",
            "the language server `gopls`: unknown key `arg`; did you mean `args`?",
        ),
        (
            "lsp.servers.gopls.programs = []",
            "the language server `gopls`: it names no program",
        ),
        (
            "lsp.servers.mine.name = 'Mine'",
            "the language server `mine`: missing field `programs`",
        ),
    ];
    for (text, why) in rows {
        let error = config(&[text]).expect_err(text);
        assert_eq!(error, format!("a/terret.toml: {why}"));
    }
}

#[test]
fn the_later_file_goes_over_the_earlier_and_what_is_disabled_stays_so() {
    let user = "lsp.write_wait = 1.5\nlsp.disable = ['eslint']\nlsp.servers.gopls.args = ['a']";
    let own =
        "lsp.disable = ['ruff']\nlsp.servers.gopls.args = ['b']\nlsp.servers.eslint.args = []";
    let both = config(&[user, own]).expect("sound");
    assert_eq!(both.write_wait, Some(Duration::from_millis(1500)));
    assert!(servers(&both).get("eslint").is_none() && servers(&both).get("ruff").is_none());
    let gopls = servers(&both).get("gopls").expect("it stays").spec();
    assert_eq!(gopls.args, ["b"]);
    let off = config(&["lsp.enabled = false", "lsp.write_wait = 1"]).expect("sound");
    assert!(off.servers.is_none());
    let on = config(&["lsp.enabled = false", "lsp.enabled = true"]).expect("sound");
    assert!(on.servers.is_some());
}

#[test]
fn a_workspace_without_trust_names_no_program_and_turns_nothing_on() {
    let user = parse("lsp.enabled = false").expect("sound");
    let text = "lsp.enabled = true\nlsp.disable = ['mine', 'ruff']\nlsp.servers.mine.x = 1";
    let mut own = parse(text).expect("sound");
    own.restrict(Some(&user));
    assert_eq!(own.lsp.enabled, None);
    assert!(own.lsp.servers.is_empty());
    assert_eq!(own.lsp.disable, ["ruff"]);
    assert!(
        Config::of([&user, &own].into_iter())
            .expect("sound")
            .servers
            .is_none()
    );
}
