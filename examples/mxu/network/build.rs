//! The photographs and the network of the gateway's `vision`.

#[path = "../../gateway/sources/src/lib.rs"]
#[allow(dead_code, unused_imports)]
mod gateway_sources;

include!("../../gateway/vision/photographs.rs");
