//! x
mod child; mod command; mod enclosure; mod environment; mod error; mod guard; mod run; mod tail;
pub use run::{Limits, Printed};
pub use child::{Child, Ladder, Rung, Stdin, Stdout, Stopped};
pub use command::{Command, Input, Output};
pub use enclosure::{Enclosure, Flag, Host, Prefix};
pub use environment::Environment;
pub use error::{Error, ErrorKind};
pub use guard::{Exit, Signal};
pub use tail::Tail;
