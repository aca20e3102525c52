//! TCP connections from this process to itself.

use std::io;
use std::net::Ipv4Addr;

use async_net::{TcpListener, TcpStream};
use futures::future::try_join;

/// Both ends of one connection.
pub(super) struct Connection {
    pub(super) client: TcpStream,
    pub(super) server: TcpStream,
}

/// Opens `count` connections over the loopback interface, each end sending small packets at once.
pub(super) async fn connect(count: u32) -> io::Result<Vec<Connection>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let mut connections = Vec::new();
    for _ in 0..count {
        let (client, (server, _)) =
            try_join(TcpStream::connect(address), listener.accept()).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        connections.push(Connection { client, server });
    }
    Ok(connections)
}
