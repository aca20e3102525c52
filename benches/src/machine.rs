//! Where a measurement was made: figures from two machines, or from two builds, are not to be compared by accident.

use std::fs;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The machine and the build that a report comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, if the system tells it.
    pub cpu: Option<String>,
    /// Processors that this process may use, cgroup quota included.
    pub cores: usize,
    /// The operating system, as Rust names it.
    pub os: String,
    /// The kernel's release, if the system tells it.
    pub kernel: Option<String>,
    /// The instruction set, as Rust names it.
    pub arch: String,
    /// The version of this crate.
    pub version: String,
    /// The commit it was built from, if it was built in a repository.
    pub commit: Option<String>,
    /// Whether workers were kept on their cores.
    pub pinned: bool,
    /// When the measurement began, in seconds since 1970.
    pub unix_time: u64,
}

impl Machine {
    /// Describes this machine, now.
    #[must_use]
    pub fn detect(commit: Option<&str>, pinned: bool) -> Self {
        Self {
            cpu: cpu_name(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            os: std::env::consts::OS.to_owned(),
            kernel: read("/proc/sys/kernel/osrelease"),
            arch: std::env::consts::ARCH.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: commit.map(str::to_owned),
            pinned,
            unix_time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        }
    }
}

fn cpu_name() -> Option<String> {
    let info = read("/proc/cpuinfo")?;
    let (_, name) = info
        .lines()
        .find(|line| line.starts_with("model name"))?
        .split_once(':')?;
    Some(name.trim().to_owned())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}
