//! A grammar as a shared library, in the form in which the pack loads one. It is that of JSON, under
//! the name of a language that is not shipped: what a pack is asked for must come out of it.

#![allow(unsafe_code, reason = "the loader looks for a C function of this name")]

/// The grammar, for the C runtime.
#[unsafe(no_mangle)]
pub extern "C" fn tree_sitter_gleam() -> *const () {
    let grammar = tree_sitter_json::LANGUAGE.into_raw();
    // SAFETY: the function of a generated grammar takes nothing and gives a static table.
    unsafe { grammar() }
}
