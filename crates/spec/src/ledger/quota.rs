//! Quotas: how much of a pool a domain has at most, so that others always have theirs.
//!
//! The quotas of a pool never exceed it, and who has none shares what they leave. So whatever the others ask for, a domain can
//! have as many bytes as its quota says. On a platform with pages it gets them, wherever they are; with region registers memory comes
//! in one piece, which what others hold may leave no room for.

use super::{Frames, Ledger, NotThere, Pool, Quota, Range, Wanted};

/// Why a pool gives nothing for a request.
pub(super) enum Missing {
    /// It has none; so much of it would be given.
    Memory(NotThere),
    /// The domain may not have so much of it; a request for so much would be within its quota.
    Quota(u32),
}

impl<const D: usize, const P: usize> Ledger<D, P> {
    /// Keeps bytes of a pool for a domain, which has no more of it. False when the domain or the pool does not exist, or when other
    /// quotas, and what others have, leave less.
    pub fn keep(&mut self, domain: u8, pool: u8, bytes: u32) -> bool {
        let (domain, number) = (usize::from(domain), usize::from(pool));
        let (Some(quota), Some(pool)) =
            (self.quotas[..self.domains].get_mut(domain), self.pools[..self.pool_count].get_mut(number))
        else {
            return false;
        };
        let quota = &mut quota[number];
        if *quota != Quota::default() || bytes > pool.common.left() {
            return false;
        }
        quota.most = Some(bytes);
        pool.common.total -= bytes;
        true
    }

    /// A domain's share of a pool; nothing of one that does not exist.
    pub fn quota(&self, domain: u8, pool: u8) -> Quota {
        let found = self.quotas.get(usize::from(domain)).and_then(|quotas| quotas.get(usize::from(pool)));
        found.copied().unwrap_or_default()
    }

    /// Bytes of a pool that a domain may still have, if they are there; `None` when no quota limits it.
    pub fn allowance(&self, domain: u8, pool: u8) -> Option<u32> {
        let Quota { most, used } = self.quota(domain, pool);
        let Pool { clean, common, .. } = *self.pools().get(usize::from(pool))?;
        let shared = (common.total < clean.total).then(|| common.left());
        most.map(|most| most - used).or(shared)
    }

    /// Takes memory for a domain out of a pool, within what it may have beside what the same request takes already.
    ///
    /// # Time complexity
    /// One take.
    pub(super) fn take(
        &self,
        domain: u8,
        pool: u8,
        wanted: &Wanted,
        piece: u32,
        beside: Option<Range>,
        frames: &mut impl Frames,
    ) -> Result<Range, Missing> {
        let beside = beside.filter(|range| range.pool == pool).map_or(0, |range| range.bytes);
        let allowed = self.allowance(domain, pool).map(|allowed| allowed.saturating_sub(beside));
        let within = allowed.map_or(u32::MAX, |allowed| frames.within(pool, allowed, piece));
        if wanted.bytes > within {
            return Err(Missing::Quota(within));
        }
        match frames.take(pool, wanted, piece) {
            Ok(range) if allowed.is_none_or(|allowed| range.bytes <= allowed) => Ok(range),
            Ok(range) => {
                // It was rounded up beyond the quota.
                frames.give(range);
                Err(Missing::Quota(0))
            }
            Err(NotThere { largest }) => Err(Missing::Memory(NotThere { largest: largest.min(within) })),
        }
    }

    /// A domain has memory of a pool from now on.
    pub(super) fn charge(&mut self, domain: u8, range: Range) {
        let pool = usize::from(range.pool);
        let quota = &mut self.quotas[usize::from(domain)][pool];
        quota.used += range.bytes;
        if quota.most.is_none() {
            self.pools[pool].common.used += range.bytes;
        }
    }

    /// A domain no longer has memory of a pool.
    pub(super) fn discharge(&mut self, domain: u8, range: Range) {
        let pool = usize::from(range.pool);
        let quota = &mut self.quotas[usize::from(domain)][pool];
        quota.used -= range.bytes;
        if quota.most.is_none() {
            self.pools[pool].common.used -= range.bytes;
        }
    }
}
