//! Clients that each have one request under way: who they are is the scenario's business, sharing out the operations
//! and taking their time is done here.

use std::future::Future;
use std::io;
use std::mem;
use std::time::Instant;

use super::{share, together};
use crate::measure::Latencies;
use crate::pool::Spawner;

/// One end of a connection.
pub(super) trait Client: Send + 'static {
    /// Sends one request and waits for its answer.
    fn round_trip(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// All clients of a scenario, with the times of their round trips.
pub(super) struct Clients<C>(Vec<(C, Latencies)>);

impl<C: Client> Clients<C> {
    pub(super) fn new(clients: impl IntoIterator<Item = C>) -> Self {
        Self(
            clients
                .into_iter()
                .map(|client| (client, Latencies::default()))
                .collect(),
        )
    }

    /// Every client makes its share of `ops` round trips, all clients at the same time.
    pub(super) async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let clients = mem::take(&mut self.0);
        let round_trips = share(ops, clients.len());
        let busy = clients
            .into_iter()
            .map(|(client, latencies)| work(client, latencies, round_trips));
        self.0 = together::all(spawner, busy).await?;
        Ok(round_trips * self.0.len() as u64)
    }

    pub(super) fn take_latencies(&mut self) -> Option<Latencies> {
        self.0
            .iter_mut()
            .map(|(_, latencies)| mem::take(latencies))
            .reduce(Latencies::merged)
    }
}

async fn work<C: Client>(
    mut client: C,
    mut latencies: Latencies,
    round_trips: u64,
) -> io::Result<(C, Latencies)> {
    for _ in 0..round_trips {
        let start = Instant::now();
        client.round_trip().await?;
        latencies.record(start.elapsed());
    }
    Ok((client, latencies))
}
