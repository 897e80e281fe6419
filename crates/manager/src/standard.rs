//! The manager as `services/memory` runs it: its tables have these sizes.

use crate::Manager;
use crate::books::{Books, words_for};

/// Domains with a number below this can be clients.
pub const CLIENTS: usize = 16;
/// Things that a client can hold at a time, shared memory included.
pub const EACH: usize = 32;
/// Pieces of shared memory that a client can own.
pub const SHARES: usize = 4;
/// Ranges of frames that the manager holds at most.
pub const POOLS: usize = 2;
/// Base-two logarithm of the granules (256 bytes) of the smallest aligned power of two around the largest pool: 4 MiB.
pub const POOL_LOG2: u8 = 14;
/// Pages of the largest pool: 4 MiB, wherever it lies.
pub const PAGES: usize = 1024;

/// Its account.
pub type Account = Books<CLIENTS, POOLS, { words_for(POOL_LOG2) }, { words_for(11) }, PAGES>;
/// The manager.
pub type Standard = Manager<Account, CLIENTS, EACH, SHARES>;
