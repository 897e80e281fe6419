//! The cases: faults of every kind, at addresses where regions begin and end.

use core::fmt::Write;

use kernel::regions::Resolution;
use protect::regions::Registers;

use crate::assembly::{self, Written};
use crate::random::Random;
use crate::regions::{BEFORE, Regs, Tried, put, registers, shown};
use crate::world::{Domain, MOST, State};
use crate::{COFFERDAM_CPU, Console, Described};

/// Tables that are tried.
const WORLDS: u32 = 600;
/// Faults in each.
const FAULTS: u32 = 40;
/// MMFSR: a data access whose address is known; a fetch.
const DATA: u32 = 0x82;
const FETCH: u32 = 0x01;

/// A fault as the processor presents it.
#[derive(Clone, Copy, Debug)]
struct Fault {
    status: u32,
    address: u32,
    pc: u32,
    lr: u32,
}

/// How a fault ended: what the assembly and the rule have to agree about, beside the domain's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    /// 0: the access is repeated; 1: refused; 2: counted; 3: a fault of the kernel.
    end: u32,
    /// Number of the slot and its registers as they were written last.
    region: [u32; 3],
    /// The trace port.
    trace: [u32; 2],
}

/// How many cases ended in each way.
#[derive(Default)]
struct Tally {
    ends: [u32; 4],
    failed: u32,
}

/// Tries all cases. How many went wrong.
pub fn run(domains: &[Domain; 2], out: &mut Console) -> u32 {
    let mut random = Random::new(0x0dd_ba11);
    let mut tally = Tally::default();
    let mut mapped = [([<Regs as Registers>::DISABLED; MOST], 0); 2];
    for world in 0..WORLDS {
        let changed = random.below(2) as usize;
        mapped[changed] = domains[changed].change(&mut random);
        for number in 0..FAULTS {
            let at = random.below(2) as usize;
            let (regions, count) = &mapped[at];
            let fault = fault(&mut random, &regions[..*count]);
            count_down(&domains[at], &mut random);
            if let Err((asm, rule)) = compare(domains, at, fault, &mut tally) {
                tally.failed += 1;
                if tally.failed < 10 {
                    let _ =
                        writeln!(out, "table {world}, fault {number}: {fault:x?}: {asm:x?}, and by the rule {rule:x?}");
                }
            }
        }
    }
    let [repeated, refused, counted, kernel] = tally.ends;
    let (all, failed) = (WORLDS * FAULTS, tally.failed);
    let _ = writeln!(
        out,
        "{all} faults: {repeated} repeated, {counted} counted, {refused} refused, {kernel} of the kernel; {failed} differ"
    );
    failed
}

/// Some misses until one is counted, where none are left.
fn count_down(domain: &Domain, random: &mut Random) {
    let most = random.one(&[1, 2, 5, u32::MAX]);
    // SAFETY: nothing refers to the domain's regions.
    unsafe {
        if domain.countdown().read() == 0 || random.below(8) == 0 {
            domain.countdown().write(most);
        }
    }
}

/// Any fault; most of them at or beside the ends of regions, their eighths, and words.
fn fault(random: &mut Random, regions: &[Regs]) -> Fault {
    const ODD: [u32; 12] = [0, 0x02, 0x80, 0x83, 0x03, 0x08, 0x10, 0x20, 0x92, 0xa2, 0x0182, 0x0001_0001];
    let status = match random.below(16) {
        0 => random.one(&ODD),
        1..=5 => FETCH,
        _ => DATA,
    };
    let pc = address(random, regions) & !1;
    let lr = if random.below(64) == 0 { random.one(&[0xffff_fff1, 0xffff_fff9, 0xffff_ffe9]) } else { 0 };
    Fault { status, address: address(random, regions), pc, lr }
}

fn address(random: &mut Random, regions: &[Regs]) -> u32 {
    if regions.is_empty() || random.below(8) == 0 {
        let any = random.word();
        return random.one(&[0, u32::MAX, any, any & 0x2fff_ffff]);
    }
    let regs = random.one(regions);
    let eighth = regs.step();
    let inside = random.word() % eighth.max(1);
    let beside = random.one(&[
        0,
        0,
        1,
        2,
        eighth.wrapping_sub(1),
        eighth.wrapping_sub(2),
        inside,
        0u32.wrapping_sub(1),
        0u32.wrapping_sub(2),
    ]);
    regs.first().wrapping_add(random.below(9).wrapping_mul(eighth)).wrapping_add(beside)
}

/// Lets both answer a fault of a domain.
///
/// # Errors
/// The two answers, when they differ, or one of them changed what the other did not.
fn compare(domains: &[Domain; 2], at: usize, fault: Fault, tally: &mut Tally) -> Result<(), (Answer, Answer)> {
    let other = domains[1 - at].state();
    let before = domains[at].state();
    domains[at].enter();
    let (asm, asm_state, cleared) = by_assembly(&domains[at], fault);
    domains[at].restore(&before);
    let rule = by_rule(fault);
    let state = domains[at].state();
    // Loaded regions end the fault; whoever reports a fault reads the status.
    let right = cleared == matches!(asm.end, 0 | 2) && other == domains[1 - at].state();
    tally.ends[rule.end as usize & 3] += 1;
    if right && asm == rule && asm_state == state { Ok(()) } else { Err((asm, rule)) }
}

fn by_assembly(domain: &Domain, fault: Fault) -> (Answer, State, bool) {
    arrange();
    let (end, written) = assembly::answer(fault.status, fault.address, fault.pc, fault.lr, BEFORE);
    let Written { status, region } = written;
    let hardware = registers();
    // When victims are random, the assembly calls the rule, and the rule writes the hardware's registers.
    let by_call = hardware != BEFORE;
    let region = if by_call { hardware } else { shown(region) };
    let cleared = by_call || (status == DATA | FETCH && end & 1 == 0);
    (Answer { end, region, trace: trace() }, domain.state(), cleared)
}

/// The answer that is expected: the rule about the kinds of faults, and [`kernel::Kernel::on_miss`] about addresses.
fn by_rule(fault: Fault) -> Answer {
    arrange();
    let end = match (fault.lr, fault.status) {
        (1.., _) => 3,
        (_, DATA) => miss(fault.address),
        // A fetch that straddles two regions misses the second when it has the first.
        (_, FETCH) => match miss(fault.pc) {
            1 => miss(fault.pc.wrapping_add(2)),
            end => end,
        },
        _ => 1,
    };
    Answer { end, region: registers(), trace: trace() }
}

fn miss(address: u32) -> u32 {
    // SAFETY: written at boot; the assembly does not run now.
    let kernel = unsafe { (*COFFERDAM_CPU.get()).assume_init_mut() };
    match kernel.on_miss(units::VirtAddr(address)) {
        Resolution::Retry => 0,
        Resolution::Denied => 1,
        Resolution::Counted => 2,
    }
}

/// Puts words in front of both that neither writes.
fn arrange() {
    put(BEFORE);
    // SAFETY: as in `trace`.
    unsafe { port().write([0x7777_7777; 2]) };
}

fn port() -> *mut [u32; 2] {
    let at = kernel::arch_offset::<port::Chip<Described>>() + port::Chip::<Described>::PORT_OFFSET;
    COFFERDAM_CPU.get().wrapping_byte_add(at).cast()
}

fn trace() -> [u32; 2] {
    // SAFETY: two words of the kernel, which nobody refers to now.
    unsafe { port().read_volatile() }
}
