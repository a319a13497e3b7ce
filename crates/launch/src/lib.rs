//! x
mod candidate; mod child; mod command; mod detect; mod listings; mod trust;
pub use candidate::{BadMarker, Candidate, Marker, Probe, Program, WorkspaceRoot};
pub use detect::{Detection, Detector, Usable};
pub use trust::{Trust, Untrusted}; mod enclosure; mod environment; mod error; mod guard; mod run; mod tail;
pub use run::{Limits, Printed};
pub use child::{Child, Ladder, Rung, Stdin, Stdout, Stopped};
pub use command::{Command, Input, Output};
pub use enclosure::{Enclosure, Flag, Host, Prefix};
pub use environment::Environment;
pub use error::{Error, ErrorKind};
pub use guard::{Exit, Signal};
pub use tail::Tail;
