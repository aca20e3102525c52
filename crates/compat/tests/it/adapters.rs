//! The newtypes for hyper and criterion, used as their crates use them.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Debug;
use std::io::{self, ErrorKind};

use async_net::{TcpListener, TcpStream};
use criterion::async_executor::AsyncExecutor;
use futures::future::try_join_all;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use runnext::Pool;
use runnext_compat::criterion::CriterionExecutor;
use runnext_compat::hyper::HyperExecutor;
use smol_hyper::rt::FuturesIo;
use static_assertions::assert_impl_all;

use crate::support::within_limit;

assert_impl_all!(HyperExecutor: Clone, Debug, Send, Sync, Unpin);
assert_impl_all!(CriterionExecutor: Clone, Debug, Send, Sync, Unpin);

type Failure = Box<dyn Error + Send + Sync>;

async fn echo_path(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::from(request.uri().path().to_owned())))
}

/// Whether a server's connection ended because its client was the first to close the socket: what is still under way
/// then resets the connection, and the server's own `shutdown` finds it gone.
fn client_has_gone(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(|cause: &io::Error| {
        matches!(
            cause.kind(),
            ErrorKind::NotConnected | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        )
    })
}

/// Asks one HTTP/2 connection `streams` times at once. Each stream is a future that hyper spawns through the executor.
async fn http2_round_trips(pool: &Pool, streams: usize) -> Result<Vec<Bytes>, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let executor = HyperExecutor::new(pool.clone());
    let accept = executor.clone();
    let server = pool.spawn(async move {
        let (stream, _) = listener.accept().await?;
        let builder = server::conn::http2::Builder::new(accept);
        let connection = builder.serve_connection(FuturesIo::new(stream), service_fn(echo_path));
        match connection.await {
            Err(error) if !client_has_gone(&error) => Err(Failure::from(error)),
            _ => Ok(()),
        }
    });

    let stream = FuturesIo::new(TcpStream::connect(address).await?);
    let (sender, connection) = client::conn::http2::handshake(executor, stream).await?;
    pool.spawn(connection).detach();
    let answers = (0..streams).map(async |number| {
        let uri = format!("http://{address}/{number}");
        let response = sender
            .clone()
            .send_request(Request::get(uri).body(Empty::<Bytes>::new())?);
        Ok::<Bytes, Failure>(response.await?.collect().await?.to_bytes())
    });
    let answers = try_join_all(answers).await?;
    drop(sender);
    server.await?;
    Ok(answers)
}

#[test]
fn hyper_serves_http2_on_the_pool() {
    const STREAMS: usize = 64;
    let answers = within_limit("http/2 on loopback", || {
        let pool = Pool::new().unwrap();
        pool.block_on(http2_round_trips(&pool, STREAMS)).unwrap()
    });
    let expected: Vec<_> = (0..STREAMS)
        .map(|number| Bytes::from(format!("/{number}")))
        .collect();
    assert_eq!(answers, expected);
}

#[test]
fn criterion_blocks_on_a_future_that_borrows() {
    fn doubled(executor: impl AsyncExecutor, pool: &Pool, value: &std::rc::Rc<u32>) -> u32 {
        executor.block_on(async {
            let number = **value;
            pool.spawn(async move { number * 2 }).await
        })
    }
    within_limit("criterion's executor", || {
        let pool = Pool::new().unwrap();
        let executor = CriterionExecutor::new(pool.clone());
        let value = std::rc::Rc::new(21);
        assert_eq!(doubled(&executor, &pool, &value), 42);
        assert_eq!(doubled(executor, &pool, &value), 42);
    });
}
