/// Macros for a port without direct handlers, whose exceptions interrupt threads alone (see
/// [`entry_code`](crate::entry_code)).
#[macro_export]
macro_rules! only_threads {
    () => {
        r#"
@ All frames are alike but for floating-point registers, and only threads are interrupted.
    .macro OTHER name
    .endm
    .macro WRONG
    .endm
    .macro TOP
    .endm
    .macro HARD
    .endm
    .macro JUDGE
    .endm
    .macro PENDED
    .endm

    .macro STACKED reg, return
    mrs     \reg, psp
    .endm
"#
    };
}
