//! Performs the sequences of `protect::vmsav7` that lock entries of the main TLB and ways of the second-level cache.

use core::arch::asm;

use protect::vmsav7::lockdown::{Lines, Step};
use units::{PhysAddr, VirtAddr};

use crate::cache::LINE_BYTES;
use crate::cp15::{self, dsb, isb};
use crate::pl310::Pl310;

/// A step is none that this knows at its place; nothing of the sequence was performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

/// Performs the sequence that locks an entry (`lock_entry`).
///
/// While the preserve bit is set, *every* walk ends in the lock slot (ARM DDI 0388I 4.3.15). The values are therefore in registers
/// before, and the instructions lie in 64 bytes of one page, whose entry the first of them has brought in: only the touched address can
/// miss.
///
/// # Errors
/// [`Unknown`] for any other sequence.
///
/// # Safety
/// The space whose entry is locked is loaded, with its identifier in CONTEXTIDR; the address is readable memory of the domain; exceptions
/// are masked.
pub unsafe fn lock_entry(steps: &[Step; 10]) -> Result<(), Unknown> {
    let [
        Step::Dsb,
        Step::InvalidateEntry { value },
        Step::Dsb,
        Step::Isb,
        Step::TlbLockdown { value: closed },
        Step::Isb,
        Step::Touch { address: VirtAddr(address) },
        Step::Dsb,
        Step::TlbLockdown { value: open },
        Step::Isb,
    ] = *steps
    else {
        return Err(Unknown);
    };
    // SAFETY: the caller's duty; the load's value is dropped.
    unsafe {
        asm!(
            "b       2f",
            ".balign 256",
            "2:",
            "dsb",
            "mcr     p15, 0, {value}, c8, c7, 1",
            "dsb",
            "isb",
            "mcr     p15, 0, {closed}, c10, c0, 0",
            "isb",
            "ldr     {address}, [{address}]",
            "dsb",
            "mcr     p15, 0, {open}, c10, c0, 0",
            "isb",
            // The processor may fetch ahead while the preserve bit is set: these words keep it in
            // this page, which is in the TLB.
            "b       3f",
            ".rept 16",
            "nop",
            ".endr",
            "3:",
            value = in(reg) value,
            closed = in(reg) closed,
            open = in(reg) open,
            address = inout(reg) address => _,
            options(nostack, preserves_flags),
        );
    }
    Ok(())
}

/// Performs the steps of a sequence that locks or unlocks ways, or takes a locked entry out. `window` says where the kernel has a
/// physical address of memory mapped.
///
/// # Errors
/// [`Unknown`] at a step that only [`lock_entry`] performs; those before it have been performed.
///
/// # Time complexity
/// One operation for each line of a range; for each step on ways at most as many polls as [`Pl310::clean_ways`] says.
///
/// # Safety
/// The ranges are memory that the kernel has mapped; exceptions are masked, and no other master uses the ways that are emptied.
pub unsafe fn perform(
    steps: impl Iterator<Item = Step>,
    cache: &Pl310,
    window: impl Fn(PhysAddr<u32>) -> VirtAddr<u32>,
) -> Result<(), Unknown> {
    for step in steps {
        match step {
            Step::Dsb => dsb(),
            Step::Isb => isb(),
            // SAFETY: what is removed is walked again when it is needed.
            Step::InvalidateEntry { value } => unsafe { cp15::tlbimva::write(value) },
            // SAFETY: cleaning loses nothing.
            Step::CleanFirstLevel(lines) => each(lines, |line| unsafe { cp15::dccimvac::write(window(line).0) }),
            Step::CleanSecondLevel(lines) => each(lines, |line| cache.clean_and_invalidate(line)),
            Step::CleanWays { ways } => {
                if !cache.clean_ways(u32::from(ways)) {
                    return Err(Unknown);
                }
            }
            Step::Sync => cache.sync(),
            Step::Lock { offset, ways } => cache.write_lock(u32::from(offset), u32::from(ways)),
            Step::Load(lines) => each(lines, |line| {
                // SAFETY: the caller's duty.
                unsafe { (window(line).0 as *const u32).read_volatile() };
            }),
            Step::TlbLockdown { .. } | Step::Touch { .. } => return Err(Unknown),
        }
    }
    Ok(())
}

fn each(lines: Lines, mut with: impl FnMut(PhysAddr<u32>)) {
    (0..lines.count).for_each(|index| with(PhysAddr(lines.base + LINE_BYTES * index)));
}
