//! What a guard comes to where there are no sub-reapers: a process group, killed by the host.
//!
//! Untested. What the program starts in a group of its own is not found, and if the host is killed, the end of its
//! standard input is all that tells the program.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{Control, Order, Spawned};

/// Starts the program as the leader of a group, and two threads in the guard's place: one takes its orders, one reports.
pub(super) fn spawn(command: &mut Command) -> io::Result<Spawned> {
    let (socket, inner) = UnixStream::pair()?;
    let child = command.process_group(0).spawn()?;
    let id = child.id();
    let group = Pid::from_child(&child);
    let control = Control(OwnedFd::from(socket.try_clone()?));

    // Cleared before the program is reaped, when its number may pass to another.
    let target = Arc::new(Mutex::new(Some(group)));
    let kill = {
        let target = Arc::clone(&target);
        move |signal| {
            let target = target.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(group) = *target {
                // It may have ended.
                let _ = kill_process_group(group, signal);
            }
        }
    };
    let mut orders = inner.try_clone()?;
    let obey = kill.clone();
    thread::Builder::new().spawn(move || {
        let mut byte = [0];
        while let Ok(1) = orders.read(&mut byte) {
            match Order::ALL.iter().find(|(known, _)| *known == byte[0]) {
                Some((_, Order::Signal(signal))) => obey(signal.system()),
                Some((_, Order::Sweep)) => obey(rustix::process::Signal::KILL),
                None => {}
            }
        }
        obey(rustix::process::Signal::KILL);
    })?;
    let reports = inner;
    thread::Builder::new().spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(
            waitid(WaitId::Pid(group), options),
            Err(rustix::io::Errno::INTR)
        ) {}
        kill(rustix::process::Signal::KILL);
        target.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The host's thread reaps it and learns how it ended: it takes the end of this socket for the report.
        let _ = reports.shutdown(std::net::Shutdown::Both);
    })?;
    Ok((child, socket, control, id))
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    use super::super::Signal;
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "what it is a test of")]
    fn sh(script: &str) -> (Spawned, String) {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut spawned = spawn(&mut command).unwrap();
        let mut line = String::new();
        let output = spawned.0.stdout.take().unwrap();
        std::io::BufReader::new(output)
            .read_line(&mut line)
            .unwrap();
        (spawned, line)
    }

    #[test]
    fn orders_reach_the_group_and_its_end_is_told() {
        for (order, signal) in [(Order::Signal(Signal::Terminate), 15), (Order::Sweep, 9)] {
            let ((mut child, mut socket, control, id), line) = sh("echo $$; sleep 1000 & wait");
            assert_eq!(line.trim(), id.to_string());
            control.order(order);
            let mut rest = Vec::new();
            socket.read_to_end(&mut rest).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            drop(control);
        }
    }

    #[test]
    fn what_a_program_left_in_its_group_goes_with_it() {
        let ((mut child, mut socket, _control, _), line) = sh("sleep 1000 & echo $!");
        let left = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        socket.read_to_end(&mut Vec::new()).unwrap();
        assert!(child.wait().unwrap().success());
        // It ends up with somebody who reaps it.
        while rustix::process::test_kill_process(left).is_ok() && !ended(left) {
            thread::yield_now();
        }
    }

    fn ended(process: Pid) -> bool {
        let stat = format!("/proc/{}/stat", process.as_raw_nonzero());
        std::fs::read_to_string(stat).is_ok_and(|stat| stat.contains(") Z "))
    }
}
