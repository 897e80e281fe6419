//! The photographs and the network of the gateway's `vision`.

include!("../../gateway/vision/photographs.rs");
