//! The answer of exceptions of Non-secure state while handlers are cut off. They may be pending already, and a handler may have started the timer of
//! its state, which would interrupt without an end.

/// Stops the timer of Non-secure state, makes its other registers as after a reset, and returns (DDI 0553 C2.4, encodings T3, T1, then T1).
const CODE: [u16; 9] = [
    0xf24e, 0x0010, // movw r0, #0xe010
    0xf2ce, 0x0000, // movt r0, #0xe000: SYST_CSR
    0x2100, // movs r1, #0
    0x6001, // str r1, [r0]
    0x6041, // str r1, [r0, #4]: SYST_RVR
    0x6081, // str r1, [r0, #8]: SYST_CVR
    0x4770, // bx lr
];

/// Its bytes.
pub(super) fn bytes() -> Vec<u8> {
    CODE.iter().flat_map(|half| half.to_le_bytes()).collect()
}
