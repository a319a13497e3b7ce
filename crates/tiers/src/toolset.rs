//! The tools whose resources are wired.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::bound;
use crate::keys::RunScope;
use crate::schema;
use crate::surface::Surface;
use crate::tier::Tier;
use crate::tool::{Tool, ToolSpec};

/// The tools of a run, each under a name of its own, in the order of their names.
///
/// Sorted rather than in the order of registration: what a provider caches begins with the tools,
/// and a host that happens to wire its resources in another order must not lose it. Cheap to clone.
///
/// ```
/// # use std::sync::Arc;
/// # use terret_tiers::{Tier, Tool, Toolset, RunScope};
/// # fn build(tools: Vec<Arc<dyn Tool>>) -> Result<(), terret_tiers::ToolsetError> {
/// let toolset = Toolset::builder().run(RunScope::new("run-1")).tools(tools).build()?;
/// let plan_mode = toolset.surface(Tier::Read);
/// # let _ = plan_mode;
/// # Ok(())
/// # }
/// # build(Vec::new()).unwrap();
/// ```
#[derive(Clone)]
pub struct Toolset {
    run: RunScope,
    tools: Arc<IndexMap<String, Arc<dyn Tool>>>,
}

impl Toolset {
    /// The toolset of a run of its own. Several toolsets of one run are made by
    /// [`Toolset::builder`].
    ///
    /// # Errors
    ///
    /// A name that is not valid, or that two tools have.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Toolset, ToolsetError> {
        Toolset::builder().tools(tools).build()
    }

    /// A toolset to be filled.
    pub fn builder() -> ToolsetBuilder {
        ToolsetBuilder {
            run: RunScope::default(),
            tools: Vec::new(),
        }
    }

    /// The surface of the tools up to `cap`.
    pub fn surface(&self, cap: Tier) -> Surface {
        Surface::new(self.run.clone(), self.tools.clone(), cap)
    }

    /// The run to which the tools belong.
    pub fn run(&self) -> &RunScope {
        &self.run
    }

    /// The tools, for a harness that registers them in a registry of its own and does there what a
    /// surface does.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// The facts about the tools, in their order.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.tools.values().map(|tool| tool.spec())
    }

    /// Checks every tool for what a provider could trip over: its schema by [`schema::lint`], and
    /// its description.
    ///
    /// For a test of whoever builds the toolset: one bad schema can make a provider refuse every
    /// request.
    ///
    /// # Errors
    ///
    /// One line for each finding, beginning with the tool's name.
    pub fn lint(&self) -> Result<(), Vec<String>> {
        let mut findings = Vec::new();
        for spec in self.specs() {
            let name = &spec.name;
            if spec.description.trim().is_empty() {
                findings.push(format!("{name}: the description is empty"));
            } else if spec.description.trim() != spec.description {
                findings.push(format!(
                    "{name}: the description begins or ends with white space"
                ));
            }
            if let Err(found) = schema::lint(&spec.parameters) {
                findings.extend(
                    found
                        .into_iter()
                        .map(|finding| format!("{name}: {finding}")),
                );
            }
        }
        if findings.is_empty() {
            Ok(())
        } else {
            Err(findings)
        }
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset")
            .field("run", &self.run.id())
            .field("tools", &self.tools.keys())
            .finish()
    }
}

/// Builds a [`Toolset`].
#[must_use]
pub struct ToolsetBuilder {
    run: RunScope,
    tools: Vec<Arc<dyn Tool>>,
}

impl ToolsetBuilder {
    /// The run to which the tools belong. All toolsets of a run are given the same, so that they
    /// share its keys.
    pub fn run(mut self, run: RunScope) -> Self {
        self.run = run;
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// The toolset.
    ///
    /// # Errors
    ///
    /// A name that is not valid (a letter or `_`, then letters, digits, `_` and `-`, 64 at most:
    /// what every common provider takes), or that two tools have.
    pub fn build(self) -> Result<Toolset, ToolsetError> {
        let mut tools = IndexMap::with_capacity(self.tools.len());
        for tool in self.tools {
            let name = tool.spec().name.clone();
            if !is_valid(&name) {
                return Err(ToolsetError {
                    name,
                    kind: ToolsetErrorKind::InvalidName,
                });
            }
            if tools.insert(name.clone(), tool).is_some() {
                return Err(ToolsetError {
                    name,
                    kind: ToolsetErrorKind::DuplicateName,
                });
            }
        }
        tools.sort_unstable_keys();
        Ok(Toolset {
            run: self.run,
            tools: Arc::new(tools),
        })
    }
}

/// The intersection of what the large providers allow.
fn is_valid(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= 64
        && bytes
            .first()
            .is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Why a toolset could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsetError {
    name: String,
    kind: ToolsetErrorKind,
}

/// The kinds of a [`ToolsetError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolsetErrorKind {
    /// The name has characters, or a length, that some provider refuses.
    InvalidName,
    /// Two tools have the same name.
    DuplicateName,
}

impl ToolsetError {
    /// What is wrong.
    pub fn kind(&self) -> ToolsetErrorKind {
        self.kind
    }

    /// The name with which it is.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ToolsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ToolsetErrorKind::InvalidName => write!(
                f,
                "{:?} can't be the name of a tool: a letter or `_`, then letters, digits, `_` and \
                 `-`, 64 at most",
                bound::line(&self.name, 80)
            ),
            ToolsetErrorKind::DuplicateName => write!(f, "two tools are called `{}`", self.name),
        }
    }
}

impl std::error::Error for ToolsetError {}

#[cfg(test)]
mod tests;
