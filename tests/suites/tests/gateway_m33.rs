//! The same as in `gateway`, with only board and chip changed: a Cortex-M33 with all memory of its board, because the board's own chip has too little.

use system_tests::gateway::Gateway;

static GATEWAY: Gateway = Gateway::with("mps2-an505", "an505-8m", "300 ms");

system_tests::gateway_holds! { GATEWAY: what_is_pinned_never_misses }
