//! The register image of a task: what is pinned, and what is loaded of what is paged.

use protect::pmsav7::RegionRegs;
use protect::regions::REGIONS;
use protect::regions::slots::{Replacement, Slots, min_paged_slots, most_misses};

use crate::pointer::{Object, Out, read, read_all};
use crate::status::{Status, status_of};
use crate::trie::CfmTrie;

/// `CFM_REGIONS`: region registers.
pub const CFM_REGIONS: usize = REGIONS;
/// `CFM_SLOTS_DWORDS`: 64-bit words of the slots of one task.
pub const SLOTS_DWORDS: usize = 12;

/// `cfm_slots`.
pub type CfmSlots = Object<Slots<RegionRegs>, { u32::from_le_bytes(*b"cfms") }>;

const _: () = assert!(size_of::<CfmSlots>() <= SLOTS_DWORDS * 8 && align_of::<CfmSlots>() <= 8);

/// Policies in the order of `CFM_BIT_PLRU` and what follows.
const POLICIES: [Replacement; 3] = [Replacement::BitPlru, Replacement::RoundRobin, Replacement::Random];

fn policy_of(number: u32) -> Result<Replacement, Status> {
    POLICIES.get(number as usize).copied().ok_or(Status::Argument)
}

/// `cfm_slots_init`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `pinned_count` values at `pinned`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_slots_init(
    slots: *mut CfmSlots,
    pinned: *const RegionRegs,
    pinned_count: u32,
    usable: u32,
    needed: u32,
    policy: u32,
) -> Status {
    let body = || {
        Out::required(slots)?;
        let policy = policy_of(policy)?;
        if usable > REGIONS as u32 || needed > REGIONS as u32 {
            return Err(Status::Argument);
        }
        let left = usable.checked_sub(pinned_count).ok_or(Status::TooManyPinned)?;
        // SAFETY: the caller's duty.
        let pinned = unsafe { read_all(pinned, pinned_count) }?;
        let value = Slots::new(pinned, needed as usize, policy)?.limited(left as usize, needed as usize)?;
        // SAFETY: the caller's duty.
        unsafe { CfmSlots::init(slots, value) }
    };
    status_of(body())
}

/// `cfm_slots_fill`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_slots_fill(
    slots: *mut CfmSlots,
    trie: *mut CfmTrie,
    address: u32,
    out: *mut RegionRegs,
) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty; the marks differ, so these are two objects.
        let (slots, trie) = unsafe { (CfmSlots::get_mut(slots)?, CfmTrie::get_mut(trie)?) };
        let regs = slots.fill(trie, address)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(regs) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_slots_unmap`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_slots_unmap(
    slots: *mut CfmSlots,
    trie: *mut CfmTrie,
    region: *const RegionRegs,
    out: *mut RegionRegs,
    loaded: *mut u32,
) -> Status {
    let body = || {
        let (out, loaded) = (Out::required(out)?, Out::required(loaded)?);
        // SAFETY: the caller's duty.
        let region = *unsafe { read(region) }?;
        // SAFETY: the caller's duty; the marks differ, so these are two objects.
        let (slots, trie) = unsafe { (CfmSlots::get_mut(slots)?, CfmTrie::get_mut(trie)?) };
        let off = slots.unmap(trie, region)?;
        // SAFETY: the caller's duty.
        unsafe {
            out.put(off.unwrap_or(RegionRegs::DISABLED));
            loaded.put(u32::from(off.is_some()));
        }
        Ok(())
    };
    status_of(body())
}

/// `cfm_slots_evict`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_slots_evict(slots: *mut CfmSlots) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        unsafe { CfmSlots::get_mut(slots)? }.evict_all();
        Ok(())
    };
    status_of(body())
}

/// `cfm_slots_image`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_slots_image(slots: *const CfmSlots) -> *const RegionRegs {
    // SAFETY: the caller's duty.
    match unsafe { CfmSlots::get(slots) } {
        Ok(slots) => slots.image().regs.as_ptr(),
        Err(_) => core::ptr::null(),
    }
}

/// `cfm_slots_needed`.
#[unsafe(no_mangle)]
pub extern "C" fn cfm_slots_needed(code_paged: u32, data_paged: u32) -> u32 {
    min_paged_slots(code_paged != 0, data_paged != 0) as u32
}

/// `cfm_slots_most_misses`.
#[unsafe(no_mangle)]
pub extern "C" fn cfm_slots_most_misses(policy: u32, paged: u32) -> u32 {
    match policy_of(policy) {
        Ok(policy) if paged <= REGIONS as u32 => most_misses(policy, paged),
        _ => 0,
    }
}
