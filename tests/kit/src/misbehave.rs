//! A program that misbehaves as it is told, for tests of whatever starts programs.
//!
//! It is no file of its own: it is the test that is running, started again. What runs before `main`
//! looks for [`VARIABLE`]; where that is set the arguments are a script, and `main` is never
//! reached. So each test that uses this module has it, whatever cargo was asked to build.
//!
//! ```
//! use terret_testkit::{Bin, misbehave};
//!
//! let bin = Bin::new(misbehave::program()).env(misbehave::VARIABLE, "1");
//! let outcome = bin.args(misbehave::script("say hello | complain 5 | exit 3")).run().exits(3);
//! assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("hello\n", "....\n"));
//! ```
//!
//! # The script
//!
//! Steps one after the other, separated by `|`; after the last the program ends with 0.
//!
//! | step | what it does |
//! | --- | --- |
//! | `say TEXT` | a line on standard output |
//! | `write TEXT` | the same without a line end; `\r`, `\n` and `\0` stand for what they do in Rust |
//! | `pid` | its process number as a line on standard output |
//! | `complain N` | N bytes on standard error, in dots and a line end |
//! | `mourn TEXT` | a line on standard error |
//! | `ignore SIGNAL` | `term`, `int` or `hup` |
//! | `leave-session` | a session of its own, if it can have one |
//! | `start [ … ]` | another process with the steps in between, which shares its streams |
//! | `daemon [ … ]` | the same, twice removed: a session of its own, and its parent has ended |
//! | `await-line` | waits for a line on standard input |
//! | `await-end` | waits for the end of standard input, whatever comes |
//! | `echo` | copies standard input to standard output, to the end |
//! | `close-output` | closes standard output |
//! | `hang` | waits for ever, reading nothing |
//! | `spin` | the same, at work |
//! | `multiply N` | starts a process that does the same with N - 1, and ends; so a chain of daemons |
//! | `exit N` | ends |
//! | `die SIGNAL` | ends by `kill`, `term` or `segv` |

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::{env, process, thread};

use rustix::process::{Signal, getpid, kill_process};

/// Where it is set to `1`, the program is this one.
pub const VARIABLE: &str = "TERRET_TEST_MISBEHAVE";

/// The path of the program.
///
/// # Panics
///
/// If the system does not tell where the running test is.
#[must_use]
pub fn program() -> PathBuf {
    env::current_exe().expect("the test that runs")
}

/// The arguments that a script is.
#[must_use]
pub fn script(steps: &str) -> Vec<OsString> {
    vec![OsString::from(steps)]
}

#[ctor::ctor(unsafe)]
fn instead_of_main() {
    if env::var_os(VARIABLE).is_none_or(|value| value != "1") {
        return;
    }
    let script = env::args().nth(1).unwrap_or_default();
    let words: Vec<&str> = script.split(' ').collect();
    run(&steps(&words));
    process::exit(0);
}

/// The steps, each with its words; what is in brackets is one word list of its own.
fn steps<'a>(words: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut steps = vec![Vec::new()];
    let mut depth = 0;
    for word in words {
        match *word {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ => {}
        }
        match (*word, depth) {
            ("|", 0) => steps.push(Vec::new()),
            (word, _) => steps.last_mut().expect("one at least").push(word),
        }
    }
    steps
}

fn run(steps: &[Vec<&str>]) {
    for step in steps {
        let Some((verb, rest)) = step.split_first() else {
            continue;
        };
        let text = rest.join(" ");
        let number = || {
            text.parse::<usize>()
                .unwrap_or_else(|_| panic!("{verb} takes a number"))
        };
        match *verb {
            "" => {}
            "say" => write(io::stdout(), format!("{text}\n").as_bytes()),
            "write" => write(io::stdout(), unescape(&text).as_bytes()),
            "pid" => write(io::stdout(), format!("{}\n", process::id()).as_bytes()),
            "complain" => write(
                io::stderr(),
                &[&vec![b'.'; number() - 1][..], b"\n"].concat(),
            ),
            "mourn" => write(io::stderr(), format!("{text}\n").as_bytes()),
            "ignore" => ignore(&text),
            "leave-session" => drop(rustix::process::setsid()),
            "start" => start(&inner(rest)),
            "daemon" => start(&format!("leave-session | start [ {} ]", inner(rest))),
            "multiply" => {
                if number() > 0 {
                    start(&format!("leave-session | multiply {}", number() - 1));
                } else {
                    hang();
                }
            }
            "await-line" => drop(io::stdin().lock().read_line(&mut String::new())),
            "await-end" => drop(io::stdin().lock().read_to_end(&mut Vec::new())),
            "echo" => echo(),
            "close-output" => drop(rustix::stdio::dup2_stdout(
                std::fs::File::open("/dev/null").expect("a null device"),
            )),
            "hang" => hang(),
            "spin" => loop {
                std::hint::spin_loop();
            },
            "exit" => process::exit(i32::try_from(number()).expect("a small number")),
            "die" => {
                let signal = match text.as_str() {
                    "kill" => Signal::KILL,
                    "term" => Signal::TERM,
                    _ => Signal::SEGV,
                };
                kill_process(getpid(), signal).expect("oneself");
                hang();
            }
            verb => panic!("there is no step `{verb}`"),
        }
    }
}

/// What came is passed on at once.
fn echo() {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = io::stdin().lock().read(&mut buffer) {
        write(io::stdout(), &buffer[..count]);
    }
}

fn hang() -> ! {
    loop {
        thread::park();
    }
}

/// Whoever reads may be gone: then so are the words.
fn write(mut stream: impl Write, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
    let _ = stream.flush();
}

fn unescape(text: &str) -> String {
    text.replace("\\r", "\r")
        .replace("\\n", "\n")
        .replace("\\0", "\0")
}

fn inner(rest: &[&str]) -> String {
    match rest {
        ["[", steps @ .., "]"] => steps.join(" "),
        _ => panic!("steps stand in brackets"),
    }
}

#[expect(unsafe_code, reason = "to ignore a signal")]
pub(crate) fn ignore(signal: &str) {
    let signal = match signal {
        "term" => libc::SIGTERM,
        "int" => libc::SIGINT,
        _ => libc::SIGHUP,
    };
    // SAFETY: ignoring runs no code.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
    }
}

#[expect(clippy::disallowed_methods, reason = "it is part of the misbehaviour")]
#[expect(clippy::zombie_processes, reason = "that nobody waits is, too")]
fn start(steps: &str) {
    Command::new(program())
        .args(script(steps))
        .spawn()
        .expect("itself again");
}
