//! The ledger as bytes, for the hand-over from host to target.

use super::ledger::{Account, Ledger};
use super::platform::{Costs, Platform, TablePlace};
use crate::block::{DecodeError, HEAD, Kind, take};
use crate::ledger::{Pool, Quantity};
use crate::temporal::MemoryClass;

const KIND: Kind = Kind { magic: u32::from_le_bytes(*b"COFM"), version: 1, bytes: block_bytes };
const PLATFORM: usize = 8;
/// Three places of tables, and the lock slots.
const QUANTITIES: usize = 4;
const POOL: usize = 4;
const ACCOUNT: usize = 6;

/// Bytes of a ledger with so many domains and pools.
pub const fn block_bytes(domains: usize, pools: usize) -> usize {
    4 * (HEAD + PLATFORM + 2 * QUANTITIES + pools * POOL + domains * ACCOUNT)
}

fn platform_words(platform: &Platform) -> [u32; PLATFORM] {
    let Platform { costs, lock_slots, ways, way_bytes, root_bytes, table_bytes, constant_descriptors, data_classes } =
        *platform;
    [
        costs.main_tlb,
        costs.walk_on_chip,
        costs.walk_locked_ways,
        u32::from_le_bytes([lock_slots, ways, data_classes, 0]),
        way_bytes,
        root_bytes,
        table_bytes,
        constant_descriptors,
    ]
}

fn platform(words: [u32; PLATFORM]) -> Option<Platform> {
    let [main_tlb, walk_on_chip, walk_locked_ways, counts, way_bytes, root_bytes, table_bytes, constant_descriptors] =
        words;
    let [lock_slots, ways, data_classes, 0] = counts.to_le_bytes() else { return None };
    let costs = Costs { main_tlb, walk_on_chip, walk_locked_ways };
    let sizes = way_bytes > 0 && root_bytes > 0 && table_bytes > 0;
    sizes.then_some(Platform {
        costs,
        lock_slots,
        ways,
        way_bytes,
        root_bytes,
        table_bytes,
        constant_descriptors,
        data_classes,
    })
}

fn account(words: [u32; ACCOUNT]) -> Option<Account> {
    let [root, locked, 0, 0] = words[0].to_le_bytes() else { return None };
    let root = TablePlace::ALL.into_iter().find(|place| *place as u8 == root)?;
    Some(Account { root, locked, tables: [words[1], words[2], words[3]], held: words[4], dirty: words[5] })
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Writes the ledger to the front of `out`; returns the bytes used, [`block_bytes`] of its domains and pools. `None` when `out` is
    /// shorter.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let quantities = self.tables.iter().chain([&self.slots]).flat_map(|quantity| [quantity.total, quantity.used]);
        let pools = self.pools().iter();
        let pools = pools.flat_map(|pool| [pool.class as u32, pool.clean.total, pool.clean.used, pool.dirty]);
        let accounts = self.accounts().iter().flat_map(|account| {
            let Account { root, locked, tables: [on_chip, ways, off_chip], held, dirty } = *account;
            [u32::from_le_bytes([root as u8, locked, 0, 0]), on_chip, ways, off_chip, held, dirty]
        });
        let words = platform_words(&self.platform).into_iter().chain(quantities).chain(pools).chain(accounts);
        KIND.write(self.domains, self.pool_count, words, out)
    }

    /// Reads what [`Ledger::encode`] wrote; what is behind it is ignored.
    ///
    /// # Errors
    /// [`DecodeError`]; a ledger that is returned never promises more than there is, and its accounts add up.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (domains, pools, mut words) = KIND.read(bytes, (D, P))?;
        let ledger = Self::fill(&mut words, domains, pools).ok_or(DecodeError::Inconsistent)?;
        if ledger.adds_up() { Ok(ledger) } else { Err(DecodeError::Inconsistent) }
    }

    fn fill(words: &mut impl Iterator<Item = u32>, domains: usize, pools: usize) -> Option<Self> {
        let nothing = super::Budget { on_chip: 0, ways: 0, off_chip: 0 };
        let mut ledger = Ledger::new(platform(take(words)?)?, nothing);
        for quantity in ledger.tables.iter_mut().chain([&mut ledger.slots]) {
            let [total, used] = take(words)?;
            *quantity = Some(Quantity { total, used }).filter(|_| used <= total)?;
        }
        for slot in ledger.pools.iter_mut().take(pools) {
            let [class, total, used, dirty] = take(words)?;
            let pool = Pool { class: MemoryClass::from_number(class)?, clean: Quantity { total, used }, dirty };
            *slot = Some(pool).filter(|_| dirty <= used && used <= total)?;
        }
        for slot in ledger.accounts.iter_mut().take(domains) {
            *slot = account(take(words)?)?;
        }
        (ledger.domains, ledger.pool_count) = (domains, pools);
        Some(ledger)
    }

    /// Whether what the accounts say is what is promised of the chip, and the chip has it.
    fn adds_up(&self) -> bool {
        let sum = |of: &dyn Fn(&Account) -> u32| self.accounts().iter().map(|account| u64::from(of(account))).sum();
        let tables = TablePlace::ALL.into_iter().all(|place| {
            let root = |account: &Account| if account.root == place { self.platform.root_bytes } else { 0 };
            let used: u64 = sum(&root) + sum(&|account| account.tables[place as usize]);
            used == u64::from(self.table_memory(place).used)
        });
        let (held, dirty): (u64, u64) = (sum(&|account| account.held), sum(&|account| account.dirty));
        let pools = |of: &dyn Fn(&Pool) -> u32| self.pools().iter().map(|pool| u64::from(of(pool))).sum::<u64>();
        let ways = u64::from(self.platform.ways.saturating_sub(1)) * u64::from(self.platform.way_bytes);
        tables
            && sum(&|account| u32::from(account.locked)) == u64::from(self.slots.used)
            && self.slots.total == u32::from(self.platform.lock_slots)
            && u64::from(self.table_memory(TablePlace::LockedWays).total) <= ways
            && dirty == pools(&|pool| pool.dirty)
            && held + dirty == pools(&|pool| pool.clean.used)
    }
}
