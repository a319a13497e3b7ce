//! What a language's TOML file holds.

use serde::Deserialize;

/// What is known of a language beyond its grammar. The keys are those of its TOML file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LanguageData {
    /// The name for people.
    pub name: String,
    /// Other names that callers may use for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// File name endings, without the dot.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Whole file names.
    #[serde(default)]
    pub files: Vec<String>,
    /// Languages whose files a search in this one reads too, each in its own grammar.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Data or markup, not a programming language: it is searched only when it is asked for.
    #[serde(default)]
    pub markup: bool,
    /// The word that stands for a metavariable while a pattern is parsed: one that the language's
    /// lexer reads as one identifier.
    pub hole: String,
    /// The ladder: the contexts that a fragment is tried in, the first that accepts it wins.
    pub contexts: Vec<Context>,
    /// What a metavariable may look like where a bare word does not parse, with `@` for the word.
    #[serde(default)]
    pub moulds: Vec<String>,
    /// The same for metavariables inside brackets.
    #[serde(default)]
    pub inline_moulds: Vec<String>,
    /// The same for metavariables next to an operator or a name, each on its own: where a name and
    /// a variable are spelled differently.
    #[serde(default)]
    pub operand_moulds: Vec<String>,
    /// Words that are keywords although the grammar has no token of that name.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Words that are tokens of the grammar and ordinary names elsewhere: no reading is the worse for
    /// such a name.
    #[serde(default)]
    pub contextual: Vec<String>,
    /// Words that are never names, although the grammar takes them for names where no keyword fits.
    #[serde(default)]
    pub reserved: Vec<String>,
    /// Kinds and fields in which a reserved word is a name after all (the label of an argument).
    #[serde(default)]
    pub labels: Vec<String>,
    /// Words with which no name begins a fragment, although they may be names further on.
    #[serde(default)]
    pub openers: Vec<String>,
    /// Lists of kinds that are one and the same to who writes a pattern.
    #[serde(default)]
    pub alike: Vec<Vec<String>>,
    /// Kinds whose children are a plain list without brackets of its own: a run of siblings sits
    /// directly below them, and they are absent where the list is empty.
    #[serde(default)]
    pub containers: Vec<String>,
    /// Kinds that are there where a list has several members, and where it has one are not: what
    /// they hold counts as their parent's.
    #[serde(default)]
    pub transparent: Vec<String>,
    /// Kinds that say nothing where they hold a single node: that counts in their place.
    #[serde(default)]
    pub wrappers: Vec<String>,
    /// Kinds whose text takes in white space at its edges, which means nothing there; a node that is
    /// nothing else counts as absent.
    #[serde(default)]
    pub padded: Vec<String>,
    /// Kinds of leaves in which upper case and lower case are the same; `*` at the end stands for
    /// any rest of the name.
    #[serde(default)]
    pub caseless: Vec<String>,
    /// Kinds of a declared name together with what may follow it, such as its type: a metavariable
    /// for one node is the name alone.
    #[serde(default)]
    pub declarators: Vec<String>,
    /// Kinds of string literals: a metavariable that is the whole body of one matches any body.
    #[serde(default)]
    pub strings: Vec<String>,
    /// Kinds that hold unparsed tokens (the arguments of a macro).
    #[serde(default)]
    pub token_trees: Vec<String>,
    /// Tokens without a name that a metavariable matches all the same.
    #[serde(default)]
    pub nameless: Vec<String>,
    /// Tokens between the members of a list; one at the list's end means nothing.
    #[serde(default = "separators")]
    pub separators: Vec<String>,
    /// Whether a separator at a list's end means something after all (`m[1, ]` in R).
    #[serde(default)]
    pub counts_trailing: bool,
    /// Separators of one character that end a member rather than part two: the last one goes with a
    /// run that is moved.
    #[serde(default)]
    pub terminators: Vec<String>,
    /// Separators that may stand before the first member too, and mean nothing there.
    #[serde(default)]
    pub leading: Vec<String>,
    /// Kinds of lists that mean the same with and without their parentheses.
    #[serde(default)]
    pub open_lists: Vec<String>,
    /// Tokens that say no more than a line end does.
    #[serde(default)]
    pub layout: Vec<String>,
    /// Kinds that follow the members of a list in the same node without being one (`else` behind
    /// statements): a run stops before them.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// How the language groups an expression, with `@` for it; absent where it cannot.
    #[serde(default)]
    pub group: Option<String>,
    /// Expressions that must be grouped beside some tokens although the grammar takes them bare.
    #[serde(default)]
    pub grouped: Vec<Grouped>,
    /// Where nodes may stand that the grammar takes elsewhere too.
    #[serde(default)]
    pub placed: Vec<Placed>,
    /// Kinds of texts that stand behind the line that asks for them, such as the body of a heredoc:
    /// they go and stay with it.
    #[serde(default)]
    pub heredocs: Vec<String>,
    /// Kinds of nodes that must begin a line, each with a kind that they stand in there.
    #[serde(default)]
    pub at_margin: Vec<[String; 2]>,
    /// Pairs of tokens between which there must be something.
    #[serde(default)]
    pub never_empty: Vec<[String; 2]>,
    /// Kinds of nodes that never follow what they belong to on a later line (the arguments of a call),
    /// although the grammar joins the lines.
    #[serde(default)]
    pub same_line: Vec<String>,
}

/// Kinds of expressions, and the tokens beside which they must be grouped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Grouped {
    /// The kinds, each with a space and a token behind it where it must hold that token.
    pub kinds: Vec<String>,
    /// The tokens before which they must be grouped.
    #[serde(default)]
    pub before: Vec<String>,
    /// The tokens behind which they must be grouped.
    #[serde(default)]
    pub behind: Vec<String>,
    /// The kinds of nodes that must not begin with them.
    #[serde(default)]
    pub first_in: Vec<String>,
    /// The kinds of nodes that must not have them as an operand. Where a file seems to have one so,
    /// the grammar has misread it.
    #[serde(default)]
    pub operand_of: Vec<String>,
    /// Whether the last operand of such an operator is what the node around it really has for an
    /// operand, where the grammar has misread it.
    #[serde(default)]
    pub last_operand: bool,
}

/// Kinds of nodes, and where they may stand although the grammar takes them elsewhere too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Placed {
    /// The kinds, each with a space and a token behind it where it must hold that token.
    pub kinds: Vec<String>,
    /// What they stand in, besides the like of what they were taken from; absent where they may
    /// stand in anything but `never_in`.
    #[serde(default)]
    pub only_in: Option<Vec<String>>,
    /// What they never stand in.
    #[serde(default)]
    pub never_in: Vec<String>,
}

impl LanguageData {
    /// Reads a description from TOML, for a grammar that is not shipped.
    ///
    /// # Errors
    ///
    /// Where it is no TOML, has a key that there is none of, or lacks one.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

fn separators() -> Vec<String> {
    [",", ";"].map(String::from).to_vec()
}

/// One step of a ladder: source text around the place where a fragment is put.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
#[non_exhaustive]
pub struct Context {
    /// What the place is called: `statement`, `expression`, `argument` …
    pub name: String,
    /// The text before the fragment.
    pub before: String,
    /// The text after it. A line end follows.
    pub after: String,
    /// The word that a fragment must begin with to be put there; absent where any may.
    pub begins: Option<String>,
}

/// A name, the code with `@@` for the fragment, and the word that the fragment must begin with.
impl TryFrom<Vec<String>> for Context {
    type Error = String;

    fn try_from(parts: Vec<String>) -> Result<Self, String> {
        let (name, code, begins) = match &parts[..] {
            [name, code] => (name, code, None),
            [name, code, begins] => (name, code, Some(begins.clone())),
            _ => return Err(format!("a context of {} parts", parts.len())),
        };
        let (before, after) = code
            .split_once("@@")
            .ok_or_else(|| format!("no `@@` in the context `{name}`"))?;
        Ok(Self {
            name: name.clone(),
            before: before.into(),
            after: after.into(),
            begins,
        })
    }
}

/// Numbers of examples, by what they show; one example may show several things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExampleCounts {
    /// Examples of a reading.
    pub reads: usize,
    /// Examples of what matches.
    pub matches: usize,
    /// Examples of a rewrite.
    pub rewrites: usize,
}

/// The examples of a language, which a test runs. They stand last in its file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Examples {
    /// How many there are at least.
    #[serde(default, rename = "least_examples")]
    pub least: ExampleCounts,
    /// Fragments with the reading that they must get.
    #[serde(default, rename = "example")]
    pub all: Vec<Example>,
}

/// A fragment, how it must be read, and what it must find.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Example {
    /// The fragment.
    pub pattern: String,
    /// The reading: context and kind of the root, as an answer states it.
    #[serde(default)]
    pub reads: Option<String>,
    /// Source text to search.
    #[serde(default)]
    pub source: Option<String>,
    /// The text of each match in `source`, in order.
    #[serde(default)]
    pub matches: Option<Vec<String>>,
    /// A rewrite of the matches.
    #[serde(default)]
    pub rewrite: Option<String>,
    /// What the rewrite makes of `source`.
    #[serde(default)]
    pub becomes: Option<String>,
}

/// What tells in which language a file is: the first keys of its TOML file.
#[derive(Debug, Deserialize)]
pub(crate) struct Head {
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
}
