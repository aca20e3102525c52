//! What the system says of itself: processors, what this process may have of them, timers and clock.
//!
//! Everything is read from `/proc` and `/sys`, under a root that a test can put in their place. What is not there, as on
//! another system, is `None`, and no advice follows from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde::Serialize;

/// The facts; all but one are the kernel's words.
#[derive(Debug, Serialize)]
pub(crate) struct Host {
    /// Processors for this process, as Rust counts them: affinity and quota included.
    pub(crate) usable: usize,
    /// Processors that are switched on, as in `0-3`.
    pub(crate) online: Option<String>,
    /// Processors that this process may run on, as in `0-1`.
    pub(crate) affinity: Option<String>,
    /// How many processors' time the control group grants; `None` if all of it.
    pub(crate) quota: Option<f64>,
    /// By how many nanoseconds the kernel may let a timer of ours be late, to join it with others.
    pub(crate) timer_slack_ns: Option<u64>,
    /// Where the kernel takes the time from.
    pub(crate) clock_source: Option<String>,
}

impl Host {
    /// Asks this system.
    pub(crate) fn detect() -> Self {
        let usable = thread::available_parallelism().map_or(1, usize::from);
        Self::read(Path::new("/"), usable)
    }

    fn read(root: &Path, usable: usize) -> Self {
        let read = |path: &str| text(&root.join(path));
        Self {
            usable,
            online: read("sys/devices/system/cpu/online"),
            affinity: read("proc/self/status").and_then(|status| {
                let mut lines = status.lines();
                let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
                Some(list.trim().to_owned())
            }),
            quota: read("proc/self/cgroup").and_then(|groups| quota(root, &groups)),
            timer_slack_ns: read("proc/self/timerslack_ns").and_then(|slack| slack.parse().ok()),
            clock_source: read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        }
    }

    /// How many processors the affinity allows, or are online where it is not known.
    pub(crate) fn allowed(&self) -> usize {
        let list = self.affinity.as_deref().or(self.online.as_deref());
        list.and_then(length).unwrap_or(self.usable)
    }
}

fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// How many processors a list as in `0-3,8` has.
fn length(list: &str) -> Option<usize> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (last + 1).checked_sub(first)
    };
    list.split(',').map(range).sum()
}

/// The tightest quota from the process's control group up to the root: each of them limits what is below it.
fn quota(root: &Path, groups: &str) -> Option<f64> {
    let quotas = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let (mount, read): (&str, fn(&Path) -> Option<f64>) = match controllers {
            "" => ("sys/fs/cgroup", unified),
            list if list.split(',').any(|one| one == "cpu") => ("sys/fs/cgroup/cpu", separate),
            _ => return None,
        };
        let mount = root.join(mount);
        let group: PathBuf = mount.join(group.trim_start_matches('/'));
        let above = group
            .ancestors()
            .take_while(|path| path.starts_with(&mount));
        above.filter_map(read).reduce(f64::min)
    });
    quotas.reduce(f64::min)
}

/// cgroup v2: `cpu.max` holds quota and period, the quota may be `max`.
fn unified(group: &Path) -> Option<f64> {
    let max = text(&group.join("cpu.max"))?;
    let (quota, period) = max.split_once(' ')?;
    share(quota, period)
}

/// cgroup v1: a file for each, the quota may be -1.
fn separate(group: &Path) -> Option<f64> {
    let quota = text(&group.join("cpu.cfs_quota_us"))?;
    let period = text(&group.join("cpu.cfs_period_us"))?;
    share(&quota, &period)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (u32, u32) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0 && period > 0).then(|| f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system whose files are these.
    fn host(files: &[(&str, &str)]) -> Host {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Host::read(root.path(), 3)
    }

    #[test]
    fn what_is_not_there_is_not_known() {
        let host = host(&[]);
        assert_eq!((host.quota, host.timer_slack_ns), (None, None));
        assert_eq!(host.allowed(), 3);
    }

    #[test]
    fn affinity_is_counted_and_beats_what_is_online() {
        let status = "Name:\tx\nCpus_allowed_list:\t0-3,8,10-11\n";
        let host = host(&[
            ("proc/self/status", status),
            ("sys/devices/system/cpu/online", "0-63\n"),
            ("proc/self/timerslack_ns", "50000\n"),
        ]);
        assert_eq!((host.allowed(), host.timer_slack_ns), (7, Some(50_000)));
    }

    #[test]
    fn the_tightest_quota_up_to_the_root_counts() {
        let host = host(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/cpu.max", "400000 100000\n"),
        ]);
        assert_eq!(host.quota, Some(1.5));
    }

    #[test]
    fn the_older_control_groups_have_files_of_their_own() {
        let groups = "4:memory:/m\n1:cpu,cpuacct:/a\n0::/\n";
        let of = |quota: &str| {
            host(&[
                ("proc/self/cgroup", groups),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
            ])
            .quota
        };
        assert_eq!((of("50000\n"), of("-1\n")), (Some(0.5), None));
    }
}
