//! Blocks of A32 over the memory system.

use std::vec::Vec;

use super::{CACHED_WALKS, DATA, DDR_PAGES, DDR_ROOT, PAGE, Rig, VIRT};
use crate::Charged;
use crate::application::{Access, Application, Violation};
use crate::arm::classify;
use crate::block::{BlockCost, InsnCost};
use crate::cp15::Operation;
use crate::mmu::Missing;
use crate::pl310;
use crate::profile::tests::xc7z020;
use crate::vmsa::tests::Shadow;

const NOP: u32 = 0xE320_F000;
/// `ldr r0, [r0]`
const LOAD: u32 = 0xE590_0000;
/// `b .`
const LOOP: u32 = 0xEAFF_FFFE;

fn core() -> (Application, Shadow) {
    let tables = Rig::new(DDR_ROOT, DDR_PAGES, CACHED_WALKS).tables;
    let mut core = Application::new(&xc7z020()).unwrap();
    core.control_l2(pl310::Operation::Enable(true));
    for operation in
        [Operation::Table0(DDR_ROOT | CACHED_WALKS), Operation::ContextId(1), Operation::Control(1 << 12 | 1 << 2 | 1)]
    {
        core.operate(operation, &tables);
    }
    (core, tables)
}

fn block(core: &Application, at: u32, code: &[u32]) -> BlockCost {
    let insns: Vec<_> = code.iter().map(|&word| classify(word)).collect();
    BlockCost::new(core.costs(), at, &insns)
}

fn clean(cycles: u32) -> Charged<Violation> {
    Charged { cycles, violation: None }
}

/// Eight NOPs fill a line and issue in 4 cycles. First a walk from DRAM, 14 + 2 x 207, then the line, 19 + 168 + 20. Then
/// nothing more; after a write to CONTEXTIDR the main TLB, 7.
#[test]
fn code_pays_for_its_translation_and_its_line() {
    let (mut core, tables) = core();
    let code = block(&core, VIRT, &[NOP; 8]);
    assert_eq!(core.block(&code, &tables), clean(14 + 2 * 207 + 207 + 4));
    assert_eq!(core.block(&code, &tables), clean(4));
    core.operate(Operation::ContextId(1), &tables);
    assert_eq!(core.block(&code, &tables), clean(7 + 4));
    let c = core.counters();
    assert_eq!((c.instructions, c.blocks, c.icache_misses, c.icache_hits), (24, 3, 1, 1));
    assert_eq!(c.cycles, core.now());
}

/// Instruction by instruction: a chain of loads costs 4 each (7-cpu.com), and one more after both TLBs and the caches have lost its
/// translation as much more as the paper's figures are apart, 434 - 6.
#[test]
fn a_chain_of_loads_costs_what_others_measured() {
    let (mut core, mut tables) = core();
    // The code is where DRAM is mapped by sections.
    let insn = InsnCost::new(0x0500_0000, classify(LOAD));
    let access = Access { virt: VIRT, phys: Some(DATA), beyond: None, size: 4, store: false };
    let step = |core: &mut Application, tables: &Shadow| {
        let executed = core.instruction(&insn, tables).cycles;
        executed + core.data(access, tables).cycles
    };
    for _ in 0..3 {
        step(&mut core, &tables);
    }
    assert_eq!((0..10).map(|_| step(&mut core, &tables)).sum::<u32>(), 40);
    // The page loses its translation with its descriptors' lines; the code keeps its own.
    tables.set(DDR_PAGES, DATA | PAGE);
    let condemned = crate::cp15::TlbOperation::Address { addr: VIRT, asid: 1 };
    core.operate(Operation::Tlb(condemned), &tables);
    for addr in [DDR_ROOT + 0x1000, DDR_PAGES] {
        let line = crate::cp15::CacheOperation::DataLine { addr, clean: true, invalidate: true };
        core.operate(Operation::Cache(line), &tables);
        core.control_l2(pl310::Operation::Line { addr, clean: true, invalidate: true });
    }
    core.operate(Operation::SyncBarrier, &tables);
    core.idle(100_000);
    // Its own micro-TLB lost the code too, and the main TLB has it: 7 more, once.
    assert_eq!(step(&mut core, &tables), 4 + (434 - 6) + 7);
    assert_eq!(step(&mut core, &tables), 4);
}

/// A branch to itself: the computed target costs 2 the first time; leaving costs 8. An exception costs 8 and forgets
/// the branch that it came after.
#[test]
fn branches_and_exceptions_are_settled() {
    let (mut core, tables) = core();
    let (code, after) = (block(&core, VIRT, &[LOOP]), block(&core, VIRT + 4, &[NOP]));
    core.block(&after, &tables);
    let rounds: Vec<u32> = (0..3).map(|_| core.block(&code, &tables).cycles).collect();
    // The first one shares the cycle of the NOP.
    assert_eq!(rounds, [0, 1 + 2, 1]);
    assert_eq!(core.block(&after, &tables), clean(8 + 1));
    core.block(&code, &tables);
    assert_eq!((core.exception_entry(), core.exception_exit()), (8, 8));
    assert_eq!(core.block(&after, &tables), clean(1));
    let c = core.counters();
    assert_eq!((c.branches, c.redirects, c.mispredicts, c.exceptions, c.returns), (3, 1, 1, 1, 1));
}

#[test]
fn stale_code_is_seen() {
    let (mut core, mut tables) = core();
    let code = block(&core, VIRT, &[NOP; 8]);
    core.block(&code, &tables);
    tables.set(DDR_PAGES, 0);
    core.exception_entry();
    let Some(Violation::Stale(stale)) = core.block(&code, &tables).violation else { panic!("not seen") };
    assert_eq!(stale.missing, Missing::ByAddress { locked: false });
}
