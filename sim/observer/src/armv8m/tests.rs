use protect::AccessKind;
use record::{AttributionWatch, Watch};

use super::Armv8m;
use crate::microcontroller::Protects;
use crate::{Register, Target};

/// Names of registers; each has its own place as its value, from 1 on, and zero for CONTROL unless it is in `selected`.
const NAMES: [&str; 6] = ["msp_s", "psp_s", "msp_ns", "psp_ns", "control_s", "control_ns"];

#[derive(Default)]
struct Registers {
    selected: &'static [&'static str],
}

impl Target for Registers {
    fn find(&mut self, name: &str) -> Register {
        NAMES.iter().position(|known| *known == name).map_or(Register::default(), |place| Register(place + 1))
    }

    fn register(&mut self, Register(place): Register) -> u32 {
        let Some(name) = place.checked_sub(1).map(|place| NAMES[place]) else { return 0 };
        match name.starts_with("control") {
            true => u32::from(self.selected.contains(&name)) << 1,
            false => place as u32 * 0x100,
        }
    }

    fn memory(&mut self, _: u32, _: usize) -> Option<&[u8]> {
        None
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        None
    }

    fn advance(&mut self) -> bool {
        true
    }
}

const SECURE: u32 = 0x1000_0000;
const NON_SECURE: u32 = 0x0020_0000;
const CTRL: u32 = 0xe000_ed94;
const ALIAS: u32 = 0x2_0000;

/// A core on a chip on which bit 28 decides, and whose registers leave 16 KiB to Non-secure code.
fn core() -> Armv8m {
    let attribution = Some(AttributionWatch { secure: 1 << 28, callable: 1 << 1 });
    let mut core = Armv8m::new(&Watch { attribution, ..Watch::default() });
    let sau = [(0xd8, 0), (0xdc, NON_SECURE), (0xe0, NON_SECURE + 0x3fe1), (0xd0, 1)];
    assert!(sau.into_iter().all(|(low, value)| core.control(0xe000_ed00 + low, 4, value.into())));
    core
}

#[test]
fn the_frame_is_on_the_stack_that_was_in_use() {
    let frame = |pc, exc_return, selected| {
        let mut target = Registers { selected };
        let mut core = core();
        core.started(&mut target);
        core.runs_at(pc);
        core.frame(&mut target, exc_return)
    };
    let [msp_s, psp_s, msp_ns, psp_ns] = [0x100, 0x200, 0x300, 0x400];
    // Taken to Secure state from a thread on its own stack, from a handler whose thread was, from Non-secure thread and handler.
    assert_eq!(frame(SECURE, 0xffff_fffd, &[]), psp_s);
    assert_eq!(frame(SECURE, 0xffff_fff9, &[]), msp_s);
    assert_eq!(frame(SECURE, 0xffff_fff5, &["control_s"]), msp_s);
    assert_eq!(frame(SECURE, 0xffff_ffbd, &[]), msp_ns);
    assert_eq!(frame(SECURE, 0xffff_ffb9, &["control_ns"]), psp_ns);
    assert_eq!(frame(SECURE, 0xffff_ffb1, &["control_ns"]), msp_ns);
    // Taken to Non-secure state from Secure thread and handler: the callee's registers are below the frame. From Non-secure state they are not.
    assert_eq!(frame(NON_SECURE, 0xffff_fff8, &["control_s"]), psp_s + 0x28);
    assert_eq!(frame(NON_SECURE, 0xffff_fff0, &["control_s"]), msp_s + 0x28);
    assert_eq!(frame(NON_SECURE, 0xffff_ffbc, &[]), psp_ns);
    // A Secure exception that follows a Non-secure one finds them there.
    assert_eq!(frame(SECURE, 0xffff_ffdd, &[]), psp_s + 0x28);
}

#[test]
fn each_state_has_its_unit_and_secure_code_reaches_both() {
    let mut core = core();
    let open = |core: &mut Armv8m, pc, at| {
        core.runs_at(pc);
        core.permits(at, 4, false, AccessKind::Read).is_some()
    };
    assert!(open(&mut core, SECURE, SECURE) && open(&mut core, NON_SECURE, NON_SECURE));
    core.runs_at(SECURE);
    assert!(core.control(CTRL, 4, 1));
    assert!(!open(&mut core, SECURE, SECURE) && open(&mut core, NON_SECURE, NON_SECURE));
    core.runs_at(SECURE);
    assert!(core.control(CTRL, 4, 0) && core.control(CTRL + ALIAS, 4, 1));
    assert!(open(&mut core, SECURE, SECURE) && !open(&mut core, NON_SECURE, NON_SECURE));
    // Non-secure code finds its own unit at the one address, and nothing at the other.
    assert!(core.control(CTRL, 4, 0) && !core.control(CTRL + ALIAS, 4, 1));
    assert!(open(&mut core, SECURE, SECURE) && open(&mut core, NON_SECURE, NON_SECURE));
    // Nor does it change the attribution, or where Secure vectors are.
    core.control(0xe000_edd0, 4, 0);
    core.control(super::VTOR, 4, 0x40);
    assert!(open(&mut core, NON_SECURE, NON_SECURE) && core.table() == 0x40);
    core.runs_at(SECURE);
    assert_eq!(core.table(), 0);
    assert!(!core.control(super::VTOR + ALIAS, 4, 0x80));
    core.runs_at(NON_SECURE);
    assert_eq!(core.table(), 0x80);
}

#[test]
fn secure_code_reserves_deep_sleep() {
    let mut core = core();
    let mut is_deep = |pc, at, value| {
        core.runs_at(pc);
        core.control(at, 4, value);
        core.sleeps_deep()
    };
    let (own, other) = (super::SCR, super::SCR + ALIAS);
    // Open at reset; one bit for both states.
    assert!(!is_deep(NON_SECURE, own, 2) && is_deep(NON_SECURE, own, 4) && !is_deep(SECURE, own, 0));
    assert!(is_deep(SECURE, other, 4) && !is_deep(NON_SECURE, own, 0));
    // Non-secure code cannot reserve it.
    assert!(!is_deep(NON_SECURE, own, 8) && is_deep(NON_SECURE, own, 4));
    // Reserved, it is what Secure code has written at its own address.
    assert!(!is_deep(SECURE, own, 8) && !is_deep(NON_SECURE, own, 4) && !is_deep(SECURE, other, 4));
    assert!(is_deep(SECURE, own, 12) && is_deep(NON_SECURE, own, 0) && is_deep(SECURE, other, 0));
    // Nor does it give that up.
    assert!(is_deep(NON_SECURE, own, 0) && !is_deep(SECURE, own, 0) && is_deep(NON_SECURE, own, 4));
}

#[test]
fn lines_of_secure_state_are_not_for_non_secure_code_to_trigger() {
    let mut core = core();
    core.runs_at(SECURE);
    core.control(0xe000_e380, 4, 1 << 4);
    core.control(0xe000_e384, 8, 1 << 3 | 1 << 32);
    let mut pends = |pc, at, len, value| {
        core.runs_at(pc);
        core.pends_foreign(at, len, value)
    };
    for (line, is_open) in [(4, true), (5, false), (35, true), (36, false), (64, true), (65, false), (511, false)] {
        assert_eq!(pends(NON_SECURE, super::STIR, 4, line), (!is_open).then_some(line as u32), "{line}");
        assert_eq!(pends(SECURE, super::STIR, 4, line), None);
    }
    // A byte pends nothing; the second word of two does; what is beside it does not.
    assert_eq!(pends(NON_SECURE, super::STIR, 1, 5), None);
    assert_eq!(pends(NON_SECURE, super::STIR - 4, 8, 5 << 32 | 4), Some(5));
    assert_eq!(pends(NON_SECURE, super::STIR + 4, 4, 5), None);
    assert_eq!(pends(NON_SECURE, super::STIR - 4, 4, 5), None);
    // Non-secure code does not open a line by ITNS.
    core.control(0xe000_e380, 4, 1 << 5);
    assert_eq!(core.pends_foreign(super::STIR, 4, 5), Some(5));
}

#[test]
fn non_secure_code_accesses_non_secure_bytes_alone() {
    let mut core = core();
    core.runs_at(NON_SECURE);
    for privileged in [false, true] {
        let mut permits = |at, len| core.permits(at, len, privileged, AccessKind::Write).is_some();
        assert!(permits(NON_SECURE + 0x3ffc, 4) && permits(0xe000_ed94, 4) == privileged);
        for (at, len) in [(NON_SECURE + 0x3ffe, 4), (NON_SECURE + 0x4000, 1), (NON_SECURE - 1, 2), (SECURE, 4)] {
            assert!(!permits(at, len), "{at:#x}");
        }
    }
    core.runs_at(SECURE);
    assert!(core.permits(NON_SECURE + 0x3ffe, 4, false, AccessKind::Write).is_some());
}

#[test]
fn a_block_is_of_one_state_and_notes_it() {
    let mut core = core();
    let mut fetch = |pc, len| {
        let (attributes, note) = core.fetch(pc, len, false);
        (attributes.is_some(), note)
    };
    assert_eq!(fetch(NON_SECURE + 0x3ff0, 16), (true, super::NON_SECURE));
    assert_eq!(fetch(NON_SECURE + 0x3ff0, 18), (false, super::NON_SECURE));
    assert_eq!(fetch(NON_SECURE - 2, 4), (false, 0));
    assert_eq!(fetch(SECURE, 64), (true, 0));
    // A device is never executed, whoever asks.
    assert_eq!(fetch(0x5000_0000, 2), (false, 0));
    core.runs(super::NON_SECURE);
    assert!(core.permits(SECURE, 4, true, AccessKind::Read).is_none());
    core.runs(0);
    assert!(core.permits(SECURE, 4, true, AccessKind::Read).is_some());
}

#[test]
fn a_secure_frame_is_as_large_as_the_kernel_lets_it_be() {
    let mut core = core();
    assert_eq!(core.extended_bytes(), 0x68);
    core.control(super::FPCCR, 4, 1 << 26);
    assert_eq!(core.extended_bytes(), 0xa8);
    core.runs_at(NON_SECURE);
    core.control(super::FPCCR, 4, 0);
    assert_eq!(core.extended_bytes(), 0x68);
    core.runs_at(SECURE);
    assert_eq!(core.extended_bytes(), 0xa8);
}
