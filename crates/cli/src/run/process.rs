//! A process for each cell: started, waited for within a time limit, ended when time is up or the user has enough.
//!
//! Whatever happens arrives as an event on one channel, the two output streams of the running process and the
//! interrupt, so that waiting for all of them needs no polling, which would take time from what is being measured.

use std::env;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use runnext_bench::cell::Measured;

use crate::cell::Job;

/// Starts this program again, for one cell at a time.
pub(crate) struct Processes {
    program: PathBuf,
    time_limit: Duration,
    sender: Sender<Event>,
    events: Receiver<Event>,
}

/// How a cell's process ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Measured(Measured),
    /// Why there are no figures.
    Failed(String),
    /// The user wants no more.
    Interrupted,
}

enum Event {
    Closed(Stream, String),
    Interrupt,
}

enum Stream {
    Output,
    Errors,
}

/// What a process leaves behind.
#[derive(Default)]
struct Leavings {
    output: String,
    errors: String,
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

    /// Measures one cell.
    pub(crate) fn run(&self, job: &Job) -> Outcome {
        match self.start(job) {
            Ok(child) => self.wait(child),
            Err(error) => Outcome::Failed(format!(
                "cannot start `{}`: {error}",
                self.program.display()
            )),
        }
    }

    fn start(&self, job: &Job) -> io::Result<Child> {
        let mut child = Command::new(&self.program)
            .arg("cell")
            .arg(serde_json::to_string(job)?)
            .env("RUNNEXT_WARNINGS", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        self.collect(Stream::Output, child.stdout.take());
        self.collect(Stream::Errors, child.stderr.take());
        Ok(child)
    }

    /// Reads `pipe` to its end on a thread of its own, and sends what came.
    fn collect(&self, stream: Stream, pipe: Option<impl Read + Send + 'static>) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // Whatever came before an error is still worth showing; the exit status tells the rest.
                let _ = pipe.read_to_end(&mut bytes);
            }
            let _ = sender.send(Event::Closed(
                stream,
                String::from_utf8_lossy(&bytes).into_owned(),
            ));
        });
    }

    fn wait(&self, mut child: Child) -> Outcome {
        let (leavings, cut_short) = self.wait_for_streams(&mut child);
        match (cut_short, child.wait()) {
            (Some(outcome), _) => outcome,
            (None, Ok(status)) => outcome(status, &leavings),
            (None, Err(error)) => {
                Outcome::Failed(format!("cannot wait for the cell's process: {error}"))
            }
        }
    }

    /// Waits until both streams have closed, after killing the process if need be; says so if it was killed.
    fn wait_for_streams(&self, child: &mut Child) -> (Leavings, Option<Outcome>) {
        let mut leavings = Leavings::default();
        let mut cut_short = None;
        let mut deadline = Some(Instant::now() + self.time_limit);
        let mut open = 2;
        while open > 0 {
            match self.next(deadline) {
                Some(Event::Closed(stream, text)) => {
                    open -= 1;
                    leavings.keep(stream, text);
                    continue;
                }
                Some(Event::Interrupt) => cut_short = Some(Outcome::Interrupted),
                None => cut_short = Some(self.timed_out()),
            }
            deadline = None;
            // It may have ended by itself just now.
            let _ = child.kill();
        }
        (leavings, cut_short)
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

    fn timed_out(&self) -> Outcome {
        Outcome::Failed(format!("timed out after {} s", self.time_limit.as_secs()))
    }
}

impl Leavings {
    fn keep(&mut self, stream: Stream, text: String) {
        match stream {
            Stream::Output => self.output = text,
            Stream::Errors => self.errors = text,
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

fn outcome(status: ExitStatus, leavings: &Leavings) -> Outcome {
    const SIGINT: i32 = 2;
    match (status.code(), status.signal()) {
        (Some(0), _) => figures(&leavings.output),
        // An interrupt from a terminal reaches the process as well, and may be quicker than our own.
        (_, Some(SIGINT)) => Outcome::Interrupted,
        (_, Some(signal)) => {
            Outcome::Failed(format!("ended by signal {signal} {}", leavings.reason()))
        }
        _ => Outcome::Failed(leavings.reason()),
    }
}

fn figures(output: &str) -> Outcome {
    match serde_json::from_str(output) {
        Ok(measured) => Outcome::Measured(measured),
        Err(error) => Outcome::Failed(format!("the cell's process printed no figures: {error}")),
    }
}
