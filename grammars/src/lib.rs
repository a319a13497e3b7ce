//! Tree-sitter grammars with what a structural search must know of each language, as data.
