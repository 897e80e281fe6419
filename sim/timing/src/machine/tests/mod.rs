mod narrow;
mod properties;
mod spoil;

use std::vec::Vec;

use super::{EntryKind, FpFrame, Frame, Machine, Maintenance};
use crate::MemAttr;
use crate::block::{BlockCost, InsnCost};
use crate::cache::Replacement;
use crate::insn::InsnInfo;
use crate::profile::tests::stm32f767;
use crate::thumb::classify;

const FLASH: u32 = 0x0020_0000;
const DTCM: u32 = 0x2000_0000;
const SRAM: u32 = 0x2002_0000;
const SDRAM: u32 = 0x6000_0000;
const CACHED: MemAttr = MemAttr::WRITE_BACK_ALLOCATE;
const THROUGH: MemAttr = MemAttr::WRITE_THROUGH;
const UNCACHED: MemAttr = MemAttr::NON_CACHEABLE;

const NOP: u16 = 0xBF00;
/// `b` to its own address.
const B_SELF: u16 = 0xE7FE;

fn machine() -> Machine {
    Machine::new(&stm32f767()).unwrap()
}

/// The same machine with LRU in both caches, whose victims can be told by hand.
fn lru() -> Machine {
    let mut profile = stm32f767();
    profile.icache.as_mut().unwrap().replacement.value = Replacement::Lru;
    profile.dcache.as_mut().unwrap().replacement.value = Replacement::Lru;
    Machine::new(&profile).unwrap()
}

fn insns(code: &[u16]) -> Vec<InsnInfo> {
    code.iter().map(|half| classify(&half.to_le_bytes())).collect()
}

fn block(machine: &Machine, at: u32, code: &[u16]) -> BlockCost {
    BlockCost::new(machine.costs(), at, &insns(code))
}

fn load(machine: &mut Machine, addr: u32) -> u32 {
    machine.data(addr, 4, false, CACHED)
}

fn store(machine: &mut Machine, addr: u32) -> u32 {
    machine.data(addr, 4, true, CACHED)
}

#[test]
fn tightly_coupled_memory_adds_nothing() {
    let mut m = machine();
    for n in 0..1000 {
        assert_eq!(m.data(DTCM + n * 4, 4, n % 3 == 0, CACHED), 0);
        assert_eq!(m.data(n * 4, 4, n % 3 == 0, THROUGH), 0, "ITCM");
    }
    assert_eq!((m.now(), m.counters().dcache_misses), (0, 0));
}

/// SRAM: 6 to the first word, 1 more for the second of the 8 bytes waited for: 7. The line of 8 words keeps the bus for
/// 13. The next line, asked for at 7, waits 6 for the bus and then 7.
#[test]
fn a_missed_line_is_filled_behind_the_first_words() {
    let mut m = machine();
    assert_eq!(load(&mut m, SRAM), 7);
    assert_eq!(load(&mut m, SRAM + 28), 0);
    assert_eq!(load(&mut m, SRAM + 32), 13);
    assert_eq!(m.now(), 20);
    let c = m.counters();
    assert_eq!((c.loads, c.dcache_hits, c.dcache_misses, c.data_stalls), (3, 1, 2, 20));
}

/// SDRAM, 16 bits: row closed 8 + first beat 16 + 3 beats of 2 for 8 bytes = 30, in an open row 22. The line needs
/// 16 + 15 x 2 = 46 of the bus after the row's 8, so at 30 the bus is busy until 54: 24 + 22.
#[test]
fn sdram_pays_for_rows_and_its_narrow_bus() {
    let mut m = machine();
    assert_eq!(load(&mut m, SDRAM), 30);
    assert_eq!(load(&mut m, SDRAM + 32), 24 + 22);
    m.idle(1000);
    assert_eq!(load(&mut m, SDRAM + 64), 22);
    m.idle(1000);
    assert_eq!(load(&mut m, SDRAM + 0x400), 30);
}

/// 16 KiB in 4 ways: 128 sets of 32 bytes, so lines 4 KiB apart share a set. Five of them do not fit; with LRU the
/// first is gone when the fifth has come.
#[test]
fn five_lines_do_not_fit_four_ways() {
    let mut m = lru();
    for n in 0..5 {
        assert!(load(&mut m, SRAM + n * 4096) > 0);
    }
    assert!(load(&mut m, SRAM + 4096) == 0);
    assert!(load(&mut m, SRAM) > 0);
}

/// A store that misses brings its line in behind the pipeline: 54 cycles for the first line of SDRAM (row 8, first beat
/// 16, 15 beats of 2), 46 for each further one. Four stores are taken at once; the fifth waits for the first's 54.
/// Then a barrier waits for all: 54 + 4 x 46 = 238, of which 54 have passed.
#[test]
fn stores_wait_when_the_buffer_is_full() {
    let mut m = machine();
    for n in 0..4 {
        assert_eq!(store(&mut m, SDRAM + n * 32), 0);
    }
    assert_eq!(store(&mut m, SDRAM + 4 * 32), 54);
    assert_eq!(m.drain(), 238 - 54);
    assert_eq!(m.drain(), 0);
}

/// Write-back: a line changed in the cache is written when it goes (SRAM: 4 + 7 = 11 cycles of the bus, behind the fill
/// that replaces it). Write-through: nothing is dirty, every store goes to memory.
#[test]
fn changed_lines_are_written_back() {
    let mut m = lru();
    load(&mut m, SRAM);
    store(&mut m, SRAM);
    m.idle(1000);
    for n in 1..4 {
        load(&mut m, SRAM + n * 4096);
        m.idle(1000);
    }
    assert_eq!(load(&mut m, SRAM + 4 * 4096), 7);
    assert_eq!(m.counters().write_backs, 1);
    // The fill ends 13 after it began, the write-back 11 later; 7 have passed: 17 to wait, then 7.
    assert_eq!(load(&mut m, SRAM + 32), 13 + 11 - 7 + 7);

    let mut m = lru();
    for n in 0..8 {
        m.data(SRAM + n * 4096, 4, false, THROUGH);
        m.data(SRAM + n * 4096, 4, true, THROUGH);
    }
    assert_eq!(m.counters().write_backs, 0);
    assert!(m.drain() > 0, "the last store is under way");
}

/// Not cacheable: 6 for a word of SRAM, every time; shareable data likewise.
#[test]
fn what_may_not_be_cached_is_not() {
    let mut m = machine();
    for attr in [UNCACHED, CACHED.shared()] {
        for _ in 0..3 {
            assert_eq!(m.data(SRAM, 4, false, attr), 6);
            m.idle(100);
        }
    }
    assert_eq!((m.counters().uncached, m.counters().dcache_hits), (6, 0));
}

/// A device: 8 for a load. A store is buffered and takes 8; a load right behind it waits for it. Strongly ordered: the
/// store waits itself, 1 on the private bus.
#[test]
fn devices_are_one_transfer_each() {
    let mut m = machine();
    let device = MemAttr::DEVICE;
    assert_eq!(m.data(0x4000_0000, 4, false, device), 8);
    assert_eq!(m.data(0x4000_0000, 4, true, device), 0);
    assert_eq!(m.data(0x4000_0004, 4, false, device), 8 + 8);
    assert_eq!(m.data(0xE000_E010, 4, false, MemAttr::STRONGLY_ORDERED), 2);
    assert_eq!(m.data(0xE000_E010, 4, true, MemAttr::STRONGLY_ORDERED), 1);
    assert_eq!(m.data(0x9000_0000, 4, false, CACHED), 0);
    assert_eq!(m.counters().outside, 1);
}

/// Unaligned: 3 more for a load, none for a store. Straddling two lines of SRAM: 3, then 7 for the first line (bus until
/// 3 + 13 = 16), at 10 the second waits 6 and takes 7: 23. The second time both are there: 3.
#[test]
fn unaligned_and_straddling_accesses_cost_more() {
    let mut m = machine();
    assert_eq!(m.data(DTCM + 1, 4, false, CACHED), 3);
    assert_eq!(m.data(DTCM + 1, 4, true, CACHED), 0);
    assert_eq!(m.data(DTCM + 4, 8, false, CACHED), 0, "a double word needs word alignment only");
    let mut m = machine();
    assert_eq!(load(&mut m, SRAM + 30), 23);
    assert_eq!(load(&mut m, SRAM + 30), 3);
    assert_eq!((m.counters().dcache_misses, m.counters().dcache_hits), (2, 2));
    assert_eq!(m.data(u32::MAX - 1, 4, false, CACHED), 3, "the end of the address space is harmless");
}

/// 16 NOPs issue in 8 cycles and fill one flash line: 7 wait states, then nothing, as the line is in use. The block after
/// it, asked for at 7 + 8 + 8 = 23, lies in the line that was read ahead from 8 to 16.
#[test]
fn flash_is_read_once_and_read_ahead() {
    let mut m = machine();
    let first = block(&m, FLASH, &[NOP; 16]);
    let second = block(&m, FLASH + 32, &[NOP; 16]);
    assert_eq!((first.cycles(), first.instructions(), first.addresses()), (8, 16, (FLASH, FLASH + 32)));
    assert_eq!(m.block(&first, THROUGH), 7 + 8);
    assert_eq!(m.block(&first, THROUGH), 8);
    assert_eq!(m.block(&second, THROUGH), 8);
    let c = m.counters();
    assert_eq!((c.flash_misses, c.flash_prefetched, c.fetch_stalls, c.instructions), (1, 1, 7, 48));
}

/// A block over two lines: 7 for the first, then half of the 16 issue cycles; the next line is read from 8 to 16, and a
/// request at 15, in the last cycle of the read, does not wait. 23 in all.
#[test]
fn issue_hides_the_read_ahead() {
    let mut m = machine();
    let both = block(&m, FLASH, &[NOP; 32]);
    assert_eq!(m.block(&both, THROUGH), 7 + 16);
}

/// A literal in flash goes through the accelerator: the line of the code is at hand, another is a miss (7), a kept one not.
#[test]
fn literals_come_through_the_accelerator() {
    let mut m = machine();
    let code = block(&m, FLASH, &[NOP; 4]);
    m.block(&code, THROUGH);
    m.idle(100);
    assert_eq!(m.data(FLASH + 16, 4, false, THROUGH), 0);
    assert_eq!(m.data(FLASH + 0x1000, 4, false, THROUGH), 7);
    assert_eq!(m.data(FLASH + 16, 4, false, THROUGH), 0);
}

/// Code in SRAM goes through the instruction cache: the line costs 7 once, not cacheable 4 requests of 6 + 1 each.
#[test]
fn code_behind_the_bus_is_cached() {
    let mut m = machine();
    let here = block(&m, SRAM, &[NOP; 4]);
    let there = block(&m, SRAM + 0x100, &[NOP; 4]);
    assert_eq!(m.block(&here, CACHED), 7 + 2);
    m.idle(100);
    assert_eq!(m.block(&there, CACHED), 7 + 2);
    assert_eq!(m.block(&here, CACHED), 2);
    assert_eq!((m.counters().icache_misses, m.counters().icache_hits), (2, 1));
    m.idle(100);
    assert_eq!(m.block(&there, UNCACHED), 4 * 7 + 2);
}

/// A loop that is one branch: 1 cycle a round. The first round pays the 2 cycles of the computed target, when the second
/// begins; leaving pays the 8 of the wrong prediction.
#[test]
fn branches_are_settled_when_the_next_block_begins() {
    let mut m = machine();
    let code = block(&m, DTCM, &[B_SELF]);
    let after = block(&m, DTCM + 2, &[NOP]);
    let rounds: Vec<u32> = (0..4).map(|_| m.block(&code, CACHED)).collect();
    assert_eq!(rounds, [1, 1 + 2, 1, 1]);
    assert_eq!(m.block(&after, CACHED), 8 + 1);
    assert_eq!(m.block(&after, CACHED), 0, "no branch is open any more, and two of it share a cycle");
    let c = m.counters();
    assert_eq!((c.branches, c.redirects, c.mispredicts), (4, 1, 1));
}

fn frame(sp: u32, attr: MemAttr, fp: FpFrame) -> Frame {
    Frame { sp, attr, fp }
}

/// Stack and vectors in tightly coupled memory: 12 in, 12 out, 6 from one handler to the next, 17
/// for deferred floating-point state, 17 more where it is moved at once.
#[test]
fn exceptions_without_wait_states_cost_the_published_cycles() {
    let mut m = machine();
    let plain = frame(DTCM, CACHED, FpFrame::None);
    assert_eq!(m.exception_entry(EntryKind::Normal, plain, 0x40, THROUGH), 12);
    assert_eq!(m.exception_entry(EntryKind::TailChained, plain, 0x44, THROUGH), 6);
    assert_eq!(m.exception_exit(plain), 12);
    let lazy = frame(DTCM, CACHED, FpFrame::Lazy);
    assert_eq!(m.exception_entry(EntryKind::Normal, lazy, 0x40, THROUGH), 12);
    assert_eq!(m.lazy_fp_save(DTCM + 32, CACHED), 17);
    let saved = frame(DTCM, CACHED, FpFrame::Saved);
    assert_eq!(m.exception_entry(EntryKind::Normal, saved, 0x40, THROUGH), 29);
    assert_eq!(m.exception_exit(saved), 29);
    let c = m.counters();
    assert_eq!((c.exceptions, c.tail_chains, c.returns, c.lazy_saves), (4, 1, 2, 1));
}

/// A frame of 8 words to SRAM that is not cached, 4 cycles each, from 12 on: four are buffered (done at 16, 20, 24, 28),
/// each further one waits for the oldest, 4 each: 16. The vector comes from flash: 7.
#[test]
fn exceptions_pay_for_slow_stacks_and_vectors() {
    let mut m = machine();
    assert_eq!(m.exception_entry(EntryKind::Normal, frame(SRAM, UNCACHED, FpFrame::None), FLASH, THROUGH), 12 + 16 + 7);
}

/// The branch before an exception is neither right nor wrong: where it goes is not seen.
#[test]
fn an_exception_leaves_no_branch_open() {
    let mut m = machine();
    let code = block(&m, DTCM, &[B_SELF]);
    m.block(&code, CACHED);
    m.exception_entry(EntryKind::Normal, frame(DTCM, CACHED, FpFrame::None), 0x40, THROUGH);
    assert_eq!(m.block(&code, CACHED), 1);
    assert_eq!(m.counters().branches, 0);
}

#[test]
fn maintenance_registers_are_recognised() {
    use Maintenance::*;
    let line = |clean, invalidate| DataLine { addr: 5, clean, invalidate };
    let place = |clean, invalidate| DataSetWay { set_way: 5, clean, invalidate };
    for (addr, expected) in [
        (0xE000_EF50, InvalidateInstructions),
        (0xE000_EF58, InvalidateInstructionLine(5)),
        (0xE000_EF5C, line(false, true)),
        (0xE000_EF60, place(false, true)),
        (0xE000_EF64, line(true, false)),
        (0xE000_EF68, line(true, false)),
        (0xE000_EF6C, place(true, false)),
        (0xE000_EF70, line(true, true)),
        (0xE000_EF74, place(true, true)),
        (0xE000_EF78, InvalidatePredictor),
    ] {
        assert_eq!(Maintenance::decode(addr, 5), Some(expected), "{addr:#x}");
    }
    let enable = |value| Maintenance::decode(0xE000_ED14, value);
    assert_eq!(enable(1 << 17), Some(Enable { instruction: true, data: false }));
    assert_eq!(enable(1 << 16), Some(Enable { instruction: false, data: true }));
    assert_eq!(Maintenance::decode(0xE000_EF54, 0), None);
    assert_eq!(Maintenance::decode(0xE000_EF7C, 0), None);
}

/// Cleaning writes the changed line back once and keeps it; by set and way (128 sets: way in the upper two bits) as well.
#[test]
fn maintenance_acts_on_the_line_it_names() {
    let mut m = machine();
    let clean = Maintenance::DataLine { addr: SRAM + 4, clean: true, invalidate: false };
    store(&mut m, SRAM);
    assert_eq!(m.maintain(clean), 3);
    assert_eq!(m.maintain(clean), 3);
    assert_eq!(m.counters().write_backs, 1);
    assert_eq!(load(&mut m, SRAM), 0);
    // SRAM is line 0x2002_0000 / 32 = set 0; the first line of a set is in way 0.
    m.maintain(Maintenance::DataSetWay { set_way: 0, clean: true, invalidate: true });
    assert!(load(&mut m, SRAM) > 0);
    store(&mut m, SRAM);
    m.maintain(Maintenance::DataLine { addr: SRAM, clean: false, invalidate: true });
    assert_eq!(m.counters().write_backs, 1, "what is invalidated is not written");
    assert!(load(&mut m, SRAM) > 0);
}

#[test]
fn caches_can_be_off() {
    let mut m = machine();
    m.maintain(Maintenance::Enable { instruction: false, data: false });
    for _ in 0..3 {
        assert_eq!(load(&mut m, SRAM), 6);
        m.idle(100);
    }
    m.maintain(Maintenance::Enable { instruction: true, data: true });
    load(&mut m, SRAM);
    assert_eq!(load(&mut m, SRAM), 0);
}

#[test]
fn an_invalid_profile_makes_no_machine() {
    let mut profile = stm32f767();
    profile.dcache.as_mut().unwrap().ways.value = 3;
    let errors = Machine::new(&profile).unwrap_err();
    assert_eq!(errors[0].path, "dcache");
}

/// After an ISB (8) the line has to be fetched again: from SRAM that is not cached, 4 requests of 6 + 1.
#[test]
fn an_instruction_barrier_empties_the_fetch_buffer() {
    let isb = classify(&[0xBF, 0xF3, 0x6F, 0x8F]);
    let mut m = machine();
    let code = BlockCost::new(m.costs(), SRAM, [&isb]);
    for _ in 0..2 {
        assert_eq!(m.block(&code, UNCACHED), 28 + 8);
        assert_eq!(m.instruction(&InsnCost::new(SRAM, isb), UNCACHED), 28 + 8);
    }
    let nop = InsnCost::new(SRAM, classify(&NOP.to_le_bytes()));
    assert_eq!(m.instruction(&nop, UNCACHED), 28 + 1);
    assert_eq!(m.instruction(&nop, UNCACHED), 0, "the second shares the cycle and the line");
}

/// DSB waits for the store under way, 8 at the device, before its own 3.
#[test]
fn barriers_wait_for_stores() {
    let mut m = machine();
    let dsb = classify(&[0xBF, 0xF3, 0x4F, 0x8F]);
    let code = BlockCost::new(m.costs(), DTCM, [&dsb]);
    m.data(0x4000_0000, 4, true, MemAttr::DEVICE);
    assert_eq!(m.block(&code, CACHED), 8 + 3);
    m.data(0x4000_0000, 4, true, MemAttr::DEVICE);
    assert_eq!(m.instruction(&InsnCost::new(DTCM, dsb), CACHED), 8 + 3);
    assert_eq!(m.counters().drain_stalls, 16);
}
