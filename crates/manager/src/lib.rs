//! What the memory manager decides, without the machine it runs on: the same code answers a domain's requests on the
//! target, and the host's when a history is replayed and compared.
#![no_std]
#![forbid(unsafe_code)]

pub mod wire;
