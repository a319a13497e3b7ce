//! The other side of a protocol, played by a test step by step.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `Content-Length` and a body.
    ContentLength,
    /// A JSON value a line.
    Lines,
}

/// The upper bound of every wait.
const SOON: Duration = Duration::from_secs(60);

/// A peer that says what the test says, and hands over what it hears: over memory, mostly. It shares
/// no code with what it tests.
///
/// ```
/// use serde_json::json;
/// use terret_testkit::{Format, Scripted};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (mut peer, mut ours) = Scripted::in_memory(Format::Lines);
/// ours.write_all(b"{\"id\":1,\"method\":\"m\"}\n").await.unwrap();
/// let request = peer.receive().await;
/// peer.answer(&request, json!("done")).await;
/// drop(peer);
/// let mut text = String::new();
/// ours.read_to_string(&mut text).await.unwrap();
/// assert_eq!(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"done\"}\n");
/// # }
/// ```
#[derive(Debug)]
pub struct Scripted<S = DuplexStream> {
    stream: S,
    format: Format,
    read: Vec<u8>,
}

impl Scripted {
    /// One in memory, and the stream to it, which holds 64 KiB each way.
    #[must_use]
    pub fn in_memory(format: Format) -> (Scripted, DuplexStream) {
        Scripted::with_room(format, 64 * 1024)
    }

    /// The same with so many bytes each way.
    #[must_use]
    pub fn with_room(format: Format, room: usize) -> (Scripted, DuplexStream) {
        let (stream, ours) = tokio::io::duplex(room);
        (Scripted::over(stream, format), ours)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Scripted<S> {
    /// One over any stream.
    pub fn over(stream: S, format: Format) -> Scripted<S> {
        Scripted {
            stream,
            format,
            read: Vec::new(),
        }
    }

    /// The next message.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub async fn receive(&mut self) -> Value {
        self.next().await.expect("a message before the end")
    }

    /// The next message, or `None` at the end.
    ///
    /// # Panics
    ///
    /// If neither comes, or what comes is no message.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.take() {
                return Some(message);
            }
            let mut buffer = [0; 4096];
            let read = timeout(SOON, self.stream.read(&mut buffer)).await;
            match read.expect("a message, or the end") {
                Ok(count @ 1..) => self.read.extend_from_slice(&buffer[..count]),
                Ok(_) | Err(_) if self.read.is_empty() => return None,
                end => panic!("{end:?} in the middle of {}", self.read.escape_ascii()),
            }
        }
    }

    fn take(&mut self) -> Option<Value> {
        let find = |needle: &[u8]| {
            let place = self
                .read
                .windows(needle.len())
                .position(|window| window == needle)?;
            Some((place, place + needle.len()))
        };
        let (from, to, rest) = match self.format {
            Format::Lines => find(b"\n").map(|(end, rest)| (0, end, rest))?,
            Format::ContentLength => {
                let (end, body) = find(b"\r\n\r\n")?;
                let header = std::str::from_utf8(&self.read[..end]).expect("a header");
                let length = header
                    .strip_prefix("Content-Length: ")
                    .expect("this header alone");
                let end = body + length.parse::<usize>().expect("a length");
                (body, end, end)
            }
        };
        let message = self.read.get(from..to)?;
        let message = serde_json::from_slice(message).expect("JSON");
        self.read.drain(..rest);
        Some(message)
    }

    /// Says a message.
    ///
    /// # Panics
    ///
    /// If nobody listens.
    pub async fn send(&mut self, message: &Value) {
        let sent = self.try_send(message).await;
        assert!(sent, "nobody listens to {message}");
    }

    /// Says a message, if somebody listens.
    pub async fn try_send(&mut self, message: &Value) -> bool {
        let body = message.to_string();
        let text = match self.format {
            Format::Lines => format!("{body}\n"),
            Format::ContentLength => format!("Content-Length: {}\r\n\r\n{body}", body.len()),
        };
        self.stream.write_all(text.as_bytes()).await.is_ok()
    }

    /// Says these bytes, which need not be a message.
    ///
    /// # Panics
    ///
    /// If nobody listens.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let sent = timeout(SOON, self.stream.write_all(bytes)).await;
        sent.expect("somebody who reads")
            .expect("somebody who listens");
    }

    /// Answers a JSON-RPC request.
    ///
    /// # Panics
    ///
    /// If nobody listens.
    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
            .await;
    }

    /// Ends what it says. It still hears.
    ///
    /// # Panics
    ///
    /// If the stream cannot be ended.
    pub async fn say_no_more(&mut self) {
        self.stream.shutdown().await.expect("a stream");
    }
}
