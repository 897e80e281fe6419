//! As much of the T32 encoding as the observer needs (ARM DDI 0403, chapter A5; DDI 0553, chapter C2, for what security states add). Instruction words hold the first
//! halfword in their low half.

/// Whether the encoding is 32 bits wide, by its first halfword.
const fn is_wide(code: u32) -> bool {
    matches!(code >> 11 & 0x1f, 0x1d..=0x1f)
}

const fn halves(code: u32) -> (u32, u32) {
    (code & 0xffff, code >> 16)
}

/// Whether this may be an exception return: BX or BXNS, POP, or LDM or LDR that load the program counter.
pub const fn may_return(code: u32) -> bool {
    let (first, second) = halves(code);
    if !is_wide(code) {
        return first & 0xff83 == 0x4700 || first & 0xff00 == 0xbd00;
    }
    let load_multiple =
        first & 0xfe50 == 0xe810 && second & 0x8000 != 0 && first & 0x0180 != 0 && first & 0x0180 != 0x0180;
    let load_word = first & 0xff70 == 0xf850 && second >> 12 == 15;
    load_multiple || load_word
}

/// Whether this is CPS, or MSR to PRIMASK, BASEPRI, BASEPRI_MAX or FAULTMASK, its own or (bit 7) the Non-secure ones.
pub const fn changes_mask(code: u32) -> bool {
    let (first, second) = halves(code);
    if !is_wide(code) {
        return first & 0xffe8 == 0xb660;
    }
    first & 0xffe0 == 0xf380 && second & 0xff00 == 0x8800 && matches!(second & 0x7f, 0x10..=0x13)
}

/// Whether this is WFE or WFI.
pub const fn may_sleep(code: u32) -> bool {
    let (first, second) = halves(code);
    if is_wide(code) { first == 0xf3af && matches!(second, 0x8002 | 0x8003) } else { matches!(first, 0xbf20 | 0xbf30) }
}

/// Whether this is a floating-point instruction (coprocessors 10 and 11).
pub const fn is_floating_point(code: u32) -> bool {
    let (first, second) = halves(code);
    is_wide(code) && first & 0xec00 == 0xec00 && second & 0x0e00 == 0x0a00
}

#[cfg(test)]
mod tests;
