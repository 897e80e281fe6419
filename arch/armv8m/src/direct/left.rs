//! Registers of Non-secure state that handlers can write. They are put back, so that the next
//! domain's handlers, or those of the same domain's next life, find them as after a reset.
//!
//! docs/interrupts.md lists every register of Armv8-M Mainline that Non-secure code can write, and
//! says who puts it back. The registers here need only a value. `tests/direct/left.toml` writes
//! into all of them and compares.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::access::close_thread_mode;
use super::counter::DEMCR;
use super::owner::COFFERDAM_OWNER;
use super::registers::register;

/// Registers as Secure code finds them, and their values after a reset (DDI 0553 D1.2). A register
/// whose ones clear bits is written with all ones.
const REGISTERS: [(u32, u32); 18] = [
    // ACTLR.
    (0xe002_e008, 0),
    // AIRCR: PRIGROUP. The key, and no reset.
    (0xe002_ed0c, 0x05fa_0000),
    // SCR.
    (0xe002_ed10, 0),
    // CCR: two bits are always one.
    (0xe002_ed14, 0x201),
    // SHPR1 to SHPR3: another's priorities would order the next one's system exceptions.
    (0xe002_ed18, 0),
    (0xe002_ed1c, 0),
    (0xe002_ed20, 0),
    // SHCSR.
    (0xe002_ed24, 0),
    // CFSR: ones clear.
    (0xe002_ed28, u32::MAX),
    // MMFAR: the address says what the other has accessed.
    (0xe002_ed34, 0),
    // CSSELR.
    (0xe002_ed84, 0),
    // CPACR.
    (0xe002_ed88, 0),
    // MPU_RNR, MPU_MAIR0 and MPU_MAIR1; the regions: `close_thread_mode`.
    (0xe002_ed98, 0),
    (0xe002_edc0, 0),
    (0xe002_edc4, 0),
    // FPCCR, whose reset value saves floating-point registers automatically and lazily; FPCAR; FPDSCR.
    (0xe002_ef34, 0xc000_0000),
    (0xe002_ef38, 0),
    (0xe002_ef3c, 0),
];

/// Registers of the debug units, which both states share: offsets from 0xE000_0000, or from where a
/// simulator has them. DWT's other registers are not here, because the counter sets them.
const DEBUG: [(u32, u32); 18] = [
    // DWT: comparators 1 to 3 and their functions.
    (0x1038, 0),
    (0x1048, 0),
    (0x1058, 0),
    (0x1030, 0),
    (0x1040, 0),
    (0x1050, 0),
    // FPB: off, with its key; its comparators, which would stop the next one's code.
    (0x2000, 2),
    (0x2008, 0),
    (0x200c, 0),
    (0x2010, 0),
    (0x2014, 0),
    (0x2018, 0),
    (0x201c, 0),
    (0x2020, 0),
    (0x2024, 0),
    // DFSR: ones clear. DCRDR.
    (0xed30, 0x1f),
    (0xedf8, 0),
    // DEMCR: nothing is traced, and no event is an exception. The counter sets what it needs.
    (DEMCR, 0),
];

/// Where the debug units are. 0: the board's file does not say, and they are left alone.
static UNITS: AtomicU32 = AtomicU32::new(0);

/// Takes the address of the debug units from the board's file, because a simulator may have them elsewhere.
pub(super) fn start(units: u32) {
    UNITS.store(units, Relaxed);
}

/// Registers of Non-secure state that handlers may have set, those of another domain or of this one's life before.
///
/// # Bound
/// The two tables, and the region registers of that state.
pub(super) fn put_back() {
    close_thread_mode();
    REGISTERS.iter().for_each(|(at, value)| register(*at, 0).write(*value));
    let units = UNITS.load(Relaxed);
    if units != 0 {
        DEBUG.iter().for_each(|(offset, value)| register(units, *offset).write(*value));
    }
    if COFFERDAM_OWNER.counter.is_there() {
        COFFERDAM_OWNER.counter.set_up();
    }
    // SAFETY: Thread mode of that state executes nothing, and its main stack is set before a handler runs.
    unsafe { asm!("msr psplim_ns, {0}", "msr psp_ns, {0}", in(reg) 0, options(nomem, nostack, preserves_flags)) };
    COFFERDAM_OWNER.timed.store(1, Relaxed);
}
