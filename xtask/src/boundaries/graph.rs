//! The crates of a workspace and what they declare to depend on.

use cargo_metadata::{DependencyKind, Package};

use crate::workspace::published;

#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) published: bool,
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) to: String,
    pub(super) kind: Kind,
}

/// When a dependency is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Normal => "normal",
            Kind::Build => "build",
            Kind::Dev => "dev",
        }
    }
}

impl Graph {
    /// As declared, with what is optional or for other platforms.
    pub(super) fn of(packages: &[Package]) -> Graph {
        let node = |package: &Package| Node {
            name: package.name.to_string(),
            published: published(package),
            edges: package
                .dependencies
                .iter()
                .map(|dependency| Edge {
                    to: dependency.name.clone(),
                    kind: match dependency.kind {
                        DependencyKind::Development => Kind::Dev,
                        DependencyKind::Build => Kind::Build,
                        _ => Kind::Normal,
                    },
                })
                .collect(),
        };
        Graph {
            nodes: packages.iter().map(node).collect(),
        }
    }

    /// One crate a line, `name: dependency, dev dependency, build dependency`, `private` in front
    /// of one that is not published.
    #[cfg(test)]
    pub(super) fn made_up(text: &str) -> Graph {
        let edge = |text: &str| {
            let (kind, to) = match text.split_once(' ') {
                Some(("dev", to)) => (Kind::Dev, to),
                Some(("build", to)) => (Kind::Build, to),
                _ => (Kind::Normal, text),
            };
            Edge {
                to: to.to_owned(),
                kind,
            }
        };
        let node = |line: &str| {
            let (name, edges) = line.trim().split_once(':').expect("a name and a colon");
            let edges = edges
                .split(',')
                .map(str::trim)
                .filter(|text| !text.is_empty());
            Node {
                name: name.trim_start_matches("private ").to_owned(),
                published: !name.starts_with("private "),
                edges: edges.map(edge).collect(),
            }
        };
        Graph {
            nodes: text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .map(node)
                .collect(),
        }
    }

    fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.node(name).is_some()
    }

    /// A way from one crate to another that does not go by tests.
    pub(super) fn path<'a>(&'a self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let mut paths = vec![vec![from]];
        let mut seen = vec![from];
        while let Some(path) = paths.pop() {
            let last = *path.last()?;
            if last == to {
                return Some(path);
            }
            let edges = self.node(last).map_or(&[][..], |node| &node.edges);
            for edge in edges.iter().filter(|edge| edge.kind != Kind::Dev) {
                let next = edge.to.as_str();
                if !seen.contains(&next) {
                    seen.push(next);
                    paths.push([path.as_slice(), &[next]].concat());
                }
            }
        }
        None
    }
}
