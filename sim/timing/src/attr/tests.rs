use super::MemAttr;

fn rasr(tex: u32, s: u32, c: u32, b: u32, xn: u32) -> u32 {
    xn << 28 | tex << 19 | s << 18 | c << 17 | b << 16
}

/// DDI 0403 table B3-13, row by row.
#[test]
fn rasr_fields_follow_the_architecture() {
    assert_eq!(MemAttr::from_rasr(rasr(0, 0, 0, 0, 0)), MemAttr::STRONGLY_ORDERED);
    assert_eq!(MemAttr::from_rasr(rasr(0, 0, 0, 1, 0)), MemAttr::DEVICE.shared());
    assert_eq!(MemAttr::from_rasr(rasr(0, 0, 1, 0, 0)), MemAttr::WRITE_THROUGH);
    assert_eq!(MemAttr::from_rasr(rasr(0, 1, 1, 1, 0)), MemAttr::WRITE_BACK.shared());
    assert_eq!(MemAttr::from_rasr(rasr(1, 0, 0, 0, 1)), MemAttr::NON_CACHEABLE.execute_never());
    assert_eq!(MemAttr::from_rasr(rasr(1, 0, 1, 1, 0)), MemAttr::WRITE_BACK_ALLOCATE);
    assert_eq!(MemAttr::from_rasr(rasr(2, 1, 0, 0, 0)), MemAttr::DEVICE);
    assert_eq!(MemAttr::from_rasr(rasr(5, 0, 0, 1, 0)), MemAttr::WRITE_BACK_ALLOCATE);
    assert_eq!(MemAttr::from_rasr(rasr(6, 0, 1, 0, 0)), MemAttr::WRITE_THROUGH);
    // Reserved: the most restrictive type.
    for (tex, c, b) in [(1, 0, 1), (1, 1, 0), (2, 0, 1), (2, 1, 0), (3, 0, 0), (3, 1, 1)] {
        assert_eq!(MemAttr::from_rasr(rasr(tex, 0, c, b, 0)), MemAttr::STRONGLY_ORDERED, "{tex} {c} {b}");
    }
}

#[test]
fn shareable_data_is_not_cached() {
    assert!(MemAttr::WRITE_BACK.data_cacheable());
    assert!(!MemAttr::WRITE_BACK.shared().data_cacheable());
    assert!(!MemAttr::NON_CACHEABLE.data_cacheable());
}
