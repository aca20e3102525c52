//! Frames of async functions, one awaiting the next, as the dispatcher change's benchmarks suspend and resume them.

use std::future::Future;

use futures::FutureExt;
use futures::future::BoxFuture;

/// `depth` frames, the innermost of which awaits `leaf`.
///
/// A function that awaits itself must box the inner call, in Rust as in .NET, where each suspended frame is an object.
/// So a chain allocates `depth - 1` times, whatever it runs on; at depth 1 all bytes are those of the subject and of what
/// the leaf awaits.
pub(super) async fn chain<'a, F>(leaf: F, depth: u32) -> F::Output
where
    F: Future<Output: Send> + Send + 'a,
{
    if depth <= 1 {
        leaf.await
    } else {
        boxed(leaf, depth - 1).await
    }
}

/// Names the type, so that the compiler need not find out whether a future that holds itself is `Send`.
fn boxed<'a, F>(leaf: F, depth: u32) -> BoxFuture<'a, F::Output>
where
    F: Future<Output: Send> + Send + 'a,
{
    chain(leaf, depth).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_innermost_frame_awaits_the_leaf() {
        for depth in [1, 2, 10] {
            assert_eq!(chain(async { depth }, depth).now_or_never(), Some(depth));
            assert_eq!(
                chain(std::future::pending::<()>(), depth).now_or_never(),
                None
            );
        }
    }
}
