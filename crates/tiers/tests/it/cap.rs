//! The cap holds on every path, and what is above it never existed.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use terret_tiers::wrapper::{Around, Inner, wrap};
use terret_tiers::{CallContext, Caller, ErrorKind, Request, Surface, Tier, Tool, async_trait};

use crate::toys::{self, Log, Outcome, call, kind, nest, open, spec, toy};

#[derive(Clone, Copy, Debug)]
enum Path {
    Direct,
    /// From within a tool.
    Nested,
    /// From within a tool that was called from within another.
    Twice,
    /// From within a wrapper.
    Wrapped,
    /// Through a caller of the host's that leads to a surface without a cap.
    OwnCaller,
}

/// Wraps without changing anything.
struct Plain;

#[async_trait]
impl Around for Plain {
    async fn around(&self, inner: Inner<'_>, arguments: Value, _: &CallContext) -> Outcome {
        inner.call(arguments).await
    }
}

/// A wrapper that calls something else altogether.
struct Elsewhere;

#[async_trait]
impl Around for Elsewhere {
    async fn around(&self, _: Inner<'_>, arguments: Value, context: &CallContext) -> Outcome {
        let tool = arguments["tool"].as_str().unwrap_or_default();
        context
            .tools()
            .call(tool, arguments["arguments"].clone())
            .await
    }
}

struct Uncapped(Surface);

#[async_trait]
impl Caller for Uncapped {
    async fn call(&self, name: &str, arguments: Value, request: Request) -> Outcome {
        self.0.call(name, arguments, request).await
    }
}

/// The random tools, each of which logs its tier, and those that lead to them.
fn tools(tools: &[(String, Tier, bool)], log: &Log) -> Vec<Arc<dyn Tool>> {
    let mut all = vec![
        nest("nest"),
        nest("nest2"),
        wrap(nest("wrapper"), Elsewhere),
    ];
    for (name, tier, wrapped) in tools {
        let (tier, log) = (*tier, log.clone());
        let tool = toy(open(spec(name, tier)), move |_, _| {
            log.add(tier.as_str());
            async { Ok("ran".into()) }
        });
        all.push(if *wrapped { wrap(tool, Plain) } else { tool });
    }
    all
}

async fn go(surface: &Surface, full: &Surface, path: Path, name: &str) -> Outcome {
    let target = json!({ "tool": name, "arguments": {} });
    let request = Request::new("c");
    match path {
        Path::Direct => surface.call(name, json!({}), request).await,
        Path::Nested => surface.call("nest", target, request).await,
        Path::Twice => {
            let twice = json!({ "tool": "nest2", "arguments": target });
            surface.call("nest", twice, request).await
        }
        Path::Wrapped => surface.call("wrapper", target, request).await,
        Path::OwnCaller => {
            let request = request.with_caller(Arc::new(Uncapped(full.clone())));
            surface.call("nest", target, request).await
        }
    }
}

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(Tier::ALL.to_vec())
}

fn path() -> impl Strategy<Value = Path> {
    use Path::*;
    prop::sample::select(vec![Direct, Nested, Twice, Wrapped, OwnCaller])
}

proptest! {
    #[test]
    fn what_runs_is_within_the_cap_and_what_is_above_never_existed(
        set in prop::collection::btree_map("t[a-d]{1,3}", (tier(), any::<bool>()), 0..8),
        caps in prop::collection::vec(tier(), 1..4),
        path in path(),
        pick in any::<prop::sample::Index>(),
        other in "t[a-d]{1,3}|read|[ -~]{0,12}",
    ) {
        let flat = |(name, (tier, wrapped))| (name, tier, wrapped);
        let set: Vec<(String, Tier, bool)> = set.into_iter().map(flat).collect();
        let log = Log::default();
        let full = toys::surface(tools(&set, &log));
        // Capped again and again: only the lowest counts.
        let surface = caps.iter().fold(full.clone(), |surface, cap| surface.cap(*cap));
        let cap = *caps.iter().min().unwrap();
        prop_assert_eq!(surface.tier(), cap);
        prop_assert!(surface.specs().all(|spec| spec.tier <= cap));

        // The same run, had the tools above the cap never been there.
        let never: Vec<_> = set.iter().filter(|(_, tier, _)| *tier <= cap).cloned().collect();
        let never = toys::surface(tools(&never, &log));

        let mut names: Vec<_> = set.iter().map(|(name, ..)| name.clone()).collect();
        names.push(other);
        let name = pick.get(&names);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (outcome, as_if) = runtime.block_on(async {
            (go(&surface, &full, path, name).await, go(&never, &never, path, name).await)
        });
        prop_assert_eq!(&outcome, &as_if);
        let there = set.iter().find(|(known, ..)| known == name);
        match there {
            Some((_, tier, _)) if *tier <= cap => prop_assert!(outcome.is_ok()),
            _ => prop_assert_eq!(outcome.unwrap_err().kind, ErrorKind::NotFound),
        }
        for tier in log.entries() {
            prop_assert!(tier.parse::<Tier>().unwrap() <= cap);
        }
    }

    #[test]
    fn a_wrapper_keeps_the_spec(name in "[a-z_]{1,20}", tier in tier(), key in "[a-z]{0,3}") {
        let spec = spec(&name, tier).hint("x", "y");
        let spec = if key.is_empty() { spec } else { spec.exclusive(key) };
        let tool = toy(spec.clone(), |_, _| async { Ok("".into()) });
        let wrapped = wrap(wrap(tool, Plain), Elsewhere);
        prop_assert_eq!(wrapped.spec(), &spec);
    }
}

#[tokio::test]
async fn plan_mode_has_no_shell_by_any_name() {
    let log = Log::default();
    let set = [
        ("bash".to_owned(), Tier::Exec, false),
        ("read".to_owned(), Tier::Read, false),
    ];
    let surface = toys::surface(tools(&set, &log)).cap(Tier::Read);
    assert!(surface.spec("bash").is_none());
    assert!(surface.specs().all(|spec| spec.name != "bash"));
    for alias in ["bash", "Bash", "BASH", "bash ", "functions.bash", "shell"] {
        let error = call(&surface, alias).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound, "{alias}");
        assert!(!error.message.contains("mean `bash`"), "{}", error.message);
        let nested = json!({ "tool": alias });
        assert_eq!(
            kind(surface.call("nest", nested, Request::new("n")).await),
            ErrorKind::NotFound
        );
    }
    assert!(log.take().is_empty());
}

#[test]
fn a_surface_is_only_ever_capped_further() {
    let log = Log::default();
    let set = [
        ("w".to_owned(), Tier::Write, false),
        ("x".to_owned(), Tier::Exec, false),
    ];
    let surface = toys::surface(tools(&set, &log));
    for (first, second) in [(Tier::Read, Tier::Exec), (Tier::Write, Tier::Exec)] {
        let capped = surface.cap(first).cap(second);
        assert_eq!(capped.tier(), first);
        assert_eq!(capped.fingerprint(), surface.cap(first).fingerprint());
    }
}
