use super::*;

#[test]
fn the_machine_is_asked_when_the_kernel_asks_it() {
    let mut regions = Regions::default();
    regions.loaded(MPU_TYPE + 4, 0x700);
    assert_eq!(regions.seen(), None);
    regions.loaded(MPU_TYPE, 0x0100_0800);
    assert_eq!(regions.seen(), Some(8));
}
