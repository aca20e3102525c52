//! `websocket-echo`: clients send a 1000-byte frame and wait for its echo, client and server both on the subject.
//!
//! `async-tungstenite` over `async-net` on the loopback interface, uncompressed, one frame under way for each
//! connection. The reactor's thread wakes the tasks, so most wakes come from outside the pool: what is measured is how
//! a pool that is not saturated takes bursts.

use std::io;

use async_net::TcpStream;
use async_tungstenite::tungstenite::{Bytes, Message};
use async_tungstenite::{WebSocketStream, accept_async, client_async};
use futures::StreamExt;

use super::clients::{Client, Clients};
use super::loopback::{self, Connection};
use super::{Workload, together};
use crate::measure::Latencies;
use crate::pool::Spawner;

const FRAME: Bytes = Bytes::from_static(&[0x5A; 1000]);

pub(crate) struct WebsocketEcho {
    clients: Clients<WebSocketStream<TcpStream>>,
}

impl Workload for WebsocketEcho {
    async fn prepare(spawner: &impl Spawner, connections: u32) -> io::Result<Self> {
        let connections = loopback::connect(connections).await?;
        let clients = connections
            .into_iter()
            .map(|Connection { client, server }| {
                spawner.spawn(echo(server));
                greet(client)
            });
        let clients = together::all(spawner, clients.collect::<Vec<_>>()).await?;
        Ok(Self {
            clients: Clients::new(clients),
        })
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        self.clients.batch(spawner, ops).await
    }

    fn take_latencies(&mut self) -> Option<Latencies> {
        self.clients.take_latencies()
    }
}

impl Client for WebSocketStream<TcpStream> {
    async fn round_trip(&mut self) -> io::Result<()> {
        self.send(Message::Binary(FRAME))
            .await
            .map_err(io::Error::other)?;
        match self.next().await {
            Some(Ok(Message::Binary(frame))) if frame.len() == FRAME.len() => Ok(()),
            Some(Ok(other)) => Err(io::Error::other(format!(
                "the echo was another message: {other:?}"
            ))),
            Some(Err(error)) => Err(io::Error::other(error)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

async fn greet(stream: TcpStream) -> io::Result<WebSocketStream<TcpStream>> {
    let (socket, _) = client_async("ws://localhost/echo", stream)
        .await
        .map_err(io::Error::other)?;
    Ok(socket)
}

/// Serves one connection until its client goes away, which is how each run ends and so no error.
async fn echo(stream: TcpStream) {
    let Ok(mut socket) = accept_async(stream).await else {
        return;
    };
    while let Some(Ok(message)) = socket.next().await {
        if message.is_binary() && socket.send(message).await.is_err() {
            return;
        }
    }
}
