//! `channel-spsc`: one task sends messages to another through a bounded `async-channel` of 64 places.
//!
//! Both mostly find the channel neither full nor empty, so there is far less than one hop for each message.

use std::io;

use async_channel::{Receiver, Sender, bounded};

use super::{Workload, together};
use crate::pool::Spawner;

const PLACES: usize = 64;

pub(crate) struct ChannelSpsc;

impl Workload for ChannelSpsc {
    async fn prepare(_: &impl Spawner, _: u32) -> io::Result<Self> {
        Ok(Self)
    }

    async fn batch(&mut self, spawner: &impl Spawner, ops: u64) -> io::Result<u64> {
        let (sender, receiver) = bounded(PLACES);
        let ends = [End::Sender(sender), End::Receiver(receiver)];
        together::all(spawner, ends.map(|end| work(end, ops))).await?;
        Ok(ops)
    }
}

enum End {
    Sender(Sender<u64>),
    Receiver(Receiver<u64>),
}

async fn work(end: End, messages: u64) -> io::Result<()> {
    for message in 0..messages {
        match &end {
            End::Sender(sender) => sender.send(message).await.map_err(io::Error::other)?,
            End::Receiver(receiver) => {
                let received = receiver.recv().await.map_err(io::Error::other)?;
                if received != message {
                    let text = format!("message {received} came in place of {message}");
                    return Err(io::Error::other(text));
                }
            }
        }
    }
    Ok(())
}
