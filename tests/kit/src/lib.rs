//! What the tests of the workspace share: files from one string, the binary under test, a child that
//! misbehaves, and the gate for tests that need a real tool.
//!
//! It knows bytes and JSON and no crate of the workspace, so that any of them can use it for its
//! tests without a cycle.
//!
//! ```
//! use terret_testkit::Tree;
//!
//! let tree = Tree::new(
//!     "
//!     //- /lib/a.dart
//!     void f() => dispose(x);
//!     ",
//! );
//! assert_eq!(tree.read("lib/a.dart"), b"void f() => dispose(x);\n");
//! assert_eq!(tree.listing(), "//- /lib/a.dart\nvoid f() => dispose(x);\n");
//! ```

mod bin;
mod fixture;
#[cfg(feature = "language-server")]
pub mod language_server;
mod live;
pub mod misbehave;
mod processes;
mod scripted;
mod tools;

pub use bin::{Bin, Outcome};
pub use fixture::Tree;
pub use live::Live;
pub use processes::{Mark, state_of};
pub use scripted::{Format, Scripted};
pub use tools::{REQUIRE_TOOLS, SKIP_LOG, require_tool};
