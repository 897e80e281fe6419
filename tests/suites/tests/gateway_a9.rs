//! The same as in `gateway`, with only the board changed: a Cortex-A9 with page tables.

use system_tests::gateway::Gateway;

static GATEWAY: Gateway = Gateway::new(Some("xilinx-zynq-a9"), "300 ms");

system_tests::gateway_holds! { GATEWAY: walks_end_where_was_promised }

#[test]
fn without_budgets_control_misses_deadlines() {
    GATEWAY.without_budgets_control_misses_deadlines("200 ms");
}
