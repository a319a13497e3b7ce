//! Finds the programs that a project calls for, starts them, and leaves nothing of them behind.
//!
//! Language servers, debug adapters, interpreters and agents are other people's programs: they start children of their
//! own, ignore signals, fill pipes that nobody reads, and outlive whoever started them. This crate is the one door
//! through which Terret starts them.
//!
//! - [`Detector`] says which [`Candidate`]s are usable for a file: one of their root markers is there **and** one of
//!   their programs. For those that are not, it says why.
//! - [`Command`] is what to start, with everything explicit, on the host or in an [`Enclosure`].
//! - [`Child`] is what was started: its streams, how it ended, and how to end it, step by step.
//!
//! ```
//! use std::time::Duration;
//! use terret_launch::{Candidate, Command, Detector, Environment, Ladder, Marker, Output, Program};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let tree = terret_testkit::Tree::new("//- /app/go.mod\n//- /app/cmd/main.go\n");
//! # let workspace = tree.root();
//! let environment = Environment::inherited();
//! let detector = Detector::new(&workspace, environment.clone());
//! # let name = "sh";
//! # /*
//! let name = "gopls";
//! # */
//! let server = Candidate::new("gopls").marker(Marker::new("go.mod")?).program(Program::new(name));
//! let found = detector.check(&server, "app/cmd/main.go").await;
//! let Some(usable) = found.usable() else { panic!("{found}") };
//! assert_eq!(usable.root(), workspace.join("app"));
//!
//! let mut child = Command::new(usable.program(), usable.root(), &environment)
//! #    .arg("-c").arg("echo ready >&2; cat; exit 3")
//!     .stderr(Output::Drained(8 * 1024))
//!     .spawn()
//!     .await?;
//! // … the streams go to a protocol, which is asked to shut down in the end:
//! let ask = async { /* shutdown, exit */ };
//! let stopped = child.stop(ask, &Ladder::default().close(Duration::from_secs(5))).await?;
//! # assert_eq!(stopped.exit().code(), Some(3));
//! # let path = usable.program().display();
//! assert_eq!(child.last_words(3).unwrap(), format!("`{path}` exited with 3; its last words:\nready"));
//! # Ok(())
//! # }
//! ```
//!
//! # The promise
//!
//! - **Nothing is left behind, whatever ends the host**: a return, a panic, an abort, `SIGKILL`. What a program has
//!   started goes with it, in however many sessions of its own, detached as a daemon or not.
//! - **Stopping goes up a ladder**: ask by the protocol, close standard input, terminate the group, kill everything. Each
//!   step is bounded, and [`Child::stop`] says which one it took. Dropping a [`Child`] is the last step alone.
//! - **A child that [is gone](Child::gone) is gone with all its descendants**, collected: no zombies.
//! - **No pipe fills up** but those that the caller has taken to read: the others are drained all the time, even while the
//!   runtime is busy or gone, and their tails are there for errors.
//! - **A program gets what it was given**: no shell reads its arguments; its environment, folder and streams are explicit;
//!   no descriptor, signal mask or disposition of the host reaches it; it has no terminal to ask on.
//!
//! # How a child is held
//!
//! On Linux there is a process between the host and each child, its guard. It is a child sub-reaper: what the program
//! leaves becomes the guard's, and is killed when the program ends. It notices that the host has ended, however, by the
//! host's process descriptor and by a socket of which the host has the only other end. Then the program has a quarter
//! of a second to end by itself, as its input has ended; it is asked to terminate, and has another quarter; then
//! everything is killed. A guard that is killed itself takes the program along by its parent-death signal.
//!
//! The guard is forked and executes nothing, so that it needs no other program and no line in the host's `main`: any
//! host gets all of this, also one in another language that loads a library. It gives back the host's memory right
//! after it is forked, and keeps a few hundred KiB.
//!
//! A thread per child starts it, drains its streams and collects it. A child is therefore not bound to the thread or the
//! runtime that asked for it.
//!
//! # Limits
//!
//! - **Linux on x86-64 is what is tested.** On Linux for other processors the guard keeps the host's memory. On other Unix
//!   systems, untested, there is no guard: a child leads a process group, which is killed when the child ends or is
//!   dropped; what leaves the group is not found, and if the host is killed the end of its input is all that a program
//!   notices. Elsewhere the crate does not compile.
//! - **A fork takes a moment** in a host that has much memory, some 50 ms per GB, in which its threads wait when they write
//!   to it.
//! - **Who is somebody else cannot be killed**: a program that changed its user (`sudo`), or one that the kernel holds.
//!   [`ErrorKind::NotKilled`] says so, and the guard goes on trying.
//! - **Daemons that are meant to stay are killed too**, when the program that started them ends: a build server, a cache.
//! - **What runs in a container is not a descendant**: see [`Enclosure`].
//! - **A guard that is killed together with the host** (the kernel's killing of a whole control group, a person's
//!   `pkill`) leaves descendants of the program that had left it, unless they were killed as well.
//! - **Without `/proc`** the descendants are not found, only the group.

#[cfg(not(unix))]
compile_error!(
    "terret-launch holds programs by process groups and signals, which only Unix has; it is tested on Linux and does not \
     support this system"
);

mod candidate;
mod child;
mod command;
mod detect;
mod enclosure;
mod environment;
mod error;
mod guard;
mod listings;
mod run;
mod tail;
mod trust;

pub use candidate::{BadMarker, Candidate, Marker, Probe, Program, WorkspaceRoot};
pub use child::{Child, Ladder, Rung, Stdin, Stdout, Stopped};
pub use command::{Command, Input, Output};
pub use detect::{Detection, Detector, Findings, Usable};
pub use enclosure::{Enclosure, Flag, Host, Prefix};
pub use environment::Environment;
pub use error::{Error, ErrorKind};
pub use guard::{Exit, Signal};
pub use run::{Limits, Printed};
pub use tail::Tail;
pub use trust::{Trust, Untrusted};
