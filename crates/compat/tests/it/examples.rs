//! Every example ends by itself, and its own assertions hold.
//!
//! The examples are compiled into this binary: nothing is built or looked for at run time, and an example cannot be
//! older than its test. That is why their `main` is `pub(crate)`.

use crate::support::within_limit;

macro_rules! examples {
    ($($name:ident: $path:literal),+ $(,)?) => {$(
        #[path = $path]
        mod $name;

        #[test]
        fn $name() {
            within_limit(stringify!($name), || $name::main().map_err(|e| e.to_string())).unwrap();
        }
    )+};
}

examples! {
    hyper_json: "../../examples/hyper_json.rs",
    spawn_with_handle: "../../examples/spawn_with_handle.rs",
    thread_pool: "../../examples/thread_pool.rs",
    websocket_echo: "../../examples/websocket_echo.rs",
}
