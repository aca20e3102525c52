//! A WebSocket echo server on loopback and a few clients, all tasks of one pool.
//!
//! Run with: cargo run -p runnext-compat --example websocket_echo

use std::error::Error;
use std::net::SocketAddr;

use async_net::{TcpListener, TcpStream};
use async_tungstenite::tungstenite::{Error as WsError, Message};
use async_tungstenite::{accept_async, client_async};
use futures::TryStreamExt;
use futures::future::try_join_all;
use runnext::Pool;

const CLIENTS: usize = 4;
const ROUNDS: usize = 100;
const FRAME_BYTES: usize = 1000;

async fn serve(pool: Pool, listener: TcpListener) -> Result<(), std::io::Error> {
    loop {
        let (stream, _) = listener.accept().await?;
        pool.spawn(echo(stream)).detach();
    }
}

async fn echo(stream: TcpStream) -> Result<(), WsError> {
    let mut socket = accept_async(stream).await?;
    while let Some(message) = socket.try_next().await? {
        if message.is_binary() || message.is_text() {
            socket.send(message).await?; // the library answers pings and closes
        }
    }
    Ok(())
}

async fn client(server: SocketAddr, id: usize) -> Result<usize, WsError> {
    let stream = TcpStream::connect(server).await?;
    let (mut socket, _) = client_async(format!("ws://{server}/"), stream).await?;
    for round in 0..ROUNDS {
        let sent = Message::binary(vec![(id + round) as u8; FRAME_BYTES]);
        socket.send(sent.clone()).await?;
        let received = socket.try_next().await?.expect("the server is there");
        assert_eq!(received, sent);
    }
    socket.close(None).await?;
    Ok(ROUNDS)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = Pool::new()?;
    let listener = pool.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let server = pool.spawn(serve(pool.clone(), listener));
    let clients = (0..CLIENTS).map(|id| pool.spawn(client(address, id)));
    let echoed: usize = pool.block_on(try_join_all(clients))?.iter().sum();
    assert_eq!(echoed, CLIENTS * ROUNDS);
    println!("{CLIENTS} clients had {echoed} frames of {FRAME_BYTES} bytes echoed by {address}");
    pool.block_on(server.cancel());
    Ok(())
}
