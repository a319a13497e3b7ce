//! Frames from streams that are cut anywhere, and streams that are none.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const SMALL: fn() -> Bounds = || Bounds::default().message(1000).header(100).junk(50);

/// What comes of a stream that is read in such pieces: messages, and the end.
fn decode(
    framing: Framing,
    bounds: Bounds,
    pieces: &[&[u8]],
) -> (Vec<Bytes>, Result<Junk, String>) {
    let mut codec = Codec::new(framing, bounds);
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    let mut run = || -> Result<(), FrameError> {
        for piece in pieces {
            buffer.extend_from_slice(piece);
            while let Some(frame) = codec.decode(&mut buffer)? {
                frames.push(frame);
            }
            // What is kept is one message, its headers or junk at most, however much has come.
            assert!(buffer.len() <= bounds.message + bounds.header + bounds.junk + piece.len());
        }
        while let Some(frame) = codec.decode_eof(&mut buffer)? {
            frames.push(frame);
        }
        Ok(())
    };
    let outcome = run();
    if outcome.is_err() {
        assert!(
            matches!(codec.decode(&mut buffer), Ok(None)),
            "nothing comes after an error"
        );
    }
    (
        frames,
        outcome
            .map(|()| codec.junk)
            .map_err(|error| error.to_string()),
    )
}

/// Cuts it into bytes, and at each place in two: the outcome must be the same as for the whole.
fn decode_cut(framing: Framing, stream: &[u8]) -> (Vec<Bytes>, Result<Junk, String>) {
    let whole = decode(framing, SMALL(), &[stream]);
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(decode(framing, SMALL(), &bytes), whole, "byte by byte");
    for cut in 0..stream.len() {
        let (first, second) = stream.split_at(cut);
        assert_eq!(
            decode(framing, SMALL(), &[first, second]),
            whole,
            "cut at {cut}"
        );
    }
    whole
}

fn shown(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    match text.len() {
        0..120 => text,
        length => format!("{}… ({length})", &text[..60]),
    }
}

#[track_caller]
fn check(framing: Framing, streams: &[&[u8]], expected: Expect) {
    let mut text = String::new();
    for stream in streams {
        let (frames, end) = decode_cut(framing, stream);
        text += &format!("{}\n", shown(stream));
        for frame in frames {
            text += &format!("    `{}`\n", shown(&frame));
        }
        text += &match end {
            Ok(junk) if junk.bytes() == 0 => String::new(),
            Ok(junk) => format!("    junk of {}: {}\n", junk.bytes(), junk.text()),
            Err(error) => format!("    error: {error}\n"),
        };
    }
    expected.assert_eq(&text);
}

#[test]
fn headers_as_servers_write_them() {
    check(
        Framing::ContentLength,
        &[
            b"",
            b"Content-Length: 2\r\n\r\n{}",
            b"Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\n[{}]",
            b"content-LENGTH:3\r\n\r\n{ }",
            b"Content-Length: 2\n\n{}",
            b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
            b"Content-Length: 2\r\nContent-Type: x\r\nX-Other: a:b\r\n\r\n{}Content-Length: \t2 \r\n\r\n[]",
            b"Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}",
            b"Content-Length: 4\r\n\r\n\xff\x00\r\n",
            b"Content-Length: 0000000000002\r\n\r\n{}",
        ],
        expect![[r#"

            Content-Length: 2\r\n\r\n{}
                `{}`
            Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\n[{}]
                `{}`
                `[{}]`
            content-LENGTH:3\r\n\r\n{ }
                `{ }`
            Content-Length: 2\n\n{}
                `{}`
            Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}
                `{}`
            Content-Length: 2\r\nContent-Type: x\r\nX-Other: a:b\r\n\r\n{}Content-Length: \t2 \r\n\r\n[]
                `{}`
                `[]`
            Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}
                ``
                `{}`
            Content-Length: 4\r\n\r\n\xff\x00\r\n
                `\xff\x00\r\n`
            Content-Length: 0000000000002\r\n\r\n{}
                `{}`
        "#]],
    );
}

#[test]
fn what_comes_before_the_first_message_is_skipped() {
    check(
        Framing::ContentLength,
        &[
            b"hello\nworld\nContent-Length: 2\r\n\r\n{}",
            b"no end: Content-Length: 2\r\n\r\n{}",
            b"\x1b[33mwarning\x1b[0m\r\n\r\nContent-Length: 2\r\n\r\n{}",
            b"Content-Length: soon\nContent-Length: 2\r\n\r\n{}",
            b"Content-Le\nContent-Length: 2\r\n\r\n{}",
            b"cannot start: no license\n",
            b"cannot start",
            &[&b"x"[..]; 60].concat(),
            &[&b"x"[..]; 200].concat(),
            &[&b"line\n"[..]; 20].concat(),
        ],
        expect![[r#"
            hello\nworld\nContent-Length: 2\r\n\r\n{}
                `{}`
                junk of 12: hello\nworld
            no end: Content-Length: 2\r\n\r\n{}
                `{}`
                junk of 8: no end:
            \x1b[33mwarning\x1b[0m\r\n\r\nContent-Length: 2\r\n\r\n{}
                `{}`
                junk of 20: \x1b[33mwarning\x1b[0m
            Content-Length: soon\nContent-Length: 2\r\n\r\n{}
                `{}`
                junk of 21: Content-Length: soon
            Content-Le\nContent-Length: 2\r\n\r\n{}
                `{}`
                junk of 11: Content-Le
            cannot start: no license\n
                junk of 25: cannot start: no license
            cannot start
                junk of 12: cannot start
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                error: no message among the first 50 bytes; they begin with `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (200)
                error: no message among the first 50 bytes; they begin with `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
            line\nline\nline\nline\nline\nline\nline\nline\nline\nline\n… (120)
                error: no message among the first 50 bytes; they begin with `line\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline`
        "#]],
    );
}

#[test]
fn after_it_nothing_is_skipped() {
    let junk = |junk: &[u8]| [b"Content-Length: 2\r\n\r\n{}", junk].concat();
    check(
        Framing::ContentLength,
        &[
            &junk(b"log line\nContent-Length: 2\r\n\r\n{}"),
            &junk(b"\r\nContent-Length: 2\r\n\r\n{}"),
            &junk(b"Content-Type: x\r\n\r\n"),
            &junk(b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
            &junk(b"Content-Length: -2\r\n\r\n{}"),
            &junk(b"Content-Length: 0x2\r\n\r\n{}"),
            &junk(b"Content-Length: 2.0\r\n\r\n{}"),
            &junk(b"Content-Length:\r\n\r\n{}"),
            &junk(b"Content-Length: 1001\r\n\r\n"),
            &junk(b"Content-Length: 1000000000000\r\n\r\n"),
            &junk(b"Content-Length: 100000000000000000000000000000000\r\n\r\n"),
            &junk(b"Content Length: 2\r\n\r\n{}"),
            &junk(b": 2\r\n\r\n{}"),
            &junk(b"\xff\xfe\x00: 2\r\n\r\n{}"),
            &junk(&[&b"x"[..]; 300].concat()),
            &junk(&[&b"X-Header: value\r\n"[..]; 20].concat()),
            &junk(b"Content-Len"),
            &junk(b"Content-Length: 3\r\n\r\n{}"),
            &junk(b"Content-Length: 3\r\n"),
            // One too short, and one too long.
            &junk(b"Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}"),
            &junk(b"Content-Length: 3\r\n\r\n{}Content-Length: 2\r\n\r\n{}"),
        ],
        expect![[r#"
            Content-Length: 2\r\n\r\n{}log line\nContent-Length: 2\r\n\r\n{}
                `{}`
                error: a header has no colon: `log line`
            Content-Length: 2\r\n\r\n{}\r\nContent-Length: 2\r\n\r\n{}
                `{}`
                error: a message has no Content-Length: `\r\n`
            Content-Length: 2\r\n\r\n{}Content-Type: x\r\n\r\n
                `{}`
                error: a message has no Content-Length: `\r\n`
            Content-Length: 2\r\n\r\n{}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}
                `{}`
                error: a message has two lengths: `Content-Length: 2`
            Content-Length: 2\r\n\r\n{}Content-Length: -2\r\n\r\n{}
                `{}`
                error: a length is no number: `Content-Length: -2`
            Content-Length: 2\r\n\r\n{}Content-Length: 0x2\r\n\r\n{}
                `{}`
                error: a length is no number: `Content-Length: 0x2`
            Content-Length: 2\r\n\r\n{}Content-Length: 2.0\r\n\r\n{}
                `{}`
                error: a length is no number: `Content-Length: 2.0`
            Content-Length: 2\r\n\r\n{}Content-Length:\r\n\r\n{}
                `{}`
                error: a length is no number: `Content-Length:`
            Content-Length: 2\r\n\r\n{}Content-Length: 1001\r\n\r\n
                `{}`
                error: a message of 1001 bytes was announced; 1000 are allowed
            Content-Length: 2\r\n\r\n{}Content-Length: 1000000000000\r\n\r\n
                `{}`
                error: a message of 1000000000000 bytes was announced; 1000 are allowed
            Content-Length: 2\r\n\r\n{}Content-Length: 100000000000000000000000000000000\r\n\r\n
                `{}`
                error: a length is no number: `Content-Length: 100000000000000000000000000000000`
            Content-Length: 2\r\n\r\n{}Content Length: 2\r\n\r\n{}
                `{}`
                error: a header has no name: `Content Length: 2`
            Content-Length: 2\r\n\r\n{}: 2\r\n\r\n{}
                `{}`
                error: a header has no name: `: 2`
            Content-Length: 2\r\n\r\n{}\xff\xfe\x00: 2\r\n\r\n{}
                `{}`
                error: a header has no name: `\xff\xfe\x00: 2`
            Content-Length: 2\r\n\r\n{}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (327)
                `{}`
                error: headers are too long: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
            Content-Length: 2\r\n\r\n{}X-Header: value\r\nX-Header: valu… (407)
                `{}`
                error: headers are too long: `X-Header: value`
            Content-Length: 2\r\n\r\n{}Content-Len
                `{}`
                error: the stream ended in the middle of a message
            Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n{}
                `{}`
                error: the stream ended in the middle of a message
            Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n
                `{}`
                error: the stream ended in the middle of a message
            Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}
                `{}`
                `{`
                error: a header has no name: `}Content-Length: 2`
            Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n{}Content-Length: 2\r\n\r\n{}
                `{}`
                `{}C`
                error: a message has no Content-Length: `\r\n`
        "#]],
    );
}

#[test]
fn lines_as_agents_write_them() {
    check(
        Framing::Lines,
        &[
            b"",
            b"{\"a\":1}\n{\"b\":2}\r\n\n  \n{}\n",
            b" {\"a\": \"\xc3\xa9\xff\"} \n",
            b"Starting up\nhttp://x\n{}\nnot json\n{}\n",
            b"only words\n",
            b"{}\n{\"cut",
            b"{\"cut",
            b"{}\n  ",
            &[&b"x"[..]; 60].concat(),
            &[&b"{}\n"[..], &[b' '; 1200]].concat(),
            &[&b"{\""[..], &[b'x'; 1200], b"\"}\n"].concat(),
            &[&b"{\""[..], &[b'x'; 996], b"\"}\n{}\n"].concat(),
        ],
        expect![[r#"

            {\"a\":1}\n{\"b\":2}\r\n\n  \n{}\n
                `{\"a\":1}`
                `{\"b\":2}`
                `{}`
             {\"a\": \"\xc3\xa9\xff\"} \n
                ` {\"a\": \"\xc3\xa9\xff\"} `
            Starting up\nhttp://x\n{}\nnot json\n{}\n
                `{}`
                `not json`
                `{}`
                junk of 21: Starting up\nhttp://x
            only words\n
                junk of 11: only words
            {}\n{\"cut
                `{}`
                error: the stream ended in the middle of a message
            {\"cut
                error: the stream ended in the middle of a message
            {}\n  
                `{}`
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                error: no message among the first 50 bytes; they begin with `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
            {}\n                                                        … (1204)
                `{}`
                error: a message has more than 1000 bytes
            {\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (1208)
                error: a message has more than 1000 bytes
            {\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (1008)
                `{\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (1002)`
                `{}`
        "#]],
    );
}

#[test]
fn memory_is_taken_for_what_came() {
    let mut codec = Codec::new(Framing::ContentLength, Bounds::default());
    let mut buffer = BytesMut::from("Content-Length: 268435456\r\n\r\n");
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(buffer.capacity() < 4096);
    assert_eq!(codec.missing(10), (256 << 20) - 10);
}

#[test]
fn a_line_is_written_as_one() {
    let mut out = BytesMut::new();
    encode(Framing::Lines, b"{\n \"a\": \"x\\n\"\r\n}", &mut out);
    assert_eq!(out, "{  \"a\": \"x\\n\"  }\n");
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        Just(b"Content-Length: 3\r\n\r\n{}".to_vec()),
    ]
}

/// A stream in pieces of any size.
fn pieces<'a>(stream: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(stream.len());
    let mut from = 0;
    let cut = |to| std::mem::replace(&mut from, to);
    let starts: Vec<usize> = cuts.iter().copied().map(cut).collect();
    starts
        .into_iter()
        .zip(cuts)
        .map(|(from, to)| &stream[from..to])
        .collect()
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..20)
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_cut(
        messages in prop::collection::vec(message(), 0..20),
        cuts in cuts(),
    ) {
        let mut stream = BytesMut::new();
        for message in &messages {
            encode(Framing::ContentLength, message, &mut stream);
        }
        let (frames, end) = decode(Framing::ContentLength, SMALL(), &pieces(&stream, &cuts));
        prop_assert_eq!(frames, messages);
        prop_assert_eq!(end, Ok(Junk::default()));
    }

    #[test]
    fn lines_that_are_written_are_read_however_they_are_cut(
        values in prop::collection::vec(any::<(String, u8)>(), 0..20),
        pretty in any::<bool>(),
        cuts in cuts(),
    ) {
        let mut stream = BytesMut::new();
        for (text, number) in &values {
            let value = serde_json::json!({ "text": text, "number": number });
            let json = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) };
            encode(Framing::Lines, &json.unwrap(), &mut stream);
        }
        let bounds = Bounds::default();
        let (frames, end) = decode(Framing::Lines, bounds, &pieces(&stream, &cuts));
        let read = |frame: &Bytes| {
            let value: serde_json::Value = serde_json::from_slice(frame).unwrap();
            (value["text"].as_str().unwrap().to_owned(), u8::try_from(value["number"].as_u64().unwrap()).unwrap())
        };
        prop_assert_eq!(frames.iter().map(read).collect::<Vec<_>>(), values);
        prop_assert_eq!(end, Ok(Junk::default()));
    }

    #[test]
    fn garbage_is_bounded_and_read_the_same_however_it_is_cut(
        stream in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..30),
                Just(b"Content-Length: ".to_vec()),
                Just(b"\r\n\r\n".to_vec()),
                Just(b"\n".to_vec()),
                Just(b"5".to_vec()),
                Just(b"{}".to_vec()),
            ],
            0..40,
        ),
        cuts in cuts(),
        lines in any::<bool>(),
    ) {
        let stream = stream.concat();
        let framing = if lines { Framing::Lines } else { Framing::ContentLength };
        let whole = decode(framing, SMALL(), &[&stream]);
        prop_assert_eq!(decode(framing, SMALL(), &pieces(&stream, &cuts)), whole);
    }
}
