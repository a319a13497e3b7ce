//! What a metavariable is written as while a fragment is parsed.
//!
//! A bare word does not parse everywhere: a member list wants members, a block of some languages
//! wants `word;`. A mould is such a form with the word in it; the node that covers the mould is
//! what the metavariable stands for. Some lexers tell the kinds of names by their first letter, and
//! there another spelling of the word may stand where the first one does not.

use terret_grammars::LanguageData;

use super::{Fragment, Piece};

/// The most combinations of moulds that are tried in one context.
const MOST_CHOICES: usize = 64;

/// The most metavariables next to operators that are moulded in all combinations.
const MOST_OPERANDS: usize = 4;

/// One mould for each metavariable of a fragment; absent is the bare word.
#[derive(Debug, Clone)]
pub(super) struct Moulded {
    moulds: Vec<Option<String>>,
}

impl Moulded {
    pub(super) fn spell(&self, hole: usize, word: &str) -> String {
        match &self.moulds[hole] {
            Some(mould) => mould.replacen('@', word, 1),
            None => word.to_owned(),
        }
    }

    /// Where the word begins in the mould.
    pub(super) fn word_at(&self, hole: usize) -> usize {
        self.moulds[hole]
            .as_ref()
            .and_then(|mould| mould.find('@'))
            .unwrap_or(0)
    }
}

/// The combinations to try, the one with the fewest moulds first.
///
/// Metavariables of the same kind of place in the same pair of brackets share one mould, so that
/// the number of combinations stays small; where it is too large all the same, those stay in which
/// every kind of place has one mould. Next to an operator each has a mould of its own.
pub(super) fn choices(fragment: &Fragment, data: &LanguageData) -> Vec<Moulded> {
    let places = places(fragment);
    let mut groups: Vec<(Place, usize)> = Vec::new();
    for &place in &places {
        let is_movable = place.0 != Place::Fixed || !data.operand_moulds.is_empty();
        if is_movable && !groups.contains(&place) {
            groups.push(place);
        }
    }
    let options = |place: Place| match place {
        Place::List | Place::Body | Place::Clause | Place::Tail => &data.moulds[..],
        Place::Bracket => &data.inline_moulds[..],
        Place::Fixed => &data.operand_moulds[..],
    };
    let mut combinations: Vec<Vec<usize>> = vec![Vec::new()];
    for &(place, _) in &groups {
        let count = options(place).len();
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                (0..=count).map(move |option| {
                    let mut next = combination.clone();
                    next.push(option);
                    next
                })
            })
            .take(MOST_CHOICES * 16)
            .collect();
    }
    let uniform = uniform(&groups, data);
    combinations.retain(|choice| !uniform.contains(choice));
    combinations.sort_by_key(|choice| moulded(choice));
    let room = MOST_CHOICES.saturating_sub(uniform.len());
    combinations.truncate(room.max(MOST_CHOICES / 2));
    combinations.extend(uniform);
    combinations.sort_by_key(|choice| moulded(choice));
    let mould = |combination: &[usize], place: &(Place, usize)| {
        let group = groups.iter().position(|group| group == place)?;
        let option = combination[group].checked_sub(1)?;
        Some(options(place.0)[option].clone())
    };
    combinations
        .iter()
        .map(|combination| Moulded {
            moulds: places
                .iter()
                .map(|place| mould(combination, place))
                .collect(),
        })
        .collect()
}

fn moulded(choice: &[usize]) -> usize {
    choice.iter().filter(|&&option| option > 0).count()
}

/// The combinations in which groups of the same kind of place have the same mould, but for those
/// next to an operator.
fn uniform(groups: &[(Place, usize)], data: &LanguageData) -> Vec<Vec<usize>> {
    let is_operand = |group: &&(Place, usize)| group.0 == Place::Fixed;
    let operands = operands(
        groups.iter().filter(is_operand).count(),
        data.operand_moulds.len(),
    );
    let mut combinations = Vec::new();
    for list in 0..=data.moulds.len() {
        for tail in [0, list] {
            for bracket in 0..=data.inline_moulds.len() {
                for operands in &operands {
                    let mut operands = operands.iter().copied();
                    let option = |&(place, _): &(Place, usize)| match place {
                        Place::List | Place::Body => list,
                        Place::Clause | Place::Tail => tail,
                        Place::Bracket => bracket,
                        Place::Fixed => operands.next().unwrap_or(0),
                    };
                    let combination: Vec<usize> = groups.iter().map(option).collect();
                    if !combinations.contains(&combination) {
                        combinations.push(combination);
                    }
                }
            }
        }
    }
    combinations
}

/// The moulds of metavariables next to operators: each on its own as long as they are few, else all
/// alike.
fn operands(count: usize, moulds: usize) -> Vec<Vec<usize>> {
    if count > MOST_OPERANDS {
        return (0..=moulds).map(|mould| vec![mould; count]).collect();
    }
    let mut operands = vec![Vec::new()];
    for _ in 0..count {
        operands = operands
            .iter()
            .flat_map(|start| (0..=moulds).map(move |mould| [&start[..], &[mould]].concat()))
            .collect();
    }
    operands
}

/// The kind of place that a metavariable stands in, judged by the characters around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where a statement or a member may stand.
    List,
    /// A run between words: keywords that serve as brackets.
    Body,
    /// Behind a colon or an arrow: the body of a clause, whose siblings are other clauses.
    Clause,
    /// Where a line ends with it: a statement behind `else`, or a name in a header.
    Tail,
    /// A member of a bracketed list, or of the list in a header.
    Bracket,
    /// Next to an operator or a name.
    Fixed,
}

/// For each hole its place, and the number of the bracket pair that it stands in; one that no
/// other shares its place with has a number of its own.
fn places(fragment: &Fragment) -> Vec<(Place, usize)> {
    let mut places = Vec::new();
    let mut open = vec![0];
    let mut brackets = 0;
    for (index, piece) in fragment.pieces.iter().enumerate() {
        match piece {
            Piece::Literal(text) => {
                for letter in text.chars() {
                    match letter {
                        '(' | '[' | '{' => {
                            brackets += 1;
                            open.push(brackets);
                        }
                        ')' | ']' | '}' if open.len() > 1 => {
                            open.pop();
                        }
                        _ => {}
                    }
                }
            }
            Piece::Hole(hole) => {
                let neighbour = |at: Option<usize>| match at.and_then(|at| fragment.pieces.get(at))
                {
                    Some(Piece::Literal(text)) => Some(text.as_str()),
                    Some(Piece::Hole(_)) => Some("_"),
                    None => None,
                };
                let before = neighbour(index.checked_sub(1)).map_or('\n', last_letter);
                let after = neighbour(Some(index + 1)).map_or('\n', first_letter);
                let place = place(before, after, hole.run, open.len() == 1 || hole.run);
                let number = match place {
                    Place::Fixed | Place::Body => places.len(),
                    _ => open.last().copied().unwrap_or(0),
                };
                places.push((place, number));
            }
        }
    }
    places
}

/// The last character that is not a space; a line end counts.
fn last_letter(text: &str) -> char {
    text.trim_end_matches([' ', '\t'])
        .chars()
        .next_back()
        .unwrap_or('_')
}

fn first_letter(text: &str) -> char {
    text.trim_start_matches([' ', '\t'])
        .chars()
        .next()
        .unwrap_or('_')
}

fn place(before: char, after: char, run: bool, is_open: bool) -> Place {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if run && is_word(before) && is_word(after) {
        return Place::Body;
    }
    let list_starts = is_word(before) || matches!(before, '\n' | '{' | '}' | ';' | ':' | ')' | '>');
    let list_ends =
        matches!(after, '\n' | '}') || is_word(after) && !is_word(before) && before != '\n';
    let bracket_starts = matches!(before, '(' | '[' | '<' | '{' | '|' | ',');
    let bracket_ends = matches!(after, ')' | ']' | '>' | '}' | '|' | ',');
    // Between a colon and a brace stands the list of a header: bases, initializers. In brackets it
    // is a value.
    let in_header = is_open && matches!((before, after), (':', ',') | (':' | ',', '{'));
    if list_starts && list_ends {
        if is_word(before) {
            Place::Tail
        } else if matches!(before, ':' | '>') {
            Place::Clause
        } else {
            Place::List
        }
    } else if bracket_starts && bracket_ends || in_header {
        Place::Bracket
    } else {
        Place::Fixed
    }
}
