//! Getting a process ready for many sockets, before any pool has a thread.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use async_io::Async;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files that a process has open besides the connections, with room to spare.
const OTHER_FILES: u64 = 64;

/// Makes room for both ends of `connections`, and starts the reactor's thread.
///
/// The thread inherits the cores of whoever starts it. Started by a pinned worker it would share that worker's core,
/// and which worker that is would be luck; so it is started here, from outside.
pub(super) fn prepare(connections: u32) -> io::Result<()> {
    raise_open_files(OTHER_FILES + 2 * u64::from(connections))?;
    Async::<TcpListener>::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)
}

fn raise_open_files(wanted: u64) -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft >= wanted {
        return Ok(());
    }
    if hard < wanted {
        let reason =
            format!("needs {wanted} open files but `ulimit -Hn` is {hard}; raise that limit");
        return Err(io::Error::other(reason));
    }
    Ok(setrlimit(Resource::RLIMIT_NOFILE, wanted, hard)?)
}
