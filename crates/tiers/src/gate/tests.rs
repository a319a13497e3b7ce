//! Tests of `gate`.

use serde_json::json;

use super::*;
use crate::error::ErrorKind;

struct Fixed(Decision);

#[async_trait]
impl Gate for Fixed {
    async fn ask(&self, _: &GateRequest, _: &CancellationToken) -> Decision {
        self.0.clone()
    }
}

struct Panics;

#[async_trait]
impl Gate for Panics {
    async fn ask(&self, _: &GateRequest, _: &CancellationToken) -> Decision {
        panic!("the port is gone");
    }
}

/// Must not be asked.
struct Never;

#[async_trait]
impl Gate for Never {
    async fn ask(&self, request: &GateRequest, _: &CancellationToken) -> Decision {
        unreachable!("asked about {}", request.tool);
    }
}

async fn decide(approval: Approval, tier: Tier) -> Result<(), ToolError> {
    let request = GateRequest::new("tool", tier, json!({}));
    approval.decide(&request, &CancellationToken::new()).await
}

#[tokio::test]
async fn only_allow_allows_and_each_refusal_is_told_apart() {
    let exec = Tier::Exec;
    let gate = |decision| Approval::new(Arc::new(Fixed(decision)), Tier::Write, exec);
    assert_eq!(decide(gate(Decision::Allow), exec).await, Ok(()));
    let table = [
        (gate(Decision::deny("not on \u{1b}[2JFriday")), "deny"),
        (gate(Decision::NoResponse), "no_response"),
        (Approval::none(exec), "no_gate"),
        (
            Approval::new(Arc::new(Panics), Tier::Write, exec),
            "gate_failed",
        ),
        (
            Approval::new(Arc::new(Never), Tier::Read, Tier::Write),
            "above_cap",
        ),
        (Approval::new(Arc::new(DenyAll), Tier::Write, exec), "deny"),
        (
            Approval::new(Arc::new(AllowUpTo(Tier::Write)), Tier::Write, exec),
            "deny",
        ),
    ];
    for (approval, decision) in table {
        let error = decide(approval, exec).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused, "{decision}");
        assert_eq!(error.details["decision"], decision);
        assert!(
            error.message.contains("`tool` was not run"),
            "{}",
            error.message
        );
        assert!(!error.message.contains('\u{1b}'));
    }
}

#[tokio::test]
async fn a_denial_gives_the_reason_and_silence_is_not_called_one() {
    let deny = Approval::new(
        Arc::new(Fixed(Decision::deny("no"))),
        Tier::Write,
        Tier::Exec,
    );
    let error = decide(deny, Tier::Write).await.unwrap_err();
    assert!(error.message.contains("denied: no"), "{}", error.message);
    assert_eq!(error.details["reason"], "no");
    let silence = Approval::new(
        Arc::new(Fixed(Decision::NoResponse)),
        Tier::Write,
        Tier::Exec,
    );
    let error = decide(silence, Tier::Write).await.unwrap_err();
    assert!(
        error.message.contains("nobody answered"),
        "{}",
        error.message
    );
    assert!(!error.message.contains("denied"), "{}", error.message);
}

#[tokio::test]
async fn nobody_is_asked_below_the_threshold() {
    let approval = Approval::new(Arc::new(Never), Tier::Exec, Tier::Exec);
    assert_eq!(decide(approval.clone(), Tier::Read).await, Ok(()));
    assert_eq!(decide(approval, Tier::Write).await, Ok(()));
    assert_eq!(decide(Approval::none(Tier::Exec), Tier::Read).await, Ok(()));
}

#[tokio::test]
async fn a_capped_approval_can_only_be_lowered() {
    let approval = Approval::new(Arc::new(AllowUpTo(Tier::Exec)), Tier::Write, Tier::Read);
    assert_eq!(approval.capped(Tier::Exec).cap(), Tier::Read);
}

#[test]
fn what_is_shown_is_bounded_and_harmless() {
    let arguments = json!({ "path": "a", "content": "x\u{202e}\u{9b}2J".repeat(500_000) });
    let request = GateRequest::new("write", Tier::Write, arguments.clone());
    assert_eq!(request.arguments, arguments, "what is approved is whole");
    let preview = request.preview(bound::Bounds::new(2_000, 40));
    assert!(
        preview.len() <= 2_000 && preview.contains("cut"),
        "{preview}"
    );
    for shown in [&request.summary, &preview] {
        assert!(!shown.contains(['\u{202e}', '\u{9b}']), "{shown}");
    }
    assert!(request.summary.chars().count() < 400, "{}", request.summary);
}

#[test]
fn a_summary_is_one_line() {
    let request = GateRequest::new("t", Tier::Exec, json!({}))
        .with_summary("rm\n\u{1b}[1A\u{1b}[2KPermission needed: allow?");
    assert_eq!(request.summary, "rm␊␛[1A␛[2KPermission needed: allow?");
}
