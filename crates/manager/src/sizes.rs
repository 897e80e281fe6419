//! Sizes of the manager's tables as `services/memory` runs it, and the unit of its memory.

/// Domains with a number below this can be clients. The tables of all clients are in the manager's
/// data, so each costs memory.
pub const CLIENTS: usize = abi::SERVICE_CLIENTS;
/// Things that a client can hold at a time, shared memory included. A request looks at each once,
/// so this is part of its bound.
pub const EACH: usize = 32;
/// Pieces of shared memory that a client can own.
pub const SHARES: usize = 4;
/// Ranges of frames that the manager holds at most.
pub const POOLS: usize = 2;
/// Base-two logarithm of the granules (256 bytes) of the smallest aligned power of two around the largest pool: 4 MiB.
pub const POOL_LOG2: u8 = 14;
/// Bytes of that power of two.
pub const POOL_BYTES: u64 = 1 << (POOL_LOG2 + GRANULE_LOG2);
/// Pages of the largest pool: 4 MiB, wherever it lies.
pub const PAGES: usize = 1024;

/// Base-two logarithm of what extents are made of: the smallest region that is paged.
pub(crate) const GRANULE_LOG2: u8 = 8;
