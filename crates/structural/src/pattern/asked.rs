//! What a caller asks of the ladder by a name, and which name asks for a reading.

use terret_grammars::{Context, Grammar};

use super::{PatternError, Reading, failure};

/// What is asked of the ladder: some of its contexts, or a kind that any of them may give.
pub(super) struct Asked<'g> {
    pub(super) contexts: Vec<&'g Context>,
    pub(super) kind: Option<String>,
}

impl<'g> Asked<'g> {
    pub(super) fn of(grammar: &'g Grammar, asked: Option<&str>) -> Result<Self, PatternError> {
        let all = &grammar.data().contexts;
        let any = || all.iter().collect();
        let Some(asked) = asked else {
            return Ok(Self {
                contexts: any(),
                kind: None,
            });
        };
        let name = asked.trim().to_lowercase().replace([' ', '-'], "_");
        let chosen: Vec<&Context> = all.iter().filter(|context| context.name == name).collect();
        if !chosen.is_empty() {
            return Ok(Self {
                contexts: chosen,
                kind: None,
            });
        }
        // Of a window it is the kinds of its members.
        let kind = asked.trim().to_owned();
        let is_kind = |kind: &str| grammar.language().id_for_node_kind(kind, true) != 0;
        if kind.split(" then ").any(is_kind) {
            return Ok(Self {
                contexts: any(),
                kind: Some(kind),
            });
        }
        Err(PatternError::UnknownContext {
            language: grammar.data().name.clone(),
            asked: asked.to_owned(),
            known: failure::names(all),
        })
    }
}

/// A context's name asks for the reading of the first context that has it and accepts; any other is
/// asked for by its kind.
pub(super) fn say_how_to_ask(readings: &mut [Reading]) {
    let rung = |reading: &Reading, name: &str| {
        let named = reading.contexts.iter().zip(&reading.rungs);
        let rungs = named.filter(|(context, _)| *context == name);
        rungs.map(|(_, rung)| *rung).min()
    };
    for index in 0..readings.len() {
        let reading = &readings[index];
        let asks = |name: &&str| {
            let first = readings.iter().filter_map(|other| rung(other, name)).min();
            rung(reading, name) == first
        };
        let names = std::iter::once(reading.context());
        let mut names = names.chain(reading.contexts.iter().map(String::as_str));
        let asked_by = names.find(asks).unwrap_or(&reading.kind).to_owned();
        readings[index].asked_by = asked_by;
    }
}
