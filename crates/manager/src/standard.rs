//! The manager as `services/memory` runs it: its tables have these sizes.

use crate::Manager;
use crate::books::{Books, words_for};
pub use crate::sizes::{CLIENTS, EACH, PAGES, POOL_BYTES, POOL_LOG2, POOLS, SHARES};

/// Its account.
pub type Account = Books<CLIENTS, POOLS, { words_for(POOL_LOG2) }, { words_for(11) }, PAGES>;
/// The manager.
pub type Standard = Manager<Account, CLIENTS, EACH, SHARES>;
