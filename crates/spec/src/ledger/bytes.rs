//! The ledger as bytes, for the hand-over from host to target: little-endian words, [`HEADER`] of them first.

use super::{Account, Ledger, Pool, Quantity};
use crate::block::{DecodeError, HEAD, Kind, take};
use crate::platform::{Bound, Meaning, Method, Platform, Reason};
use crate::temporal::{AccessLevel, MemoryClass};

const KIND: Kind = Kind { magic: u32::from_le_bytes(*b"COFL"), version: 1, bytes: block_bytes };
/// The platform and the memory for tables come first.
const HEADER: usize = HEAD + PLATFORM + 4;
/// Slots and classes, bytes of a node, and three words for each level.
const PLATFORM: usize = 2 + 3 * 5;
const POOL: usize = 4;
const ACCOUNT: usize = 9;

/// Bytes of a ledger with so many domains and pools.
pub const fn block_bytes(domains: usize, pools: usize) -> usize {
    4 * (HEADER + pools * POOL + domains * ACCOUNT)
}

fn level_words(meaning: Meaning) -> [u32; 3] {
    let bound = |kind: u32, bound: Bound| [kind | (bound.method as u32) << 16, bound.level as u32, bound.cycles];
    match meaning {
        Meaning::PinnedRegion(of) => bound(1, of),
        Meaning::Nodes(class, of) => bound(2 | (class as u32) << 8, of),
        Meaning::Refused(reason) => [3 | (reason as u32) << 8, 0, 0],
    }
}

fn meaning(words: [u32; 3]) -> Option<Meaning> {
    let bound = || {
        let (level, method) = (AccessLevel::from_number(words[1])?, Method::from_number(words[0] >> 16)?);
        Some(Bound { level, cycles: words[2], method })
    };
    let middle = words[0] >> 8 & 0xff;
    Some(match words[0] & 0xff {
        1 => Meaning::PinnedRegion(bound()?),
        2 => Meaning::Nodes(MemoryClass::from_number(middle)?, bound()?),
        3 => Meaning::Refused(match middle {
            1 => Reason::NoThirdLevel,
            2 => Reason::ReleaseScrubs,
            3 => Reason::NoSuchMemory,
            4 => Reason::PartlyIndependent,
            _ => return None,
        }),
        _ => return None,
    })
}

fn platform_words(platform: &Platform) -> [u32; PLATFORM] {
    let mut words = [0; PLATFORM];
    let slots = [platform.registers, platform.slots_for_data, platform.slots_for_code, platform.data_classes];
    words[0] = u32::from_le_bytes(slots);
    words[1] = u32::from(platform.node_bytes);
    for (level, words) in platform.levels.iter().zip(words[2..].chunks_exact_mut(3)) {
        words.copy_from_slice(&level_words(*level));
    }
    words
}

fn platform(words: &[u32; PLATFORM]) -> Option<Platform> {
    let [registers, slots_for_data, slots_for_code, data_classes] = words[0].to_le_bytes();
    let mut levels = [Meaning::Refused(Reason::NoThirdLevel); 5];
    for (level, words) in levels.iter_mut().zip(words[2..].chunks_exact(3)) {
        *level = meaning([words[0], words[1], words[2]])?;
    }
    let node_bytes = u16::try_from(words[1]).ok().filter(|bytes| *bytes > 0)?;
    Some(Platform { registers, slots_for_data, slots_for_code, node_bytes, levels, data_classes })
}

fn account_words(account: &Account) -> [u32; ACCOUNT] {
    [
        u32::from_le_bytes([account.table_class as u8, account.paged_slots, account.pinned, 0]),
        account.table.total,
        account.table.used,
        u32::from(account.code),
        u32::from(account.data),
        account.misses.total,
        account.misses.used,
        account.held,
        account.dirty,
    ]
}

fn quantity(total: u32, used: u32) -> Option<Quantity> {
    (used <= total).then_some(Quantity { total, used })
}

fn account(words: [u32; ACCOUNT], platform: &Platform) -> Option<Account> {
    let [class, paged_slots, pinned, _] = words[0].to_le_bytes();
    let account = Account {
        table_class: MemoryClass::from_number(u32::from(class))?,
        table: quantity(words[1], words[2])?,
        paged_slots,
        pinned,
        code: u16::try_from(words[3]).ok()?,
        data: u16::try_from(words[4]).ok()?,
        misses: quantity(words[5], words[6])?,
        held: words[7],
        dirty: words[8],
    };
    let least = platform.paged_slots(account.code > 0, account.data > 0);
    let slots = if least == 0 { 0 } else { least.max(paged_slots) };
    (u32::from(pinned) + u32::from(slots) <= u32::from(platform.registers)).then_some(account)
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Writes the ledger to the front of `out`; returns the bytes used, [`block_bytes`] of its domains and pools. `None` when `out` is
    /// shorter.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let tables = self.tables.iter().flat_map(|quantity| [quantity.total, quantity.used]);
        let pools = self.pools();
        let pools = pools.iter().flat_map(|pool| [pool.class as u32, pool.clean.total, pool.clean.used, pool.dirty]);
        let accounts = self.accounts().iter().flat_map(account_words);
        let words = platform_words(&self.platform).into_iter().chain(tables).chain(pools).chain(accounts);
        KIND.write(self.domains, self.pool_count, words, out)
    }

    /// Reads what [`Ledger::encode`] wrote; what is behind it is ignored.
    ///
    /// # Errors
    /// [`DecodeError`]; a ledger that is returned never promises more than there is.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (domains, pools, mut words) = KIND.read(bytes, (D, P))?;
        Self::read(&mut words, domains, pools).ok_or(DecodeError::Inconsistent)
    }

    fn read(words: &mut impl Iterator<Item = u32>, domains: usize, pool_count: usize) -> Option<Self> {
        let mut ledger = Ledger::new(platform(&take(words)?)?, 0, 0);
        for table in &mut ledger.tables {
            let [total, used] = take(words)?;
            *table = quantity(total, used)?;
        }
        for slot in ledger.pools.iter_mut().take(pool_count) {
            let [class, total, used, dirty] = take(words)?;
            let pool = Pool { class: MemoryClass::from_number(class)?, clean: quantity(total, used)?, dirty };
            *slot = Some(pool).filter(|pool| pool.dirty <= pool.clean.used)?;
        }
        for slot in ledger.accounts.iter_mut().take(domains) {
            *slot = account(take(words)?, &ledger.platform)?;
        }
        (ledger.domains, ledger.pool_count) = (domains, pool_count);
        Some(ledger)
    }
}
