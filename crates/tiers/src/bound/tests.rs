//! Tests of `bound`.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn what_fits_is_left_alone() {
    for text in ["", "\n", "a", "a\r\nb\r\n", "no break at the end\nb"] {
        let bounded = head_tail(text, Bounds::new(100, 2));
        assert_eq!(bounded.text, text);
        assert!(!bounded.truncated());
    }
}

#[test]
fn head_and_tail_are_kept_and_the_cut_is_counted() {
    let text = numbered(1_210);
    let bounded = head_tail(&text, Bounds::new(usize::MAX, 7));
    assert_eq!(
        bounded.text,
        "line 1\nline 2\nline 3\n… 1,204 lines (11 KB) cut …\nline 1208\nline 1209\nline 1210\n"
    );
    assert_eq!((bounded.cut_lines, bounded.truncated()), (1_204, true));
}

#[test]
fn head_alone_and_tail_alone() {
    let text = numbered(100);
    assert_eq!(
        head(&text, Bounds::new(1_000, 2)).text,
        "line 1\n… 99 lines (785 bytes) cut …"
    );
    assert_eq!(
        tail(&text, Bounds::new(1_000, 2)).text,
        "… 99 lines (783 bytes) cut …\nline 100\n"
    );
}

#[test]
fn one_long_line_is_cut_within() {
    let bounded = head_tail(&"x".repeat(61_000), Bounds::bytes(100));
    assert_eq!(bounded.text.matches('x').count(), 36);
    assert!(
        bounded.text.contains("\n… 61 KB cut …\n"),
        "{}",
        bounded.text
    );
    assert_eq!(bounded.cut_bytes, 61_000 - 36);
}

#[test]
fn nothing_is_cut_within_a_grapheme_or_a_sequence() {
    let units = [
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "e\u{301}",
        "\r\n",
        "\u{1b}[38;5;196m",
        "\u{1b}]8;;https://example.org/\u{7}",
        "\u{1b}]0;title\u{1b}\\",
        "\u{1b}(B",
    ];
    for unit in units {
        let text = unit.repeat(200);
        // Every offset within the unit is tried as a place to cut.
        for extra in 0..unit.len() * 2 {
            let bounded = head_tail(&text, Bounds::bytes(300 + extra));
            let (head, rest) = bounded.text.split_once('…').unwrap();
            let tail = rest.rsplit('…').next().unwrap();
            let pieces = [
                head.strip_suffix('\n').unwrap_or(head),
                tail.strip_prefix('\n').unwrap(),
            ];
            for piece in pieces {
                let whole = piece.strip_suffix('\r').map(|p| format!("{p}\r\n"));
                let whole = whole.as_deref().unwrap_or(piece);
                assert_eq!(whole.replace(unit, ""), "", "{unit:?} was cut: {piece:?}");
            }
        }
    }
}

#[test]
fn an_escape_that_never_ends_hides_nothing() {
    let text = format!("\u{1b}]0;{}", "x".repeat(50_000));
    let bounded = head_tail(&text, Bounds::bytes(1_000));
    assert!(bounded.truncated() && bounded.text.len() <= 1_000);
}

proptest! {
    #[test]
    fn the_bounds_hold_and_what_is_kept_is_head_and_tail(
        text in "(\\PC|\n|\r\n|\u{1b}\\[3[0-9]m|👩‍👩‍👧‍👦|e\u{301}){0,300}",
        bytes in 100_usize..600,
        lines in 3_usize..40,
    ) {
        for keep in [head, tail, head_tail] {
            let bounded = keep(&text, Bounds::new(bytes, lines));
            prop_assert!(bounded.text.len() <= bytes);
            prop_assert!(bounded.text.lines().count() <= lines);
            if bounded.truncated() {
                let kept = text.len() - bounded.cut_bytes;
                prop_assert!(kept < text.len());
            } else {
                prop_assert_eq!(&bounded.text, &text);
            }
        }
    }

    #[test]
    fn sanitising_is_idempotent_and_leaves_no_control_character(text in any::<String>()) {
        let clean = sanitise(&text).into_owned();
        prop_assert!(!clean.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        prop_assert_eq!(sanitise(&clean), clean.as_str());
    }

    #[test]
    fn a_line_is_one_line_of_whole_graphemes(text in any::<String>(), most in 0_usize..50) {
        let line = line(&text, most);
        prop_assert!(!line.contains('\n'));
        if text.graphemes(true).count() > most {
            prop_assert!(line.contains("in all"));
        }
    }
}

#[test]
fn sanitise_table() {
    let table = [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        ("\u{1b}[38:2::1:2:3mx\u{1b}[m", "x"),
        ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
        ("\u{1b}]52;c;aGk=\u{7}", "␛]52;c;aGk=␇"),
        ("\u{1b}]8;;http://x\u{1b}\\t", "␛]8;;http://x␛\\t"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
        ("a\u{2028}b", "a\\u{2028}b"),
        ("nul\0 bell\u{7} del\u{7f} bs\u{8}", "nul␀ bell␇ del␡ bs␈"),
        ("\u{1b}", "␛"),
        ("\u{1b}[31", "␛[31"),
        ("👩‍👩‍👧‍👦 ok", "👩‍👩‍👧‍👦 ok"),
    ];
    for (text, expected) in table {
        assert_eq!(sanitise(text), expected, "{text:?}");
    }
    assert!(matches!(sanitise("clean"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn lines_say_how_much_there_was() {
    assert_eq!(line("a\nb\r\nc", 10), "a␊b␊c");
    assert_eq!(line("0123456789", 10), "0123456789");
    assert_eq!(line("0123456789x", 10), "0123456789… (11 bytes in all)");
    assert_eq!(line("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 1), "👩‍👩‍👧‍👦… (50 bytes in all)");
    assert_eq!(line("", 0), "");
    assert_eq!(line("ab\u{1b}[31mred", 4), "ab… (10 bytes in all)");
}

#[test]
fn numbers_for_readers() {
    let counts = [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345")];
    for (number, expected) in counts.into_iter().chain([(1_234_567, "1,234,567")]) {
        assert_eq!(thousands(number), expected);
    }
    let sizes = [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 KB"),
        (9_949, "9.9 KB"),
        (9_950, "10 KB"),
        (61_000, "61 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (2_000_000, "2.0 MB"),
        (5_000_000_000, "5.0 GB"),
    ];
    for (bytes, expected) in sizes {
        assert_eq!(size(bytes), expected, "{bytes}");
    }
}

#[test]
fn an_empty_list_is_empty() {
    assert_eq!(list(Vec::<String>::new(), 5, "x"), (String::new(), false));
    assert_eq!(
        list(["a"], 0, "raise it"),
        ("0 of 1 shown; raise it".to_owned(), true)
    );
}
