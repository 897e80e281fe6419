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
            // DSB; MSR; LDREX; TBB [pc, r0]: not theirs.
            ([0xf3bf, 0x8f4f], Flow::None),
            ([0xf380, 0x8814], Flow::None),
            ([0xe8d0, 0xf000], Flow::None),
            ([0xbf00, 0], Flow::None),
        ] {
            assert_eq!(flow(code[0], code[1], 0x1000), flows, "{code:04x?}");
        }
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
