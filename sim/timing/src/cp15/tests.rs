use super::{CacheOperation, Mcr, Operation, TlbOperation, barrier};

fn operation(word: u32, value: u32) -> Option<Operation> {
    Mcr::decode_a32(word)?.operation(value)
}

/// `mcr p15, 0, r3, c8, c7, 1` is EE08 3F37 in both encodings.
#[test]
fn the_fields_are_where_the_encoding_says() {
    let expected = Mcr { opc1: 0, crn: 8, crm: 7, opc2: 1, rt: 3 };
    assert_eq!(Mcr::decode_a32(0xEE08_3F37), Some(expected));
    assert_eq!(Mcr::decode_a32(0x1E08_3F37), Some(expected), "with a condition");
    assert_eq!(Mcr::decode_t32(0xEE08_3F37), Some(expected));
    assert_eq!(Mcr::decode_t32(0xFE08_3F37), None, "MCR2");
    assert_eq!(Mcr::decode_a32(0xFE08_3F37), None, "MCR2");
    assert_eq!(Mcr::decode_a32(0xEE18_3F37), None, "MRC");
    assert_eq!(Mcr::decode_a32(0xEE08_3E37), None, "coprocessor 14");
    assert_eq!(Mcr::decode_a32(0xEE08_3F27), None, "CDP");
    assert_eq!(Mcr::decode_a32(0xE583_1000), None, "a store");
    let opc1 = Mcr::decode_a32(0xEE28_3F37).unwrap();
    assert_eq!((opc1.opc1, opc1.operation(0)), (1, None));
}

#[test]
fn registers_of_translation_are_recognised() {
    for (word, expected) in [
        (0xEE01_0F10, Operation::Control(5)),
        (0xEE01_0F30, Operation::AuxiliaryControl(5)),
        (0xEE02_0F10, Operation::Table0(5)),
        (0xEE02_0F30, Operation::Table1(5)),
        (0xEE02_0F50, Operation::TableControl(5)),
        (0xEE0D_0F30, Operation::ContextId(5)),
        (0xEE0A_0F12, Operation::PrimaryRemap(5)),
        (0xEE0A_0F32, Operation::NormalRemap(5)),
    ] {
        assert_eq!(operation(word, 5), Some(expected), "{word:#x}");
    }
    let lock = |value| operation(0xEE0A_0F10, value);
    assert_eq!(lock(0x3000_0001), Some(Operation::TlbLockdown { preserve: true, victim: 3 }));
    assert_eq!(lock(0x1000_0000), Some(Operation::TlbLockdown { preserve: false, victim: 1 }));
    assert_eq!(operation(0xEE03_0F10, 5), None, "DACR: permissions are not modelled");
}

#[test]
fn tlb_maintenance_is_recognised_in_all_its_forms() {
    let value = 0x4001_2305;
    let expected = [
        TlbOperation::All,
        TlbOperation::Address { addr: 0x4001_2000, asid: 5 },
        TlbOperation::Asid(5),
        TlbOperation::AddressAllSpaces(0x4001_2000),
    ];
    for crm in [3, 5, 6, 7] {
        for (opc2, expected) in expected.into_iter().enumerate() {
            let word = 0xEE08_0F10 | (opc2 as u32) << 5 | crm;
            assert_eq!(operation(word, value), Some(Operation::Tlb(expected)), "{word:#x}");
        }
    }
    assert_eq!(operation(0xEE08_0F97, value), None);
    assert_eq!(operation(0xEE08_0F14, value), None);
}

#[test]
fn cache_maintenance_and_barriers_are_recognised() {
    let line = |clean, invalidate| Operation::Cache(CacheOperation::DataLine { addr: 9, clean, invalidate });
    let place = |clean, invalidate| Operation::Cache(CacheOperation::DataSetWay { set_way: 9, clean, invalidate });
    for (word, expected) in [
        (0xEE07_0F15, Operation::Cache(CacheOperation::InstructionAll)),
        (0xEE07_0F35, Operation::Cache(CacheOperation::InstructionLine(9))),
        (0xEE07_0FD5, Operation::Predictor),
        (0xEE07_0F36, line(false, true)),
        (0xEE07_0F56, place(false, true)),
        (0xEE07_0F3A, line(true, false)),
        (0xEE07_0F3B, line(true, false)),
        (0xEE07_0F5A, place(true, false)),
        (0xEE07_0F3E, line(true, true)),
        (0xEE07_0F5E, place(true, true)),
        (0xEE07_0F95, Operation::InstructionBarrier),
        (0xEE07_0F9A, Operation::SyncBarrier),
        (0xEE07_0FBA, Operation::MemoryBarrier),
    ] {
        assert_eq!(operation(word, 9), Some(expected), "{word:#x}");
    }
    assert_eq!(operation(0xEE07_0F18, 9), None, "address translation");
    for word in [0xF57F_F04F, 0xF3BF_8F4F, 0xF57F_F04B] {
        assert_eq!(barrier(word), Some(Operation::SyncBarrier), "{word:#x}");
    }
    assert_eq!(barrier(0xF57F_F05F), Some(Operation::MemoryBarrier));
    assert_eq!(barrier(0xF3BF_8F6F), Some(Operation::InstructionBarrier));
    assert_eq!(barrier(0xF57F_F01F), None, "CLREX");
}
