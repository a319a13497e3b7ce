//! Making control characters harmless.

use std::borrow::Cow;

use super::cut::sequence;

/// Makes what a child process or a model wrote harmless: to a terminal, and to whoever reads.
///
/// Colours (SGR sequences) are left out, since they mean nothing to a model and hide nothing. Every
/// other control character is made visible, so that nothing can repaint a screen, set a clipboard,
/// or read differently than it is stored: an escape becomes `␛`, C1 controls and characters that
/// override the direction of text become `\u{…}`. Line breaks and tabs stay; CRLF becomes a line
/// break, and so does a lone CR, which would hide what stands before it.
///
/// ```
/// use terret_tiers::bound::sanitise;
///
/// assert_eq!(sanitise("\u{1b}[31mred\u{1b}[0m\r\n"), "red\n");
/// assert_eq!(sanitise("\u{1b}]52;c;aGk=\u{7}"), "␛]52;c;aGk=␇");
/// ```
pub fn sanitise(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_harmful) else {
        return Cow::Borrowed(text);
    };
    let mut clean = String::with_capacity(text.len());
    clean.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(character) = rest.chars().next() {
        let mut taken = character.len_utf8();
        match character {
            '\u{1b}' => match sequence(rest) {
                Some(length) if is_colour(&rest[..length]) => taken = length,
                _ => clean.push('␛'),
            },
            '\r' => {
                clean.push('\n');
                if rest[1..].starts_with('\n') {
                    taken = 2;
                }
            }
            character if !is_harmful(character) => {
                let harmless = rest.find(is_harmful).unwrap_or(rest.len());
                clean.push_str(&rest[..harmless]);
                taken = harmless;
            }
            '\u{7f}' => clean.push('␡'),
            // The Control Pictures block is in the order of what it depicts.
            '\0'..='\u{1f}' => clean.extend(char::from_u32(0x2400 + u32::from(character))),
            _ => clean.extend(character.escape_unicode()),
        }
        rest = &rest[taken..];
    }
    Cow::Owned(clean)
}

fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Separators that some renderers take for line breaks, and what overrides the direction of
        // text.
        '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        character => character.is_control(),
    }
}

fn is_colour(sequence: &str) -> bool {
    sequence
        .strip_prefix("\u{1b}[")
        .and_then(|rest| rest.strip_suffix('m'))
        .is_some_and(|parameters| {
            parameters
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'))
        })
}
