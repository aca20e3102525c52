//! A process for each cell: started, waited for within a time limit, ended when time is up or the user has enough.
//!
//! Most run alone. Those that take turns run side by side, and each is handed this program's file, opened anew, as its
//! standard input: the lock of it is the turn, so there is no file to be made and none to be left behind.
//!
//! Whatever happens arrives as an event on one channel, the two output streams of each running process and the
//! interrupt, so that waiting for all of them needs no polling, which would take time from what is being measured.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::slice;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::cell::Job;

/// Starts this program again, for one cell or for several that take turns.
pub(crate) struct Processes {
    program: PathBuf,
    time_limit: Duration,
    sender: Sender<Event>,
    events: Receiver<Event>,
}

/// How a cell's process ended.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    Found(T),
    /// Why nothing was found.
    Failed(String),
    /// The user wants no more.
    Interrupted,
}

enum Event {
    /// A stream of the process with this number has ended, and all that came.
    Closed(usize, Stream, String),
    Interrupt,
}

enum Stream {
    Output,
    Errors,
}

/// A process that was started, and what it leaves behind.
struct Running {
    child: Child,
    /// How many of its streams are open.
    open: usize,
    output: String,
    errors: String,
    cut_short: Option<CutShort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutShort {
    Interrupted,
    TimedOut,
}

impl Processes {
    /// Takes over the handling of interrupts, so there can be only one of it.
    pub(crate) fn new(time_limit: Duration) -> io::Result<Self> {
        let (sender, events) = mpsc::channel();
        let interrupt = sender.clone();
        ctrlc::set_handler(move || {
            // The receiver is gone only when the program is about to end anyway.
            let _ = interrupt.send(Event::Interrupt);
        })
        .map_err(io::Error::other)?;
        Ok(Self {
            program: env::current_exe()?,
            time_limit,
            sender,
            events,
        })
    }

    /// Does one job.
    pub(crate) fn run<T: DeserializeOwned>(&self, job: &Job) -> Outcome<T> {
        let mut outcomes = self.run_together(slice::from_ref(job));
        outcomes.pop().expect("one job has one outcome")
    }

    /// Does all jobs at the same time, the time limit being that of all together; the outcomes are in their order.
    pub(crate) fn run_together<T: DeserializeOwned>(&self, jobs: &[Job]) -> Vec<Outcome<T>> {
        let started = jobs.iter().enumerate().map(|(id, job)| self.start(id, job));
        let mut all: Vec<_> = started.collect();
        let mut running: Vec<_> = all.iter_mut().map(|one| one.as_mut().ok()).collect();
        self.wait_for_streams(&mut running);
        all.into_iter()
            .map(|one| match one {
                Ok(running) => running.end(self.time_limit),
                Err(error) => Outcome::Failed(format!(
                    "cannot start `{}`: {error}",
                    self.program.display()
                )),
            })
            .collect()
    }

    fn start(&self, id: usize, job: &Job) -> io::Result<Running> {
        let input = if job.in_turns {
            File::open(&self.program)?.into()
        } else {
            Stdio::null()
        };
        let mut child = Command::new(&self.program)
            .arg("cell")
            .arg(serde_json::to_string(job)?)
            .env("RUNNEXT_WARNINGS", "0")
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        self.collect(id, Stream::Output, child.stdout.take());
        self.collect(id, Stream::Errors, child.stderr.take());
        Ok(Running {
            child,
            open: 2,
            output: String::new(),
            errors: String::new(),
            cut_short: None,
        })
    }

    /// Reads `pipe` to its end on a thread of its own, and sends what came.
    fn collect(&self, id: usize, stream: Stream, pipe: Option<impl Read + Send + 'static>) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // Whatever came before an error is still worth showing; the exit status tells the rest.
                let _ = pipe.read_to_end(&mut bytes);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let _ = sender.send(Event::Closed(id, stream, text));
        });
    }

    /// Waits until all streams have closed, after killing whom they belong to if need be.
    fn wait_for_streams(&self, running: &mut [Option<&mut Running>]) {
        let mut deadline = Some(Instant::now() + self.time_limit);
        while running.iter().flatten().any(|one| one.open > 0) {
            let cut_short = match self.next(deadline) {
                Some(Event::Closed(id, stream, text)) => {
                    let closed = running[id]
                        .as_mut()
                        .expect("only what was started has streams");
                    closed.keep(stream, text);
                    continue;
                }
                Some(Event::Interrupt) => CutShort::Interrupted,
                None => CutShort::TimedOut,
            };
            deadline = None;
            for one in running.iter_mut().flatten().filter(|one| one.open > 0) {
                one.cut_short(cut_short);
            }
        }
    }

    /// The next event, or `None` once `deadline` has passed.
    fn next(&self, deadline: Option<Instant>) -> Option<Event> {
        let left = deadline.map_or(Duration::MAX, |deadline| {
            deadline.saturating_duration_since(Instant::now())
        });
        match self.events.recv_timeout(left) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
        }
    }
}

impl Running {
    fn keep(&mut self, stream: Stream, text: String) {
        self.open -= 1;
        match stream {
            Stream::Output => self.output = text,
            Stream::Errors => self.errors = text,
        }
    }

    fn cut_short(&mut self, reason: CutShort) {
        self.cut_short = Some(reason);
        // It may have ended by itself just now.
        let _ = self.child.kill();
    }

    /// Waits for a process whose streams have closed.
    fn end<T: DeserializeOwned>(mut self, time_limit: Duration) -> Outcome<T> {
        match (self.cut_short, self.child.wait()) {
            (Some(CutShort::Interrupted), _) => Outcome::Interrupted,
            (Some(CutShort::TimedOut), _) => {
                Outcome::Failed(format!("timed out after {} s", time_limit.as_secs()))
            }
            (None, Ok(status)) => self.outcome(status),
            (None, Err(error)) => {
                Outcome::Failed(format!("cannot wait for the cell's process: {error}"))
            }
        }
    }

    fn outcome<T: DeserializeOwned>(&self, status: ExitStatus) -> Outcome<T> {
        const SIGINT: i32 = 2;
        match (status.code(), status.signal()) {
            (Some(0), _) => found(&self.output),
            // An interrupt from a terminal reaches the process as well, and may be quicker than our own.
            (_, Some(SIGINT)) => Outcome::Interrupted,
            (_, Some(signal)) => {
                Outcome::Failed(format!("ended by signal {signal} {}", self.reason()))
            }
            _ => Outcome::Failed(self.reason()),
        }
    }

    /// What the process said, on one line.
    fn reason(&self) -> String {
        let lines: Vec<_> = self
            .errors
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        lines.join(" ")
    }
}

fn found<T: DeserializeOwned>(output: &str) -> Outcome<T> {
    match serde_json::from_str(output) {
        Ok(found) => Outcome::Found(found),
        Err(error) => Outcome::Failed(format!("the cell's process printed no figures: {error}")),
    }
}
