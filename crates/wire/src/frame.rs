//! Frames: where one message ends and the next begins, in a stream of bytes.
//!
//! Two framings, each a state machine that is fed bytes in pieces of any size:
//!
//! - [`Framing::ContentLength`]: headers, a blank line, and as many bytes as `Content-Length` says. It is the base protocol
//!   of the Language Server Protocol (3.17, "Base Protocol"), which the Debug Adapter Protocol shares.
//! - [`Framing::Lines`]: a JSON object a line.
//!
//! Nothing here looks into a message.

use std::fmt;
use std::io;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio_util::codec::{Decoder, Encoder};

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Headers and a body, as in LSP and DAP. Names of headers are case-insensitive, and those other than
    /// `Content-Length` are skipped. A line of a header may end in LF alone.
    ContentLength,
    /// A JSON object a line, as in ACP and for interpreters. Lines end in LF or CR LF, and blank ones are skipped.
    Lines,
}

/// What a peer may make us keep in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    message: usize,
    header: usize,
    junk: usize,
}

impl Default for Bounds {
    /// Messages of up to 256 MiB, their headers of up to 16 KiB, and 64 KiB of junk before the first.
    fn default() -> Self {
        Self {
            message: 256 << 20,
            header: 16 << 10,
            junk: 64 << 10,
        }
    }
}

impl Bounds {
    /// How many bytes a message may have.
    #[must_use]
    pub fn message(mut self, limit: usize) -> Self {
        self.message = limit;
        self
    }

    /// How many bytes the headers of one message may have.
    #[must_use]
    pub fn header(mut self, limit: usize) -> Self {
        self.header = limit;
        self
    }

    /// How many bytes may come before the first message that are none: a banner, a warning.
    #[must_use]
    pub fn junk(mut self, limit: usize) -> Self {
        self.junk = limit;
        self
    }
}

/// Decodes and encodes frames. As a [`Decoder`] it fits tokio-util's `FramedRead`.
///
/// Memory is taken for what has come, never for what a header announces. Each byte is looked at once, however small the
/// pieces are. After an error the stream cannot be trusted, and nothing more is decoded.
///
/// ```
/// use bytes::BytesMut;
/// use terret_wire::{Bounds, Codec, Framing};
/// use tokio_util::codec::{Decoder, Encoder};
///
/// let mut codec = Codec::new(Framing::ContentLength, Bounds::default());
/// let mut stream = BytesMut::from("Server 1.2 says hello\ncontent-length: 2\r\n\r\n{}Content-Len");
/// assert_eq!(codec.decode(&mut stream)?.unwrap(), "{}");
/// assert_eq!(codec.decode(&mut stream)?, None);
/// assert_eq!(codec.junk().text(), "Server 1.2 says hello");
///
/// let mut out = BytesMut::new();
/// codec.encode(b"{}", &mut out)?;
/// assert_eq!(out, "Content-Length: 2\r\n\r\n{}");
/// # Ok::<_, terret_wire::FrameError>(())
/// ```
#[derive(Debug)]
pub struct Codec {
    framing: Framing,
    bounds: Bounds,
    state: State,
    junk: Junk,
}

#[derive(Debug)]
enum State {
    /// Nothing has come yet that looks like a message. So much of the buffer is known to hold no line end.
    Before {
        scanned: usize,
    },
    /// Between messages, or in the headers of one.
    Headers {
        length: Option<usize>,
        /// How many bytes of headers there were already.
        taken: usize,
        scanned: usize,
    },
    /// So many bytes of a body have to come.
    Body {
        length: usize,
    },
    /// In a line that is a message.
    Line {
        scanned: usize,
    },
    Failed,
}

/// What came before the first message and is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Junk {
    bytes: usize,
    start: Vec<u8>,
}

impl Junk {
    /// How many bytes were skipped.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its beginning, for a person to read: up to 200 bytes, with what cannot be printed escaped.
    #[must_use]
    pub fn text(&self) -> String {
        quote(self.start.trim_ascii())
    }

    fn add(&mut self, bytes: &[u8], bounds: &Bounds) -> Result<(), FrameError> {
        self.bytes += bytes.len();
        let room = QUOTED.saturating_sub(self.start.len());
        self.start.extend(bytes.iter().take(room));
        match self.bytes > bounds.junk {
            true => Err(self.too_much(bounds)),
            false => Ok(()),
        }
    }

    fn too_much(&self, bounds: &Bounds) -> FrameError {
        FrameError::Junk {
            limit: bounds.junk,
            start: self.text(),
        }
    }
}

/// Why a stream can be read no further.
#[derive(Debug)]
#[non_exhaustive]
pub enum FrameError {
    /// Something stands where a header should.
    Malformed {
        /// What is wrong with it.
        why: &'static str,
        /// The bytes, escaped and cut to 200.
        bytes: String,
    },
    /// A message is longer than it may be.
    Oversized {
        /// How long it says it is. `None` for a line, which does not say.
        length: Option<u64>,
        /// How long it may be.
        limit: usize,
    },
    /// Too much came before the first message.
    Junk {
        /// How much may.
        limit: usize,
        /// How it begins.
        start: String,
    },
    /// The stream ended in the middle of a message.
    Truncated,
    /// The stream could not be read or written.
    Io(io::Error),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { why, bytes } => write!(f, "{why}: `{bytes}`"),
            Self::Oversized {
                length: Some(length),
                limit,
            } => {
                write!(
                    f,
                    "a message of {length} bytes was announced; {limit} are allowed"
                )
            }
            Self::Oversized {
                length: None,
                limit,
            } => {
                write!(f, "a message has more than {limit} bytes")
            }
            Self::Junk { limit, start } => {
                write!(
                    f,
                    "no message among the first {limit} bytes; they begin with `{start}`"
                )
            }
            Self::Truncated => f.write_str("the stream ended in the middle of a message"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FrameError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How many bytes of a stream an error or a status quotes.
const QUOTED: usize = 200;

fn quote(bytes: &[u8]) -> String {
    let mut text = bytes[..bytes.len().min(QUOTED)].escape_ascii().to_string();
    if bytes.len() > QUOTED {
        text.push('…');
    }
    text
}

fn malformed(why: &'static str, bytes: &[u8]) -> FrameError {
    FrameError::Malformed {
        why,
        bytes: quote(bytes),
    }
}

const LENGTH: &[u8] = b"content-length";

impl Codec {
    /// For a stream that begins.
    #[must_use]
    pub fn new(framing: Framing, bounds: Bounds) -> Self {
        Self {
            framing,
            bounds,
            state: State::Before { scanned: 0 },
            junk: Junk::default(),
        }
    }

    /// What came before the first message.
    #[must_use]
    pub fn junk(&self) -> &Junk {
        &self.junk
    }

    /// How many bytes are to come at least until there is something to decode, as far as is known: a hint for a reader.
    pub(crate) fn missing(&self, buffered: usize) -> usize {
        match self.state {
            State::Body { length } => length.saturating_sub(buffered),
            _ => 0,
        }
    }

    /// One step: a frame, or that more bytes are needed, or neither yet. What a step finds depends on the stream alone,
    /// and not on how much of it has come beyond what the step takes.
    fn step(&mut self, stream: &mut BytesMut) -> Result<Step, FrameError> {
        match &mut self.state {
            State::Before { scanned } => {
                let end = line_end(stream, scanned);
                self.before(stream, end)
            }
            State::Headers {
                length,
                taken,
                scanned,
            } => {
                let end = line_end(stream, scanned);
                let (length, taken) = (*length, *taken);
                let room = self.bounds.header.saturating_sub(taken);
                if end.unwrap_or(stream.len()) > room {
                    return Err(malformed("headers are too long", &stream[..room]));
                }
                let Some(end) = end else {
                    return Ok(Step::More);
                };
                self.header(&stream.split_to(end), length, taken)
            }
            State::Body { length } => {
                if stream.len() < *length {
                    return Ok(Step::More);
                }
                let body = stream.split_to(*length).freeze();
                self.state = between(self.framing);
                Ok(Step::Frame(body))
            }
            State::Line { scanned } => {
                let end = line_end(stream, scanned);
                self.message_line(stream, end)
            }
            State::Failed => Ok(Step::More),
        }
    }

    /// In a line before the first message.
    fn before(&mut self, stream: &mut BytesMut, end: Option<usize>) -> Result<Step, FrameError> {
        let room = self.bounds.junk.saturating_sub(self.junk.bytes);
        // The header of a message may stand behind a banner in the same line.
        let room = match self.framing {
            Framing::ContentLength => room.saturating_add(self.bounds.header),
            Framing::Lines => room,
        };
        let line = &stream[..end.unwrap_or(stream.len())];
        let blank = line.len() - line.trim_ascii_start().len();
        if self.is_message_line(line) && blank <= room {
            return self.message_line(stream, end);
        }
        if line.len() > room {
            let line = stream.split_to(room);
            self.junk.add(&line, &self.bounds)?;
            return Err(self.junk.too_much(&self.bounds));
        }
        let Some(end) = end else {
            return Ok(Step::More);
        };
        let line = stream.split_to(end);
        match self.framing {
            Framing::Lines if line.trim_ascii().is_empty() => return Ok(Step::Again),
            Framing::Lines => {}
            Framing::ContentLength => {
                if let Some((at, length)) = announced(&line, &self.bounds)? {
                    self.junk.add(&line[..at], &self.bounds)?;
                    self.state = State::Headers {
                        length: Some(length),
                        taken: end - at,
                        scanned: 0,
                    };
                    return Ok(Step::Again);
                }
                if starts_with_ignoring_case(&line, b"content-type:") {
                    return Ok(Step::Again);
                }
            }
        }
        self.junk.add(&line, &self.bounds)?;
        Ok(Step::Again)
    }

    fn header(
        &mut self,
        line: &[u8],
        length: Option<usize>,
        taken: usize,
    ) -> Result<Step, FrameError> {
        let text = without_end(line);
        if text.is_empty() {
            let missing = || malformed("a message has no Content-Length", line);
            let length = length.ok_or_else(missing)?;
            self.state = State::Body { length };
            return Ok(Step::Again);
        }
        let colon = memchr(b':', text).ok_or_else(|| malformed("a header has no colon", text))?;
        let (name, value) = (&text[..colon], &text[colon + 1..]);
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err(malformed("a header has no name", text));
        }
        let length = match (name.eq_ignore_ascii_case(LENGTH), length) {
            (false, length) => length,
            (true, Some(_)) => return Err(malformed("a message has two lengths", text)),
            (true, None) => {
                let length = parse_length(value, &self.bounds)?;
                Some(length.ok_or_else(|| malformed("a length is no number", text))?)
            }
        };
        self.state = State::Headers {
            length,
            taken: taken + line.len(),
            scanned: 0,
        };
        Ok(Step::Again)
    }

    fn is_message_line(&self, line: &[u8]) -> bool {
        self.framing == Framing::Lines && line.trim_ascii_start().starts_with(b"{")
    }

    /// In a line that is a message.
    fn message_line(
        &mut self,
        stream: &mut BytesMut,
        end: Option<usize>,
    ) -> Result<Step, FrameError> {
        let limit = self.bounds.message;
        if end.map_or(stream.len(), |end| end - 1) > limit {
            let length = None;
            return Err(FrameError::Oversized { length, limit });
        }
        let Some(end) = end else {
            return Ok(Step::More);
        };
        self.state = between(self.framing);
        let line = stream.split_to(end).freeze();
        match line.trim_ascii().is_empty() {
            true => Ok(Step::Again),
            false => Ok(Step::Frame(line.slice(..without_end(&line).len()))),
        }
    }
}

enum Step {
    Frame(Bytes),
    More,
    Again,
}

fn between(framing: Framing) -> State {
    match framing {
        Framing::ContentLength => State::Headers {
            length: None,
            taken: 0,
            scanned: 0,
        },
        Framing::Lines => State::Line { scanned: 0 },
    }
}

/// Behind the first line end, if there is one.
fn line_end(stream: &[u8], scanned: &mut usize) -> Option<usize> {
    let rest = stream.get(*scanned..).unwrap_or_default();
    match memchr(b'\n', rest) {
        Some(end) => Some(std::mem::take(scanned) + end + 1),
        None => {
            *scanned = stream.len();
            None
        }
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A header anywhere in a line, and the length that it tells.
fn announced(line: &[u8], bounds: &Bounds) -> Result<Option<(usize, usize)>, FrameError> {
    let text = without_end(line);
    let mut windows = text.windows(LENGTH.len() + 1);
    let at = windows.rposition(|window| {
        window[..LENGTH.len()].eq_ignore_ascii_case(LENGTH) && window[LENGTH.len()] == b':'
    });
    let Some(at) = at else {
        return Ok(None);
    };
    let length = parse_length(&text[at + LENGTH.len() + 1..], bounds)?;
    Ok(length.map(|length| (at, length)))
}

/// `None` if it is no number.
fn parse_length(value: &[u8], bounds: &Bounds) -> Result<Option<usize>, FrameError> {
    let digits = value.trim_ascii();
    if digits.is_empty() || digits.len() > 19 || !digits.iter().all(u8::is_ascii_digit) {
        return Ok(None);
    }
    let length = digits
        .iter()
        .fold(0_u64, |length, digit| length * 10 + u64::from(digit - b'0'));
    let limit = bounds.message;
    match usize::try_from(length) {
        Ok(length) if length <= limit => Ok(Some(length)),
        _ => Err(FrameError::Oversized {
            length: Some(length),
            limit,
        }),
    }
}

fn starts_with_ignoring_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len())
        .is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// What a header's name is made of (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl Decoder for Codec {
    type Item = Bytes;
    type Error = FrameError;

    fn decode(&mut self, stream: &mut BytesMut) -> Result<Option<Bytes>, FrameError> {
        loop {
            match self.step(stream) {
                Ok(Step::Frame(frame)) => return Ok(Some(frame)),
                Ok(Step::Again) => {}
                Ok(Step::More) => return Ok(None),
                Err(error) => {
                    self.state = State::Failed;
                    return Err(error);
                }
            }
        }
    }

    fn decode_eof(&mut self, stream: &mut BytesMut) -> Result<Option<Bytes>, FrameError> {
        if let Some(frame) = self.decode(stream)? {
            return Ok(Some(frame));
        }
        match &self.state {
            // It ended before it said anything that is a message. What it said tells why, maybe.
            State::Before { .. } if !self.is_message_line(stream) => {
                let rest = stream.split();
                self.junk.add(&rest, &self.bounds)?;
                Ok(None)
            }
            State::Headers {
                length: None,
                taken: 0,
                ..
            }
            | State::Line { .. }
                if stream.trim_ascii().is_empty() =>
            {
                stream.advance(stream.len());
                Ok(None)
            }
            State::Failed => Ok(None),
            _ => {
                self.state = State::Failed;
                Err(FrameError::Truncated)
            }
        }
    }
}

impl Encoder<&[u8]> for Codec {
    type Error = FrameError;

    /// Adds a message, which is JSON in UTF-8. What would break a line is layout there, and becomes a space.
    fn encode(&mut self, message: &[u8], out: &mut BytesMut) -> Result<(), FrameError> {
        encode(self.framing, message, out);
        Ok(())
    }
}

pub(crate) fn encode(framing: Framing, message: &[u8], out: &mut BytesMut) {
    match framing {
        Framing::ContentLength => {
            let header = format!("Content-Length: {}\r\n\r\n", message.len());
            out.reserve(header.len() + message.len());
            out.extend_from_slice(header.as_bytes());
            out.extend_from_slice(message);
        }
        Framing::Lines => {
            out.reserve(message.len() + 1);
            let start = out.len();
            out.extend_from_slice(message);
            // Within a string of JSON they are escaped.
            for byte in &mut out[start..] {
                if matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            out.extend_from_slice(b"\n");
        }
    }
}

#[cfg(test)]
mod tests;
