//! What stands between the host and a child on Linux: a process that outlives the host just long enough to leave
//! nothing behind.
//!
//! It is what the host forks, and a child sub-reaper; the program is its child. Whatever the program starts, in however many sessions of its own, becomes a child of the guard when its parent ends, and can be found and
//! killed. It never executes anything: it needs no helper on disk and no help of the host's `main`, and so guards in any
//! host. Being a fork, it would keep every page that the host has at that moment; it gives them back
//! ([`memory`](super::memory)).
//!
//! Between the fork and its end the guard may only do what is safe after a fork in a process with threads: system calls,
//! no allocation, no lock, no panic.
#![expect(
    unsafe_code,
    reason = "cloning, executing and signal masks; each use says why it is sound"
)]

use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::{HOST_GONE_EOF, HOST_GONE_TERM, Order, memory};

/// The first signal after those that have a name each.
const STANDARD_SIGNALS: libc::c_int = 32;

/// Makes `command` start under a guard that takes orders from, and reports to, `control`.
///
/// `control` must stay open until the command is spawned.
pub(super) fn arm(command: &mut Command, control: &OwnedFd) -> io::Result<()> {
    let image = Image::of(command)?;
    let control = control.as_raw_fd();
    let host = rustix::process::getpid();
    // SAFETY: `split` and all that it calls keep to what is safe between fork and exec, see the module.
    unsafe {
        command.pre_exec(move || split(&image, control, host));
    }
    Ok(())
}

/// What a process becomes: all of it made before the fork.
struct Image {
    path: CString,
    argv: Strings,
    envp: Strings,
}

/// Strings, and the null-terminated list of pointers to them that the system takes.
struct Strings {
    pointers: Vec<*const c_char>,
    _owned: Vec<CString>,
}

// SAFETY: the pointers are into what is owned beside them, and nobody changes that.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    fn new(strings: impl Iterator<Item = OsString>) -> io::Result<Self> {
        let owned = strings.map(|string| CString::new(string.into_vec()));
        let owned = owned.collect::<Result<Vec<CString>, _>>()?;
        let pointers = owned.iter().map(|string| string.as_ptr());
        Ok(Self {
            pointers: pointers.chain([std::ptr::null()]).collect(),
            _owned: owned,
        })
    }
}

impl Image {
    /// Of a command whose environment was cleared first.
    fn of(command: &Command) -> io::Result<Self> {
        let program = command.get_program();
        let variables: Vec<(&OsStr, &OsStr)> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        let path = match program.as_bytes().contains(&b'/') {
            true => program.to_owned(),
            false => {
                let path = variables.iter().find(|(name, _)| *name == "PATH");
                let folders = std::env::split_paths(path.map_or(OsStr::new(""), |(_, path)| path));
                let found = folders
                    // Relative ones would let a folder choose.
                    .filter(|folder| folder.is_absolute())
                    .find_map(|folder| {
                        which::which_in(folder.join(program), None::<&OsStr>, "/").ok()
                    });
                found.ok_or(io::ErrorKind::NotFound)?.into_os_string()
            }
        };
        let args = command.get_args().map(OsStr::to_owned);
        let assignment = |(name, value): &(&OsStr, &OsStr)| {
            [*name, OsStr::new("="), *value].into_iter().collect()
        };
        Ok(Self {
            path: CString::new(path.into_vec())?,
            argv: Strings::new(std::iter::once(program.to_owned()).chain(args))?,
            envp: Strings::new(variables.iter().map(assignment))?,
        })
    }
}

/// Makes a new process that becomes the program, and the calling one its guard, which does not return.
fn split(image: &Image, control: RawFd, host: Pid) -> io::Result<()> {
    // A session of its own: signals that a terminal sends to the host's group do not reach it.
    rustix::process::setsid()?;
    let guard = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(guard))?;

    // The handlers are the host's until an exec: none of them may run here.
    let program_mask = block_all_signals()?;
    // What the host ignores a program would ignore from its start; and with SIGCHLD ignored, the guard's children would
    // be reaped unseen.
    for signal in 1..STANDARD_SIGNALS {
        // SAFETY: setting a disposition to its default runs no code. For two signals it cannot be set, nor need it be.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let signals = child_signals()?;

    let mut becoming = Becoming {
        image,
        guard,
        program_mask,
        failure: None,
    };
    let child = becoming.start()?;
    if let Some(failure) = becoming.failure {
        let _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
        return Err(failure.into());
    }
    watch(child, control, &signals, host)
}

/// A process on its way to becoming the program.
struct Becoming<'a> {
    image: &'a Image,
    guard: Pid,
    program_mask: libc::sigset_t,
    /// Why it did not.
    failure: Option<Errno>,
}

/// The stack of that process.
#[repr(align(16))]
struct Stack(MaybeUninit<[u8; 64 * 1024]>);

impl Becoming<'_> {
    /// Starts the process and waits until it is the program, or has failed to become it.
    ///
    /// It shares the memory of this one until then, so that the host's is not copied a second time.
    #[inline(never)] // Its frame is large, and is not to be part of one that lasts.
    fn start(&mut self) -> io::Result<Pid> {
        extern "C" fn enter(becoming: *mut c_void) -> c_int {
            // SAFETY: `start` has passed itself, and waits.
            let becoming = unsafe { &mut *becoming.cast::<Becoming<'_>>() };
            becoming.failure = becoming.exec().err();
            // SAFETY: ends this process and not the other, without running anything of the host's.
            unsafe { libc::_exit(1) }
        }
        let mut stack = Stack(MaybeUninit::uninit());
        // SAFETY: the stack grows down from its end and is this process's alone; both it and `self` outlive the call, which
        // returns when the new process has ended or executed something.
        let child = unsafe {
            let top = stack.0.as_mut_ptr().add(1).cast();
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            libc::clone(enter, top, flags, std::ptr::from_mut(self).cast())
        };
        Pid::from_raw(child.max(0)).ok_or_else(io::Error::last_os_error)
    }

    /// Returns only if it fails.
    fn exec(&self) -> Result<(), Errno> {
        // A session too: no terminal to ask for a password on, and a group of its own to signal.
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(self.guard) {
            return Err(Errno::SRCH);
        }
        // SAFETY: marks descriptors, and the mask is one that the system gave. The lists end in null, and all they point to
        // was made before the fork.
        unsafe {
            // What the host has left open for its own children is not for these. A kernel before 5.11 cannot do it; then
            // they get that, as with any other way to start a program.
            let flag = libc::CLOSE_RANGE_CLOEXEC;
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flag);
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.program_mask,
                std::ptr::null_mut(),
            );
            let Image { path, argv, envp } = self.image;
            libc::execve(
                path.as_ptr(),
                argv.pointers.as_ptr(),
                envp.pointers.as_ptr(),
            );
        }
        // The thread's variables are shared as well, so that the other process reads the same.
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
    }
}

fn block_all_signals() -> io::Result<libc::sigset_t> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both point to a `sigset_t`; `all` is filled before it is read, `old` is filled when the call succeeds.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        match libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr()) {
            0 => Ok(old.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// A descriptor that becomes readable when a child ends. All signals are blocked already.
fn child_signals() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `set` is emptied before it is read; the descriptor is new and so nobody else's.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        let flags = libc::SFD_NONBLOCK | libc::SFD_CLOEXEC;
        match libc::signalfd(-1, set.as_ptr(), flags) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// The numbers of the guard's three descriptors, when all others are closed.
const CONTROL: RawFd = 0;
const SIGNALS: RawFd = 1;
const HOST: RawFd = 2;

fn exit() -> ! {
    // SAFETY: ends the process without running anything of the host's.
    unsafe { libc::_exit(0) }
}

/// The life of the guard, to its end. Its frame is the first of those that are kept: see [`memory`].
#[inline(never)]
fn watch(child: Pid, control: RawFd, signals: &OwnedFd, host: Pid) -> ! {
    // SAFETY: open until it is moved, below.
    report(
        unsafe { BorrowedFd::borrow_raw(control) },
        child.as_raw_nonzero().get(),
    );
    let _ = rustix::thread::set_name(c"terret-guard");
    // So that no folder is kept busy.
    let _ = rustix::process::chdir(c"/");

    // That the control socket ends tells of the host's end too, but not while a process that the host has forked
    // without an exec holds it.
    let host_fd = rustix::process::pidfd_open(host, PidfdFlags::empty()).ok();
    let has_host_fd = host_fd.is_some();
    // SAFETY: plain system calls on numbers of this process, which has no other use for the numbers that are closed.
    // What is at 0, 1 and 2 before belongs to the program, which has copies.
    unsafe {
        libc::dup2(control, CONTROL);
        libc::dup2(signals.as_raw_fd(), SIGNALS);
        match &host_fd {
            Some(host_fd) => libc::dup2(host_fd.as_raw_fd(), HOST),
            None => libc::close(HOST),
        };
        close_from(HOST + 1);
    }
    std::mem::forget(host_fd);

    memory::give_back();

    // SAFETY: open from here to the end of the process, or never used.
    let (control, signals, host_fd) = unsafe {
        (
            BorrowedFd::borrow_raw(CONTROL),
            BorrowedFd::borrow_raw(SIGNALS),
            BorrowedFd::borrow_raw(HOST),
        )
    };
    let orphaned = rustix::process::getppid() != Some(host);
    let mut guard = Watch {
        child,
        control,
        signals,
        host: has_host_fd.then_some(host_fd),
        step: if orphaned {
            Step::orphaned()
        } else {
            Step::Serve
        },
        ended: false,
    };
    guard.serve();
    let swept = guard.sweep();
    report(control, swept);
    exit()
}

/// # Safety
///
/// Nobody in this process may use a descriptor from `first` upwards any more.
unsafe fn close_from(first: RawFd) {
    // SAFETY: as the caller promises.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        // A kernel before 5.9. Hosts rarely have more open than this, and what stays open is only not closed early.
        for fd in first..65_536 {
            libc::close(fd);
        }
    }
}

/// Tells the host, if it is still there.
fn report(control: BorrowedFd<'_>, number: i32) {
    let flags = rustix::net::SendFlags::NOSIGNAL;
    let _ = rustix::net::send(control, &number.to_le_bytes(), flags);
}

/// Milliseconds of the clock that only goes forward.
fn now() -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec.wrapping_mul(1000).wrapping_add(tv_nsec / 1_000_000)
}

fn milliseconds(wait: i64) -> Timespec {
    let wait = wait.max(0);
    Timespec {
        tv_sec: wait / 1000,
        tv_nsec: (wait % 1000) * 1_000_000,
    }
}

/// Where the guard stands.
#[derive(Clone, Copy)]
enum Step {
    /// The host is there and decides.
    Serve,
    /// The host is gone, and with it the other end of the program's standard input: the program may end by itself
    /// until then.
    LetEnd { until: i64 },
    /// It was asked to.
    Terminated { until: i64 },
    /// Everything has to go.
    Sweep,
}

impl Step {
    fn orphaned() -> Self {
        Self::LetEnd {
            until: now().wrapping_add(HOST_GONE_EOF),
        }
    }
}

struct Watch<'a> {
    child: Pid,
    control: BorrowedFd<'a>,
    signals: BorrowedFd<'a>,
    host: Option<BorrowedFd<'a>>,
    step: Step,
    /// The program has ended and was reaped: its number may be another's by now.
    ended: bool,
}

impl Watch<'_> {
    /// Until the program has ended, or everything has to go.
    fn serve(&mut self) {
        loop {
            self.reap();
            let until = match self.step {
                _ if self.ended => return,
                Step::Sweep => return,
                Step::Serve => None,
                Step::LetEnd { until } | Step::Terminated { until } => Some(until),
            };
            self.wait(until.map(|until| until.wrapping_sub(now())));
            match self.step {
                Step::LetEnd { until } if now() >= until => {
                    self.signal(Signal::TERM);
                    self.step = Step::Terminated {
                        until: now().wrapping_add(HOST_GONE_TERM),
                    };
                }
                Step::Terminated { until } if now() >= until => self.step = Step::Sweep,
                _ => {}
            }
        }
    }

    /// Until an order comes, a child ends, the host ends, or so many milliseconds are over.
    fn wait(&mut self, limit: Option<i64>) {
        let serving = matches!(self.step, Step::Serve);
        // Once the host is gone, its descriptors are ready for ever.
        let of_host = if serving {
            PollFlags::IN
        } else {
            PollFlags::empty()
        };
        let mut fds = [
            PollFd::from_borrowed_fd(self.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(self.control, of_host),
            PollFd::from_borrowed_fd(self.host.unwrap_or(self.control), of_host),
        ];
        let limit = limit.map(milliseconds);
        let watched = if serving { &mut fds[..] } else { &mut fds[..1] };
        let Ok(_) = poll(watched, limit.as_ref()) else {
            return;
        };
        let ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let (signals, control, host) = (ready(&fds[0]), ready(&fds[1]), ready(&fds[2]));
        if signals {
            let mut drained = [0_u8; 512];
            while matches!(rustix::io::read(self.signals, &mut drained), Ok(1..)) {}
        }
        if serving && control {
            self.obey();
        }
        if serving && host && self.host.is_some() && matches!(self.step, Step::Serve) {
            self.step = Step::orphaned();
        }
    }

    fn obey(&mut self) {
        let mut orders = [0_u8; 16];
        match rustix::io::read(self.control, &mut orders) {
            Ok(count @ 1..) => {
                for order in orders.iter().take(count) {
                    match Order::from_byte(*order) {
                        Some(Order::Sweep) => self.step = Step::Sweep,
                        Some(Order::Signal(signal)) => self.signal(signal.system()),
                        None => {}
                    }
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // A host that lets go of a child says so, so this one has ended.
            Ok(_) | Err(_) => self.step = Step::orphaned(),
        }
    }

    /// To the program's group.
    fn signal(&self, signal: Signal) {
        if self.ended {
            return;
        }
        if rustix::process::kill_process_group(self.child, signal).is_err() {
            // It has not got as far as having a group.
            let _ = rustix::process::kill_process(self.child, signal);
        }
    }

    /// Collects whoever has ended, the program and what it has left to us. True while there are children; how many
    /// others than the program were killed is added to `killed`.
    fn reap_counting(&mut self, killed: &mut i32) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => self.end(status),
                Ok(Some((_, status))) => {
                    if status.terminating_signal() == Some(Signal::KILL.as_raw()) {
                        *killed = killed.saturating_add(1);
                    }
                }
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn reap(&mut self) {
        self.reap_counting(&mut 0);
    }

    fn end(&mut self, status: WaitStatus) {
        self.ended = true;
        report(self.control, status.as_raw());
    }

    /// Kills and reaps until no child is left: neither the program, nor what it started, nor what that started. How many
    /// others than the program had to be killed.
    fn sweep(&mut self) -> i32 {
        let mut killed = 0;
        let mut pause = 1;
        loop {
            self.signal(Signal::KILL);
            kill_children();
            if !self.reap_counting(&mut killed) {
                return killed;
            }
            // Those of who was killed are ours now. The signal tells when; the limit is for what cannot be killed yet.
            let limit = milliseconds(pause);
            let mut fds = [PollFd::from_borrowed_fd(self.signals, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&limit));
            let mut drained = [0_u8; 512];
            while matches!(rustix::io::read(self.signals, &mut drained), Ok(1..)) {}
            pause = (pause * 2).min(100);
        }
    }
}

/// Kills the guard's children as the kernel lists them. They are nobody else's to reap, so that no number can have passed
/// to a stranger. A list that is incomplete, since children come and go, is read again by the caller.
fn kill_children() {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(list) = rustix::fs::open(c"/proc/thread-self/children", flags, Mode::empty()) else {
        return;
    };
    let mut number: i32 = 0;
    let mut buffer = [0_u8; 1024];
    while let Ok(count @ 1..) = rustix::io::read(list.as_fd(), &mut buffer) {
        for byte in buffer.iter().take(count) {
            if byte.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
            } else if let Some(child) = Pid::from_raw(std::mem::take(&mut number)) {
                let _ = rustix::process::kill_process(child, Signal::KILL);
            }
        }
    }
}
