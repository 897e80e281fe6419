//! The ledger as bytes, for the hand-over from host to target.

use super::{Account, Ledger, Pool, Quantity, Quota};
use crate::block::{DecodeError, HEAD, Kind, Words, take};
use crate::platform::{PLACES, PLATFORM_WORDS, Platform, Slots, TablePlace};
use crate::temporal::MemoryClass;

const KIND: Kind = Kind { magic: u32::from_le_bytes(*b"COFL"), version: 4, bytes: block_bytes };
/// The platform, memory for tables by place, and the lock slots come first.
const HEADER: usize = HEAD + PLATFORM_WORDS + 2 * PLACES + 2;
const POOL: usize = 6;
const ACCOUNT: usize = 7 + 2 * PLACES;
/// For each account and pool: whether there is a quota, the quota, and what is used.
const QUOTA: usize = 3;

/// Bytes of a ledger with so many domains and pools.
pub const fn block_bytes(domains: usize, pools: usize) -> usize {
    4 * (HEADER + pools * POOL + domains * (ACCOUNT + pools * QUOTA))
}

fn account_words(account: &Account) -> [u32; ACCOUNT] {
    let mut words = [0; ACCOUNT];
    let [head, rest @ ..] = &mut words;
    *head = u32::from_le_bytes([account.root as u8, account.paged_slots, account.slots.used as u8, 0]);
    let (tables, rest) = rest.split_at_mut(2 * PLACES);
    for (words, table) in tables.chunks_exact_mut(2).zip(&account.tables) {
        words.copy_from_slice(&[table.total, table.used]);
    }
    rest.copy_from_slice(&[
        u32::from(account.code),
        u32::from(account.data),
        account.misses.total,
        account.misses.used,
        account.held,
        account.dirty,
    ]);
    words
}

#[inline(never)]
fn quantity(words: &mut Words) -> Option<Quantity> {
    let [total, used] = take(words)?;
    (used <= total).then_some(Quantity { total, used })
}

fn account(words: &mut Words, platform: &Platform) -> Option<Account> {
    let [root, paged_slots, pinned, 0] = take::<1>(words)?[0].to_le_bytes() else { return None };
    let mut tables = [Quantity::default(); PLACES];
    for table in &mut tables {
        *table = quantity(words)?;
    }
    let [code, data] = take(words)?.map(|count| u16::try_from(count).ok());
    let misses = quantity(words)?;
    let [held, dirty] = take(words)?;
    let root = TablePlace::from_number(u32::from(root))?;
    let slots = Quantity { total: platform.slots().count(), used: pinned.into() };
    let account = Account { root, tables, paged_slots, slots, code: code?, data: data?, misses, held, dirty };
    let least = platform.paged_slots(account.code > 0, account.data > 0);
    let kept = if least == 0 { 0 } else { least.max(paged_slots) };
    (slots.used + u32::from(kept) <= slots.total).then_some(account)
}

fn pool(words: &mut Words) -> Option<Pool> {
    let [kind] = take(words)?;
    let class = MemoryClass::from_number(kind)?;
    let clean = quantity(words)?;
    let [dirty] = take(words)?;
    let common = quantity(words)?;
    let pool = Pool { class, clean, dirty, common };
    (dirty <= clean.used).then_some(pool)
}

fn quota_words(quota: &Quota) -> [u32; QUOTA] {
    [u32::from(quota.most.is_some()), quota.most.unwrap_or(0), quota.used]
}

fn quota(words: &mut Words) -> Option<Quota> {
    let [kept, most, used] = take(words)?;
    let most = match (kept, most) {
        (0, 0) => None,
        (1, most) if used <= most => Some(most),
        _ => return None,
    };
    Some(Quota { most, used })
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Writes the ledger to the front of `out`; returns the bytes used, [`block_bytes`] of its domains and pools. `None` when `out` is
    /// shorter.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let quantities = self.tables.iter().chain([&self.slots]).flat_map(|quantity| [quantity.total, quantity.used]);
        let pools = self.pools().iter().flat_map(|pool| {
            [pool.class as u32, pool.clean.total, pool.clean.used, pool.dirty, pool.common.total, pool.common.used]
        });
        let accounts = self.accounts().iter().flat_map(account_words);
        let quotas =
            self.quotas[..self.domains].iter().flat_map(|quotas| &quotas[..self.pool_count]).flat_map(quota_words);
        let words = self.platform.words().into_iter().chain(quantities).chain(pools).chain(accounts);
        let words = words.chain(quotas);
        KIND.write(self.domains, self.pool_count, words, out)
    }

    /// Reads what [`Ledger::encode`] wrote; what is behind it is ignored.
    ///
    /// # Errors
    /// [`DecodeError`]; a ledger that is returned never promises more than there is, and its accounts add up.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (domains, pools, mut words) = KIND.read(bytes, (D, P))?;
        let ledger = Self::read(&mut words, domains, pools).ok_or(DecodeError::Inconsistent)?;
        if ledger.adds_up() { Ok(ledger) } else { Err(DecodeError::Inconsistent) }
    }

    fn read(words: &mut Words, domains: usize, pool_count: usize) -> Option<Self> {
        let mut ledger = Ledger::new(Platform::from_words(&take(words)?)?, [0; PLACES]);
        for slot in ledger.tables.iter_mut().chain([&mut ledger.slots]) {
            *slot = quantity(words)?;
        }
        for slot in ledger.pools.iter_mut().take(pool_count) {
            *slot = pool(words)?;
        }
        for slot in ledger.accounts.iter_mut().take(domains) {
            *slot = account(words, &ledger.platform)?;
        }
        for quotas in ledger.quotas.iter_mut().take(domains) {
            for slot in quotas.iter_mut().take(pool_count) {
                *slot = quota(words)?;
            }
        }
        (ledger.domains, ledger.pool_count) = (domains, pool_count);
        Some(ledger)
    }

    /// Returns true if what the accounts say is what is promised, and the chip has it. Memory of
    /// tables beyond what was set aside for them came out of pools.
    fn adds_up(&self) -> bool {
        let accounts = |of: &dyn Fn(&Account) -> u32| sum(self.accounts(), of);
        let pools = |of: &dyn Fn(&Pool) -> u32| sum(self.pools(), of);
        let (root_bytes, of_chip) = (self.platform.root_bytes(), self.platform.slots().of_chip());
        let mut grown = Some(0u64);
        for place in TablePlace::ALL {
            let root = accounts(&|account| if account.root == place { root_bytes } else { 0 });
            let given = root + accounts(&|account| account.tables[place as usize].total);
            let more = given.checked_sub(u64::from(self.table_memory(place).used));
            grown = grown.zip(more).map(|(grown, more)| grown + more);
        }
        let locked = self.table_memory(TablePlace::LockedWays).total;
        let shared = matches!(self.platform.slots(), Slots::OfChip(_));
        let pinned = if shared { accounts(&|account| account.slots.used) } else { 0 };
        let dirty = accounts(&|account| account.dirty);
        // The rest of an extent beyond whole nodes is in no account; pages have no rest.
        let (all, used) = (accounts(&|account| account.held) + dirty, pools(&|pool| pool.clean.used));
        let agrees = |all: u64| if self.platform.scheme().scatters { all == used } else { all <= used };
        grown.is_some_and(|grown| agrees(all + grown))
            && dirty == pools(&|pool| pool.dirty)
            && locked <= self.platform.lockable_bytes()
            && pinned == u64::from(self.slots.used)
            && self.slots.total == of_chip
            && (0..self.pool_count).all(|pool| self.shared_out(pool))
    }

    /// Returns true if the quotas of a pool, and what they leave, are all of it, and what domains
    /// have of it is what is not clean and free.
    fn shared_out(&self, number: usize) -> bool {
        let pool = &self.pools[number];
        let quotas = |of: &dyn Fn(&Quota) -> u32| sum(&self.quotas[..self.domains], &|quotas| of(&quotas[number]));
        let common = quotas(&|quota| if quota.most.is_none() { quota.used } else { 0 });
        quotas(&|quota| quota.most.unwrap_or(0)) + u64::from(pool.common.total) == u64::from(pool.clean.total)
            && common == u64::from(pool.common.used)
            && quotas(&|quota| quota.used) == u64::from(pool.clean.used)
    }
}

/// A sum over accounts, pools or quotas. There are many of them, and none is in a hurry: one loop for all keeps the code small.
#[inline(never)]
fn sum<T>(all: &[T], of: &dyn Fn(&T) -> u32) -> u64 {
    all.iter().map(|one| u64::from(of(one))).sum()
}
