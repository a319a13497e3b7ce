//! The gate, as a surface asks it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::poll;
use serde_json::json;
use terret_tiers::{
    CallContext, CancellationToken, Decision, DenyAll, ErrorKind, Gate, GateRequest, Origin,
    Output, Request, Tier, Toolset, WORKSPACE, async_trait,
};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::toys::{Log, call, echo, kind, nest, open, spec, toy};

/// A question that was asked, and where its answer goes.
struct Asked {
    request: GateRequest,
    answer: oneshot::Sender<Decision>,
}

/// Passes each question on to the test and waits for its answer.
struct Desk {
    questions: mpsc::UnboundedSender<Asked>,
}

fn desk() -> (Arc<Desk>, Mutex<mpsc::UnboundedReceiver<Asked>>) {
    let (questions, receiver) = mpsc::unbounded_channel();
    (Arc::new(Desk { questions }), Mutex::new(receiver))
}

#[async_trait]
impl Gate for Desk {
    async fn ask(&self, request: &GateRequest, _: &CancellationToken) -> Decision {
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            request: request.clone(),
            answer,
        };
        if self.questions.send(asked).is_err() {
            return Decision::deny("nobody is there");
        }
        answered.await.unwrap_or(Decision::NoResponse)
    }
}

#[tokio::test]
async fn without_a_gate_what_needs_one_is_refused_at_once() {
    let log = Log::default();
    let tools = [
        echo("r", Tier::Read, &log),
        echo("w", Tier::Write, &log),
        echo("x", Tier::Exec, &log),
    ];
    let surface = Toolset::new(tools).unwrap().surface(Tier::Exec);
    assert!(call(&surface, "r").await.is_ok());
    for name in ["w", "x"] {
        let error = call(&surface, name).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert_eq!(error.details["decision"], "no_gate");
    }
    let surface = surface.ask_from(Tier::Exec);
    assert!(call(&surface, "w").await.is_ok());
    assert_eq!(kind(call(&surface, "x").await), ErrorKind::Refused);
    assert_eq!(log.entries(), ["r", "w"]);
    let denying = surface.with_gate(Arc::new(DenyAll)).ask_from(Tier::Read);
    assert_eq!(kind(call(&denying, "r").await), ErrorKind::Refused);
}

#[tokio::test]
async fn a_question_says_who_asks_for_what() {
    let log = Log::default();
    let (gate, questions) = desk();
    let tools = [echo("x", Tier::Exec, &log), nest("cell")];
    let surface = Toolset::new(tools)
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let arguments = json!({ "tool": "x", "arguments": { "a": 1 } });
    let request = Request::new("7").with_conversation("main");
    let answer = async {
        let asked = questions.lock().await.recv().await.unwrap();
        assert_eq!(asked.request.tool, "x");
        assert_eq!(asked.request.tier, Tier::Exec);
        assert_eq!(asked.request.arguments, json!({ "a": 1 }));
        assert_eq!(asked.request.summary, r#"x {"a":1}"#);
        assert_eq!(
            asked.request.origin,
            Origin::Nested {
                tool: "cell".to_owned()
            }
        );
        assert_eq!(
            (asked.request.call.as_str(), asked.request.run.as_str()),
            ("7.1", "run")
        );
        assert_eq!(asked.request.conversation.as_deref(), Some("main"));
        asked.answer.send(Decision::Allow).unwrap();
    };
    let (outcome, ()) = tokio::join!(surface.call("cell", arguments, request), answer);
    assert_eq!(outcome.unwrap().to_text(), "7.1");
}

#[tokio::test]
async fn a_question_that_is_open_holds_no_key() {
    let (gate, questions) = desk();
    let tool = toy(
        spec("w", Tier::Write).exclusive(WORKSPACE),
        |_, context| async move {
            assert!(context.lease().is_some());
            Ok(Output::text("written"))
        },
    );
    let surface = Toolset::new([tool])
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let mut waiting = Box::pin(call(&surface, "w"));
    assert!(poll!(&mut waiting).is_pending());
    let asked = questions.lock().await.recv().await.unwrap();
    // The person thinks; somebody else has the key meanwhile.
    let lease = surface
        .run()
        .hold(WORKSPACE, "other", &Request::new("o"))
        .await
        .unwrap();
    asked.answer.send(Decision::Allow).unwrap();
    assert!(poll!(&mut waiting).is_pending(), "now it waits for the key");
    drop(lease);
    assert_eq!(waiting.await.unwrap().to_text(), "written");
}

#[tokio::test]
async fn the_answer_to_one_question_settles_no_other() {
    let log = Log::default();
    let (gate, questions) = desk();
    let surface = Toolset::new([echo("x", Tier::Exec, &log)])
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let mut one = Box::pin(surface.call("x", json!({ "n": 1 }), Request::new("1")));
    let mut two = Box::pin(surface.call("x", json!({ "n": 2 }), Request::new("2")));
    assert!(poll!(&mut one).is_pending() && poll!(&mut two).is_pending());
    let mut questions = questions.lock().await;
    let first = questions.recv().await.unwrap();
    let second = questions.recv().await.unwrap();
    assert_eq!(second.request.arguments, json!({ "n": 2 }));
    first.answer.send(Decision::Allow).unwrap();
    assert!(one.await.is_ok());
    assert!(poll!(&mut two).is_pending());
    second.answer.send(Decision::deny("not this one")).unwrap();
    assert_eq!(kind(two.await), ErrorKind::Refused);
    assert_eq!(log.entries(), ["1"]);
}

#[tokio::test]
async fn cancelling_withdraws_the_question_by_the_token_and_by_dropping() {
    let log = Log::default();
    let (gate, questions) = desk();
    let surface = Toolset::new([echo("x", Tier::Exec, &log)])
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let mut questions = questions.lock().await;

    let cancel = CancellationToken::new();
    let request = Request::new("1").with_cancel(cancel.clone());
    let mut waiting = Box::pin(surface.call("x", json!({}), request));
    assert!(poll!(&mut waiting).is_pending());
    let asked = questions.recv().await.unwrap();
    cancel.cancel();
    assert_eq!(kind(waiting.await), ErrorKind::Cancelled);
    assert!(asked.answer.is_closed());

    let mut waiting = Box::pin(call(&surface, "x"));
    assert!(poll!(&mut waiting).is_pending());
    let asked = questions.recv().await.unwrap();
    drop(waiting);
    assert!(asked.answer.is_closed());
    assert!(log.entries().is_empty());
}

#[tokio::test]
async fn the_time_of_the_gate_does_not_count_as_the_tools() {
    let (gate, questions) = desk();
    let seen = Arc::new(std::sync::Mutex::new(None));
    let tool = toy(spec("x", Tier::Exec), {
        let seen = seen.clone();
        move |_, context: CallContext| {
            *seen.lock().unwrap() = context.deadline();
            async { Ok(Output::new()) }
        }
    });
    let surface = Toolset::new([tool])
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let deadline = Instant::now() + Duration::from_millis(20);
    let request = Request::new("1").with_deadline(deadline);
    let mut waiting = Box::pin(surface.call("x", json!({}), request));
    assert!(poll!(&mut waiting).is_pending());
    let asked = questions.lock().await.recv().await.unwrap();
    while Instant::now() <= deadline {
        tokio::task::yield_now().await;
    }
    asked.answer.send(Decision::Allow).unwrap();
    waiting.await.unwrap();
    assert!(seen.lock().unwrap().unwrap() > deadline);
}

#[tokio::test]
async fn what_a_read_tool_starts_is_held_to_the_cap_it_was_started_under() {
    // As a tool that spawns a worker: tier read itself, and it decides about the worker's calls
    // later.
    let spawn = toy(open(spec("spawn", Tier::Read)), |_, context| async move {
        let request =
            GateRequest::new("shell", Tier::Exec, json!({})).with_origin(Origin::Worker {
                id: "w1".to_owned(),
            });
        context
            .approval()
            .decide(&request, context.cancel())
            .await?;
        Ok(Output::text("the worker ran a shell"))
    });
    let (gate, questions) = desk();
    let surface = Toolset::new([spawn])
        .unwrap()
        .surface(Tier::Exec)
        .with_gate(gate);
    let error = call(&surface.cap(Tier::Read), "spawn").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(error.details["decision"], "above_cap");
    assert!(
        questions.lock().await.try_recv().is_err(),
        "refused without a question"
    );

    let mut waiting = Box::pin(call(&surface, "spawn"));
    assert!(poll!(&mut waiting).is_pending());
    let asked = questions.lock().await.recv().await.unwrap();
    assert_eq!(asked.request.origin.to_string(), "worker w1");
    asked.answer.send(Decision::Allow).unwrap();
    assert!(waiting.await.is_ok());
}
