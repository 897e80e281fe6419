//! T32 instructions that lead, or look, to another address than the next. Source: Armv8-M Architecture Reference Manual (DDI 0553), C2.

/// Consequence of an instruction for what has to be where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It may go on there; a long branch reaches 1 MiB and more.
    Branch { target: u32, long: bool },
    /// It reads a word there, or takes its address.
    Literal(u32),
    /// A system call.
    Call,
    /// It is one of the floating-point unit's.
    Float,
    /// Nothing.
    None,
}

/// Whether an instruction that begins so has four bytes.
pub(crate) const fn is_wide(first: u16) -> bool {
    first >= 0xe800
}

/// An instruction at an address, of which `second` is the second half if it [has one](is_wide).
pub(crate) fn flow(first: u16, second: u16, address: u32) -> Flow {
    let pc = address.wrapping_add(4);
    if is_wide(first) { wide(u32::from(first), u32::from(second), pc) } else { narrow(u32::from(first), pc) }
}

fn narrow(code: u32, pc: u32) -> Flow {
    let branch = |distance: u32| Flow::Branch { target: pc.wrapping_add(distance), long: false };
    match code >> 8 {
        0xdf => Flow::Call,
        0xd0..=0xdd => branch(extended(code & 0xff, 8) << 1),
        0xe0..=0xe7 => branch(extended(code & 0x7ff, 11) << 1),
        // CBZ and CBNZ.
        high if high & 0xf5 == 0xb1 => branch((code >> 9 & 1) << 6 | (code >> 3 & 0x1f) << 1),
        0x48..=0x4f | 0xa0..=0xa7 => Flow::Literal((pc & !3).wrapping_add((code & 0xff) << 2)),
        _ => Flow::None,
    }
}

fn wide(first: u32, second: u32, pc: u32) -> Flow {
    if first & 0xf800 == 0xf000 && second & 0x8000 != 0 {
        return branch(first, second)
            .map_or(Flow::None, |distance| Flow::Branch { target: pc.wrapping_add(distance), long: true });
    }
    let literal = |add: bool, distance: u32| {
        let base = pc & !3;
        Flow::Literal(if add { base.wrapping_add(distance) } else { base.wrapping_sub(distance) })
    };
    let is_added = first & 0x80 != 0;
    if is_float(first, second) && first & 0xff3f != 0xed1f {
        return Flow::Float;
    }
    match first {
        // Loads of bytes, half-words and words, hints to load, with the program counter as their base.
        _ if first & 0xfe1f == 0xf81f => literal(is_added, second & 0xfff),
        // LDRD, VLDR.
        _ if first & 0xfe5f == 0xe85f && first & 0x0120 != 0 => literal(is_added, (second & 0xff) << 2),
        _ if first & 0xff3f == 0xed1f => literal(is_added, (second & 0xff) << 2),
        // ADR.
        _ if matches!(first & 0xfbff, 0xf20f | 0xf2af) && second & 0x8000 == 0 => {
            let immediate = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff;
            literal(first & 0xa0 == 0, immediate)
        }
        _ => Flow::None,
    }
}

/// What is executed behind an instruction, unless it branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next one.
    Behind,
    /// Never the next one: it returns, or branches always.
    Elsewhere,
}

/// Whether an instruction can be followed by the next one.
pub(crate) fn next(first: u16, second: u16) -> Next {
    const PC: u16 = 1 << 15;
    let always = match first {
        // B; BX, and MOV and ADD to the program counter; POP with it; UDF.
        0xe000..=0xe7ff | 0xde00..=0xdeff => true,
        _ if first & 0xff80 == 0x4700 || first & 0xfd87 == 0x4487 || first & 0xff00 == 0xbd00 => true,
        // LDM with it, LDR of it, TBB and TBH.
        _ if first & 0xfe50 == 0xe810 => second & PC != 0,
        _ if first & 0xff70 == 0xf850 => second & 0xf000 == 0xf000,
        _ if first & 0xfff0 == 0xe8d0 => second & 0xffe0 == 0xf000,
        // B.W.
        _ => first & 0xf800 == 0xf000 && second & 0xd000 == 0x9000,
    };
    if always { Next::Elsewhere } else { Next::Behind }
}

/// Whether an instruction is a call by its address: BL.
pub(crate) fn is_call(first: u16, second: u16) -> bool {
    first & 0xf800 == 0xf000 && second & 0xd000 == 0xd000
}

/// Bytes that an instruction takes of the stack; negative: it gives them back. What a register holds is not known.
pub(crate) fn taken(first: u16, second: u16) -> i32 {
    let (code, more) = (u32::from(first), u32::from(second));
    let words = |count: u32| 4 * count as i32;
    match code {
        // PUSH, POP, SUB and ADD of SP.
        _ if code & 0xfe00 == 0xb400 => words((code & 0x1ff).count_ones()),
        _ if code & 0xfe00 == 0xbc00 => -words((code & 0x1ff).count_ones()),
        _ if code & 0xff80 == 0xb080 => words(code & 0x7f),
        _ if code & 0xff80 == 0xb000 => -words(code & 0x7f),
        // STMDB SP!, LDMIA SP!.
        0xe92d => words(more.count_ones()),
        0xe8bd => -words(more.count_ones()),
        // STR and LDR with SP written back; STRD; VPUSH and VPOP.
        0xf84d if more & 0x0f00 == 0x0d00 => (more & 0xff) as i32,
        0xf85d if more & 0x0f00 == 0x0b00 => -((more & 0xff) as i32),
        0xe96d => words(more & 0xff),
        0xed2d => words(more & 0xff),
        0xecbd => -words(more & 0xff),
        // SUB.W, SUBW, ADD.W, ADDW of SP with a constant.
        _ if more & 0x8f00 == 0x0d00 => match code & 0xfbff {
            0xf1ad => constant(code, more) as i32,
            0xf10d => -(constant(code, more) as i32),
            0xf2ad => plain(code, more) as i32,
            0xf20d => -(plain(code, more) as i32),
            _ => 0,
        },
        _ => 0,
    }
}

/// Twelve bits of a constant as they are.
const fn plain(code: u32, more: u32) -> u32 {
    (code >> 10 & 1) << 11 | (more >> 12 & 7) << 8 | more & 0xff
}

/// A constant of twelve bits that stand for one of 32 (ThumbExpandImm; DDI 0553, C1.5).
const fn constant(code: u32, more: u32) -> u32 {
    let bits = plain(code, more);
    let low = bits & 0xff;
    match bits >> 8 {
        0 => low,
        1 => low << 16 | low,
        2 => low << 24 | low << 8,
        3 => low * 0x0101_0101,
        _ => (0x80 | low & 0x7f).rotate_right(bits >> 7),
    }
}

/// Whether an instruction is for coprocessor 10 or 11, the floating-point unit (DDI 0553, C2.2.3).
const fn is_float(first: u32, second: u32) -> bool {
    first & 0xec00 == 0xec00 && second >> 9 & 7 == 0b101
}

/// The distance of a wide branch from its program counter.
fn branch(first: u32, second: u32) -> Option<u32> {
    let (s, j1, j2) = (first >> 10 & 1, second >> 13 & 1, second >> 11 & 1);
    let low = second & 0x7ff;
    if second & 0x1000 != 0 {
        let (i1, i2) = (1 ^ j1 ^ s, 1 ^ j2 ^ s);
        return Some(extended(s << 23 | i1 << 22 | i2 << 21 | (first & 0x3ff) << 11 | low, 24) << 1);
    }
    // Conditional; with condition 14 and 15 the words are system instructions.
    let is_conditional = second & 0x4000 == 0 && first >> 7 & 7 != 7;
    is_conditional.then(|| extended(s << 19 | j2 << 18 | j1 << 17 | (first & 0x3f) << 11 | low, 20) << 1)
}

/// A wide branch, as a word of the file, that leads over another distance; `None` if it does not reach that far.
pub(crate) fn with_distance(word: u32, distance: i64) -> Option<u32> {
    let (first, second) = (word & 0xffff, word >> 16);
    let bits = (distance >> 1) as u32;
    if second & 0x1000 != 0 {
        let fits = (-(1 << 24)..1 << 24).contains(&distance);
        let s = bits >> 23 & 1;
        let (j1, j2) = (1 ^ (bits >> 22 & 1) ^ s, 1 ^ (bits >> 21 & 1) ^ s);
        let first = first & 0xf800 | s << 10 | bits >> 11 & 0x3ff;
        let second = second & 0xd000 | j1 << 13 | j2 << 11 | bits & 0x7ff;
        return fits.then_some(first | second << 16);
    }
    let fits = (-(1 << 20)..1 << 20).contains(&distance);
    let first = first & 0xfbc0 | (bits >> 19 & 1) << 10 | bits >> 11 & 0x3f;
    let second = second & 0xd000 | (bits >> 17 & 1) << 13 | (bits >> 18 & 1) << 11 | bits & 0x7ff;
    fits.then_some(first | second << 16)
}

/// A number of so many bits with its sign.
const fn extended(bits: u32, width: u32) -> u32 {
    ((bits << (32 - width)) as i32 >> (32 - width)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings that GNU as 2.40 makes of `b`, `bl`, `beq.w`, `cbz`, `ldr` and so on at 0x1000.
    #[test]
    fn instructions_lead_where_the_assembler_meant() {
        let branch = |target, long| Flow::Branch { target, long };
        for (code, flows) in [
            ([0xe7fe, 0], branch(0x1000, false)),
            ([0xd0fe, 0], branch(0x1000, false)),
            ([0xb108, 0], branch(0x1006, false)),
            ([0xbbf8, 0], branch(0x1082, false)),
            ([0xf7ff, 0xfffe], branch(0x1000, true)),
            ([0xf000, 0xb800], branch(0x1004, true)),
            ([0xf43f, 0xaffe], branch(0x1000, true)),
            ([0xdf00, 0], Flow::Call),
            ([0x4801, 0], Flow::Literal(0x1008)),
            ([0xa001, 0], Flow::Literal(0x1008)),
            ([0xf8df, 0x0010], Flow::Literal(0x1014)),
            ([0xf85f, 0x0004], Flow::Literal(0x1000)),
            ([0xed9f, 0x0a01], Flow::Literal(0x1008)),
            ([0xe9df, 0x0102], Flow::Literal(0x100c)),
            ([0xf20f, 0x0004], Flow::Literal(0x1008)),
            ([0xf2af, 0x0004], Flow::Literal(0x1000)),
            // VADD.F32; VPUSH; VMOV r0, s0; VSTR; VSEL; LDC of another coprocessor is none.
            ([0xee30, 0x0a20], Flow::Float),
            ([0xed2d, 0x8b02], Flow::Float),
            ([0xee10, 0x0a10], Flow::Float),
            ([0xed80, 0x0a00], Flow::Float),
            ([0xfe00, 0x0a20], Flow::Float),
            ([0xed90, 0x5e00], Flow::None),
            // UDIV and UMULL are none of it.
            ([0xfbb0, 0xfaf1], Flow::None),
            ([0xfba0, 0x0a01], Flow::None),
            // DSB; MSR; LDREX; TBB [pc, r0]: not theirs.
            ([0xf3bf, 0x8f4f], Flow::None),
            ([0xf380, 0x8814], Flow::None),
            ([0xe8d0, 0xf000], Flow::None),
            ([0xbf00, 0], Flow::None),
        ] {
            assert_eq!(flow(code[0], code[1], 0x1000), flows, "{code:04x?}");
        }
    }

    /// Encodings that GNU as 2.40 makes.
    #[test]
    fn what_an_instruction_takes_of_the_stack_is_known() {
        for (code, bytes) in [
            ([0xb5f0, 0], 20),
            ([0xbdf0, 0], -20),
            ([0xb084, 0], 16),
            ([0xb004, 0], -16),
            ([0xe92d, 0x47f0], 32),
            ([0xe8bd, 0x87f0], -32),
            ([0xf84d, 0x4d08], 8),
            ([0xf85d, 0x4b08], -8),
            ([0xed2d, 0x8b04], 16),
            // SUB.W sp, sp, #2000; #4096; SUBW #4095; ADD.W sp, sp, #2000.
            ([0xf5ad, 0x6dfa], 2000),
            ([0xf5ad, 0x5d80], 4096),
            ([0xf6ad, 0x7dff], 4095),
            ([0xf50d, 0x6dfa], -2000),
            // ADD.W r0, sp, #16; LDR r0, [sp, #4]; MOV r7, sp.
            ([0xf10d, 0x0010], 0),
            ([0x9801, 0], 0),
            ([0x466f, 0], 0),
        ] {
            assert_eq!(taken(code[0], code[1]), bytes, "{code:04x?}");
        }
    }

    #[test]
    fn what_returns_is_not_followed() {
        let elsewhere = [
            [0x4770, 0],
            [0xbd10, 0],
            [0xe7fe, 0],
            [0xf7ff, 0xbffe],
            [0xe8bd, 0x8010],
            [0xf85d, 0xfb04],
            [0xe8df, 0xf000],
            [0x4718, 0],
        ];
        for code in elsewhere {
            assert_eq!(next(code[0], code[1]), Next::Elsewhere, "{code:04x?}");
        }
        for code in [
            [0x4780, 0],
            [0xbc10, 0],
            [0xd0fe, 0],
            [0xf7ff, 0xfffe],
            [0xe8bd, 0x0010],
            [0xf85d, 0x4b04],
            [0xb108, 0],
            [0xbf00, 0],
        ] {
            assert_eq!(next(code[0], code[1]), Next::Behind, "{code:04x?}");
        }
        assert!(is_call(0xf7ff, 0xfffe) && !is_call(0xf7ff, 0xbffe) && !is_call(0xf43f, 0xaffe));
    }

    #[test]
    fn wide_branches_are_led_elsewhere() {
        for (word, most) in [(0xfffe_f7ff_u32, 1_i64 << 24), (0xb800_f000, 1 << 24), (0xaffe_f43f, 1 << 20)] {
            for distance in [-most, most - 2, 0, 2, -2, 0x1234, -0x5678, most / 2, -most / 2, most / 4 + 2] {
                let led = with_distance(word, distance).unwrap();
                let found = flow(led as u16, (led >> 16) as u16, 0x4000_0000);
                let target = (0x4000_0004 + distance) as u32;
                assert_eq!(found, Flow::Branch { target, long: true }, "{word:08x} {distance:#x}");
                let kind = |word: u32| word & 0xd000_f800;
                assert_eq!(kind(led), kind(word));
            }
            assert_eq!(with_distance(word, most), None);
            assert_eq!(with_distance(word, -most - 2), None);
        }
    }
}
