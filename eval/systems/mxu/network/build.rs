//! The photographs and the network of the gateway's `vision`.

include!("../../../../examples/gateway/vision/photographs.rs");
