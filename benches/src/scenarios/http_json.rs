//! `http-json`: clients ask for a small JSON document over HTTP/1.1 with keep-alive, client and server on the subject.
//!
//! hyper's low-level connections over `smol-hyper` and `async-net` on the loopback interface, one request under way
//! for each connection. The document is serialised anew for each request, as a server would.

use std::convert::Infallible;
use std::io;

use async_net::TcpStream;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use serde::Serialize;
use smol_hyper::rt::FuturesIo;

use super::Workload;
use super::clients::{Client, Clients};
use super::loopback::{self, Connection};
use crate::measure::Latencies;
use crate::pool::Spawner;

#[derive(Serialize)]
struct Document {
    message: &'static str,
}

/// What the client must receive.
const DOCUMENT: &[u8] = br#"{"message":"Hello, World!"}"#;

pub(crate) struct HttpJson {
    clients: Clients<SendRequest<Empty<Bytes>>>,
}

impl Workload for HttpJson {
    async fn prepare(spawner: &impl Spawner, connections: u32) -> io::Result<Self> {
        let mut clients = Vec::new();
        for Connection { client, server } in loopback::connect(connections).await? {
            spawner.spawn(serve(server));
            clients.push(connect(spawner, client).await?);
        }
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

impl Client for SendRequest<Empty<Bytes>> {
    async fn round_trip(&mut self) -> io::Result<()> {
        let mut request = Request::new(Empty::new());
        request
            .headers_mut()
            .insert(HOST, HeaderValue::from_static("localhost"));
        // The answer may be complete before the connection's task has noticed so itself.
        self.ready().await.map_err(io::Error::other)?;
        let response = self.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(io::Error::other)?
            .to_bytes();
        if status != StatusCode::OK || body != DOCUMENT {
            return Err(io::Error::other(format!(
                "the answer was `{status}` with {} bytes",
                body.len()
            )));
        }
        Ok(())
    }
}

/// Starts the client's half of `stream` on the subject.
async fn connect(
    spawner: &impl Spawner,
    stream: TcpStream,
) -> io::Result<SendRequest<Empty<Bytes>>> {
    let (requests, connection) = handshake(FuturesIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    spawner.spawn(async move {
        // What breaks the connection also fails the request that is under way, and is reported there.
        let _ = connection.await;
    });
    Ok(requests)
}

/// Serves one connection until its client goes away.
async fn serve(stream: TcpStream) {
    let service = service_fn(|_: Request<Incoming>| async { Ok::<_, Infallible>(answer()) });
    // The client's side sees and reports whatever matters.
    let _ = http1::Builder::new()
        .serve_connection(FuturesIo::new(stream), service)
        .await;
}

fn answer() -> Response<Full<Bytes>> {
    let document = Document {
        message: "Hello, World!",
    };
    let body = serde_json::to_vec(&document).expect("a struct of one string is always JSON");
    let mut response = Response::new(Full::new(body.into()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
