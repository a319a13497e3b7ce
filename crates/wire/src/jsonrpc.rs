//! JSON-RPC 2.0, which LSP and ACP speak.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use crate::dialect::{Dialect, Failure, Incoming, Malformed, Outgoing};
use crate::json::Json;

/// "Invalid JSON was received" (JSON-RPC 2.0, 5.1).
pub const PARSE_ERROR: i64 = -32700;
/// "The JSON sent is not a valid Request object."
pub const INVALID_REQUEST: i64 = -32600;
/// "The method does not exist / is not available."
pub const METHOD_NOT_FOUND: i64 = -32601;
/// "Invalid method parameter(s)."
pub const INVALID_PARAMS: i64 = -32602;
/// "Internal JSON-RPC error."
pub const INTERNAL_ERROR: i64 = -32603;

/// The dialect of JSON-RPC 2.0, without batches.
///
/// What has a method is a request or a notification, whatever its id: the two sides number their requests each for
/// themselves. An answer without a result counts as one with `null`, as some servers write it.
#[derive(Clone, Debug, Default)]
pub struct JsonRpc {
    cancel: Option<(String, String)>,
}

impl JsonRpc {
    /// Without a way to cancel requests, which JSON-RPC itself does not have.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels requests by a notification of that name, whose parameter of that name is the request's id.
    #[must_use]
    pub fn cancel_by(mut self, method: impl Into<String>, parameter: impl Into<String>) -> Self {
        self.cancel = Some((method.into(), parameter.into()));
        self
    }
}

#[derive(Serialize)]
struct Written<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Id::is_none")]
    id: Id<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<WrittenFailure<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Id<'a> {
    None,
    Ours(u64),
    Theirs(&'a Json),
    Unknown(()),
}

impl Id<'_> {
    fn is_none(&self) -> bool {
        matches!(self, Id::None)
    }
}

#[derive(Serialize)]
struct WrittenFailure<'a> {
    code: i64,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Json>,
}

#[derive(Deserialize)]
struct Read {
    id: Option<Json>,
    method: Option<String>,
    #[serde(default)]
    params: Json,
    #[serde(default)]
    result: Json,
    error: Option<ReadFailure>,
}

#[derive(Deserialize)]
struct ReadFailure {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Json,
}

impl Dialect for JsonRpc {
    fn encode(&self, number: u64, message: Outgoing<'_>) -> Option<Vec<u8>> {
        let mut written = Written {
            jsonrpc: "2.0",
            id: Id::None,
            method: None,
            params: None,
            result: None,
            error: None,
        };
        let failure = |code, message| WrittenFailure {
            code,
            message,
            data: None,
        };
        let cancelled;
        match message {
            Outgoing::Request { method, params } => {
                written.id = Id::Ours(number);
                written.method = Some(method);
                written.params = Some(params).filter(|params| !params.is_null());
            }
            Outgoing::Notification { method, params } => {
                written.method = Some(method);
                written.params = Some(params).filter(|params| !params.is_null());
            }
            Outgoing::Answer { id, outcome, .. } => {
                written.id = Id::Theirs(id);
                match outcome {
                    Ok(result) => written.result = Some(result),
                    Err(Failure {
                        code,
                        message,
                        data,
                    }) => {
                        let data = Some(data).filter(|data| !data.is_null());
                        written.error = Some(WrittenFailure {
                            data,
                            ..failure(*code, message)
                        });
                    }
                }
            }
            Outgoing::Cancel { request } => {
                let (method, parameter) = self.cancel.as_ref()?;
                cancelled = Json::of(&serde_json::json!({ parameter: request })).ok()?;
                written.method = Some(method);
                written.params = Some(&cancelled);
            }
            Outgoing::Malformed(malformed) => {
                let code = if malformed.is_json {
                    INVALID_REQUEST
                } else {
                    PARSE_ERROR
                };
                written.id = Id::Unknown(());
                written.error = Some(failure(code, &malformed.why));
            }
        }
        serde_json::to_vec(&written).ok()
    }

    fn decode(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        // The fields of a struct may also be read from an array, in their order.
        if message.trim_ascii_start().starts_with(b"[")
            && serde_json::from_slice::<IgnoredAny>(message).is_ok()
        {
            let why = "an array, and no JSON-RPC message".to_owned();
            return Err(Malformed { is_json: true, why });
        }
        let Read {
            id,
            method,
            params,
            result,
            error,
        } = serde_json::from_slice(message).map_err(|error| {
            // Where, and not what: the text of an error can hold a piece of the message.
            let (why, is_json) = match error.classify() {
                Category::Data => ("no JSON-RPC message", true),
                Category::Syntax | Category::Eof | Category::Io => ("no JSON", false),
            };
            let why = format!("{why}, at line {} column {}", error.line(), error.column());
            Malformed { is_json, why }
        })?;
        let id = id.filter(|id| !id.is_null());
        match (method, id) {
            (Some(method), Some(id)) => Ok(Incoming::Request { id, method, params }),
            (Some(method), None) => Ok(Incoming::Notification { method, params }),
            (None, Some(id)) => {
                let outcome = match error {
                    Some(ReadFailure {
                        code,
                        message,
                        data,
                    }) => Err(Failure {
                        code,
                        message,
                        data,
                    }),
                    None => Ok(result),
                };
                let request = id.parse().ok();
                Ok(Incoming::Answer { request, outcome })
            }
            // They could not read something of ours; which, they do not know.
            (None, None) if error.is_some() => Ok(Incoming::Answer {
                request: None,
                outcome: Ok(Json::default()),
            }),
            (None, None) => Err(Malformed {
                is_json: true,
                why: "neither a method nor an id".to_owned(),
            }),
        }
    }

    fn unanswered(&self, method: &str) -> Failure {
        Failure::new(INTERNAL_ERROR, format!("`{method}` was not answered"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: Outgoing<'_>) -> String {
        let dialect = JsonRpc::new().cancel_by("$/cancel", "id");
        String::from_utf8(dialect.encode(7, message).unwrap()).unwrap()
    }

    #[test]
    fn ours_as_text() {
        let (null, params, id) = (
            Json::default(),
            Json::of(&[1]).unwrap(),
            Json::of("x").unwrap(),
        );
        let plain = Failure::new(-32601, "no");
        let full = Failure {
            data: params.clone(),
            ..Failure::new(1, "why")
        };
        let malformed = Malformed {
            is_json: false,
            why: "no JSON".to_owned(),
        };
        let answer = |outcome| Outgoing::Answer {
            id: &id,
            method: "m",
            outcome,
        };
        for (message, expected) in [
            (
                Outgoing::Request {
                    method: "m",
                    params: &null,
                },
                r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#,
            ),
            (
                Outgoing::Request {
                    method: "m",
                    params: &params,
                },
                r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#,
            ),
            (
                Outgoing::Notification {
                    method: "m",
                    params: &null,
                },
                r#"{"jsonrpc":"2.0","method":"m"}"#,
            ),
            (
                answer(Ok(&null)),
                r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
            ),
            (
                answer(Ok(&params)),
                r#"{"jsonrpc":"2.0","id":"x","result":[1]}"#,
            ),
            (
                answer(Err(&plain)),
                r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}"#,
            ),
            (
                answer(Err(&full)),
                r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"why","data":[1]}}"#,
            ),
            (
                Outgoing::Cancel { request: 3 },
                r#"{"jsonrpc":"2.0","method":"$/cancel","params":{"id":3}}"#,
            ),
            (
                Outgoing::Malformed(&malformed),
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}"#,
            ),
        ] {
            assert_eq!(text(message), expected);
        }
        assert!(
            JsonRpc::new()
                .encode(1, Outgoing::Cancel { request: 3 })
                .is_none()
        );
    }

    #[test]
    fn theirs_by_what_they_are() {
        for (text, expected) in [
            (r#"{"id":1,"method":"m","params":{}}"#, "request 1 m {}"),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#,
                "request \"a\" m null",
            ),
            (
                r#"{"method":"m","params":[1],"more":2}"#,
                "notification m [1]",
            ),
            (r#"{"id":null,"method":"m"}"#, "notification m null"),
            (r#"{"id":4,"result":null}"#, "answer Some(4) null"),
            (r#"{"id":4}"#, "answer Some(4) null"),
            (
                r#"{"id":4,"result":{"a":[1,2]}}"#,
                "answer Some(4) {\"a\":[1,2]}",
            ),
            (
                r#"{"id":4,"error":{"code":-32601,"message":"no"}}"#,
                "answer Some(4) -32601 no null",
            ),
            (
                r#"{"id":4,"result":null,"error":null}"#,
                "answer Some(4) null",
            ),
            (
                r#"{"id":4,"error":{"data":{"x":1}}}"#,
                "answer Some(4) 0  {\"x\":1}",
            ),
            (r#"{"id":"4","result":1}"#, "answer None 1"),
            (r#"{"id":4.5,"result":1}"#, "answer None 1"),
            (r#"{"id":-4,"result":1}"#, "answer None 1"),
            (
                r#"{"id":null,"error":{"code":-32700,"message":"what?"}}"#,
                "answer None null",
            ),
            ("{}", "malformed true: neither a method nor an id"),
            ("[]", "malformed true: an array, and no JSON-RPC message"),
            (
                r#"[null,"m"]"#,
                "malformed true: an array, and no JSON-RPC message",
            ),
            (
                r#"[{"id":1,"method":"m"}"#,
                "malformed false: no JSON, at line 1 column 22",
            ),
            (
                r#"{"id":1,"method":7}"#,
                "malformed true: no JSON-RPC message, at line 1 column 18",
            ),
            ("{bad", "malformed false: no JSON, at line 1 column 2"),
            ("", "malformed false: no JSON, at line 1 column 0"),
            ("{} {}", "malformed false: no JSON, at line 1 column 4"),
            ("\u{0}", "malformed false: no JSON, at line 1 column 1"),
        ] {
            let decoded = match JsonRpc::new().decode(text.as_bytes()) {
                Ok(Incoming::Request { id, method, params }) => {
                    format!("request {} {method} {}", id.as_str(), params.as_str())
                }
                Ok(Incoming::Notification { method, params }) => {
                    format!("notification {method} {}", params.as_str())
                }
                Ok(Incoming::Answer {
                    request,
                    outcome: Ok(result),
                }) => {
                    format!("answer {request:?} {}", result.as_str())
                }
                Ok(Incoming::Answer {
                    request,
                    outcome: Err(failure),
                }) => {
                    let Failure {
                        code,
                        message,
                        data,
                    } = failure;
                    format!("answer {request:?} {code} {message} {}", data.as_str())
                }
                Err(Malformed { is_json, why }) => format!("malformed {is_json}: {why}"),
            };
            assert_eq!(decoded, expected, "{text}");
        }
        let not_utf8 = b"{\"method\":\"\xff\"}";
        assert!(!JsonRpc::new().decode(not_utf8).unwrap_err().is_json);
        let in_params = b"{\"method\":\"m\",\"params\":\"\xff\"}";
        assert!(!JsonRpc::new().decode(in_params).unwrap_err().is_json);
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let deep = |open: &str, close: &str| {
            let params = open.repeat(200_000) + &close.repeat(200_000);
            format!("{{\"method\":\"m\",\"params\":{params}}}")
        };
        let arrays = JsonRpc::new().decode(deep("[", "]").as_bytes());
        let Ok(Incoming::Notification { params, .. }) = arrays else {
            panic!("{arrays:?}")
        };
        assert!(params.parse::<serde_json::Value>().is_err());
    }
}
