//! The encodings that are tried. Systematic: those undefined at User level, privileged, or of a coprocessor, by class, every
//! value of the fields that matter. The rest at random, the same in every build. (T32 and A32 as in DDI 0406C A6 and A5; the system
//! instructions of Armv7-M, DDI 0403 B5, lie in the same space.)

/// A pseudo-random word, the same for the same number (the finaliser of MurmurHash3).
pub const fn scatter(number: u32) -> u32 {
    let mut word = number.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    word = (word ^ word >> 16).wrapping_mul(0x85eb_ca6b);
    word = (word ^ word >> 13).wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident, $count:literal: |$at:ident| $word:expr;)*) => {
        /// Each class with how many of it there are.
        pub const CLASSES: &[(&str, usize)] = &[$((stringify!($name), $count)),*];
        /// How many there are in all.
        pub const COUNT: usize = 0 $(+ $count)*;

        /// One of them.
        pub const fn encoding(index: usize) -> u32 {
            let mut index = index as u32;
            $(
                if index < $count {
                    let $at = index;
                    return $word;
                }
                index -= $count;
            )*
            index
        }
    };
}

/// T32: the first halfword is the upper one. A NOP follows an encoding of one halfword.
pub mod thumb {
    use super::scatter;

    /// A halfword and a NOP.
    const fn short(halfword: u32) -> u32 {
        halfword << 16 | 0xbf00
    }

    /// Bits of `from`, `count` of them from `first` on, moved to `to`.
    const fn field(from: u32, first: u32, count: u32, to: u32) -> u32 {
        (from >> first & ((1 << count) - 1)) << to
    }

    classes! {
        /// MRS of every special register, and of both saved and current state.
        mrs, 512: |at| 0xf3ef_8000 | field(at, 8, 1, 20) | field(at, 0, 3, 8) | field(at, 0, 8, 0);
        /// MRS of banked registers.
        mrs_banked, 512: |at| 0xf3e0_8020 | field(at, 0, 5, 16) | field(at, 5, 4, 4);
        /// MSR with every mask to every special register, banked ones too.
        msr, 8192: |at| 0xf380_8000 | field(at, 12, 1, 20) | 3 << 16 | field(at, 0, 12, 0);
        /// Hints and changes of the processor's state: all.
        hint_and_cps, 2048: |at| 0xf3af_8000 | at;
        /// Barriers, CLREX, ThumbEE: all.
        barrier, 256: |at| 0xf3bf_8f00 | at;
        /// BXJ.
        bxj, 16: |at| 0xf3c0_8f00 | at << 16;
        /// Returns from exceptions.
        eret, 256: |at| 0xf3de_8f00 | at;
        /// SMC, HVC, and what is undefined for good.
        smc_hvc_udf, 1024: |at| 0xf7e0_8000 | field(at, 0, 5, 16) | field(at, 5, 2, 12) | field(scatter(at), 0, 12, 0);
        /// SRS and RFE, every mode.
        srs_rfe, 256: |at| if at < 128 {
            0xe80d_c000 | field(at, 5, 1, 21) | field(at, 6, 1, 24) | field(at, 6, 1, 23) | field(at, 0, 5, 0)
        } else {
            0xe810_c000 | field(at, 4, 1, 21) | field(at, 5, 1, 24) | field(at, 5, 1, 23) | field(at, 0, 4, 16)
        };
        /// Exclusive accesses, table branches, pairs.
        exclusive, 2048: |at| 0xe840_0000 | field(at, 0, 5, 16) | field(at, 5, 2, 23) | field(at, 7, 4, 4) | 0x1200 | 0xf << 8;
        /// Accesses as if unprivileged.
        unprivileged, 1024: |at| 0xf800_0e00 | field(at, 0, 4, 16) | field(at, 4, 4, 20) | field(at, 8, 2, 2) | field(scatter(at), 0, 4, 12);
        /// MCR and MRC of coprocessor 15 with a first code of 0: all.
        cp15, 4096: |at| 0xee00_0f10 | field(at, 0, 1, 20) | field(at, 1, 4, 16) | field(at, 5, 4, 0) | field(at, 9, 3, 5) | 2 << 12;
        /// Of coprocessor 14 with a second code of 0: all.
        cp14, 4096: |at| 0xee00_0e10 | field(at, 0, 1, 20) | field(at, 1, 3, 21) | field(at, 4, 4, 16) | field(at, 8, 4, 0) | 2 << 12;
        /// Of every coprocessor, at random, from either space.
        mcr_mrc, 4096: |at| 0xee00_0010 | field(scatter(at), 0, 8, 16) | field(scatter(at), 8, 1, 28) | field(scatter(at), 9, 7, 5)
            | field(scatter(at), 16, 4, 12) | field(at, 0, 4, 8) | field(scatter(at), 20, 4, 0);
        /// CDP, LDC, STC, MCRR and MRRC of every coprocessor.
        transfers, 4096: |at| 0xec00_0000 | field(scatter(at), 0, 10, 16) | field(scatter(at), 10, 1, 28) | field(at, 0, 4, 8)
            | field(scatter(at), 11, 8, 0) | field(scatter(at), 20, 4, 12);
        /// Registers of the floating-point unit.
        vmrs_vmsr, 512: |at| 0xeee0_0a10 | field(at, 0, 4, 16) | field(at, 4, 1, 20) | field(at, 5, 4, 12);
        /// Any other of two halfwords.
        any, 8192: |at| match at % 3 {
            0 => 0xe800_0000,
            1 => 0xf000_0000,
            _ => 0xf800_0000,
        } | field(scatter(at), 0, 27, 0);
        /// All of the miscellaneous ones of one halfword: SETEND, CPS, BKPT, hints, IT.
        miscellaneous, 4096: |at| short(0xb000 | at);
        /// UDF and SVC.
        udf_svc, 512: |at| short(0xde00 | at);
        /// BX and BLX.
        bx, 256: |at| short(0x4700 | at);
        /// Any other of one halfword.
        any_short, 4096: |at| short((scatter(at) >> 16) % 0xe800);
    }
}

/// A32.
pub mod arm {
    use super::scatter;

    const fn field(from: u32, first: u32, count: u32, to: u32) -> u32 {
        (from >> first & ((1 << count) - 1)) << to
    }

    classes! {
        /// MRS and MSR of registers, banked ones too.
        mrs_msr, 4096: |at| 0xe100_0003 | field(at, 0, 2, 21) | field(at, 2, 4, 16) | field(at, 6, 4, 8) | field(at, 10, 1, 22) | 2 << 12;
        /// MSR of constants.
        msr, 1024: |at| 0xe320_f000 | field(at, 0, 1, 22) | field(at, 1, 4, 16) | field(at, 5, 5, 0);
        /// Hints: all.
        hints, 256: |at| 0xe320_f000 | at;
        /// BX, BXJ, BLX, BKPT, HVC, SMC, ERET, and their neighbours.
        miscellaneous, 2048: |at| 0xe100_0000 | field(at, 0, 2, 21) | field(at, 2, 4, 4) | field(at, 6, 4, 0) | 0x000f_ff00 & !(scatter(at) & 0x8000);
        /// Changes of the processor's state: all modes and masks.
        cps, 4096: |at| 0xf100_0000 | field(at, 0, 5, 0) | field(at, 5, 3, 6) | field(at, 8, 3, 17) | field(at, 11, 1, 9);
        /// SRS: all modes, and RFE.
        srs_rfe, 512: |at| if at < 256 {
            0xf84d_0500 | field(at, 0, 5, 0) | field(at, 5, 1, 21) | field(at, 6, 2, 23)
        } else {
            0xf810_0a00 | field(at, 0, 4, 16) | field(at, 4, 1, 21) | field(at, 5, 2, 23)
        };
        /// Barriers, CLREX, preloads.
        barrier, 1024: |at| 0xf57f_f000 & !(field(at, 8, 2, 21)) | field(at, 0, 8, 0);
        /// MCR and MRC of coprocessor 15 with a first code of 0: all.
        cp15, 4096: |at| 0xee00_0f10 | field(at, 0, 1, 20) | field(at, 1, 4, 16) | field(at, 5, 4, 0) | field(at, 9, 3, 5) | 2 << 12;
        /// Of coprocessor 14 with a second code of 0: all.
        cp14, 4096: |at| 0xee00_0e10 | field(at, 0, 1, 20) | field(at, 1, 3, 21) | field(at, 4, 4, 16) | field(at, 8, 4, 0) | 2 << 12;
        /// Of every coprocessor, at random, from either space.
        mcr_mrc, 4096: |at| 0xee00_0010 | field(scatter(at), 0, 8, 16) | field(scatter(at), 8, 1, 28) | field(scatter(at), 9, 7, 5)
            | field(scatter(at), 16, 4, 12) | field(at, 0, 4, 8) | field(scatter(at), 20, 4, 0);
        /// CDP, LDC, STC, MCRR and MRRC of every coprocessor.
        transfers, 4096: |at| 0xec00_0000 | field(scatter(at), 0, 10, 16) | field(scatter(at), 10, 1, 28) | field(at, 0, 4, 8)
            | field(scatter(at), 11, 8, 0) | field(scatter(at), 20, 4, 12);
        /// Registers of the floating-point unit.
        vmrs_vmsr, 512: |at| 0xeee0_0a10 | field(at, 0, 4, 16) | field(at, 4, 1, 20) | field(at, 5, 4, 12);
        /// Several registers: those of User mode, and returns from exceptions.
        multiple, 2048: |at| 0xe840_0000 | field(at, 0, 4, 16) | field(at, 4, 1, 20) | field(at, 5, 1, 21) | field(at, 6, 2, 23)
            | field(scatter(at), 0, 16, 0);
        /// Results in the program counter that also restore the state.
        return_by_data, 1024: |at| 0xe010_f000 | field(at, 0, 4, 21) | field(at, 4, 4, 16) | field(at, 8, 1, 25) | field(scatter(at), 0, 4, 0);
        /// Accesses as if unprivileged.
        unprivileged, 512: |at| 0xe420_0000 | field(at, 0, 4, 16) | field(at, 4, 1, 20) | field(at, 5, 1, 22) | field(at, 6, 1, 23)
            | field(scatter(at), 0, 16, 0);
        /// Exclusive accesses and SWP.
        exclusive, 512: |at| 0xe100_0090 | field(at, 0, 4, 20) | field(at, 4, 4, 16) | field(at, 8, 1, 23) | 0x2f00 | field(scatter(at), 0, 4, 0);
        /// Undefined for good, and other media instructions.
        udf_media, 2048: |at| 0xe600_0010 | field(scatter(at), 0, 25, 0);
        /// Requests to a simulator.
        simulator, 2: |at| if at == 0 { 0xef12_3456 } else { 0xe10f_0070 };
        /// Without a condition.
        unconditional, 4096: |at| 0xf000_0000 | field(scatter(at), 0, 28, 0);
        /// Any.
        any, 8192: |at| scatter(at) & 0x0fff_ffff | 0xe000_0000;
        /// Any, on a condition.
        conditional, 1024: |at| scatter(at);
    }
}

/// Pairs in T32 that read a register of the processor into r2, then write r1 to it: what one domain leaves there, the next one finds.
pub mod exchange {
    /// Special registers of Armv7-M, and those of the floating-point unit.
    pub const SPECIAL: usize = 256 + 16;
    /// With all of coprocessor 15 with a first code of 0, and of coprocessor 14 with a second code of 0.
    pub const COUNT: usize = SPECIAL + 2048 + 2048;

    /// One of them: what reads, what writes.
    pub const fn pair(index: usize) -> [u32; 2] {
        let index = index as u32;
        if index < 256 {
            return [0xf3ef_8200 | index, 0xf381_8800 | index];
        }
        if index < SPECIAL as u32 {
            let register = (index - 256) << 16;
            return [0xeef0_2a10 | register, 0xeee0_1a10 | register];
        }
        let at = index - SPECIAL as u32;
        let (low, high) = (at & 0xf, at >> 4 & 0xf);
        let register =
            if at < 2048 { 0xf10 | (at >> 8 & 7) << 5 } else { 0xe10 | (at >> 8 & 7) << 21 } | high << 16 | low;
        [0xee10_2000 | register, 0xee00_1000 | register]
    }
}
