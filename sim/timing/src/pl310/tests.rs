use super::{Master, Operation};

#[test]
fn registers_are_recognised_by_their_offset() {
    let line = |clean, invalidate| Operation::Line { addr: 0x0300_0020, clean, invalidate };
    let ways = |clean, invalidate| Operation::Ways { mask: 0x22, clean, invalidate };
    for (offset, value, expected) in [
        (0x100, 1, Operation::Enable(true)),
        (0x100, 0, Operation::Enable(false)),
        (0x730, 0, Operation::Sync),
        (0x770, 0x0300_0020, line(false, true)),
        (0x7B0, 0x0300_0020, line(true, false)),
        (0x7F0, 0x0300_003C, line(true, true)),
        (0x77C, 0x22, ways(false, true)),
        (0x7BC, 0x22, ways(true, false)),
        (0x7FC, 0x22, ways(true, true)),
        (0x900, 0x7F, Operation::Lockdown { master: Master::Data, mask: 0x7F }),
        (0x904, 0x80, Operation::Lockdown { master: Master::Instruction, mask: 0x80 }),
    ] {
        assert_eq!(Operation::decode(offset, value), Some(expected), "{offset:#x}");
    }
    assert_eq!(Operation::decode(0x908, 0xFF), None, "another master's");
    assert_eq!(Operation::decode(0x104, 0xFF), None);
}
