//! Shrinks the photographs, and names the file of the network.

include!("photographs.rs");
