use std::vec::Vec;

use proptest::prelude::*;

use super::{B_SELF, CACHED, DTCM, FLASH, NOP, SDRAM, SRAM, THROUGH, block, frame, insns, machine};
use crate::machine::{EntryKind, FpFrame};
use crate::pipeline::{CostTable, Pipeline, Scoreboard};
use crate::profile::tests::without_caches::lpc55s69;
use crate::profile::tests::{stm32f767, xc7z020};
use crate::thumb::classify;
use crate::{BlockCost, InsnCost};

/// Straight-line instructions without operands in common with a branch at the end.
const MENU: [u16; 8] = [0x18D1, 0x19AC, 0x3A01, 0x4351, 0x4011, 0x46BA, 0xB2D1, NOP];

/// Loads, stores, products, floating point, multiple transfers, a branch, and a barrier.
const CUT_MENU: [&[u8]; 19] = [
    &[0xD1, 0x18],
    &[0x01, 0x3A],
    &[0x51, 0x43],
    &[0x00, 0x68],
    &[0x01, 0x68],
    &[0x42, 0x68],
    &[0x00, 0x78],
    &[0x2C, 0x60],
    &[0xFF, 0xCB],
    &[0xFC, 0xD1],
    &[0x71, 0xEE, 0x21, 0x0A],
    &[0xC1, 0xEE, 0x21, 0x0A],
    &[0x20, 0xEE, 0x01, 0x0B],
    &[0xBF, 0xF3, 0x4F, 0x8F],
    &[0x01, 0x60],
    &[0xD1, 0xB2],
    &[0xD1, 0x00],
    &[0xD1, 0x58],
    &[0x02, 0xEB, 0x81, 0x01],
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Data(u32, bool),
    Block(u32),
    Exception,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0u32..4096, any::<bool>()).prop_map(|(n, store)| Step::Data(n * 52, store)),
        (0u32..64).prop_map(Step::Block),
        Just(Step::Exception),
    ];
    prop::collection::vec(step, 1..300)
}

/// Runs the steps and gives the cycles of each.
fn run(steps: &[Step]) -> (Vec<u32>, crate::Counters) {
    let mut m = machine();
    let once = |step: &Step| match *step {
        Step::Data(offset, write) => m.data(if offset & 1 == 0 { SRAM } else { SDRAM } + offset, 4, write, CACHED),
        Step::Block(n) => {
            let code = block(&m, FLASH + n * 48, &[0x18D1, 0x19AC, B_SELF]);
            m.block(&code, THROUGH)
        }
        Step::Exception => m.exception_entry(EntryKind::Normal, frame(SRAM + 0x100, CACHED, FpFrame::None), 0, THROUGH),
    };
    let cycles = steps.iter().map(once).collect();
    (cycles, m.counters())
}

proptest! {
    /// The same calls give the same cycles, and the clock is their sum.
    #[test]
    fn runs_are_reproducible(steps in steps()) {
        let (cycles, counters) = run(&steps);
        prop_assert_eq!(&run(&steps).0, &cycles);
        prop_assert_eq!(counters.cycles, cycles.iter().map(|c| u64::from(*c)).sum::<u64>());
    }

    /// The README's bounds for one aligned access, with rows, sets and the store buffer under pressure.
    #[test]
    fn no_access_exceeds_the_stated_bound(picks in prop::collection::vec((0u32..8, 0u32..4, any::<bool>()), 1..600)) {
        for (base, bound) in [(SRAM, 120), (SDRAM, 500)] {
            let mut m = machine();
            for &(way, set, write) in &picks {
                let cycles = m.data(base + way * 4096 + set * 32, 4, write, CACHED);
                prop_assert!(cycles <= bound, "{} cycles", cycles);
            }
        }
    }

    /// Instruction by instruction, a loop costs what it costs block by block.
    #[test]
    fn both_modes_agree(picks in prop::collection::vec(0usize..MENU.len(), 0..12), rounds in 1u32..6) {
        let mut code: Vec<u16> = picks.into_iter().map(|n| MENU[n]).collect();
        let back = -2 - code.len() as i32;
        code.push(0xE000 | (back as u16 & 0x7FF));
        let mut by_block = machine();
        let whole = block(&by_block, DTCM, &code);
        let mut by_insn = machine();
        let mut pc = DTCM;
        let single: Vec<InsnCost> = insns(&code).into_iter().map(|info| {
            let at = pc;
            pc += u32::from(info.size);
            InsnCost::new(at, info)
        }).collect();
        for _ in 0..rounds {
            let block_cycles = by_block.block(&whole, CACHED);
            let insn_cycles: u32 = single.iter().map(|insn| by_insn.instruction(insn, CACHED)).sum();
            prop_assert_eq!(block_cycles, insn_cycles);
        }
    }

    /// The borders of blocks, and the paths that a block remembers, change nothing: issued in pieces, each piece twice and more, a
    /// sequence takes what its instructions take one by one. In order and out of order.
    #[test]
    fn cuts_change_nothing(
        picks in prop::collection::vec(0usize..CUT_MENU.len(), 1..40),
        cuts in prop::collection::vec(1usize..9, 40),
        rounds in 1usize..8,
    ) {
        for profile in [stm32f767(), xc7z020(), lpc55s69()] {
            let table = CostTable::new(&profile.pipeline).predicted(profile.branch.entries.is_some());
            let code: Vec<_> = picks.iter().map(|&n| classify(CUT_MENU[n])).collect();
            let mut rest = code.as_slice();
            let mut pieces = Vec::new();
            for cut in &cuts {
                let (piece, behind) = rest.split_at(rest.len().min(*cut));
                pieces.push(BlockCost::new(&table, 0, piece));
                rest = behind;
            }
            let (mut one, mut other) = (Scoreboard::new(), Pipeline::new());
            for _ in 0..rounds {
                let whole: u32 = code.iter().map(|info| one.issue(&table, info)).sum();
                let cut: u32 = pieces
                    .iter()
                    .map(|piece| {
                        let mut another = other.clone();
                        let cycles = piece.issue(&table, &mut other);
                        assert_eq!(piece.behind(&table, &other, piece.instructions() as usize), cycles);
                        // A block may run through several pipelines; a copy goes its own way.
                        assert_eq!(piece.issue(&table, &mut another), cycles);
                        assert_eq!(piece.behind(&table, &another, piece.instructions() as usize), cycles);
                        another.issue(&table, &code[0]);
                        cycles
                    })
                    .sum();
                prop_assert_eq!((whole, one), (cut, *other.board()));
                let of_last = pieces[0].behind(&table, &other, 1) + pieces[0].behind(&table, &other, 0);
                prop_assert!(of_last <= pieces[0].behind(&table, &other, pieces[0].instructions() as usize));
                let wrong = rounds % 2 == 0;
                prop_assert_eq!(one.turn(&table, true, 8, wrong), other.turn(&table, true, 8, wrong));
            }
        }
    }
}
