//! A JSON server on hyper 1 and one client that asks it, both on one pool.
//!
//! Run with: cargo run -p runnext-compat --example hyper_json

use std::error::Error;
use std::net::SocketAddr;

use async_net::{TcpListener, TcpStream};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, client, header, server};
use runnext::Pool;
use serde_json::{Value, json};
use smol_hyper::rt::FuturesIo;

type Failure = Box<dyn Error + Send + Sync>;

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::http::Error> {
    let body = json!({ "message": "Hello, World!", "path": request.uri().path() });
    let response = Response::builder().header(header::CONTENT_TYPE, "application/json");
    response.body(Full::from(body.to_string()))
}

async fn serve(pool: Pool, listener: TcpListener) -> Result<(), std::io::Error> {
    loop {
        let (stream, _) = listener.accept().await?;
        // HTTP/1 drives a connection by one future: one task each, and hyper spawns nothing itself.
        let connection = server::conn::http1::Builder::new()
            .serve_connection(FuturesIo::new(stream), service_fn(respond));
        pool.spawn(connection).detach();
    }
}

async fn get(pool: Pool, server: SocketAddr, path: &str) -> Result<Value, Failure> {
    let stream = TcpStream::connect(server).await?;
    let (mut sender, connection) = client::conn::http1::handshake(FuturesIo::new(stream)).await?;
    pool.spawn(connection).detach();
    let request = Request::get(path)
        .header(header::HOST, server.to_string())
        .body(Full::<Bytes>::default())?;
    let response = sender.send_request(request).await?;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    let body = response.collect().await?.to_bytes();
    Ok(serde_json::from_slice(&body)?)
}

pub(crate) fn main() -> Result<(), Failure> {
    let pool = Pool::new()?;
    let listener = pool.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let server = pool.spawn(serve(pool.clone(), listener));
    let answer = pool.block_on(get(pool.clone(), address, "/json"))?;
    let expected = json!({ "message": "Hello, World!", "path": "/json" });
    assert_eq!(answer, expected);
    println!("http://{address}/json says {answer}");
    pool.block_on(server.cancel());
    Ok(())
}
