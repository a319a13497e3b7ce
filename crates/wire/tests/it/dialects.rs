//! Other protocols than JSON-RPC fit too: one like DAP, whose messages are all numbered, and one like an interpreter's,
//! which has neither failures nor notifications.

use serde::Deserialize;
use serde_json::{Value, json};
use terret_testkit::{Format, Scripted};
use terret_wire::{
    Dialect, ErrorKind, Failure, Framing, Handler, Incoming, Json, Malformed, Notification,
    Options, Outgoing, Request,
};
use tokio::sync::mpsc;

use crate::{SOON, start, text};

struct Debug;

#[derive(Deserialize)]
struct Message {
    seq: Json,
    r#type: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    event: String,
    request_seq: Option<u64>,
    success: Option<bool>,
    message: Option<String>,
    #[serde(default)]
    arguments: Json,
    #[serde(default)]
    body: Json,
}

impl Dialect for Debug {
    fn encode(&self, number: u64, message: Outgoing<'_>) -> Option<Vec<u8>> {
        let value = match message {
            Outgoing::Request { method, params } => {
                json!({ "seq": number, "type": "request", "command": method, "arguments": params })
            }
            Outgoing::Answer {
                id,
                method,
                outcome: Ok(body),
            } => {
                json!({
                    "seq": number, "type": "response", "request_seq": id, "command": method, "success": true, "body": body
                })
            }
            Outgoing::Answer {
                id,
                method,
                outcome: Err(failure),
            } => {
                json!({
                    "seq": number, "type": "response", "request_seq": id, "command": method, "success": false,
                    "message": failure.message
                })
            }
            Outgoing::Cancel { request } => {
                json!({ "seq": number, "type": "request", "command": "cancel", "arguments": { "requestId": request } })
            }
            _ => return None,
        };
        serde_json::to_vec(&value).ok()
    }

    fn decode(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        let message: Message = serde_json::from_slice(message).map_err(|error| Malformed {
            is_json: error.is_data(),
            why: "no message".to_owned(),
        })?;
        Ok(match message.r#type.as_str() {
            "request" => Incoming::Request {
                id: message.seq,
                method: message.command,
                params: message.arguments,
            },
            "event" => Incoming::Notification {
                method: message.event,
                params: message.body,
            },
            _ => Incoming::Answer {
                request: message.request_seq,
                outcome: match message.success {
                    Some(true) => Ok(message.body),
                    _ => Err(Failure {
                        code: 0,
                        message: message.message.unwrap_or_default(),
                        data: message.body,
                    }),
                },
            },
        })
    }

    fn unanswered(&self, method: &str) -> Failure {
        Failure::new(0, format!("{method} is not supported"))
    }
}

struct Events(mpsc::UnboundedSender<String>);

impl Handler for Events {
    fn request(&mut self, request: Request) {
        match request.method() {
            "runInTerminal" => request.responder().answer(&json!({ "processId": 7 })),
            _ => drop(request),
        }
    }

    fn notification(&mut self, notification: Notification) {
        self.0
            .send(format!(
                "{} {}",
                notification.method,
                notification.params.as_str()
            ))
            .unwrap();
    }
}

#[tokio::test]
async fn a_debug_adapter() {
    let (mut adapter, stream) = Scripted::in_memory(Format::ContentLength);
    let (events, mut heard) = mpsc::unbounded_channel();
    let peer = start(
        stream,
        Debug,
        Events(events),
        Options::new(Framing::ContentLength),
    );

    let initialize = peer.request("initialize", &json!({ "adapterID": "x" }), SOON);
    let launch = peer.request("launch", &(), SOON);
    assert_eq!(adapter.receive().await["seq"], 1);
    assert_eq!(adapter.receive().await["command"], "launch");
    // Their numbers are their own, and an event may come before any answer.
    adapter
        .send(&json!({ "seq": 1, "type": "event", "event": "initialized" }))
        .await;
    adapter
        .send(&json!({ "seq": 2, "type": "request", "command": "runInTerminal", "arguments": {} }))
        .await;
    adapter
        .send(&json!({ "seq": 3, "type": "request", "command": "startDebugging", "arguments": {} }))
        .await;
    adapter
        .send(&json!({ "seq": 4, "type": "response", "request_seq": 1, "success": true, "body": { "a": 1 } }))
        .await;
    adapter
        .send(&json!({
            "seq": 5, "type": "response", "request_seq": 2, "success": false, "message": "no program",
            "body": { "error": { "id": 9 } }
        }))
        .await;
    assert_eq!(text(initialize.await), r#"{"a":1}"#);
    let failed = launch.await.unwrap_err();
    let ErrorKind::Failed(failure) = failed.kind() else {
        panic!("{failed}")
    };
    assert_eq!(
        (failure.message.as_str(), failure.data.as_str()),
        ("no program", r#"{"error":{"id":9}}"#)
    );
    assert_eq!(heard.recv().await.unwrap(), "initialized null");
    let (first, second) = (adapter.receive().await, adapter.receive().await);
    assert_eq!(
        (&first["request_seq"], &first["body"]["processId"]),
        (&json!(2), &json!(7))
    );
    assert_eq!(
        (&second["request_seq"], &second["success"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(second["message"], "startDebugging is not supported");

    // What is cancelled is cancelled by a request, whose answer nobody waits for.
    let number = {
        let call = peer.request("variables", &(), SOON);
        let number = call.number().unwrap();
        assert_eq!(adapter.receive().await["seq"], number);
        number
    };
    let cancel = adapter.receive().await;
    assert_eq!(
        (&cancel["command"], &cancel["arguments"]["requestId"]),
        (&json!("cancel"), &json!(number))
    );
    adapter
        .send(
            &json!({ "seq": 6, "type": "response", "request_seq": cancel["seq"], "success": true }),
        )
        .await;
    adapter
        .send(&json!({ "seq": 7, "type": "event", "event": "stopped", "body": {} }))
        .await;
    assert_eq!(heard.recv().await.unwrap(), "stopped {}");
    assert_eq!(peer.status().unclaimed, 1);
    // It has no way to say so.
    adapter.send_bytes(b"Content-Length: 4\r\n\r\nnull").await;
    adapter
        .send(&json!({ "seq": 8, "type": "event", "event": "exited" }))
        .await;
    assert_eq!(heard.recv().await.unwrap(), "exited null");
    assert_eq!(peer.status().malformed, 1);
}

struct Interpreter;

impl Dialect for Interpreter {
    fn encode(&self, number: u64, message: Outgoing<'_>) -> Option<Vec<u8>> {
        let value = match message {
            Outgoing::Request { method, params } => {
                json!({ "op": method, "id": number, "with": params })
            }
            Outgoing::Answer { id, outcome, .. } => {
                json!({ "op": "reply", "id": id, "ok": outcome.ok() })
            }
            _ => return None,
        };
        serde_json::to_vec(&value).ok()
    }

    fn decode(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        let value: Value = serde_json::from_slice(message).map_err(|_| Malformed {
            is_json: false,
            why: "no JSON".to_owned(),
        })?;
        let json = |name: &str| Json::of(&value[name]).unwrap_or_default();
        Ok(match value["op"].as_str() {
            Some("done") => Incoming::Answer {
                request: value["id"].as_u64(),
                outcome: Ok(json("value")),
            },
            Some("tool") => Incoming::Request {
                id: json("id"),
                method: value["name"].as_str().unwrap_or_default().to_owned(),
                params: json("args"),
            },
            other => Incoming::Notification {
                method: other.unwrap_or_default().to_owned(),
                params: json("data"),
            },
        })
    }

    fn unanswered(&self, method: &str) -> Failure {
        Failure::new(0, method)
    }
}

#[tokio::test]
async fn an_interpreter_a_line_each() {
    let (mut kernel, stream) = Scripted::in_memory(Format::Lines);
    let (events, mut heard) = mpsc::unbounded_channel();
    let peer = start(
        stream,
        Interpreter,
        Events(events),
        Options::new(Framing::Lines),
    );
    let cell = peer.request("execute", &"x = '\n'", SOON);
    let request = kernel.receive().await;
    assert_eq!(
        request,
        json!({ "op": "execute", "id": 1, "with": "x = '\n'" })
    );
    kernel
        .send_bytes(b"{\"op\":\"display\",\"data\":1}\r\n\r\n")
        .await;
    kernel
        .send(&json!({ "op": "tool", "id": "t1", "name": "runInTerminal", "args": {} }))
        .await;
    assert_eq!(
        kernel.receive().await,
        json!({ "op": "reply", "id": "t1", "ok": { "processId": 7 } })
    );
    kernel
        .send(&json!({ "op": "done", "id": 1, "value": "\n" }))
        .await;
    assert_eq!(cell.parse::<String>().await.unwrap(), "\n");
    assert_eq!(heard.recv().await.unwrap(), "display 1");
}
